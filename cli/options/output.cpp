#include "kvcheck/cli/options/output.h"

#include <unistd.h>

#include <cerrno>

namespace kv::cli {

DescriptorBuffer::DescriptorBuffer(int descriptor) : descriptor_(descriptor) {
  setp(bytes_.data(), bytes_.data() + bytes_.size());
}

DescriptorBuffer::~DescriptorBuffer() {
  write_out();
}

bool DescriptorBuffer::write_out() {
  const char* next = pbase();
  while (next != pptr() && failure_ == 0 && !closed_) {
    const ssize_t written = ::write(descriptor_, next, static_cast<std::size_t>(pptr() - next));
    if (written >= 0) {
      next += written;
    } else if (errno == EPIPE) {
      closed_ = true;
    } else if (errno != EINTR) {
      failure_ = errno;
    }
  }
  setp(bytes_.data(), bytes_.data() + bytes_.size());
  if (failure_ != 0) errno = failure_;
  return failure_ == 0;
}

DescriptorBuffer::int_type DescriptorBuffer::overflow(int_type character) {
  if (!write_out()) return traits_type::eof();
  if (!traits_type::eq_int_type(character, traits_type::eof())) {
    *pptr() = traits_type::to_char_type(character);
    pbump(1);
  }
  return traits_type::not_eof(character);
}

int DescriptorBuffer::sync() {
  return write_out() ? 0 : -1;
}

}  // namespace kv::cli
