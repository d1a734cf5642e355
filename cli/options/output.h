// A stream buffer over a file descriptor that knows why writing failed.
#pragma once

#include <array>
#include <streambuf>

namespace kv::cli {

// Once a write fails, every later write and sync fails too and sets errno to the first reason. A
// closed pipe is no failure: whoever read it has seen enough, so the rest is dropped.
class DescriptorBuffer final : public std::streambuf {
 public:
  // `descriptor` stays the caller's. Writes when full or synced.
  explicit DescriptorBuffer(int descriptor);
  DescriptorBuffer(const DescriptorBuffer&) = delete;
  DescriptorBuffer& operator=(const DescriptorBuffer&) = delete;
  ~DescriptorBuffer() override;

 protected:
  int_type overflow(int_type character) override;
  int sync() override;

 private:
  bool write_out();

  int descriptor_;
  int failure_ = 0;  // the errno of the first failed write
  bool closed_ = false;
  std::array<char, 1 << 14> bytes_;
};

}  // namespace kv::cli
