#include "kvcheck/properties/battery/contradiction.h"

namespace kv::properties {
namespace {

std::string prompt_contradiction(const Contract& contract) {
  if (contract.compress == Compress::always) {
    if (contract.ratio == 0) return {};
    return "declares a ratio and compress=always; a share of a prompt needs a prompt, as in "
           "compress=prompt+hold";
  }
  const std::string compress = "declares compress=" + std::string(name_of(contract.compress));
  if (contract.budget == 0) {
    return compress + " and no budget; a prompt is compressed to a budget";
  }
  if (contract.visibility != Visibility::causal) {
    return compress + " and another visibility than causal; the queries of a prompt see all of it";
  }
  if (contract.evicts_ahead) {
    return compress + " and evicts-ahead; a prompt is compressed to the whole budget";
  }
  if (contract.grows() && contract.timing != Timing::attend_then_trim) {
    return compress +
           " and another timing than attend-then-trim; nothing is trimmed after the "
           "prompt";
  }
  if (contract.grows() && contract.claims_to_be("constant-size")) {
    return compress +
           " and claims constant-size; a cache that keeps every token after the prompt "
           "grows";
  }
  return {};
}

}  // namespace

std::string contradiction_in(const Contract& contract) {
  if (contract.keeps_fewer && contract.claims_to_be("constant-size")) {
    return "claims constant-size and declares keeps-fewer; a cache that may keep fewer rows than "
           "its budget is not of constant size";
  }
  if (contract.random && contract.claims_to_be("deterministic")) {
    return "claims deterministic and declares random; a cache that draws random numbers is not "
           "deterministic";
  }
  if (contract.claims_to_be("uniform") && contract.claims_to_be("age-geometric")) {
    return "claims uniform and age-geometric; one sample cannot follow both laws";
  }
  if (contract.first_chunk > 0 && contract.first_chunk <= contract.longest_chunk) {
    return "declares a first-chunk that is no longer than its longest-chunk; an empty cache then "
           "takes no more than any other";
  }
  if (contract.first_chunk > 0 && contract.longest_chunk == 0) {
    return "declares a first-chunk and no longest-chunk; without that no chunk is too long";
  }
  if (contract.evicts_ahead && contract.keeps_fewer) {
    return "declares evicts-ahead and keeps-fewer; the first says exactly how many rows are stored";
  }
  if (contract.evicts_ahead && contract.timing != Timing::attend_then_trim) {
    return "declares evicts-ahead and another timing than attend-then-trim; the next token's place "
           "is made at the end of each call, so nothing is trimmed later";
  }
  if (contract.shares_budget() && !contract.budgets.empty()) {
    return "declares mean-budget and a budget for each unit; units that share have none of their "
           "own";
  }
  return prompt_contradiction(contract);
}

}  // namespace kv::properties
