// What queries choose under visibility=top-pages.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "kvcheck/properties/cases/token_inputs.h"
#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/laws/judging/visibility_detail.h"
#include "kvcheck/properties/reference/page_rule.h"

namespace kv::properties {
namespace {

std::optional<std::string> unless_selecting(const Contract& contract) {
  if (contract.visibility != Visibility::top_pages) return "visibility is not top-pages";
  return std::nullopt;
}

// The rows of page `page` up to the query.
Tokens page_rows(const Step& step, const TopPages& sizes, std::int64_t page, std::size_t query) {
  const std::int64_t first = page * sizes.page;
  const std::int64_t end = step.event->fed[query].position + std::int64_t{1};
  return between(step.event->branch, first, std::min<std::int64_t>(first + sizes.page, end));
}

// As many whole pages as were declared, or as there are, and the own one as far as it is filled.
std::uint64_t rows_due(const TopPages& sizes, std::int64_t now) {
  const std::int64_t own = now / sizes.page;
  const std::int64_t others = std::min<std::int64_t>(own, sizes.attended / sizes.page - 1);
  return static_cast<std::uint64_t>(others * sizes.page + now - own * sizes.page + 1);
}

// Calls judge(step, unit, query, position, what it sees) where queries choose.
template <typename Judge>
Judgement each_choice(const History& history, const Contract& contract, Judge judge) {
  return each_query(history,
                    [&](const Step& step, std::size_t unit, const UnitFacts& facts,
                        std::size_t query) -> std::optional<Finding> {
                      if (!contract.selects_in(history.place_of(unit).layer)) return std::nullopt;
                      return judge(step, unit, query, step.event->fed[query].position,
                                   visible_to(facts, query));
                    });
}

Judgement attended(const History& history, const Contract& contract) {
  return each_choice(history, contract,
                     [&](const Step& step, std::size_t unit, std::size_t query, std::int64_t now,
                         const Tokens& seen) -> std::optional<Finding> {
                       const std::uint64_t due = rows_due(contract.top_pages, now);
                       if (seen.size() == due) return std::nullopt;
                       return finding_at(
                           step, unit, query,
                           query_text(*step.event, query) + " attends to " + rows_text(due) +
                               ", of at most " + std::to_string(contract.top_pages.attended),
                           "it attends to " + std::to_string(seen.size()) + ": " + text_of(seen));
                     });
}

Judgement whole_pages(const History& history, const Contract& contract) {
  return each_choice(history, contract,
                     [&](const Step& step, std::size_t unit, std::size_t query, std::int64_t,
                         const Tokens& seen) -> std::optional<Finding> {
                       for (const Token& token : seen) {
                         const Tokens page = page_rows(
                             step, contract.top_pages,
                             std::int64_t{token.position} / contract.top_pages.page, query);
                         if (includes(seen, page)) continue;
                         Finding finding = finding_at(
                             step, unit, query,
                             query_text(*step.event, query) + " sees " + text_of({token}) +
                                 " with its whole page: " + text_of(page),
                             "it sees " + text_of(common(seen, page)) + " of them");
                         finding.should_see = joined(seen, page);
                         return finding;
                       }
                       return std::nullopt;
                     });
}

Judgement own_page(const History& history, const Contract& contract) {
  return each_choice(
      history, contract,
      [&](const Step& step, std::size_t unit, std::size_t query, std::int64_t now,
          const Tokens& seen) -> std::optional<Finding> {
        const Tokens page =
            page_rows(step, contract.top_pages, now / contract.top_pages.page, query);
        if (includes(seen, page)) return std::nullopt;
        Finding finding = finding_at(
            step, unit, query,
            query_text(*step.event, query) + " sees its own page up to itself: " + text_of(page),
            "it sees " + text_of(seen));
        finding.should_see = joined(seen, page);
        return finding;
      });
}

// What the rows that a unit returns have brought. Most rows were there a query before.
class KnownKeys {
 public:
  const PageRule& of(const std::vector<Row>& rows, const Stream& stream, const InputUnit& to) {
    const auto same = [](const Row& row, const std::pair<Token, Place>& known) {
      return row.key == known.first && row.key_place == known.second;
    };
    const bool more =
        rows.size() >= known_.size() &&
        std::equal(known_.begin(), known_.end(), rows.begin(),
                   [&](const auto& known, const Row& row) { return same(row, known); });
    if (!more) {
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

// Logits of what the stream brings, in double, against the bounds that the subject tells.
Judgement bounds(const History& history, const Contract& contract) {
  bool reported = false;
  std::map<std::size_t, KnownKeys> keys;
  const TopPages& sizes = contract.top_pages;
  const Setup& setup = history.what.setup;
  Judgement judgement = each_query(
      history,
      [&](const Step& step, std::size_t unit, const UnitFacts& facts,
          std::size_t query) -> std::optional<Finding> {
        const std::size_t width = facts.page_width;
        if (width == 0 || facts.page_bounds.size() != width * step.event->fed.size()) {
          return std::nullopt;
        }
        const Place place = history.place_of(unit);
        const auto to = input_unit(place, contract.unit, setup);
        const TokenInputs own = token_inputs(history.what.stream, {&to, 1}, step.event->fed[query]);
        if (!contract.selects_in(place.layer)) return std::nullopt;
        const PageRule& rule = keys[unit].of(facts.returned, history.what.stream, to);
        for (std::size_t page = 0; page < width; ++page) {
          const double bound = facts.page_bounds[query * width + page];
          if (std::isnan(bound) || (page + 1) * sizes.page > facts.returned.size()) continue;
          reported = true;
          const double logit = rule.logit(page, own, sizes);
          if (bound >= logit - 1e-9) continue;
          return finding_at(
              step, unit, query,
              query_text(*step.event, query) + " has a bound of page " + std::to_string(page) +
                  " that is at least its largest logit there, " + std::to_string(logit),
              "the bound is " + std::to_string(bound));
        }
        return std::nullopt;
      });
  if (!reported && std::holds_alternative<std::monostate>(judgement)) {
    return NotTested{"no bounds are told", true};
  }
  return judgement;
}

constexpr std::string_view paper = "made, after Quest, arXiv:2406.10774";

Law attended_law() {
  return {.id = "choice.attended",
          .sentence = "A query attends to as many pages as declared, or to all there are.",
          .why =
              "Choosing pages saves time only as far as few are read: the declared number of pages "
              "bounds every query, and the query's own page is one of them, filled or not. One "
              "page more is read at each step for ever; one less throws away what was paid for. "
              "Judged by the number of rows that each query sees in layers that are not dense.",
          .seen_in = paper,
          .wants = {},
          .must_see = {},
          .not_applicable = unless_selecting,
          .check = &attended};
}

Law whole_pages_law() {
  return {.id = "choice.whole-pages",
          .sentence = "Of a page a query sees all rows up to itself, or none.",
          .why =
              "Bounds are of pages, and so is memory: a page is read as a whole. A query that sees "
              "a part of one has cut it at a row count, or lays its mask over other columns than "
              "the rows of the page. The query's own page counts as far as it is filled.",
          .seen_in = paper,
          .wants = {},
          .must_see = {},
          .not_applicable = unless_selecting,
          .check = &whole_pages};
}

Law own_page_law() {
  return {.id = "choice.own-page",
          .sentence = "A query sees its own page up to itself.",
          .why =
              "The nearest tokens matter most, and a token attends to itself. Where the page that "
              "is being filled is ranked like any other, a query may lose its own key to an older "
              "page with a higher bound. Codes that mean it declare something else.",
          .seen_in = "mit-han-lab/quest, evaluation/quest_attention.py, where it is meant",
          .wants = {},
          .must_see = {},
          .not_applicable = unless_selecting,
          .check = &own_page};
}

Law bounds_law() {
  return {.id = "choice.bounds",
          .sentence = "The bound of a page is at least every logit of the page.",
          .why =
              "A page may be left out because nothing in it can give a larger logit than its "
              "bound. Where the bound is none (of one extreme only, of whole vectors instead of "
              "channels, not brought up to date by the page's later tokens) the page that matters "
              "most can be the one that is left out. The logits are computed anew, from what the "
              "tokens bring. The law is silent where no bounds are told.",
          .seen_in = paper,
          .wants = {},
          .must_see = {},
          .not_applicable = unless_selecting,
          .check = &bounds};
}

}  // namespace

std::vector<Law> choice_laws() {
  return {attended_law(), whole_pages_law(), own_page_law(), bounds_law()};
}

}  // namespace kv::properties
