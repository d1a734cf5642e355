#include "kvcheck/cli/options/late_file.h"

#include <ostream>

namespace kv::cli {

Result<LateFile> LateFile::open(const std::string& path) {
  LateFile late;
  late.standard_output_ = path == "-";
  if (path.empty() || late.standard_output_) return late;
  auto file = AtomicFile::create(path);
  if (!file) return file.error();
  late.file_ = std::make_unique<AtomicFile>(*std::move(file));
  return late;
}

Result<void> LateFile::write(std::string_view text, Streams& streams) {
  if (standard_output_) streams.out << text;
  if (!file_) return {};
  if (auto done = file_->write(text); !done) return done;
  return file_->commit();
}

}  // namespace kv::cli
