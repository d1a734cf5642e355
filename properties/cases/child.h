// Work in a child process, so that a subject that crashes or hangs is a finding and not the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace kv::properties {

// Memory that this process and its children share; zero at first. The constructor throws
// std::system_error if the system gives none.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  [[nodiscard]] void* data() const { return data_; }

  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  std::size_t bytes_;
  void* data_;
};

// Data that a child may allocate beyond what its parent had: what allocates without end is refused
// memory, in the call that does it, before the system looks for a process to end. At most half of
// what the machine has.
inline constexpr std::uint64_t child_memory = std::uint64_t{4} << 30U;

// Runs `work` in a child process and waits. Empty if it came to its end; else how it died, as "it
// died of signal 11 (Segmentation fault)", with the last line that it wrote on standard error, or
// "it gave no answer in time", with the words of the TimedCall that was under way
// (properties/cases/child_time.h). `wait` is called some times a second; may be null. What the
// child does to memory is lost, but for SharedMemory. Throws std::system_error if the system starts
// no process, and Interrupted (properties/stop.h) if this process or the child is asked to
// stop; the child is gone then.
std::string run_in_child(const std::function<void()>& work, const std::function<void()>& wait);

// Runs work(0), ..., work(count - 1) in a child process each, all at once, and waits. Gives how the
// first that did not come to its end died; empty if all did. If the system starts fewer processes,
// but one at least, the last numbers are not worked on: let the processes share a list of tasks.
std::string run_in_children(std::uint32_t count,
                            const std::function<void(std::uint32_t)>& work,
                            const std::function<void()>& wait);

// Within a child: signals end it, whatever handlers it inherited, and it is not asked to stop in
// another way; what is ignored remains so. A sanitizer's handler would end it with a status, which
// does not tell the signal.
void die_of_signals();

}  // namespace kv::properties
