// Uses a header of every layer up to sim/, links them, and prints what the test expects.
#include <iostream>

#include "base/error.h"
#include "kvcheck/base/random/rng.h"
#include "kvcheck/base/version.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/traces/trace.h"
#include "model/model.h"
#include "sim/sim.h"

int main() {
  std::cout << "version " << kv::version << "\n"
            << "policies " << kv::policy_registry().size() << "\n"
            << "draw " << kv::Rng(1).below(1000, 2) << "\n"
            << "top-k " << kv::ReplayOptions().top_k << "\n"
            << "trace " << (kv::open_trace("/no/such/file").has_value() ? "there" : "missing")
            << "\n"
            << "own " << consumer::error + consumer::model + consumer::sim << "\n";
}
