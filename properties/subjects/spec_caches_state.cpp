#include <algorithm>
#include <string>
#include <utility>

#include "kvcheck/base/bytes.h"
#include "kvcheck/base/check.h"
#include "kvcheck/properties/subjects/spec_caches.h"

namespace kv::properties {
namespace {

// FNV-1a, 64 bits: so that bytes that were cut or changed are refused whole.
std::uint64_t sum_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const std::byte byte : bytes) {
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3U;
  }
  return hash;
}

void put_text(ByteWriter& writer, const std::string& text) {
  writer.put(std::vector<char>(text.begin(), text.end()));
}

}  // namespace

TopPages pages_for(const TopPages& sizes, const Setup& setup) {
  TopPages out;
  out.page = std::clamp(setup.recent, 1U, sizes.page);
  out.attended = std::max(1U, setup.budget / out.page) * out.page;
  out.dense_layers = std::min(sizes.dense_layers, setup.layers - 1);
  return out;
}

Result<Spec> spec_for(const Spec& spec, const Setup& setup) {
  Spec out = spec;
  const Protection& protection = spec.policy->protection;
  if (setup.layers == 0 || setup.kv_heads == 0 || setup.group == 0 || setup.sequences == 0) {
    return usage_error("a cache has at least one layer, head and sequence");
  }
  if (out.selects()) {
    out.top_pages = pages_for(spec.top_pages, setup);
    out.unit = Unit::head;
  }
  if (protection.middle == Protection::Middle::unbounded) return out;
  constexpr std::uint32_t most_heads = 8;
  for (const KvHead& named : spec.budgets.retrieval) {
    if (named.layer < most_heads && named.head < most_heads) continue;
    return usage_error("the battery feeds at most 8 layers of 8 kv-heads, and budgets=" +
                       spec.budgets.text() + " names others");
  }
  out.sinks = protection.takes_sinks ? setup.sinks : 0;
  out.budget = setup.budget;
  const bool has_middle = protection.middle == Protection::Middle::some;
  if (!has_middle && out.budget == 0) out.budget = out.sinks + setup.recent;
  out.recent = has_middle ? setup.recent : out.budget - std::min(out.budget, out.sinks);
  if (has_middle) out.phases.recent_follows = false;
  if (out.budget == 0) return usage_error("the budget is 0; expected at least 1");
  if (std::uint64_t{out.sinks} + out.recent > out.budget) {
    return usage_error("the budget is " + std::to_string(out.budget) + ", less than the " +
                       std::to_string(std::uint64_t{out.sinks} + out.recent) + " protected tokens");
  }
  if (out.budgets.shared() && out.sinks + out.recent + adaptive_floor(out) == 0) {
    return usage_error("nothing is protected and " + out.budgets.text() +
                       " leaves a head nothing that it is sure of");
  }
  if (out.budgets.law == Budgets::Law::pyramid) {
    const auto fits = check_grid(out, {setup.layers, setup.kv_heads, setup.group});
    if (!fits) return fits.error();
  }
  if (out.visibility == Visibility::window && out.recent == 0) {
    return usage_error("visibility=window needs recent >= 1: a query sees its own key");
  }
  return out;
}

SpecCaches SpecCaches::fork() const {
  SpecCaches copy(spec_, setup_, draws_, Bare{});
  copy.caches_.reserve(caches_.size());
  for (std::size_t index = 0; index < caches_.size(); ++index) {
    copy.caches_.push_back(copy_of(index, index));
  }
  copy.prompt_ = prompt_;
  copy.tokens_ = tokens_;
  copy.origins_ = origins_;
  return copy;
}

SpecCaches::SharedCache SpecCaches::copy_of(std::size_t from, std::size_t to) const {
  auto draws = draws_(static_cast<std::uint32_t>(to * heads_.sharing()));
  const SharedCache& shared = caches_[from];
  return {shared.cache.fork(std::move(draws)), shared.unfreed, shared.masked, shared.pages};
}

bool SpecCaches::reorder(std::span<const std::uint32_t> from) {
  KV_CHECK(setup_.sequences > 0);
  if (from.size() != setup_.sequences) return false;
  for (const std::uint32_t sequence : from) {
    if (sequence >= setup_.sequences) return false;
  }
  if (origins_.empty()) {
    for (std::uint32_t sequence = 0; sequence < setup_.sequences; ++sequence) {
      origins_.emplace_back(tokens_.size(), sequence);
    }
  }
  const std::size_t per_sequence = caches_.size() / setup_.sequences;
  std::vector<SharedCache> caches;
  std::vector<std::vector<std::uint32_t>> origins;
  caches.reserve(caches_.size());
  for (std::size_t to = 0; to < from.size(); ++to) {
    origins.push_back(origins_[from[to]]);
    for (std::size_t i = 0; i < per_sequence; ++i) {
      caches.push_back(copy_of(from[to] * per_sequence + i, to * per_sequence + i));
    }
  }
  caches_ = std::move(caches);
  origins_ = std::move(origins);
  return true;
}

std::vector<std::uint8_t> SpecCaches::save() const {
  ByteWriter writer;
  put_text(writer, spec_.canonical());
  for (const std::uint32_t size :
       {setup_.layers, setup_.kv_heads, setup_.group, setup_.sequences}) {
    writer.put(size);
  }
  writer.put(prompt_);
  std::vector<std::int32_t> variants;
  for (const Token& token : tokens_) variants.push_back(token.variant);
  writer.put(variants);
  writer.put(origins_.size());
  for (const auto& origins : origins_) writer.put(origins);
  for (const SharedCache& shared : caches_) {
    shared.cache.save(writer);
    writer.put(shared.unfreed);
    writer.put(shared.masked);
  }
  const std::uint64_t sum = sum_of(writer.bytes());
  writer.put(sum);
  std::vector<std::uint8_t> bytes;
  for (const std::byte byte : writer.bytes()) bytes.push_back(std::to_integer<std::uint8_t>(byte));
  return bytes;
}

bool SpecCaches::load(std::span<const std::uint8_t> bytes) {
  const auto all = std::as_bytes(bytes);
  if (all.size() < sizeof(std::uint64_t)) return false;
  const auto body = all.first(all.size() - sizeof(std::uint64_t));
  if (ByteReader(all.subspan(body.size())).get<std::uint64_t>() != sum_of(body)) return false;

  ByteReader reader(body);
  std::vector<char> text;
  reader.get(text);
  if (std::string(text.begin(), text.end()) != spec_.canonical()) return false;
  for (const std::uint32_t size :
       {setup_.layers, setup_.kv_heads, setup_.group, setup_.sequences}) {
    if (reader.get<std::uint32_t>() != size) return false;
  }
  SpecCaches loaded(spec_, setup_, draws_);
  const auto prompt = reader.get<std::uint64_t>();
  if (spec_.phases.marked()) loaded.make_caches(prompt);
  std::vector<std::int32_t> variants;
  reader.get(variants);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    loaded.tokens_.push_back({static_cast<std::int32_t>(i), variants[i]});
  }
  const auto sequences = reader.get<std::size_t>();
  if (sequences != 0 && sequences != setup_.sequences) return false;
  loaded.origins_.resize(sequences);
  for (auto& origins : loaded.origins_) {
    reader.get(origins);
    if (origins.size() != variants.size()) return false;
  }
  for (SharedCache& shared : loaded.caches_) {
    shared.cache.load(reader);
    reader.get(shared.unfreed);
    reader.get(shared.masked);
  }
  if (!reader.finished()) return false;
  *this = std::move(loaded);
  return true;
}

}  // namespace kv::properties
