#include "kvcheck/tests/faults/fault.h"

#include <fstream>

#include "kvcheck/tests/faults/library/counts.h"
#include "kvcheck/tests/paths.h"

namespace kv::test {

bool can_let_calls_fail() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return false;
#else
  return true;
#endif
#else
  return true;
#endif
}

Ran run_with(const Fault& fault, const std::string& arguments, const std::string& folder) {
  const TemporaryFolder own;
  const std::string counts = own / "counts";
  std::ofstream(counts, std::ios::binary) << std::string(sizeof(faults::Counts), '\0');
  return run_shell("cd '" + folder + "'; KV_FAULT_CALL=" + fault.call + " KV_FAULT_AT=" +
                   std::to_string(fault.at) + " KV_FAULT_ERRNO=" + std::to_string(fault.error) +
                   (fault.lasts ? " KV_FAULT_FROM=1" : "") + " KV_FAULT_COUNTS='" + counts + "' " +
                   with_library() + " $K " + arguments);
}

std::string with_library() {
  return "LD_PRELOAD='" KVCHECK_FAULTS "'";
}

}  // namespace kv::test
