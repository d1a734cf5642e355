#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/laws/judging/law_groups.h"

namespace kv::properties {
namespace {

// Copies beside trims: of each token into the buffer, and of all rows whenever the buffer grows.
constexpr std::uint64_t copies_per_token = 4;

WhyNot unless_lazy(const Contract& contract) {
  if (contract.timing != Timing::lazy) return "timing is not lazy: a trim may come with every call";
  return unless_bounded(contract);
}

WhyNot unless_unpaged(const Contract& contract) {
  if (contract.page > 1) return "pages are declared: their slack is not reported";
  return {};
}

// A setup in which trims are rare enough to differ clearly from copies at every token. One unit
// shows it; more would only multiply the work.
Setup roomy(const Trial& trial, const Contract& contract) {
  Setup setup = trial.what().setup;
  if (!trial.family().takes_sizes()) return setup;
  setup.layers = setup.kv_heads = setup.group = setup.sequences = 1;
  // Beyond 512 a larger budget shows nothing more and only multiplies the work.
  setup.budget = std::max(64U, std::min(4 * contract.slack, 512U));
  setup.sinks = std::min(setup.sinks, setup.budget / 4);
  setup.recent = setup.budget / 2;
  return setup;
}

Judgement amortised(Trial& trial, const Contract& requested) {
  const Setup setup = roomy(trial, requested);
  const auto contract = trial.family().contract(setup);
  if (!contract) return NotTested{contract.error().message};
  const std::uint64_t budget = contract->budget;
  const std::uint64_t tokens = 3 * (budget + contract->slack);
  auto history = trial.run(one_by_one(setup, trial.what().stream, tokens));
  if (!history) return untested(history.error());
  // One trim of a budget of rows for every slack + 1 tokens, and one more for the first fill.
  const std::uint64_t most =
      budget * (tokens / (std::uint64_t{requested.slack} + 1) + 1) + copies_per_token * tokens;
  bool reported = false;
  Judgement judgement = each_unit(*history, requested, [&](const UnitView& at) -> MaybeFinding {
    reported |= at.facts.moved.has_value();
    if (!at.facts.moved || *at.facts.moved <= most) return {};
    return at.finding(phrase("at most ", rows_text(most), " moved for ", tokens,
                             " tokens: a trim of ", budget, " for every ", requested.slack + 1),
                      rows_text(*at.facts.moved) + at.after_text());
  });
  return unless_silent(in_run(*history, std::move(judgement)), reported,
                       {"the subject does not tell what it moves", true});
}

// What bytes may legally depend on: rows held, those in full precision, and the most held so far.
using Held = std::tuple<std::size_t, std::size_t, std::size_t>;

struct Ledger {
  std::size_t most = 0;
  std::map<Held, std::uint64_t> bytes;
};

MaybeFinding book(const UnitView& at, Ledger& ledger) {
  const UnitFacts& facts = at.facts;
  const std::size_t rows = facts.stored.size();
  const auto full = static_cast<std::size_t>(
      std::ranges::count_if(facts.stored, [](const Row& row) { return row.full_precision; }));
  ledger.most = std::max({ledger.most, rows, facts.returned.size()});
  const std::uint64_t bytes = *facts.bytes;
  const std::string reported = std::to_string(bytes) + " bytes are reported";
  // A count of 0 agrees with itself at all times, so it is judged apart.
  if (rows > 0 && bytes == 0) return at.finding(rows_text(rows) + " occupy some bytes", reported);
  const auto [known, fresh] = ledger.bytes.emplace(Held{rows, full, ledger.most}, bytes);
  if (!fresh && known->second != bytes) {
    return at.finding(phrase(rows_text(rows), " occupy the ", known->second,
                             " bytes that as many occupied before"),
                      reported + at.after_text());
  }
  // More rows in the same buffer cannot take less room than fewer did.
  for (const auto& [held, other] : ledger.bytes) {
    const auto& [fewer, fewer_full, peak] = held;
    if (peak != ledger.most || fewer >= rows || fewer_full > full || other <= bytes) continue;
    return at.finding(
        phrase(rows_text(rows), " occupy no less than the ", other, " bytes of ", rows_text(fewer)),
        reported);
  }
  return {};
}

// Stops at the first call that is no feed: copies and rebuilt buffers may be of another capacity.
Judgement bytes(const History& history, const Contract& contract) {
  std::vector<Ledger> ledgers(history.units());
  bool reported = false;
  const auto borrowed = [&](const UnitView& at) -> MaybeFinding {
    if (*at.facts.bytes == 0) return {};
    return at.finding(
        phrase("a layer that attends to the rows of layer ",
               contract.owner_of(history.place_of(at.unit).layer), " occupies nothing of its own"),
        phrase(*at.facts.bytes, " bytes are reported") + at.after_text());
  };
  for (const Step& step : steps_of(history)) {
    if (!step.fed()) break;
    const auto& units = step.event->facts.units;
    for (std::size_t unit = 0; unit < std::min(units.size(), ledgers.size()); ++unit) {
      if (!units[unit].bytes) continue;
      reported = true;
      const UnitView at{history, contract, step, unit, units[unit]};
      const bool owns = contract.owns_rows(history.place_of(unit).layer);
      auto finding = owns ? book(at, ledgers[unit]) : borrowed(at);
      if (finding) return *std::move(finding);
    }
  }
  if (!reported) return NotTested{"the subject tells no bytes", true};
  return {};
}

MaybeFinding starved(const History& history, const Contract& contract) {
  if (contract.budget == 0) return {};
  if (std::uint64_t{contract.sinks} + contract.recent > contract.budget) {
    return Finding{
        .expected = phrase("a budget of ", contract.budget, " with ", contract.sinks, " sinks and ",
                           contract.recent, " recent tokens protected is refused"),
        .seen = "it is accepted"};
  }
  for (const Step& step : steps_of(history)) {
    const Contract now = contract.at(step.after());
    const std::uint64_t most = now.most_stored(step.event->branch.size(), step.chunk);
    for (std::size_t unit = 0; unit < step.event->facts.units.size(); ++unit) {
      const std::size_t rows = step.event->facts.units[unit].stored.size();
      if (rows <= most) continue;
      return finding_at(step, unit,
                        phrase("some token is evicted, however many are protected: at most ",
                               rows_text(most), " of a budget of ", contract.budget, " (",
                               contract.sinks, " sinks, ", contract.recent, " recent)"),
                        rows_text(rows) + " are stored");
    }
  }
  return {};
}

// Protection that leaves one row, none, or less than none: the edges at which a search for a victim
// among the others comes back empty.
std::vector<Setup> tight_setups(const Trial& trial) {
  const Setup& own = trial.what().setup;
  if (!trial.family().takes_sizes()) return {own};
  const std::uint32_t budget = std::max(own.budget, 2U);
  std::vector<Setup> setups;
  for (const auto& [sinks, recent] :
       {std::pair{budget - 1, 1U}, std::pair{budget, 0U}, std::pair{0U, budget},
        std::pair{1U, budget - 1}, std::pair{budget, budget}, std::pair{budget - 1, 2U},
        std::pair{budget + 1, 0U}, std::pair{0U, 1U}}) {
    Setup setup = own;
    setup.sinks = sinks;
    setup.recent = recent;
    setup.budget = budget;
    setups.push_back(setup);
  }
  return setups;
}

Judgement liveness(Trial& trial, const Contract& requested) {
  bool any = false;
  for (const Setup& setup : tight_setups(trial)) {
    const auto made = trial.family().contract(setup);
    // A refusal is what the law asks for where protection leaves no room.
    if (!made || made->budget == 0) continue;
    // Only the sizes are this setup's: the law judges by what it was asked to judge by.
    Contract contract = requested;
    contract.sinks = made->sinks;
    contract.recent = made->recent;
    contract.budget = made->budget;
    contract.largest_budget = made->largest_budget;
    contract.budgets = made->budgets;
    contract.pinned_first_page |= made->pinned_first_page;  // with sinks there may be such a page
    const std::uint32_t most = contract.longest_chunk == 0 ? 1U << 20U : contract.longest_chunk;
    // Fill the budget, use up the slack, and then feed what must evict at once. A cache that grows
    // after its prompt evicts at the prompt's end alone.
    std::vector<std::uint32_t> chunks(contract.budget, 1);
    if (contract.grows()) {
      const std::uint32_t longest = contract.first_chunk > 0 ? contract.first_chunk : most;
      chunks.assign(1, std::min(2 * contract.budget + 1, longest));
    }
    const std::uint32_t slack = contract.timing == Timing::lazy ? contract.slack : 0;
    for (std::uint32_t left = slack; left > 0; left -= chunks.back()) {
      chunks.push_back(std::min(left, most));
    }
    for (const std::uint32_t chunk : {contract.budget + 1, 1U, 1U, 2U, contract.budget, 1U}) {
      chunks.push_back(std::min(chunk, most));
    }
    auto history = trial.run(feeding(setup, trial.what().stream, chunks));
    if (!history) return untested(history.error());
    any = true;
    if (auto finding = starved(*history, contract)) return in_run(*history, *std::move(finding));
  }
  if (!any) return NotTested{"every tight setup is refused", true};
  return {};
}

constexpr auto table = std::to_array<Law>({
    {.id = "size.amortised",
     .sentence = "A lazy cache moves rows once per slack, not with every token.",
     .why = "Slack is memory spent so that trims are rare: one trim moves up to a budget of rows "
            "and then nothing moves until the slack is used up. A cache that copies all its rows "
            "with every token pays for the slack and gains nothing. Rows moved are reported by the "
            "subject; the law is silent where they are not. Up to four copies a token are allowed "
            "for taking tokens in and growing buffers.",
     .seen_in = "seed 002, bug 3; streaming-llm (fresh tensors at every step)",
     .not_applicable = unless_lazy,
     .check = amortised},
    {.id = "size.bytes",
     .sentence = "Bytes follow rows: as many rows occupy as many bytes, and more no fewer.",
     .why = "A cache sells a saving of memory, so the bytes that it reports must follow what it "
            "holds. As long as neither the rows held nor the most rows ever held change, the bytes "
            "must not either: a count that grows with the stream forgot the evicted rows, one that "
            "sticks at nothing never counted. Buffers that keep the capacity of their widest "
            "moment are allowed for. The law is silent where no bytes are reported.",
     .seen_in = "VeloxQuant-MLX #378; kvpress #7; AdaKV #4",
     .not_applicable = unless_unpaged,
     .check = bytes},
    {.id = "size.liveness",
     .sentence =
         "However many tokens are protected, some token can be evicted; sizes that forbid it "
         "are refused.",
     .why = "When sinks and recent tokens fill the whole budget, a search for a victim among the "
            "others comes back empty, and caches then grow in silence, evict no token, or stop. "
            "Setups in which protection takes all of the budget or more are tried: each must be "
            "refused when it is made, or hold its bound after every call all the same. Nothing "
            "else may give way: neither the bound nor the protection.",
     .seen_in = "FlexKV #271; VeloxQuant-MLX h2o; sglang #22470; LOOK-M #4",
     .not_applicable = unless_bounded,
     .check = liveness},
});

}  // namespace

constinit const Laws cost_laws = table;

}  // namespace kv::properties
