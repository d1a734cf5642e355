// Faults in the selection of pages: wrong bounds, too many pages, too few, or those that another
// head or query selected.
#include <algorithm>
#include <array>

#include "kvcheck/properties/cases/token_inputs.h"
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

// They name their reference: only a specification says which pages are right.
struct SelectsWrong : Wrong {
  static TaggedOptions options() {
    return {.policy = "dense",
            .visibility = Visibility::top_pages,
            .top_pages = {.attended = 64, .page = 16, .dense_layers = 1},
            .unit = Unit::head};
  }

  static void declare(Contract& /*contract*/) {}

  // The least (0) and the greatest (1) numbers of the keys.
  static std::array<Numbers, 2> extremes(const std::vector<Numbers>& keys) {
    std::array<Numbers, 2> out = {keys.front(), keys.front()};
    for (const Numbers& key : keys) {
      for (std::size_t d = 0; d < key.size(); ++d) {
        out[0][d] = std::min(out[0][d], key[d]);
        out[1][d] = std::max(out[1][d], key[d]);
      }
    }
    return out;
  }

  static double product(const Numbers& a, const Numbers& b) {
    double sum = 0;
    for (std::size_t d = 0; d < a.size(); ++d) {
      sum += static_cast<double>(a[d]) * static_cast<double>(b[d]);
    }
    return sum;
  }
};

struct LeastOnly final : SelectsWrong {
  double bound(const std::vector<Numbers>& keys, const Numbers& query) override {
    return product(extremes(keys)[0], query);
  }
};

struct MaxOfSums final : SelectsWrong {
  double bound(const std::vector<Numbers>& keys, const Numbers& query) override {
    const auto [least, greatest] = extremes(keys);
    return std::max(product(least, query), product(greatest, query));
  }
};

struct FirstTokenOnly final : SelectsWrong {
  double bound(const std::vector<Numbers>& keys, const Numbers& query) override {
    return product(keys.front(), query);
  }
};

struct OwnLikeOthers final : SelectsWrong {
  Rows select(const std::vector<double>& bounds) override { return highest(bounds, pages()); }
};

struct OnePageTooMany final : SelectsWrong {
  std::size_t pages() override { return SelectsWrong::pages() + 1; }
};

struct OnePageTooFew final : SelectsWrong {
  std::size_t pages() override { return std::max<std::size_t>(SelectsWrong::pages(), 2) - 1; }
};

struct FirstHeadForAll final : SelectsWrong {
  Numbers query_of(const CacheUnit& unit, Token query) override {
    Place place = place_of(unit);
    place.head -= place.head % setup_.group;
    const InputUnit first = input_unit(place, Unit::head, setup_);
    return token_inputs(stream_, {&first, 1}, query).queries;
  }
};

// The first query of a call selects for all.
struct SelectedOnceACall final : SelectsWrong {
  Numbers query_of(const CacheUnit& unit, Token /*query*/) override {
    return SelectsWrong::query_of(unit, unit.rows[state_.fed - chunk_].token);
  }
};

struct OlderAmongEquals final : SelectsWrong {
  Rows select(const std::vector<double>& bounds) override {
    std::vector<double> mirrored(bounds.begin(), bounds.end() - 1);
    std::ranges::reverse(mirrored);
    Rows selected = highest(mirrored, pages() - 1);
    for (std::size_t& page : selected) page = mirrored.size() - 1 - page;
    selected.push_back(mirrored.size());
    return selected;
  }
};

struct CutsAPage final : SelectsWrong {
  // The bound is filled up to the token, by less than a page.
  Mask mask_row(const CacheUnit& unit, const Query& query) override {
    auto mask = SelectsWrong::mask_row(unit, query);
    const bool all = std::ranges::count(mask, 1) == query.token.position + 1;
    const auto first = std::ranges::find(mask, 1);
    if (!all && first != mask.end()) *first = 0;
    return mask;
  }
};

struct SelectsInDenseLayers final : SelectsWrong {
  bool selects(const CacheUnit& /*unit*/) override { return true; }
};

struct FreesTheUnselected final : SelectsWrong {
  Mask mask_row(const CacheUnit& unit, const Query& query) override {
    auto mask = SelectsWrong::mask_row(unit, query);
    last_.clear();
    for (std::size_t i = 0; i < mask.size(); ++i) {
      if (mask[i] != 0) last_.push_back(unit.rows[query.returned[i]].token);
    }
    return mask;
  }

  void after_chunk(CacheUnit& unit) override {
    std::erase_if(unit.rows, [&](const StoredRow& row) {
      return std::ranges::find(last_, row.token) == last_.end();
    });
    close_gaps(unit);
  }

  std::vector<Token> last_;  // what the last query of the call saw
};

}  // namespace

std::vector<Mutant> choice_mutants() {
  return {
      {"page-bound-of-least-only", "a page's bound leaves out its greatest numbers: it is none",
       "made", of<LeastOnly>},
      {"page-bound-max-of-sums", "the larger of two products of whole vectors, not of each channel",
       "made", of<MaxOfSums>},
      {"page-bound-of-first-token", "later tokens of a page do not change its bounds", "made",
       of<FirstTokenOnly>},
      {"own-page-ranked-like-others", "the query's own page may lose: it does not see itself",
       "mit-han-lab/quest, evaluation/quest_attention.py, where it is meant", of<OwnLikeOthers>},
      {"one-page-too-many", "the own page comes on top", "made", of<OnePageTooMany>},
      {"one-page-too-few", "a page less than declared is attended to", "made", of<OnePageTooFew>},
      {"pages-chosen-by-first-head", "the first query head of a group selects for all", "made",
       of<FirstHeadForAll>},
      {"pages-chosen-once-a-call", "the first query of a chunk selects for all", "made",
       of<SelectedOnceACall>},
      {"older-page-among-equals", "of equal bounds the older page is attended to", "made",
       of<OlderAmongEquals>},
      {"page-cut-at-the-bound", "the last page is attended to in part", "made", of<CutsAPage>},
      {"no-layer-dense", "the dense layers choose too", "made", of<SelectsInDenseLayers>},
      {"unchosen-pages-freed", "what a query leaves out is evicted instead of hidden", "made",
       of<FreesTheUnselected>},
  };
}

}  // namespace kv::properties
