#include "kvcheck/properties/remote/process_family.h"

namespace kv::properties {

Result<std::unique_ptr<Family>> make_process_family(const std::string& command,
                                                    const RemoteOptions& options) {
  return make_remote_family([command] { return Child::run_command(command); }, options);
}

}  // namespace kv::properties
