// A family of subjects: one cache implementation, made for any setup.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/properties/contract.h"
#include "kvcheck/properties/subject.h"

namespace kv::properties {

struct Case;
struct History;

class Family {
 public:
  Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  virtual ~Family() = default;

  [[nodiscard]] virtual std::string name() const = 0;

  // What a subject of this setup declares, or why there can be none (refused sizes are legal).
  [[nodiscard]] virtual Result<Contract> contract(const Setup& setup) const = 0;

  // A fresh subject. Requires contract(setup) to have succeeded. `draws` serve what it leaves to
  // chance, and may be kept for as long as the subject lives; one that cannot use them must take
  // its chance from setup.seed.
  [[nodiscard]] virtual std::unique_ptr<Subject> make(const Setup& setup, const DrawsOf& draws) = 0;

  // Whether the subject leaves its chance to the draws it is given: then tiny cases are enumerated
  // exactly instead of sampled.
  [[nodiscard]] virtual bool uses_draws() const { return false; }

  // The sizes that the user asked about: laws try these beside the small ones of their own.
  [[nodiscard]] virtual Setup requested() const = 0;

  // Whether sizes other than the requested ones can be made.
  [[nodiscard]] virtual bool takes_sizes() const { return true; }

  // Runs a whole case, where that is cheaper than call by call (a process that answers in batches):
  // fills in history's events and failure, `history.what` and `history.contract` being set. `draws`
  // null: those of the case's own seed. False: call it call by call.
  virtual bool run_whole(const Case& what, const DrawsOf* draws, History& history);

  // Whether a call may crash or hang the caller's process; no for what runs in a child.
  [[nodiscard]] virtual bool in_process() const { return true; }
};

// A contract of the strictest reading with the setup's sizes.
Contract strictest(const std::string& name, const Setup& setup);

// The draws of an ordinary run: counter-based, keyed by the seed and the unit.
DrawsOf counter_draws(std::uint64_t seed);

}  // namespace kv::properties
