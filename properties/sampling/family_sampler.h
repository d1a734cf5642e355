// Streams of any family of subjects: fed token by token or in chunks, read from what is stored.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/properties/family.h"
#include "kvcheck/properties/sampling/sampler.h"

namespace kv::properties {

// How one stream is fed.
struct FeedPlan {
  Setup setup;
  std::vector<std::uint32_t> chunks{};  // sizes in turn; the last call feeds a single token
  std::uint32_t entering = 0;           // tokens that are to enter the middle, at least; above k
};

class FamilySampler final : public Sampler {
  struct Unshaped {};

 public:
  // Runs one stream to learn the shape: a cache that trims lazily is fed on until it has just
  // trimmed. An error if the family refuses the setup, has no middle, or cannot be counted.
  static Result<std::unique_ptr<FamilySampler>> make(Family& family, const FeedPlan& plan);

  [[nodiscard]] const Shape& shape() const override { return shape_; }

  // Of the first unit, with draws and setup.seed of this seed.
  Result<void> sample(std::uint64_t seed, Replicate& replicate) override;

  // Of every unit, in the order of Facts::units.
  Result<void> sample_units(std::uint64_t seed, std::vector<Replicate>& replicates);

  // With draws of the caller's.
  Result<void> sample_with(const DrawsOf& draws,
                           std::uint64_t seed,
                           std::vector<Replicate>& replicates);

  [[nodiscard]] const Contract& contract() const { return contract_; }

  // The name of the ladder's step: "n=16 k=4 (sinks=1,recent=2,budget=7)".
  [[nodiscard]] std::string where() const;

  // For make() alone.
  FamilySampler(Unshaped, Family& family, const FeedPlan& plan, Contract contract);

 private:
  Result<void> find_shape();
  template <typename Use>
  Result<void> feed(const Setup& setup,
                    std::span<const std::uint32_t> calls,
                    const DrawsOf* draws,
                    const Use& use);
  Result<void> run(const DrawsOf* draws, std::uint64_t seed, std::vector<Replicate>& replicates);
  Result<void> take(const Facts& facts, std::uint32_t fed, std::vector<Replicate>& replicates);

  Family& family_;
  FeedPlan plan_;
  Contract contract_;
  Shape shape_;
  std::vector<std::uint32_t> calls_;                // of each stream
  std::vector<std::vector<std::uint32_t>> before_;  // by unit, the tokens kept before the call
  std::vector<std::uint32_t> now_;
};

}  // namespace kv::properties
