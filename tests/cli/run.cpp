#include "kvcheck/tests/cli/run.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "kvcheck/cli/commands.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/traces/trace.h"

namespace kv::test {

Ran run(const std::vector<std::string>& arguments, bool terminal) {
  std::ostringstream out;
  std::ostringstream err;
  cli::Streams streams{out, err, terminal};
  const int status = cli::run_main(arguments, streams);
  return {status, out.str(), err.str()};
}

Ran run_shell(const std::string& script) {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  const std::string err = folder / "err";
  const std::string whole =
      "K='" KVCHECK_PROGRAM "'; { " + script + "\n} >'" + out + "' 2>'" + err + "'";
  const int status = std::system(whole.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(out), read_text(err)};
}

const std::string& python_with_numpy() {
  static const std::string found = [] {
    for (const std::string candidate : {"python3", "/usr/bin/python3"}) {
      const std::string probe = candidate + " -c 'import numpy' >/dev/null 2>&1";
      if (std::system(probe.c_str()) == 0) return candidate;
    }
    return std::string();
  }();
  return found;
}

TemporaryFolder::TemporaryFolder() : path_(testing::TempDir() + "kvcheck-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) std::abort();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_even_attention(const std::string& path, std::size_t heads, std::size_t tokens) {
  const std::string side = std::to_string(tokens);
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(heads) + ", " + side + ", " + side + "), }";
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(header.size() & 0xff)
       << static_cast<char>(header.size() >> 8) << header;
  for (std::size_t head = 0; head < heads; ++head) {
    for (std::size_t query = 0; query < tokens; ++query) {
      std::vector<float> row(tokens);
      std::fill_n(row.begin(), query + 1, 1.0F / static_cast<float>(query + 1));
      std::string bytes(tokens * sizeof(float), '\0');
      std::memcpy(bytes.data(), row.data(), bytes.size());
      file << bytes;
    }
  }
}

bool can_replay() {
  const TemporaryFolder folder;
  write_even_attention(folder / "probe.npy", 1, 4);
  return !policy_registry().empty() && open_trace(folder / "probe.npy").has_value();
}

}  // namespace kv::test
