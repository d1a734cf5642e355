#include "kvcheck/traces/files/writer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/json_text.h"
#include "kvcheck/traces/files/checksum.h"
#include "kvcheck/traces/files/safetensors.h"
#include "kvcheck/traces/metadata.h"

namespace kv {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t header_length_bytes = 8;
constexpr std::size_t piece = 16384;  // numbers converted at a time

struct Part {
  std::string_view name;
  std::vector<std::size_t> shape;
};

std::vector<Part> parts_of(const TraceInfo& info) {
  const std::size_t rows = recorded_queries(info);
  if (info.kind == TraceKind::attention) {
    return {{"attention", {info.query_heads, rows, info.tokens}}};
  }
  const std::vector<std::size_t> keys{info.kv_heads, info.tokens, info.head_dim};
  return {{"q", {info.query_heads, rows, info.head_dim}}, {"k", keys}, {"v", keys}};
}

std::uint64_t numbers_in(const std::vector<std::size_t>& shape) {
  std::uint64_t numbers = 0;
  KV_CHECK(product(shape, numbers));
  return numbers;
}

Dtype dtype_of(Number number) {
  if (number == Number::f32) return Dtype::f32;
  return number == Number::f16 ? Dtype::f16 : Dtype::bf16;
}

// Collects the entries of the header and assigns their offsets in order.
class HeaderText {
 public:
  explicit HeaderText(const TraceInfo& info) {
    JsonObject metadata;
    for (const auto& [name, value] : trace_metadata(info)) metadata.add(name, value);
    header_.add_raw("__metadata__", metadata.text());
  }

  void add(std::string_view name, Dtype dtype, const std::vector<std::size_t>& shape) {
    // Entries are added in an order of falling alignment, so no padding is needed between them.
    KV_CHECK(offset_ % dtype_bytes(dtype) == 0);
    std::uint64_t end = 0;
    KV_CHECK(!__builtin_mul_overflow(numbers_in(shape), std::uint64_t{dtype_bytes(dtype)}, &end));
    KV_CHECK(!__builtin_add_overflow(end, offset_, &end));
    const std::array<std::size_t, 2> offsets{offset_, end};
    JsonObject entry;
    entry.add("dtype", dtype_name(dtype));
    entry.add_raw("shape", shown_shape(shape)).add_raw("data_offsets", shown_shape(offsets));
    header_.add_raw(name, entry.text());
    offset_ = end;
  }

  // The length, then the text, padded with spaces so that the data begins on a 64-byte boundary.
  // JSON allows trailing spaces.
  [[nodiscard]] std::string text() const {
    std::string json = header_.text();
    while ((header_length_bytes + json.size()) % alignment != 0) json += ' ';
    std::string length(header_length_bytes, '\0');
    for (std::size_t i = 0; i < length.size(); ++i)
      length[i] = static_cast<char>(json.size() >> 8 * i & 0xff);
    return length + json;
  }

 private:
  JsonObject header_;
  std::uint64_t offset_ = 0;
};

void check_requirements(const TraceInfo& info) {
  KV_CHECK(info.tokens > 0 && info.query_heads > 0 && info.kv_heads > 0 && !info.layers.empty());
  KV_CHECK(info.query_heads % info.kv_heads == 0);
  KV_CHECK(info.kind == TraceKind::attention || info.head_dim > 0);
  KV_CHECK(info.head_dim == 0 || info.rope.layout == RopeLayout::none ||
           info.rope.dims <= info.head_dim);
  KV_CHECK(std::ranges::is_sorted(info.layers, std::less_equal{}));
  KV_CHECK(info.rules.empty() || info.rules.size() == info.layers.size());
  KV_CHECK(info.queries.empty() || check_queries(info.queries, info.query_design, info.tokens));
}

// A tensor that is written as it is in memory.
struct Table {
  std::string name;
  Dtype dtype;
  std::span<const std::byte> bytes;
};

// What is written before the layers, in an order of falling alignment; empty tables are left out.
std::vector<Table> tables_of(const TraceInfo& info,
                             std::span<const std::int32_t> token_ids,
                             const Transcript& transcript) {
  std::vector<Table> tables;
  const auto add = [&](const std::string& name, Dtype dtype, const auto& values) {
    if (!values.empty()) tables.push_back({name, dtype, std::as_bytes(std::span(values))});
  };
  const auto add_of_layers = [&](std::string_view part, Dtype dtype, auto LayerRules::*field) {
    for (std::size_t i = 0; i < info.rules.size(); ++i) {
      const std::string layer = "layers." + std::to_string(info.layers[i]) + ".";
      add(layer + std::string(part), dtype, info.rules[i].*field);
    }
  };
  add("text_ends", Dtype::i64, transcript.text_ends);
  // In f64, so that the angles of long texts are those that the recorder had.
  add_of_layers("frequencies", Dtype::f64, &LayerRules::frequencies);
  add("tokens", Dtype::i32, token_ids);
  add("nll", Dtype::f32, transcript.nll);
  add("queries", Dtype::i32, info.queries);
  add_of_layers("sinks", Dtype::f32, &LayerRules::sinks);
  add_of_layers("slopes", Dtype::f32, &LayerRules::slopes);
  return tables;
}

// The index of the first value that is not finite after it is stored, or values.size(). Stored
// values are checked, because a finite f32 may be too large for f16.
std::size_t first_unfit(std::span<const float> values,
                        std::span<const std::byte> stored,
                        Number number) {
  std::array<float, piece> read;
  kernels().widen(number, stored.data(), values.size(), read.data());
  const std::span<const float> back(read.data(), values.size());
  const auto at = std::ranges::find_if(back, [](float v) { return !std::isfinite(v); });
  return static_cast<std::size_t>(at - back.begin());
}

}  // namespace

std::uint64_t trace_numbers(const TraceInfo& info) {
  std::uint64_t per_layer = 0;
  for (const Part& part : parts_of(info)) per_layer += numbers_in(part.shape);
  const std::array<std::size_t, 2> both{per_layer, info.layers.size()};
  return numbers_in({both.begin(), both.end()});
}

TraceWriter::TraceWriter(const TraceInfo& info, std::string text)
    : info_(info), text_(std::move(text)) {}

Result<TraceWriter> TraceWriter::create(const std::string& path,
                                        const TraceInfo& info,
                                        std::span<const std::int32_t> token_ids,
                                        const Transcript& transcript) {
  TraceWriter writer(info, transcript.text);
  const auto open = [&]() -> Result<void> {
    Result<AtomicFile> file = AtomicFile::create(path);
    if (!file) return file.error();
    writer.file_.emplace(*std::move(file));
    return {};
  };
  if (auto begun = writer.begin(token_ids, transcript, open); !begun) return begun.error();
  return writer;
}

Result<TraceWriter> TraceWriter::into(std::shared_ptr<Checksum> checksum,
                                      const TraceInfo& info,
                                      std::span<const std::int32_t> token_ids,
                                      const Transcript& transcript) {
  TraceWriter writer(info, transcript.text);
  writer.checksum_ = std::move(checksum);
  const auto ready = [] { return Result<void>{}; };
  if (auto begun = writer.begin(token_ids, transcript, ready); !begun) return begun.error();
  return writer;
}

Result<void> TraceWriter::put(std::span<const std::byte> bytes) {
  if (file_) return file_->write(bytes);
  checksum_->add(bytes);
  return {};
}

Result<void> TraceWriter::begin(std::span<const std::int32_t> token_ids,
                                const Transcript& transcript,
                                const std::function<Result<void>()>& open) {
  const TraceInfo& info = info_;
  check_requirements(info);
  const auto fits = [&](std::size_t size) { return size == 0 || size == info.tokens; };
  KV_CHECK(fits(token_ids.size()) && fits(transcript.text_ends.size()));
  KV_CHECK(fits(transcript.nll.size()));

  HeaderText header(info);
  const std::vector<Table> tables = tables_of(info, token_ids, transcript);
  for (const Table& table : tables) {
    header.add(table.name, table.dtype, {table.bytes.size() / dtype_bytes(table.dtype)});
  }
  for (const std::size_t layer : info.layers) {
    for (const Part& part : parts_of(info)) {
      header.add("layers." + std::to_string(layer) + "." + std::string(part.name),
                 dtype_of(info.number), part.shape);
    }
  }
  if (!transcript.text.empty()) header.add("text", Dtype::u8, {transcript.text.size()});

  const std::string begin = header.text();
  if (begin.size() - header_length_bytes > safetensors_header_limit) {
    return malformed("the header would have " + std::to_string(begin.size() - header_length_bytes) +
                     " bytes; a trace file may have " + std::to_string(safetensors_header_limit) +
                     " (fewer layers or shorter texts make it fit)");
  }
  if (auto opened = open(); !opened) return opened;
  if (auto done = put(std::as_bytes(std::span(begin))); !done) return done;
  for (const Table& table : tables) {
    if (auto done = put(table.bytes); !done) return done;
  }
  return {};
}

Result<void> TraceWriter::write(std::span<const float> values) {
  KV_CHECK(values.size() <= trace_numbers(info_) - written_);
  while (!values.empty()) {
    const std::size_t count = std::min(piece, values.size());
    if (auto done = write_piece(values.first(count)); !done) return done;
    values = values.subspan(count);
  }
  return {};
}

Result<void> TraceWriter::write_piece(std::span<const float> values) {
  buffer_.resize(values.size() * dtype_bytes(dtype_of(info_.number)));
  kernels().narrow(info_.number, values.data(), values.size(), buffer_.data());
  if (const std::size_t at = first_unfit(values, buffer_, info_.number); at < values.size()) {
    return malformed(place_of(written_ + at) + " is " + std::to_string(values[at]) +
                     "; expected a finite number that " + std::string(number_name(info_.number)) +
                     " can hold");
  }
  written_ += values.size();
  return put(buffer_);
}

std::string TraceWriter::place_of(std::uint64_t number) const {
  const std::uint64_t per_layer = trace_numbers(info_) / info_.layers.size();
  const std::size_t layer = info_.layers[number / per_layer];
  number %= per_layer;
  for (const Part& part : parts_of(info_)) {
    const std::uint64_t size = numbers_in(part.shape);
    if (number < size) {
      return "number " + std::to_string(number) + " of tensor 'layers." + std::to_string(layer) +
             "." + std::string(part.name) + "'";
    }
    number -= size;
  }
  return {};
}

Result<void> TraceWriter::commit() {
  KV_CHECK(written_ == trace_numbers(info_));
  if (auto done = put(std::as_bytes(std::span(text_))); !done) return done;
  return file_ ? file_->commit() : Result<void>{};
}

}  // namespace kv
