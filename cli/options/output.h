// A stream buffer over a file descriptor that keeps the reason for which writing failed.
#pragma once

#include <array>
#include <streambuf>

namespace kv::cli {

// After a write fails, every later write and sync fails too and sets errno to the first reason. A
// closed pipe is not a failure: its reader needs no more output, so the rest is dropped.
class DescriptorBuffer final : public std::streambuf {
 public:
  // The caller keeps the ownership of `descriptor`. The buffer is written when it is full or
  // synced.
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
