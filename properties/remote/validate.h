// Holds a program to the line protocol before any law is tried: every message against the
// specification, fields that it does not know included.
#pragma once

#include <string>
#include <vector>

#include "kvcheck/properties/remote/remote_family.h"

namespace kv::properties {

struct Validation {
  struct Step {
    std::string asked;    // in words: "a run of 6 calls"
    std::string request;  // the line sent
    std::string wrong;    // what is wrong with the answer; empty: nothing
  };

  std::vector<Step> steps;

  [[nodiscard]] bool passed() const;
};

// Starts the program and says hello, asks for contracts, and runs cases with every kind of call,
// each in a process of its own if the one before died. An error if it cannot be started.
Result<Validation> validate_process(const std::string& command, const RemoteOptions& options = {});

}  // namespace kv::properties
