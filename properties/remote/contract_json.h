// Setups and contracts as JSON: what the line protocol and the C interface say them in.
#pragma once

#include <string>

#include "kvcheck/base/text/json_at.h"
#include "kvcheck/properties/contract.h"
#include "kvcheck/properties/subject.h"

namespace kv::properties {

// The largest size in a setup or a contract.
inline constexpr std::int64_t most_size = 0xffffffff;

// Sets `value` to a size that the object has; leaves it if there is none.
void set_size(const JsonAt& at, std::string_view name, std::uint32_t& value);

// {"layers":1,"kv_heads":1,"group":1,"sequences":1,"sinks":2,"recent":4,"budget":12,"seed":0}
std::string setup_json(const Setup& setup);

// Fields that are left out are those of `defaults`.
Setup read_setup(const JsonAt& at, const Setup& defaults);

// Every field of the contract. PROTOCOL.md lists them.
std::string contract_json(const Contract& contract);

// Fields that are left out are the strictest; sizes and the name, those of the setup.
Contract read_contract(const JsonAt& at, const Setup& setup, const std::string& name);

}  // namespace kv::properties
