#include "kvcheck/cli/options/result_outputs.h"

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "kvcheck/cli/options/output_file.h"

namespace kv::cli {
namespace {

struct NamedPath {
  std::string_view option;
  const std::string& path;
};

// weakly_canonical does not make a relative path absolute if nothing exists there, so the path is
// made absolute first. If a folder cannot be read, the path itself is used.
std::filesystem::path full_path(const std::string& path) {
  std::error_code status;
  const std::filesystem::path absolute = std::filesystem::absolute(path, status);
  if (status) return path;
  std::filesystem::path full = std::filesystem::weakly_canonical(absolute, status);
  return status ? absolute : full;
}

bool same_file(const std::string& a, const std::string& b) {
  if (a == b) return true;
  std::error_code status;
  if (std::filesystem::equivalent(a, b, status)) return true;
  return full_path(a) == full_path(b);
}

Result<void> check_against_inputs(const NamedPath& output, std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    if (same_file(output.path, input)) {
      return usage_error(std::string(output.option) + " '" + output.path +
                         "' would overwrite the input '" + input + "'");
    }
  }
  return {};
}

// Paths that cannot hold a database. They are checked here because SQLite would say only that it
// cannot open the file.
Result<void> check_results_path(const std::string& path) {
  std::error_code status;
  const std::filesystem::file_status found = std::filesystem::status(path, status);
  if (!std::filesystem::exists(found) || std::filesystem::is_regular_file(found)) return {};
  const bool folder = std::filesystem::is_directory(found);
  return io_error("cannot write '" + path + "': it is " +
                  (folder ? "a directory" : "not a regular file"));
}

}  // namespace

Result<void> check_outputs(const Outputs& outputs, std::span<const std::string> inputs) {
  const std::array<NamedPath, 4> all = {{{"-o", outputs.results},
                                         {"--json", outputs.json},
                                         {"--csv", outputs.csv},
                                         {"--markdown", outputs.markdown}}};
  if (outputs.results == "-") {
    return usage_error("-o is a database and cannot go to standard output; use --json -");
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].path.empty()) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (!all[j].path.empty() && same_file(all[i].path, all[j].path)) {
        return usage_error(std::string(all[j].option) + " and " + std::string(all[i].option) +
                           " both name '" + all[i].path + "'");
      }
    }
    if (all[i].path == "-") continue;
    if (Result<void> apart = check_against_inputs(all[i], inputs); !apart) return apart;
    if (i == 0) {
      if (Result<void> fine = check_results_path(outputs.results); !fine) return fine;
      continue;
    }
    if (Result<void> fine = check_output(all[i].path); !fine) return fine;
  }
  return {};
}

}  // namespace kv::cli
