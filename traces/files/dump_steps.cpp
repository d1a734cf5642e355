#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/traces/files/dump_numbers.h"

namespace kv {
namespace {

struct Step {
  NpyHeader header;
  DumpNumbers numbers;

  [[nodiscard]] std::size_t queries() const { return header.shape[2]; }

  [[nodiscard]] std::size_t keys() const { return header.shape[3]; }
};

std::string member_of(std::size_t step) {
  return "step_" + std::to_string(step) + ".npy";
}

// Whether `step` continues the steps before it, which had `before` positions.
Result<void> check_step(const Step& step, const Step& first, std::size_t before, std::size_t i) {
  const std::vector<std::size_t>& shape = step.header.shape;
  const std::string found = "member '" + member_of(i) + "' has shape " + shown_shape(shape);
  if (shape.size() != 4) return malformed(found + "; expected [layers, heads, queries, keys]");
  const std::vector<std::size_t>& start = first.header.shape;
  if (shape[0] != start[0] || shape[1] != start[1] || step.header.type != first.header.type) {
    return malformed(found + "; expected the layers, heads and dtype of step_0");
  }
  // A difference, because a sum of foreign numbers may overflow.
  if (shape[2] >= 1 && shape[3] >= before && shape[3] - before == shape[2]) return {};
  return malformed(found + "; expected as many keys as queries of this step and all before it, " +
                   "which had " + std::to_string(before));
}

Result<std::vector<Step>> read_steps(std::span<const std::byte> bytes) {
  std::vector<Step> steps;
  for (std::size_t before = 0;;) {
    Result<std::optional<ArchiveMember>> found =
        ArchiveMember::open_named(bytes, member_of(steps.size()));
    if (!found) return found.error();
    if (!*found) return steps;
    Result<DumpMember> begun = begin_member(*std::move(*found));
    if (!begun) return begun.error();
    Step step{begun->header, {}};
    const Step& first = steps.empty() ? step : steps.front();
    if (auto right = check_step(step, first, before, steps.size()); !right) return right.error();
    before = step.keys();
    Result<DumpNumbers> numbers = inflate(*begun);
    if (!numbers) return numbers.error();
    step.numbers = *std::move(numbers);
    steps.push_back(std::move(step));
  }
}

// Copies the rows of a step to their places among those of the whole, which has `n` positions.
void place(const Step& step, std::size_t n, std::size_t width, std::byte* whole) {
  const std::size_t heads = step.header.shape[0] * step.header.shape[1];
  const std::size_t before = step.keys() - step.queries();
  const std::byte* row = step.numbers.data;
  for (std::size_t head = 0; head < heads; ++head) {
    for (std::size_t query = 0; query < step.queries(); ++query) {
      std::memcpy(whole + ((head * n + before + query) * n) * width, row, step.keys() * width);
      row += step.keys() * width;
    }
  }
}

}  // namespace

Result<std::optional<DumpArray>> read_npz_steps(std::span<const std::byte> bytes) {
  const Result<std::vector<Step>> read = read_steps(bytes);
  if (!read) return read.error();
  const std::vector<Step>& steps = *read;
  if (steps.empty()) return std::optional<DumpArray>();
  NpyHeader header = steps.front().header;
  const std::size_t n = steps.back().keys();
  header.shape[2] = header.shape[3] = n;
  // The numbers are f16 or f32 now, also if the file has f64.
  if (header.type == NpyType::f64) header.type = NpyType::f32;
  std::uint64_t size = 0;
  if (!product(header.shape, size) || __builtin_mul_overflow(size, npy_bytes(header.type), &size) ||
      size > archive_member_limit) {
    return malformed("the steps make an array of shape " + shown_shape(header.shape) +
                     "; expected at most " + std::to_string(archive_member_limit) +
                     " bytes, because it must fit in memory");
  }
  header.data_bytes = size;
  const auto whole = std::make_shared<DumpBytes>();
  try {
    whole->resize(static_cast<std::size_t>(size));  // 0 bytes are the number 0, also as f16
  } catch (const std::bad_alloc&) {
    return io_error("the steps need " + std::to_string(size) +
                    " bytes of memory, which are not available");
  }
  for (const Step& step : steps) place(step, n, npy_bytes(header.type), whole->data());
  const Number number = steps.front().numbers.number;
  return std::optional<DumpArray>(DumpArray{header, {number, whole->data(), whole}});
}

}  // namespace kv
