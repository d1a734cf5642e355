// Setups and contracts as JSON: what the line protocol and the C interface say them in.
#pragma once

#include <string>

#include "kvcheck/base/text/json_at.h"
#include "kvcheck/properties/contract.h"
#include "kvcheck/properties/subject.h"

namespace kv::properties {

// {"layers":1,"kv_heads":1,"group":1,"sequences":1,"sinks":2,"recent":4,"budget":12,"seed":0}
std::string setup_json(const Setup& setup);

// Fields that are left out are those of `defaults`.
Setup read_setup(const JsonAt& at, const Setup& defaults);

// Every field of the contract. PROTOCOL.md lists them.
std::string contract_json(const Contract& contract);

// Fields that are left out are the strictest; sizes and the name, those of the setup.
Contract read_contract(const JsonAt& at, const Setup& setup, const std::string& name);

}  // namespace kv::properties
