// Pages freed too early, too late, or the wrong ones.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

struct PageWrong : Wrong {
  static TaggedOptions options() { return {.page = 4}; }

  // The page of a row behind the sinks.
  [[nodiscard]] std::int64_t page_of(std::int64_t position) const {
    return (position - static_cast<std::int64_t>(contract_.sinks)) / options_.page;
  }
};

struct CeilsAndFloors final : PageWrong {
  void free_rows(CacheUnit& unit) override {
    const std::int64_t pages = (contract_.recent + options_.page - 1) / options_.page;
    const std::int64_t last = page_of(static_cast<std::int64_t>(unit.fed) - 1);
    drop(unit, [&](const StoredRow& row) {
      return !is_sink(row) && page_of(row.token.position) <= last - pages;
    });
  }
};

struct LargerThanWindow final : PageWrong {
  void free_rows(CacheUnit& unit) override {
    if (options_.page <= contract_.recent) return PageWrong::free_rows(unit);
    const std::int64_t current = page_of(static_cast<std::int64_t>(unit.fed));
    drop(unit, [&](const StoredRow& row) {
      return !is_sink(row) && page_of(row.token.position) < current;
    });
  }
};

struct PinnedPageIsFreed final : PageWrong {
  void free_rows(CacheUnit& unit) override {
    const std::size_t before = unit.rows.size();
    PageWrong::free_rows(unit);
    if (unit.rows.size() == before) return;
    drop(unit, [&](const StoredRow& row) { return is_sink(row); });
  }
};

struct FreedWithItsFirst final : PageWrong {
  void free_rows(CacheUnit& unit) override {
    std::vector<std::int64_t> leaving;
    for (const StoredRow& row : unit.rows) {
      if (row.evicted) leaving.push_back(page_of(row.token.position));
    }
    drop(unit, [&](const StoredRow& row) {
      const std::int64_t page = page_of(row.token.position);
      return !is_sink(row) && std::ranges::find(leaving, page) != leaving.end();
    });
  }
};

struct NeverFreed final : PageWrong {
  // The test for an empty page also asks that it be the first one.
  void free_rows(CacheUnit& unit) override {
    if (unit.fed < 3 * std::size_t{contract_.budget}) PageWrong::free_rows(unit);
  }
};

struct LastPageHidden final : PageWrong {
  // A page counts once it is full, so the one being filled is seen by its own call only.
  bool may_see(const CacheUnit& unit, const StoredRow& row, Token query) override {
    const bool own_call = row.token.position >= static_cast<std::int64_t>(chunk_begin());
    const bool full = page_of(row.token.position) < page_of(query.position);
    return PageWrong::may_see(unit, row, query) && (is_sink(row) || own_call || full);
  }
};

// Declares pages, which excuses much, and frees row by row.
struct FreesRowByRow final : PageWrong {
  void free_rows(CacheUnit& unit) override {
    drop(unit, [](const StoredRow& row) { return row.evicted; });
  }
};

// The mask is that of the pages: it shows what they hold beside the window.
struct MaskOfPages final : PageWrong {
  bool may_see(const CacheUnit& unit, const StoredRow& row, Token query) override {
    return row.token.position <= query.position &&
           pages_kept(unit)[page_at(static_cast<std::uint64_t>(row.token.position))];
  }
};

// The row before the window is seen for as long as its page is stored.
template <typename Base>
struct MaskOneTokenWide final : Base {
  static TaggedOptions options() {
    TaggedOptions options = Base::options();
    options.page = 4;
    return options;
  }

  bool may_see(const CacheUnit& unit, const StoredRow& row, Token query) override {
    std::int64_t newest = -1;
    for (const StoredRow& other : unit.rows) {
      if (other.evicted) newest = std::max<std::int64_t>(newest, other.token.position);
    }
    return Base::may_see(unit, row, query) || row.token.position == newest;
  }
};

}  // namespace

std::vector<Mutant> page_mutants() {
  return {
      {"pages-kept-by-ceil-read-by-floor", "a page that still holds part of the window is freed",
       "kekzl/imp pull request 967", of<CeilsAndFloors>},
      {"page-larger-than-the-window", "the frontier reaches the page being filled: all others go",
       "sglang pull request 22470", of<LargerThanWindow>},
      {"pinned-page-leaves", "what may be evicted begins one page early: the sinks go",
       "made, after paged StreamingLLM", of<PinnedPageIsFreed>},
      {"page-freed-with-its-first-row", "a page is freed as soon as one of its rows is", "made",
       of<FreedWithItsFirst>},
      {"page-declared-rows-freed", "pages are declared, but rows are freed one by one", "made",
       of<FreesRowByRow>},
      {"pages-leak", "far down the stream pages are not freed any more", "made", of<NeverFreed>},
      {"unfilled-page-hidden", "rows of a page that is not full are hidden from later calls",
       "made", of<LastPageHidden>},
      {"page-mask-one-page-wide", "the mask shows all rows of the pages that are stored",
       "made, after paged kernels whose mask is the block table", of<MaskOfPages>},
      {"page-mask-one-token-wide", "the row before the window is seen while its page is stored",
       "made", of<MaskOneTokenWide<Wrong>>},
      {"page-mask-one-token-wide-causal", "the same under causal visibility", "made",
       of<MaskOneTokenWide<CausalWrong>>},
  };
}

}  // namespace kv::properties
