// Whether a law applies to a contract, and whether what it must see was seen.
#pragma once

#include <string>

#include "kvcheck/properties/law.h"

namespace kv::properties {

// Why the law does not apply, by itself or because what it must see cannot happen.
WhyNot why_not_applicable(const Law& law, const Contract& contract);

// What the law must see and never saw: "an eviction, nor a chunk wider than the window"; empty if
// it saw all. Where chunks wider than the window are refused, the law is judged by those that are
// taken.
std::string never_seen(const MustSee& must, const Coverage& seen, const Contract& contract);

}  // namespace kv::properties
