// What queries choose under visibility=top-pages.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "kvcheck/properties/cases/token_inputs.h"
#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/reference/page_rule.h"

namespace kv::properties {
namespace {

WhyNot unless_selecting(const Contract& contract) {
  if (contract.visibility == Visibility::top_pages) return {};
  return "visibility is not top-pages";
}

// Dense layers attend to everything and choose nothing.
bool selects(const QueryView& at) {
  return at.contract.selects_in(at.history.place_of(at.unit).layer);
}

// The rows of page `page` up to the query.
Tokens page_rows(const QueryView& at, std::int64_t page) {
  const std::int64_t size = at.contract.top_pages.page;
  return at.between_positions(page * size, std::min((page + 1) * size, at.position() + 1));
}

// As many whole pages as were declared, or as there are, and the own one as far as it is filled.
std::uint64_t rows_due(const TopPages& sizes, std::int64_t now) {
  const std::int64_t own = now / sizes.page;
  const std::int64_t others = std::min<std::int64_t>(own, sizes.attended / sizes.page - 1);
  return static_cast<std::uint64_t>(others * sizes.page + now - own * sizes.page + 1);
}

MaybeFinding attended(const QueryView& at) {
  if (!selects(at)) return {};
  const Tokens seen = at.visible();
  const std::uint64_t due = rows_due(at.contract.top_pages, at.position());
  if (seen.size() == due) return {};
  return at.finding(
      phrase("attends to ", rows_text(due), ", of at most ", at.contract.top_pages.attended),
      phrase("it attends to ", seen.size(), ": ", text_of(seen)));
}

MaybeFinding whole_pages(const QueryView& at) {
  if (!selects(at)) return {};
  const Tokens seen = at.visible();
  for (const Token& token : seen) {
    const Tokens page = page_rows(at, std::int64_t{token.position} / at.contract.top_pages.page);
    if (includes(seen, page)) continue;
    return at.finding("sees " + text_of({token}) + " with its whole page: " + text_of(page),
                      "it sees " + text_of(common(seen, page)) + " of them", joined(seen, page));
  }
  return {};
}

MaybeFinding own_page(const QueryView& at) {
  if (!selects(at)) return {};
  const Tokens seen = at.visible();
  const Tokens page = page_rows(at, at.position() / at.contract.top_pages.page);
  if (includes(seen, page)) return {};
  return at.finding("sees its own page up to itself: " + text_of(page), "it sees " + text_of(seen),
                    joined(seen, page));
}

// The inputs of the rows that a unit returns. Most of them were there a query before, and computing
// them anew for every query would be quadratic in the length of the stream.
class KnownKeys {
 public:
  const PageRule& of(const std::vector<Row>& rows, const Stream& stream, const InputUnit& to) {
    const auto same = [](const std::pair<Token, Place>& known, const Row& row) {
      return row.key == known.first && row.key_place == known.second;
    };
    if (rows.size() < known_.size() ||
        !std::ranges::equal(known_, std::span(rows).first(known_.size()), same)) {
      known_.clear();
      rule_ = PageRule();
    }
    for (std::size_t i = known_.size(); i < rows.size(); ++i) {
      InputUnit from = to;
      const Place& place = rows[i].key_place;
      if (!(place == place_not_reported)) from.place.sequence = place.sequence;
      rule_.met(token_inputs(stream, {&from, 1}, rows[i].key));
      known_.emplace_back(rows[i].key, place);
    }
    return rule_;
  }

 private:
  std::vector<std::pair<Token, Place>> known_;
  PageRule rule_;
};

// Logits of the stream's inputs, in double, against the bounds that the subject reports. The slack
// covers sums in another order.
Judgement bounds(const History& history, const Contract& contract) {
  constexpr double slack = 1e-9;
  bool reported = false;
  std::map<std::size_t, KnownKeys> keys;
  const TopPages& sizes = contract.top_pages;
  const Stream& stream = history.what.stream;
  Judgement judgement = each_query(history, contract, [&](const QueryView& at) -> MaybeFinding {
    const std::size_t width = at.facts.page_width;
    if (width == 0 || at.facts.page_bounds.size() != width * at.event().fed.size()) return {};
    if (!selects(at)) return {};
    const auto to =
        input_unit(history.place_of(at.unit), history.contract.unit, history.what.setup);
    const TokenInputs own = token_inputs(stream, {&to, 1}, at.own());
    const PageRule& rule = keys[at.unit].of(at.facts.returned, stream, to);
    for (std::size_t page = 0; page < width; ++page) {
      const double bound = at.facts.page_bounds[at.query * width + page];
      // A page that is not full yet has no bound that would have to hold.
      if (std::isnan(bound) || (page + 1) * sizes.page > at.facts.returned.size()) continue;
      reported = true;
      const double logit = rule.logit(page, own, sizes);
      if (bound >= logit - slack) continue;
      return at.finding("has a bound of page " + std::to_string(page) +
                            " that is at least its largest logit there, " + std::to_string(logit),
                        "the bound is " + std::to_string(bound));
    }
    return {};
  });
  return unless_silent(std::move(judgement), reported, {"no bounds are reported", true});
}

constexpr std::string_view paper = "made, after Quest, arXiv:2406.10774";

constexpr auto table = std::to_array<Law>({
    {.id = "choice.attended",
     .sentence = "A query attends to as many pages as declared, or to all there are.",
     .why = "Selecting pages saves time only as far as few are read: the declared number of pages "
            "bounds every query, and the query's own page is one of them, filled or not. One page "
            "more is read at each step for ever; one less throws away what was paid for. Judged by "
            "the number of rows that each query sees in layers that are not dense.",
     .seen_in = paper,
     .not_applicable = unless_selecting,
     .check = per_query<attended>},
    {.id = "choice.whole-pages",
     .sentence = "Of a page a query sees all rows up to itself, or none.",
     .why = "Bounds are of pages, and so is memory: a page is read as a whole. A query that sees a "
            "part of one has cut it at a row count, or lays its mask over other columns than the "
            "rows of the page. The query's own page counts as far as it is filled.",
     .seen_in = paper,
     .not_applicable = unless_selecting,
     .check = per_query<whole_pages>},
    {.id = "choice.own-page",
     .sentence = "A query sees its own page up to itself.",
     .why = "The nearest tokens matter most, and a token attends to itself. Where the page that is "
            "being filled is ranked like any other, a query may lose its own key to an older page "
            "with a higher bound. Codes that mean it declare something else.",
     .seen_in = "mit-han-lab/quest, evaluation/quest_attention.py, where it is meant",
     .not_applicable = unless_selecting,
     .check = per_query<own_page>},
    {.id = "choice.bounds",
     .sentence = "The bound of a page is at least every logit of the page.",
     .why = "A page may be left out because nothing in it can give a larger logit than its bound. "
            "Where the bound is none (of one extreme only, of whole vectors instead of channels, "
            "not updated by the page's later tokens) the page that matters most can be "
            "the one that is left out. The logits are computed anew, from the token inputs. "
            "The law is silent where no bounds are reported.",
     .seen_in = paper,
     .not_applicable = unless_selecting,
     .check = bounds},
});

}  // namespace

constinit const Laws choice_laws = table;

}  // namespace kv::properties
