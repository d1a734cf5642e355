// Running kvcheck in tests: in this process, and as the built program.
#pragma once

#include <string>
#include <vector>

namespace kv::test {

struct Ran {
  int status = 0;
  std::string out;
  std::string err;
};

// run_main() with string streams; `terminal` as in Streams.
Ran run(const std::vector<std::string>& arguments, bool terminal = false);

// A POSIX shell's run of `script`, in which $K is the built program.
Ran run_shell(const std::string& script);

// The command of a python3 that has NumPy; empty if there is none.
const std::string& python_with_numpy();

// A folder that is removed with what is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  // The path of `name` in it.
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  // The names in it, sorted.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::string path_;
};

// The bytes of a file; empty if there is none.
std::string read_text(const std::string& path);

// Writes an .npy attention dump [heads, tokens, tokens] in which every query attends evenly to all
// up to itself.
void write_even_attention(const std::string& path, std::size_t heads, std::size_t tokens);

// Whether the parts that a replay needs (policies, trace reading) are in this build.
bool can_replay();

}  // namespace kv::test
