// Whether a contract promises and excludes the same.
#pragma once

#include <string>

#include "kvcheck/properties/contract.h"

namespace kv::properties {

// What in the contract excludes something else in it, after the subject's name: "claims ... and
// declares ...; why both cannot be". Empty: nothing.
std::string contradiction_in(const Contract& contract);

}  // namespace kv::properties
