// One cache of a plugin, in the process that loaded it.
#pragma once

#include <memory>

#include "kvcheck/properties/contract.h"
#include "kvcheck/properties/remote/plugin.h"
#include "kvcheck/properties/subject.h"

namespace kv::properties {

// The plugin must stay loaded as long as the subject lives.
std::unique_ptr<Subject> make_plugin_subject(const kvp_plugin& plugin,
                                             const Setup& setup,
                                             const Contract& contract,
                                             const DrawsOf& draws);

kvp_setup setup_for(const Setup& setup);

}  // namespace kv::properties
