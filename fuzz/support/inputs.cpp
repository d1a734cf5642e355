#include "kvcheck/fuzz/support/inputs.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "kvcheck/base/check.h"

namespace kv::fuzz {
namespace {

namespace fs = std::filesystem;

// A folder for all files of this process. The child processes that some targets start end without
// destructors, so only the process that made the folder removes it.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "kvcheck-fuzz-XXXXXX").string();
    KV_CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }

  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

std::string_view text_of(std::span<const std::byte> input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

std::vector<std::string_view> parts_of(std::span<const std::byte> input, std::size_t count) {
  std::string_view rest = text_of(input);
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < count) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    parts.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  parts.push_back(rest);
  return parts;
}

std::string scratch_path(const std::string& name) {
  static const Folder folder;
  const fs::path path = folder.path() / name;
  if (name.find('/') != std::string::npos) fs::create_directories(path.parent_path());
  return path.string();
}

std::string scratch_file(const std::string& name, std::string_view bytes) {
  std::string path = scratch_path(name);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  KV_CHECK(file.good());
  return path;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  KV_CHECK(file.good());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool refused(const Error& error) {
  KV_CHECK(!error.message.empty());
  if (error.message.find('\n') != std::string::npos) {
    check_failed(("one line: " + error.message).c_str(), __FILE__, __LINE__);
  }
  return false;
}

}  // namespace kv::fuzz
