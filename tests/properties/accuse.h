// Tries laws on one case of a family and says in words which are broken.
#pragma once

#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "kvcheck/properties/law.h"
#include "kvcheck/properties/laws/judging/law_groups.h"

namespace kv::properties {

inline std::vector<Law> laws_on_rows() {
  std::vector<Law> all;
  for (const auto group :
       {size_laws, visibility_laws, resident_laws, chunking_laws, reference_laws}) {
    for (const Law& law : group) all.push_back(law);
  }
  return all;
}

inline std::string words_of(const Finding& finding) {
  return "expected: " + finding.expected + "; seen: " + finding.seen;
}

// What one law says of a case: the finding in words, "" where it holds, "(...)" where it is not
// tested.
inline std::string judge_case(const Law& law, Family& family, const Case& what) {
  const auto contract = family.contract(what.setup);
  if (!contract) return "(refused: " + contract.error().message + ")";
  if (const auto why = law.why_not(*contract)) return "(not applicable: " + *why + ")";
  Judgement judgement;
  if (const auto* judge = std::get_if<JudgeHistory>(&law.check)) {
    const auto history = run_case(family, what);
    if (!history->failure.empty()) return "failed: " + history->failure;
    judgement = (*judge)(*history, history->contract);
  } else {
    Trial trial(family, what);
    judgement = std::get<JudgeRelation>(law.check)(trial, *contract);
    if (trial.stop()) judgement = trial.stop()->judgement;
  }
  if (const auto* finding = std::get_if<Finding>(&judgement)) return words_of(*finding);
  if (const auto* why = std::get_if<NotTested>(&judgement)) return "(not tested: " + why->why + ")";
  return "";
}

inline bool is_finding(const std::string& words) {
  return !words.empty() && words.front() != '(';
}

}  // namespace kv::properties
