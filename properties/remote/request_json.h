// What the host asks of a subject's process: one line each. PROTOCOL.md is the specification.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kvcheck/properties/case.h"

namespace kv::properties {

inline constexpr int protocol_version = 1;

// An object with its number in front: of a request that has one, and of its answer.
std::string numbered(std::string_view object, std::int64_t number);

std::string hello_request();
std::string contract_request(const Setup& setup);

// A call with all that it needs: `branch` is what was fed on its branch and still counts, and the
// logits of what a feed takes in are written if they are asked for.
struct Asked {
  Call call;
  std::vector<Token> fed{};  // by this call
  std::vector<Token> branch;
};

struct RunRequest {
  const Setup& setup;
  const Stream& stream;
  bool first = true;     // begins a case, else continues it
  bool own_seed = true;  // draws come of the setup's seed, else they are asked for one by one
};

// `calls` are call_json's texts, joined by commas.
std::string run_request(const RunRequest& request, std::string_view calls);

// With logits, those of what the call feeds are written too.
std::string call_json(const RunRequest& request, const Asked& asked, bool logits);

// Asks what is stored, and changes nothing.
std::string look_json(std::uint32_t branch);

// The stream's fields, from which a server written with this library makes the logits itself.
std::string stream_json(const Stream& stream);

}  // namespace kv::properties
