#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/laws/judging/law_groups.h"

namespace kv::properties {
namespace {

WhyNot unless_gone_for_good(const Contract& contract) {
  if (contract.masks_evicted) return "masks-instead is declared: hidden rows may be seen again";
  if (contract.visibility == Visibility::top_pages) {
    return "queries choose: what one leaves out the next may attend to";
  }
  return {};
}

WhyNot unless_admitting(const Contract& contract) {
  if (!contract.claims_to_be("admits-newcomers")) return "it does not claim admits-newcomers";
  if (contract.timing != Timing::attend_then_trim) {
    return "timing is not attend-then-trim: the last token to leave is not reported";
  }
  if (contract.page > 1) return "pages are declared: rows come and go together";
  return {};
}

// How a token was found to be evicted.
struct Departure {
  bool freed = false;  // not stored any more; else only hidden from a query
  std::string how{};
};

// The tokens of a unit's branch, by whether they are still there.
struct Whereabouts {
  Tokens alive;   // stored and seen by all queries so far
  Tokens hidden;  // not seen by some query, but still stored
  std::map<Token, Departure> gone;
};

class Departures {
 public:
  explicit Departures(const History& history)
      : history_(history), branches_(1, std::vector<Whereabouts>(history.units())) {}

  MaybeFinding take(const Step& step) {
    const Event& event = *step.event;
    // A refused call changes nothing, so what is known of its branch remains true.
    if (!event.refused) prepare(event);
    std::vector<Whereabouts>& units = branches_[event.call.branch];
    for (std::size_t unit = 0; unit < std::min(event.facts.units.size(), units.size()); ++unit) {
      const UnitView at{history_, history_.contract, step, unit, event.facts.units[unit]};
      if (step.fed()) {
        if (auto finding = see(at, units[unit])) return finding;
      }
      if (auto finding = store(at, units[unit])) return finding;
    }
    return {};
  }

 private:
  void prepare(const Event& event) {
    const std::size_t branch = event.call.branch;
    if (event.call.kind == Call::Kind::fork) {
      const std::vector<Whereabouts> copy = branches_[branch];
      branches_.resize(event.branches, copy);
    } else if (event.call.kind == Call::Kind::reset || event.call.kind == Call::Kind::truncate) {
      // As if never fed: what was evicted because of those tokens may be back.
      Tokens alive = event.branch;
      std::ranges::sort(alive);
      for (Whereabouts& unit : branches_[branch]) unit = {.alive = alive, .hidden = {}, .gone = {}};
    } else if (event.call.kind == Call::Kind::reorder) {
      permute(event.call.from, branches_[branch]);
    }
  }

  // Sequences take what has become of their tokens along.
  void permute(const std::vector<std::uint32_t>& from, std::vector<Whereabouts>& units) const {
    const std::size_t sequences = history_.what.setup.sequences;
    const std::size_t per = units.size() / sequences;
    if (from.size() != sequences) return;
    std::vector<Whereabouts> moved;
    for (const std::uint32_t sequence : from) {
      for (std::size_t i = 0; i < per; ++i) {
        moved.push_back(sequence < sequences ? units[sequence * per + i] : Whereabouts{});
      }
    }
    units = std::move(moved);
  }

  // Within a call queries come one after the other: what an earlier one could not see, no later one
  // may.
  static MaybeFinding see(const UnitView& unit, Whereabouts& where) {
    for (std::size_t query = 0; query < unit.event().fed.size(); ++query) {
      const QueryView at{unit, query};
      const Tokens seen = at.visible();
      for (const Token& token : seen) {
        const auto found = where.gone.find(token);
        if (found == where.gone.end()) continue;
        Finding finding =
            at.finding("", query_text(at.event(), query) + " sees it", minus(seen, {token}));
        finding.expected =
            text_of({token}) + " " + found->second.how + ", so no later query sees it";
        return finding;
      }
      where.alive = joined(where.alive, {at.own()});
      for (const Token& token : minus(where.alive, seen)) {
        where.gone[token] = {false, "was not visible to query " + text_of({at.own()})};
        where.hidden = joined(where.hidden, {token});
      }
      where.alive = common(where.alive, seen);
    }
    return {};
  }

  // A row that is hidden already may wait to be freed; one that was freed may not be back.
  static MaybeFinding store(const UnitView& at, Whereabouts& where) {
    const Tokens stored = at.stored();
    for (const Token& token : stored) {
      const auto found = where.gone.find(token);
      if (found == where.gone.end() || !found->second.freed) continue;
      return at.finding(text_of({token}) + " " + found->second.how + ", so it must not return",
                        "it is stored again: " + text_of(stored));
    }
    for (const Token& token : minus(joined(where.alive, where.hidden), stored)) {
      where.gone[token] = {true, "was not stored" + at.after_text()};
    }
    where.alive = common(where.alive, stored);
    where.hidden = common(where.hidden, stored);
    return {};
  }

  const History& history_;
  std::vector<std::vector<Whereabouts>> branches_;  // [branch][unit]
};

Judgement no_resurrection(const History& history, const Contract&) {
  Departures departures(history);
  for (const Step& step : steps_of(history)) {
    if (auto finding = departures.take(step)) return *std::move(finding);
  }
  return {};
}

// Of a chunk only the last to leave the window is judged: the ones before it may have been evicted
// by the decisions that the later ones caused.
MaybeFinding newcomer_is_kept(const UnitView& at) {
  const std::size_t tokens = at.branch().size();
  const std::size_t recent = at.contract.recent_stored();
  if (!at.step.fed() || tokens <= at.contract.sinks + recent) return {};
  const Token token = at.branch()[tokens - 1 - recent];
  const Tokens stored = at.stored();
  if (contains(stored, token)) return {};
  return at.finding(text_of({token}) + ", which left the recent window last, enters the middle",
                    "it is evicted; stored are " + text_of(stored));
}

Judgement newcomer(const History& history, const Contract& contract) {
  if (std::uint64_t{contract.sinks} + contract.recent >= contract.budget) {
    return NotTested{"there is no middle that newcomers could enter", true};
  }
  return each_unit(history, contract, newcomer_is_kept);
}

constexpr auto table = std::to_array<Law>({
    {.id = "resident.no-resurrection",
     .sentence = "A token that is gone, from memory or from sight, never returns.",
     .why = "Eviction is for good: a token that is no longer stored, or that some query of its "
            "branch could not see, must be neither seen by a later query nor stored again. One "
            "that returns shows that memory was not given back, that a mask hides rows at random, "
            "or that a buffer is read beyond its end. After a reset or a truncate tokens count "
            "anew. Caches that only mask declare masks-instead.",
     .seen_in =
         "H2O's mask simulation; efficient-transformers #1235; sglang #31501; VeloxQuant-MLX #463",
     .not_applicable = unless_gone_for_good,
     .check = no_resurrection},
    {.id = "resident.newcomer",
     .sentence = "Claimed admits-newcomers: a token that has just left the recent window is not "
                 "evicted at once.",
     .why = "A policy that claims to admit newcomers never makes one the victim of the decision "
            "that it caused: room for it is made by an older token. Without that a full cache may "
            "keep the same tokens for ever. Judged on the token that left the window last in each "
            "call, "
            "since the ones before it may have made room for it.",
     .seen_in = "VeloxQuant-MLX #137; Keyformer's mask",
     .not_applicable = unless_admitting,
     .check = newcomer},
});

}  // namespace

constinit const Laws return_laws = table;

}  // namespace kv::properties
