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

// Whether a layer and the one whose rows it attends to have budgets of their own.
bool owner_differs(const Contract& contract) {
  const std::size_t layers = contract.rows_from.size();
  if (layers == 0 || contract.budgets.size() % layers != 0) return false;
  const std::size_t in_layer = contract.budgets.size() / layers;
  for (std::size_t i = 0; i < contract.budgets.size(); ++i) {
    const std::size_t owner = contract.rows_from[i / in_layer] * in_layer + i % in_layer;
    if (contract.budgets[i] != contract.budgets[owner]) return true;
  }
  return false;
}

std::string owner_contradiction(const Contract& contract) {
  if (!contract.shares_rows()) return {};
  if (const std::string wrong = wrong_owners(contract.rows_from); !wrong.empty()) {
    return "declares rows-from, which " + wrong;
  }
  if (contract.visibility == Visibility::top_pages) {
    return "declares rows-from and visibility=top-pages; queries that select pages of another "
           "layer's rows are not known here";
  }
  if (owner_differs(contract)) {
    return "declares another budget for a layer than for the one whose rows it attends to; one "
           "set of rows has one budget";
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
  if (std::string wrong = owner_contradiction(contract); !wrong.empty()) return wrong;
  return prompt_contradiction(contract);
}

}  // namespace kv::properties
