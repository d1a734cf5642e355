// Subjects of any program that speaks the line protocol (PROTOCOL.md).
#pragma once

#include <memory>
#include <string>

#include "kvcheck/properties/remote/remote_family.h"

namespace kv::properties {

// Runs `command` by the shell. An error if the program does not say hello.
Result<std::unique_ptr<Family>> make_process_family(const std::string& command,
                                                    const RemoteOptions& options = {});

}  // namespace kv::properties
