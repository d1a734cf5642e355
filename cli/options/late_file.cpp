#include "kvcheck/cli/options/late_file.h"

#include <ostream>

#include "kvcheck/cli/options/output_file.h"

namespace kv::cli {

Result<LateFile> LateFile::open(const std::string& path) {
  LateFile late;
  late.standard_output_ = path == "-";
  if (path.empty() || late.standard_output_) return late;
  if (auto fine = check_output(path); !fine) return fine.error();
  late.path_ = path;
  return late;
}

Result<void> LateFile::write(std::string_view text, Streams& streams) {
  if (standard_output_) streams.out << text;
  return path_.empty() ? Result<void>() : write_output(path_, text);
}

}  // namespace kv::cli
