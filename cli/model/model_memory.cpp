#include "kvcheck/cli/model/model_memory.h"

#include <algorithm>
#include <cstdint>

namespace kv::cli {

std::vector<MemoryNeed> decoder_needs(const model::LanguageModel& model,
                                      std::span<const Cell> cells,
                                      std::size_t tokens,
                                      std::size_t threads) {
  constexpr std::uint64_t of_program = std::uint64_t{16} << 20;
  const model::ModelConfig& config = model.config;
  const std::uint64_t units = std::uint64_t{config.layers} * config.kv_heads;
  // Keys and values as f32, the widest form, and what a cache and its policy keep of a resident.
  const std::uint64_t of_resident = 8 * config.head_dim + 96;
  std::uint64_t caches = 0;
  std::uint64_t chunk = 1;
  for (const Cell& cell : cells) {
    const Spec& spec = cell.spec;
    const std::uint64_t most = 2 * std::uint64_t{spec.budget} + 2 * std::uint64_t{spec.chunk};
    const bool trims = spec.bounded() && spec.phases.compress == Phases::Compress::always;
    const std::uint64_t residents = trims ? std::min<std::uint64_t>(tokens, most) : tokens;
    // A pass that repeats a part of the prompt reads on in a copy of the cache.
    const std::uint64_t part = std::min<std::uint64_t>(needs_of(spec).reconstruction, tokens);
    const std::uint64_t copies = part > 0 ? residents + part : 0;
    // Memory grows by doubling.
    caches = std::max(caches, units * (2 * (residents + copies) * of_resident + tokens));
    chunk = std::max({chunk, std::min<std::uint64_t>(spec.chunk, tokens), part});
  }
  const std::uint64_t activations =
      8 * config.width + 4 * config.inner + 2 * config.vocabulary + 4 * tokens;
  return {{"the program itself", of_program},
          {"keys and values of " + std::to_string(tokens) + " tokens in " +
               std::to_string(threads) + " decoders, which fewer --threads or --tokens reduce",
           threads * caches},
          {"a chunk of " + std::to_string(chunk) + " tokens in each layer, which --chunk reduces",
           threads * chunk * 4 * activations}};
}

}  // namespace kv::cli
