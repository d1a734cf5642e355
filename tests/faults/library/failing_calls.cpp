// A library for LD_PRELOAD that lets the k-th call of one kind fail. The environment says which:
//
//   KV_FAULT_CALL     a name of call_names; without it, calls are only counted
//   KV_FAULT_AT       k, from 1
//   KV_FAULT_ERRNO    the number of the error
//   KV_FAULT_FROM     if it is set, every call from the k-th on fails, and not the k-th alone
//   KV_FAULT_COUNTS   the file of the table of counts (counts.h); without it, nothing is counted
//   KV_FAULT_CLOCK    if it is set, clocks jump at every call: the time of day by ten years to and
//                     fro, all other clocks forwards by an hour
//
// Only a program named kvcheck is affected. What it starts itself (a shell, gnuplot) is not.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "kvcheck/tests/faults/library/counts.h"

// The C library's own names for its allocator; dlsym() might allocate.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

using kv::faults::Call;
using kv::faults::call_names;
using kv::faults::Counts;

Counts* counts = nullptr;
std::size_t failing = call_names.size();
std::uint64_t first = 0;
bool from_there_on = false;
int error = EIO;
bool jumping = false;

// The function of this name that comes after this library's.
template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

// Counts a call; whether it must fail, with errno set.
bool fails(Call call) {
  if (counts == nullptr) return false;
  const auto kind = static_cast<std::size_t>(call);
  const std::uint64_t number = ++counts->calls[kind];
  if (kind != failing || number < first || (number > first && !from_there_on)) return false;
  ++counts->failed;
  errno = error;
  return true;
}

std::uint64_t number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

__attribute__((constructor)) void begin() {
  if (std::string_view(program_invocation_short_name) != "kvcheck") return;
  jumping = std::getenv("KV_FAULT_CLOCK") != nullptr;
  const char* const path = std::getenv("KV_FAULT_COUNTS");
  if (path == nullptr) return;
  if (const char* const name = std::getenv("KV_FAULT_CALL")) {
    failing = static_cast<std::size_t>(std::ranges::find(call_names, std::string_view(name)) -
                                       call_names.begin());
  }
  first = number_in("KV_FAULT_AT");
  error = static_cast<int>(number_in("KV_FAULT_ERRNO"));
  from_there_on = std::getenv("KV_FAULT_FROM") != nullptr;
  const int file = ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* const table = ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  // Set last, so that nothing above is counted.
  if (table != MAP_FAILED) counts = static_cast<Counts*>(table);
}

// The mode that follows the flags if a file may be made.
bool has_mode(int flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

}  // namespace

// Calls by name. Those with 64 are the same on this machine, where files are as long as they like.
#define KV_OPEN(name)                                                     \
  int name(const char* path, int flags, ...) {                            \
    mode_t mode = 0;                                                      \
    if (has_mode(flags)) {                                                \
      va_list more;                                                       \
      va_start(more, flags);                                              \
      mode = va_arg(more, mode_t);                                        \
      va_end(more);                                                       \
    }                                                                     \
    if (fails(Call::open)) return -1;                                     \
    static const auto real = next<int (*)(const char*, int, ...)>(#name); \
    return real(path, flags, mode);                                       \
  }

#define KV_OPENAT(name)                                                        \
  int name(int folder, const char* path, int flags, ...) {                     \
    mode_t mode = 0;                                                           \
    if (has_mode(flags)) {                                                     \
      va_list more;                                                            \
      va_start(more, flags);                                                   \
      mode = va_arg(more, mode_t);                                             \
      va_end(more);                                                            \
    }                                                                          \
    if (fails(Call::open)) return -1;                                          \
    static const auto real = next<int (*)(int, const char*, int, ...)>(#name); \
    return real(folder, path, flags, mode);                                    \
  }

// A function without variable arguments: its result, name, kind, value if it fails, parameters and
// arguments.
#define KV_CALL(result, name, kind, failure, parameters, arguments) \
  result name parameters {                                          \
    if (fails(Call::kind)) return failure;                          \
    static const auto real = next<result(*) parameters>(#name);     \
    return real arguments;                                          \
  }

extern "C" {

KV_OPEN(open)
KV_OPEN(open64)
KV_OPENAT(openat)
KV_OPENAT(openat64)
KV_CALL(FILE*, fopen, open, nullptr, (const char* path, const char* mode), (path, mode))
KV_CALL(FILE*, fopen64, open, nullptr, (const char* path, const char* mode), (path, mode))
KV_CALL(int, mkostemp, open, -1, (char* path, int flags), (path, flags))
KV_CALL(int, mkostemp64, open, -1, (char* path, int flags), (path, flags))

KV_CALL(ssize_t, read, read, -1, (int file, void* to, std::size_t size), (file, to, size))
KV_CALL(ssize_t,
        pread,
        pread,
        -1,
        (int file, void* to, std::size_t size, off_t at),
        (file, to, size, at))
KV_CALL(ssize_t,
        pread64,
        pread,
        -1,
        (int file, void* to, std::size_t size, off64_t at),
        (file, to, size, at))
KV_CALL(ssize_t,
        pwrite,
        pwrite,
        -1,
        (int file, const void* from, std::size_t size, off_t at),
        (file, from, size, at))
KV_CALL(ssize_t,
        pwrite64,
        pwrite,
        -1,
        (int file, const void* from, std::size_t size, off64_t at),
        (file, from, size, at))

std::size_t fread(void* to, std::size_t size, std::size_t count, FILE* stream) {
  if (fails(Call::read)) {
    stream->_flags |= _IO_ERR_SEEN;  // what ferror() looks at
    return 0;
  }
  static const auto real = next<decltype(&::fread)>("fread");
  return real(to, size, count, stream);
}

ssize_t write(int file, const void* from, std::size_t size) {
  if (file != STDERR_FILENO && fails(Call::write)) return -1;
  static const auto real = next<decltype(&::write)>("write");
  return real(file, from, size);
}

ssize_t writev(int file, const iovec* from, int count) {
  if (file != STDERR_FILENO && fails(Call::write)) return -1;
  static const auto real = next<decltype(&::writev)>("writev");
  return real(file, from, count);
}

KV_CALL(int, fsync, fsync, -1, (int file), (file))
KV_CALL(int, fdatasync, fdatasync, -1, (int file), (file))
KV_CALL(int, rename, rename, -1, (const char* from, const char* to) noexcept, (from, to))
KV_CALL(int, unlink, unlink, -1, (const char* path) noexcept, (path))
KV_CALL(int,
        unlinkat,
        unlink,
        -1,
        (int folder, const char* path, int flags) noexcept,
        (folder, path, flags))
KV_CALL(int, remove, unlink, -1, (const char* path) noexcept, (path))
KV_CALL(int, rmdir, unlink, -1, (const char* path) noexcept, (path))
KV_CALL(void*,
        mmap,
        mmap,
        MAP_FAILED,
        (void* at, std::size_t size, int protection, int flags, int file, off_t offset) noexcept,
        (at, size, protection, flags, file, offset))
KV_CALL(void*,
        mmap64,
        mmap,
        MAP_FAILED,
        (void* at, std::size_t size, int protection, int flags, int file, off64_t offset) noexcept,
        (at, size, protection, flags, file, offset))
KV_CALL(int, ftruncate, ftruncate, -1, (int file, off_t size) noexcept, (file, size))
KV_CALL(int, ftruncate64, ftruncate, -1, (int file, off64_t size) noexcept, (file, size))
KV_CALL(int,
        linkat,
        linkat,
        -1,
        (int from, const char* path, int to, const char* name, int flags) noexcept,
        (from, path, to, name, flags))
KV_CALL(int, mkdir, mkdir, -1, (const char* path, mode_t mode) noexcept, (path, mode))
KV_CALL(char*, mkdtemp, mkdir, nullptr, (char* path) noexcept, (path))
KV_CALL(pid_t, fork, fork, -1, (void) noexcept, ())

int pthread_create(pthread_t* thread,
                   const pthread_attr_t* attributes,
                   void* (*work)(void*),
                   void* argument) noexcept {
  if (fails(Call::pthread_create)) return error;
  static const auto real = next<decltype(&::pthread_create)>("pthread_create");
  return real(thread, attributes, work, argument);
}

void* malloc(std::size_t size) noexcept {
  return fails(Call::malloc) ? nullptr : __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) noexcept {
  return fails(Call::malloc) ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* old, std::size_t size) noexcept {
  return fails(Call::malloc) ? nullptr : __libc_realloc(old, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return fails(Call::malloc) ? nullptr : __libc_memalign(alignment, size);
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto real = next<decltype(&::clock_gettime)>("clock_gettime");
  static std::atomic<std::int64_t> calls = 0;
  const int status = real(clock, time);
  if (!jumping || status != 0) return status;
  const std::int64_t call = ++calls;
  constexpr std::int64_t ten_years = std::int64_t{3650} * 24 * 3600;
  time->tv_sec += clock == CLOCK_REALTIME ? (call % 3 - 1) * ten_years : call * 3600;
  return status;
}

int gettimeofday(timeval* time, void* /*zone*/) noexcept {
  timespec now{};
  const int status = clock_gettime(CLOCK_REALTIME, &now);
  *time = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return status;
}

time_t time(time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
