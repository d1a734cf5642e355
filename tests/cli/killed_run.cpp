#include "kvcheck/tests/cli/killed_run.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/paths.h"

namespace kv::test {

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string a_trace() {
  return KVCHECK_SOURCE_DIR "/traces/data/tinystories-2m.qkv.safetensors";
}

std::string a_model() {
  return KVCHECK_SOURCE_DIR "/model/data";
}

std::string a_text() {
  return KVCHECK_SOURCE_DIR "/model/data/held-out.txt";
}

Words long_replay() {
  return {"replay", a_trace(),  "synthetic:zipf:tokens=192", "--policy", "all", "--budget",
          "8,12",   "--oracle", "--oracle-tokens",           "64"};
}

Words long_eval() {
  return {"eval", "--model",  a_model(),  "--text",    a_text(), "--tokens",
          "240",  "--policy", "dense",    "--policy",  "h2o",    "--policy",
          "tova", "--budget", "16,24,32", "--windows", "0,64",   "--open-loop"};
}

Words Place::outputs(const Words& command, unsigned threads, bool resumes) const {
  Words words = with(command, {"--threads", std::to_string(threads), "-o", folder / "run.db",
                               "--json", folder / "run.json", "--csv", folder / "run.csv"});
  if (resumes) words.emplace_back("--resume");
  return words;
}

std::string Place::parts() const {
  for (const std::string& name : folder.names()) {
    if (name.find(".unfinished-") != std::string::npos) return folder / name;
  }
  return {};
}

std::size_t Place::size_of_parts() const {
  std::error_code none;
  const std::string path = parts();
  if (path.empty()) return 0;
  const auto size = std::filesystem::file_size(path, none);
  return none ? 0 : size;
}

namespace {

// Starts the program. Its output is dropped, or written to the file if there is one.
pid_t start(const Words& words, int out = -1) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  const int nothing = ::open("/dev/null", O_WRONLY);
  ::dup2(out < 0 ? nothing : out, STDOUT_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  std::vector<char*> arguments;
  std::string name = "kvcheck";
  Words copies = words;
  arguments.push_back(name.data());
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(KVCHECK_PROGRAM, arguments.data());
  ::_exit(127);
}

}  // namespace

bool interrupt_when_grown(const Place& place, const Words& words, std::size_t more, int signal) {
  std::size_t before = place.size_of_parts();
  const pid_t child = start(words);
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    const std::size_t now = place.size_of_parts();
    // The first record of a new file is not a part.
    if (before == 0) before = now;
    if (before > 0 && now >= before + more) {
      ::kill(child, signal);
      ::waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 130);
}

std::size_t empty_results_size() {
  const TemporaryFolder folder;
  const auto writer = reports::ResultsWriter::begin(folder / "empty.db", "none").value();
  return std::filesystem::file_size(folder / "empty.db");
}

bool kill_when_grown(const std::string& file, const Words& words, std::size_t more) {
  const auto size = [&]() -> std::size_t {
    std::error_code none;
    const auto bytes = std::filesystem::file_size(file, none);
    return none ? 0 : bytes;
  };
  const std::size_t before = size();
  const pid_t child = start(words);
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (size() >= before + more) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return WIFSIGNALED(status);
}

bool kill_while_it_prints(const Words& words) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  // One page, so that the program waits for a reader before it has printed all.
  ::fcntl(ends[1], F_SETPIPE_SZ, 4096);
  const pid_t child = start(words, ends[1]);
  ::close(ends[1]);
  int status = 0;
  int printed = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (::ioctl(ends[0], FIONREAD, &printed) == 0 && printed == 4096) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  ::close(ends[0]);
  return WIFSIGNALED(status);
}

Outputs outputs_of(const Place& place, const Ran& ran) {
  std::string out = ran.out;
  const std::string folder = place.folder / "";
  for (std::size_t at = out.find(folder); at != std::string::npos; at = out.find(folder)) {
    out.replace(at, folder.size(), "HERE/");
  }
  return {out, read_text(place.folder / "run.db"), read_text(place.folder / "run.json"),
          read_text(place.folder / "run.csv")};
}

Outputs clean_run(const Words& command) {
  const Place place;
  const Ran ran = run(place.outputs(command, 2, false));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(place.parts(), testing::IsEmpty());
  return outputs_of(place, ran);
}

}  // namespace kv::test
