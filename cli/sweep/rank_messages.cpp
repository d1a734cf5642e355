#include "kvcheck/cli/sweep/rank_messages.h"

#include <algorithm>
#include <utility>

#include "kvcheck/base/packed_bytes.h"
#include "kvcheck/base/version.h"
#include "kvcheck/reports/unfinished/part_records.h"

namespace kv::cli {
namespace {

// The identity of a file of parts; a message needs none.
constexpr std::string_view block_parts = "block";

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string sweep_words(const SweepPlan& plan) {
  return std::string(version) + " " + plan.identity.identity;
}

std::vector<std::byte> bytes_of(std::string_view sentence) {
  const auto bytes = std::as_bytes(std::span(sentence));
  return {bytes.begin(), bytes.end()};
}

std::string sentence_of(std::span<const std::byte> bytes) {
  return std::string(text_of(bytes));
}

std::vector<std::byte> bytes_of(const Greeting& greeting) {
  return bytes_of(std::string_view(greeting.machine + "\n" + greeting.words));
}

Greeting greeting_of(std::span<const std::byte> bytes) {
  const std::string_view text = text_of(bytes);
  const std::size_t end = std::min(text.find('\n'), text.size());
  return {.machine = std::string(text.substr(0, end)),
          .words = std::string(text.substr(std::min(end + 1, text.size())))};
}

std::vector<std::byte> bytes_of(const SweepBlock& block) {
  PackedWriter writer;
  writer.number(block.source);
  writer.numbers(block.cells);
  return writer.take();
}

std::optional<SweepBlock> block_of(std::span<const std::byte> bytes, const SweepPlan& plan) {
  PackedReader reader(bytes);
  SweepBlock block;
  block.source = reader.number();
  reader.numbers(block.cells);
  const auto planned = [&](std::size_t cell) { return cell < plan.cells.size(); };
  if (!reader.whole() || block.source >= plan.work->sources().size() || block.cells.empty() ||
      !std::ranges::all_of(block.cells, planned)) {
    return {};
  }
  return block;
}

SentParts::SentParts() : bytes_(reports::begin_parts(block_parts)) {}

std::optional<std::span<const std::byte>> SentParts::find(const std::string& /*key*/) const {
  return {};
}

void SentParts::keep(std::vector<KeptPart> parts) {
  const std::lock_guard lock(mutex_);
  for (const KeptPart& part : parts) reports::append_part(bytes_, part);
}

ReceivedParts::ReceivedParts(std::span<const std::byte> bytes) {
  const auto parsed = reports::parse_parts(text_of(bytes), "a message of a rank");
  if (!parsed) return;
  for (const reports::PartRecord& part : parsed->parts) parts_.emplace(part.key, part.bytes);
}

std::optional<std::span<const std::byte>> ReceivedParts::find(const std::string& key) const {
  const auto found = parts_.find(key);
  if (found == parts_.end()) return {};
  return found->second;
}

void ReceivedParts::keep(std::vector<KeptPart> /*parts*/) {}

}  // namespace kv::cli
