#include "kvcheck/model/tokenizer/normalizer.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>

#include <cstdint>

#include "kvcheck/model/tokenizer/tokenizer_json_detail.h"

namespace kv::model {
namespace {

namespace json = boost::json;
using tokenizer_json::find;
using tokenizer_json::known_entries;
using tokenizer_json::text_of;
using tokenizer_json::unsupported;

Result<std::string> composed(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  std::string out;
  icu::StringByteSink<std::string> sink(&out);
  icu::Normalizer2::getNFCInstance(status)->normalizeUTF8(
      0, icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())), sink, nullptr,
      status);
  if (U_FAILURE(status) == 0) return out;
  if (status == U_MEMORY_ALLOCATION_ERROR) return io_error("out of memory");
  return malformed(std::string("the text could not be composed: ") + u_errorName(status));
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  std::size_t begin = 0;
  for (std::size_t at = text.find(from); at != std::string_view::npos;
       at = text.find(from, begin)) {
    out.append(text, begin, at - begin).append(to);
    begin = at + from.size();
  }
  return out.append(text, begin);
}

}  // namespace

Result<void> Normalizer::add(const json::value& step) {
  const std::string_view type = text_of(find(&step, "type"));
  if (type == "NFC") {
    if (auto known = known_entries(step, {"type"}); !known) return known;
    steps_.push_back({.kind = Step::Kind::nfc, .from = {}, .to = {}});
  } else if (type == "Prepend") {
    if (auto known = known_entries(step, {"type", "prepend"}); !known) return known;
    const std::string_view to = text_of(find(&step, "prepend"));
    steps_.push_back({.kind = Step::Kind::prepend, .from = {}, .to = std::string(to)});
  } else if (type == "Replace") {
    if (auto known = known_entries(step, {"type", "pattern", "content"}); !known) return known;
    const std::string_view from = text_of(find(find(&step, "pattern"), "String"));
    if (from.empty()) {
      return unsupported("normalizer", json::serialize(step), "a Replace of a String");
    }
    const std::string_view to = text_of(find(&step, "content"));
    steps_.push_back(
        {.kind = Step::Kind::replace, .from = std::string(from), .to = std::string(to)});
  } else {
    return unsupported("normalizer", type, "NFC, Prepend, Replace, a Sequence of these or none");
  }
  return {};
}

Result<Normalizer> Normalizer::read(const json::value* from) {
  Normalizer made;
  if (from == nullptr) return made;
  const json::value* steps = find(from, "normalizers");
  if (text_of(find(from, "type")) != "Sequence" || steps == nullptr || !steps->is_array()) {
    if (auto added = made.add(*from); !added) return added.error();
    return made;
  }
  for (const json::value& step : steps->get_array()) {
    if (auto added = made.add(step); !added) return added.error();
  }
  return made;
}

Result<std::string> Normalizer::apply(std::string_view text) const {
  std::string out(text);
  for (const Step& step : steps_) {
    if (step.kind == Step::Kind::nfc) {
      Result<std::string> done = composed(out);
      if (!done) return done;
      out = *std::move(done);
    } else if (step.kind == Step::Kind::prepend) {
      if (!out.empty()) out.insert(0, step.to);
    } else {
      out = replaced(out, step.from, step.to);
    }
  }
  return out;
}

}  // namespace kv::model
