// A law: one property that every subject keeps, or every subject that claims it.
//
// A law is one of three kinds. It judges a history, and is then tried on every case that is run; it
// relates several runs of its own; or it is statistical, and then its findings are never shrunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kvcheck/properties/history.h"
#include "kvcheck/properties/verdict.h"

namespace kv::properties {

// How a law was broken, where, and what was expected.
struct Finding {
  std::string expected;   // "query 5 sees 0 3 4 5"
  std::string seen;       // "it sees 3 4 5"
  std::size_t event = 0;  // index into history.events
  std::size_t unit = 0;   // index into Facts::units
  std::size_t query = 0;  // of the event's chunk

  // For the picture: what the query should have seen, if that is what differs.
  std::optional<std::vector<Token>> should_see{};

  // The run in which it happened, if not the case's own.
  std::optional<History> history{};

  // The subject failed in a run of the case, so that nothing could be judged.
  bool failed = false;
};

// What a law says of one case: nothing (it holds), or how it is broken, or that the case does not
// speak to it.
struct NotTested {
  std::string why;

  // It is the subject's right: it refuses what it never promised, or does not report what it need
  // not. A law that no case speaks to for that reason is not applicable.
  bool of_right = false;
};

using Judgement = std::variant<std::monostate, Finding, NotTested>;

// What a relation says whose setup was refused, or that could not make its case.
inline NotTested untested(const Error& error) {
  return {error.message};
}

// A run after which nothing more can be judged: the subject failed, died or refused the setup.
struct Stop {
  Judgement judgement;

  // Where the subject's process died: how, and the run that killed it.
  std::string death{};
  std::optional<Case> died_of{};
};

// What a relation may run. Runs are counted, and their coverage is the case's.
//
// Once a run has failed, the trial runs nothing more, and its stop is the judgement of the case,
// whatever the relation returns. So a relation need not look at why a run failed; it only returns.
class Trial {
 public:
  Trial(Family& family, const Case& what) : family_(family), case_(what) {}

  [[nodiscard]] const Case& what() const { return case_; }

  [[nodiscard]] Family& family() const { return family_; }

  // Runs another case on a fresh subject of the family.
  Result<History> run(const Case& what);

  // Runs a case on a subject of another family, or with other draws. Its coverage does not count.
  Result<History> run_on(Family& family, const Case& what, const DrawsOf& draws);
  Result<History> run_on(Family& family, const Case& what);

  [[nodiscard]] const Coverage& coverage() const { return coverage_; }

  [[nodiscard]] std::size_t runs() const { return runs_; }

  [[nodiscard]] const std::optional<Stop>& stop() const { return stop_; }

 private:
  Result<History> alive(Result<History> history);

  Family& family_;
  const Case& case_;
  Coverage coverage_;
  std::size_t runs_ = 0;
  std::optional<Stop> stop_;
};

// Judges what happened. The contract is passed apart, so that a finding can be judged again under
// another one.
using JudgeHistory = Judgement (*)(const History& history, const Contract& contract);

// Relates runs. Called for cases of the law's own making (Wants).
using JudgeRelation = Judgement (*)(Trial& trial, const Contract& contract);

// Measures. See statistics/ for what a verdict holds.
using Measure = StatisticalVerdict (*)(Family& family, const Effort& effort);

// What the generator puts into the cases of a relation.
struct Wants {
  bool forks = false;
  bool truncates = false;
  bool resets = false;
  bool reorders = false;
  bool shifts = false;
  bool snapshots = false;
  bool several_layers = false;
  bool several_heads = false;
  bool several_sequences = false;
};

// What must have happened in some run, else the law counts as not run.
struct MustSee {
  bool eviction = true;
  bool wide_chunk = false;
  bool wrap = false;
};

// Why something is not so; nothing: it is.
using WhyNot = std::optional<std::string>;

struct Law {
  std::string_view id;        // "sinks.visible"
  std::string_view sentence;  // one line
  std::string_view why;       // what it means and why it matters
  std::string_view seen_in;   // where it was broken in the wild, project and thread
  Wants wants{};
  MustSee must_see{};

  // Why the law does not apply under a contract, if it does not. Null: it applies under every one.
  WhyNot (*not_applicable)(const Contract& contract) = nullptr;

  std::variant<JudgeHistory, JudgeRelation, Measure> check;

  [[nodiscard]] WhyNot why_not(const Contract& contract) const {
    return not_applicable == nullptr ? WhyNot() : not_applicable(contract);
  }
};

// Every law, in the order of --list.
std::span<const Law> laws();

const Law* find_law(std::string_view id);

}  // namespace kv::properties
