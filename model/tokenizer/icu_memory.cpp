#include "kvcheck/model/tokenizer/icu_memory.h"

#include <malloc.h>
#include <unicode/uclean.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>

namespace kv::model {
namespace {

// Hands out pieces one after the other, and begins again when all of them were given back.
class Reserve {
 public:
  void* take(std::size_t size) {
    const std::lock_guard lock(mutex_);
    if (size > bytes_.size()) return nullptr;
    const std::size_t whole = (size + alignment - 1) / alignment * alignment + alignment;
    if (whole > bytes_.size() - used_) return nullptr;
    std::byte* const piece = bytes_.data() + used_;
    // The size is kept before the piece, for those that are made larger.
    std::memcpy(piece, &size, sizeof(size));
    used_ += whole;
    ++taken_;
    return piece + alignment;
  }

  [[nodiscard]] bool holds(const void* piece) const {
    const auto* const at = static_cast<const std::byte*>(piece);
    return std::greater_equal<>()(at, bytes_.data()) &&
           std::less<>()(at, bytes_.data() + bytes_.size());
  }

  static std::size_t size_of(const void* piece) {
    std::size_t size = 0;
    std::memcpy(&size, static_cast<const std::byte*>(piece) - alignment, sizeof(size));
    return size;
  }

  void give_back() {
    const std::lock_guard lock(mutex_);
    if (--taken_ == 0) used_ = 0;
  }

 private:
  static constexpr std::size_t alignment = alignof(std::max_align_t);

  alignas(alignment) std::array<std::byte, std::size_t{1} << 20> bytes_{};
  std::mutex mutex_;  // of all below
  std::size_t used_ = 0;
  std::size_t taken_ = 0;
};

constinit Reserve reserve;

// ICU calls these. `context` is not used.

void* U_CALLCONV allocate(const void* /*context*/, std::size_t size) {
  void* const found = std::malloc(size);
  return found != nullptr ? found : reserve.take(size);
}

void U_CALLCONV release(const void* /*context*/, void* piece) {
  if (piece == nullptr || !reserve.holds(piece)) {
    std::free(piece);
  } else {
    reserve.give_back();
  }
}

void* U_CALLCONV resize(const void* context, void* piece, std::size_t size) {
  if (piece == nullptr) return allocate(context, size);
  const bool reserved = reserve.holds(piece);
  if (!reserved) {
    if (void* const found = std::realloc(piece, size)) return found;
  }
  void* const larger = reserved ? allocate(context, size) : reserve.take(size);
  if (larger == nullptr) return nullptr;
  const std::size_t old = reserved ? Reserve::size_of(piece) : ::malloc_usable_size(piece);
  std::memcpy(larger, piece, std::min(old, size));
  release(context, piece);
  return larger;
}

}  // namespace

void reserve_memory_for_icu() {
  UErrorCode status = U_ZERO_ERROR;
  u_setMemoryFunctions(nullptr, allocate, resize, release, &status);
}

}  // namespace kv::model
