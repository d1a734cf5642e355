#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/support/trace_checks.h"
#include "kvcheck/fuzz/targets/targets.h"

namespace kv::fuzz {

bool npz(Input input) {
  const Result<Trace> opened = open_trace(scratch_file("dump.npz", text_of(input)));
  if (!opened) return refused(opened.error());
  try_trace(*opened);
  return true;
}

}  // namespace kv::fuzz
