#include <algorithm>
#include <map>
#include <tuple>

#include "kvcheck/properties/laws/judging/cost_detail.h"
#include "kvcheck/properties/laws/judging/judge.h"

namespace kv::properties {
namespace {

// Tokens copied beside trims: into the buffer, and when the buffer grows.
constexpr std::uint64_t copies_per_token = 4;

std::optional<std::string> unless_lazy(const Contract& contract) {
  if (contract.timing != Timing::lazy) return "timing is not lazy: a trim may come with every call";
  if (contract.budget == 0) return "no budget is declared: nothing is ever evicted";
  return std::nullopt;
}

std::optional<std::string> unless_unpaged(const Contract& contract) {
  if (contract.page > 1) return "pages are declared: their slack is not told";
  return std::nullopt;
}

std::optional<std::string> unless_bounded(const Contract& contract) {
  if (contract.budget == 0) return "no budget is declared: nothing is ever evicted";
  return std::nullopt;
}

// Where trims are rare enough to be told from copies at every token; one unit shows it.
Setup roomy(const Trial& trial, const Contract& contract) {
  Setup setup = trial.what().setup;
  if (!trial.family().takes_sizes()) return setup;
  setup.layers = setup.kv_heads = setup.group = setup.sequences = 1;
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
  History history = trial.run(one_by_one(setup, trial.what().stream, tokens));
  const std::uint64_t most =
      budget * (tokens / (std::uint64_t{requested.slack} + 1) + 1) + copies_per_token * tokens;
  bool reported = false;
  Judgement judgement = each_unit(
      history,
      [&](const Step& step, std::size_t unit, const UnitFacts& facts) -> std::optional<Finding> {
        reported |= facts.moved.has_value();
        if (!facts.moved || *facts.moved <= most) return std::nullopt;
        return finding_at(step, unit,
                          "at most " + rows_text(most) + " moved for " + std::to_string(tokens) +
                              " tokens: a trim of " + std::to_string(budget) + " for every " +
                              std::to_string(requested.slack + 1),
                          rows_text(*facts.moved) + " after " +
                              std::to_string(step.event->branch.size()) + " tokens");
      });
  if (!reported) return NotTested{"the subject does not tell what it moves", true};
  if (auto* finding = std::get_if<Finding>(&judgement)) finding->history = std::move(history);
  return judgement;
}

// What bytes may depend on: rows held, those in full precision, and the most held so far.
using Held = std::tuple<std::size_t, std::size_t, std::size_t>;

struct Ledger {
  std::size_t most = 0;
  std::map<Held, std::uint64_t> bytes;
};

std::optional<Finding> book(const Step& step,
                            std::size_t unit,
                            const UnitFacts& facts,
                            Ledger& ledger) {
  const std::size_t rows = facts.stored.size();
  const auto full = static_cast<std::size_t>(
      std::ranges::count_if(facts.stored, [](const Row& row) { return row.full_precision; }));
  ledger.most = std::max({ledger.most, rows, facts.returned.size()});
  const std::uint64_t bytes = *facts.bytes;
  if (rows > 0 && bytes == 0) {
    return finding_at(step, unit, rows_text(rows) + " occupy some bytes", "0 bytes are told");
  }
  const auto [known, fresh] = ledger.bytes.emplace(Held{rows, full, ledger.most}, bytes);
  if (!fresh && known->second != bytes) {
    return finding_at(step, unit,
                      rows_text(rows) + " occupy the " + std::to_string(known->second) +
                          " bytes that as many occupied before",
                      std::to_string(bytes) + " bytes are told after " +
                          std::to_string(step.event->branch.size()) + " tokens");
  }
  for (const auto& [held, other] : ledger.bytes) {
    const auto& [fewer, fewer_full, peak] = held;
    if (peak != ledger.most || fewer >= rows || fewer_full > full || other <= bytes) continue;
    return finding_at(step, unit,
                      rows_text(rows) + " occupy no less than the " + std::to_string(other) +
                          " bytes of " + rows_text(fewer),
                      std::to_string(bytes) + " bytes are told");
  }
  return std::nullopt;
}

Judgement bytes(const History& history, const Contract&) {
  std::vector<Ledger> ledgers(history.units());
  bool reported = false;
  for (const Step& step : steps_of(history)) {
    // Copies and rebuilt buffers may be of another capacity.
    if (!step.fed()) break;
    const auto& units = step.event->facts.units;
    for (std::size_t unit = 0; unit < std::min(units.size(), ledgers.size()); ++unit) {
      if (!units[unit].bytes) continue;
      reported = true;
      if (auto finding = book(step, unit, units[unit], ledgers[unit])) return *std::move(finding);
    }
  }
  if (!reported) return NotTested{"the subject tells no bytes", true};
  return {};
}

std::optional<Finding> starved(const History& history, const Contract& contract) {
  if (contract.budget == 0) return std::nullopt;
  if (std::uint64_t{contract.sinks} + contract.recent > contract.budget) {
    Finding finding;
    finding.expected = "a budget of " + std::to_string(contract.budget) + " with " +
                       std::to_string(contract.sinks) + " sinks and " +
                       std::to_string(contract.recent) + " recent tokens protected is refused";
    finding.seen = "it is accepted";
    return finding;
  }
  for (const Step& step : steps_of(history)) {
    const std::uint64_t most = contract.most_stored(step.event->branch.size(), step.chunk);
    for (std::size_t unit = 0; unit < step.event->facts.units.size(); ++unit) {
      const std::size_t rows = step.event->facts.units[unit].stored.size();
      if (rows <= most) continue;
      return finding_at(step, unit,
                        "somebody leaves, however many are protected: at most " + rows_text(most) +
                            " of a budget of " + std::to_string(contract.budget) + " (" +
                            std::to_string(contract.sinks) + " sinks, " +
                            std::to_string(contract.recent) + " recent)",
                        rows_text(rows) + " are stored");
    }
  }
  return std::nullopt;
}

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
    if (!made || made->budget == 0) continue;
    Contract contract = requested;
    contract.sinks = made->sinks;
    contract.recent = made->recent;
    contract.budget = made->budget;
    contract.largest_budget = made->largest_budget;
    contract.pinned_first_page |= made->pinned_first_page;  // with sinks there may be such a page
    const std::uint32_t most = contract.longest_chunk == 0 ? 1U << 20U : contract.longest_chunk;
    std::vector<std::uint32_t> chunks(contract.budget, 1);
    const std::uint32_t slack = contract.timing == Timing::lazy ? contract.slack : 0;
    for (std::uint32_t left = slack; left > 0; left -= chunks.back()) {
      chunks.push_back(std::min(left, most));
    }
    for (const std::uint32_t chunk : {contract.budget + 1, 1U, 1U, 2U, contract.budget, 1U}) {
      chunks.push_back(std::min(chunk, most));
    }
    History history = trial.run(feeding(setup, trial.what().stream, chunks));
    any = true;
    if (auto finding = starved(history, contract)) {
      finding->history = std::move(history);
      return *std::move(finding);
    }
  }
  if (!any) return NotTested{"every tight setup is refused", true};
  return {};
}

Law amortised_law() {
  return {.id = "size.amortised",
          .sentence = "A lazy cache moves rows once per slack, not with every token.",
          .why =
              "Slack is memory spent so that trims are rare: one trim moves up to a budget of rows "
              "and then nothing moves until the slack is used up. A cache that copies all its rows "
              "with every token pays for the slack and gains nothing. Rows moved are told by the "
              "subject; the law is silent where they are not. Up to four copies a token are "
              "allowed for taking tokens in and growing buffers.",
          .seen_in = "seed 002, bug 3; streaming-llm (fresh tensors at every step)",
          .wants = {},
          .must_see = {},
          .not_applicable = unless_lazy,
          .check = &amortised};
}

Law bytes_law() {
  return {.id = "size.bytes",
          .sentence = "Bytes follow rows: as many rows occupy as many bytes, and more no fewer.",
          .why =
              "A cache sells a saving of memory, so the bytes that it tells must follow what it "
              "holds. As long as neither the rows held nor the most rows ever held change, the "
              "bytes must not either: a count that grows with the stream forgot the evicted rows, "
              "one that sticks at nothing never counted. Buffers that keep the capacity of their "
              "widest moment are allowed for. The law is silent where no bytes are told.",
          .seen_in = "VeloxQuant-MLX #378; kvpress #7; AdaKV #4",
          .wants = {},
          .must_see = {},
          .not_applicable = unless_unpaged,
          .check = &bytes};
}

Law liveness_law() {
  return {
      .id = "size.liveness",
      .sentence = "Whatever is protected, somebody can leave; sizes that forbid it are refused.",
      .why =
          "When sinks and recent tokens fill the whole budget, a search for a victim among the "
          "others comes back empty, and caches then grow in silence, evict nobody, or stop. "
          "Setups in which protection takes all of the budget or more are tried: each must be "
          "refused when it is made, or hold its bound after every call all the same. Nothing else "
          "may give way: neither the bound nor the protection.",
      .seen_in = "FlexKV #271; VeloxQuant-MLX h2o; sglang #22470; LOOK-M #4",
      .wants = {},
      .must_see = {},
      .not_applicable = unless_bounded,
      .check = &liveness};
}

}  // namespace

std::vector<Law> cost_laws() {
  return {amortised_law(), bytes_law(), liveness_law()};
}

}  // namespace kv::properties
