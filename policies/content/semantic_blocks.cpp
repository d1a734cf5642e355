#include "kvcheck/policies/content/semantic_blocks.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/parts/rotator.h"
#include "kvcheck/policies/parts/rows.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class SemanticBlocks final : public Policy {
 public:
  SemanticBlocks(std::size_t block, bool cosine, bool rotated)
      : block_(block), cosine_(cosine), rotated_(rotated) {
    KV_CHECK(block >= 1);
  }

  [[nodiscard]] Needs needs() const override {
    return {.keys = true, .queries = true, .last_queries = 1};
  }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void rotate_by(const Rotation* rotation, bool at_ranks) override {
    rotator_ = Rotator(rotation, at_ranks);
  }

  void observe(const Observation& observation) override {
    dim_ = observation.keys.dim;
    width_ = observation.keys.numbers.size();
    keys_.insert(keys_.end(), observation.keys.numbers.begin(), observation.keys.numbers.end());
    query_.assign(observation.queries.numbers.begin(), observation.queries.numbers.end());
    if (!rotated_) return;
    const std::size_t rank = keys_.size() / width_ - 1;
    rotator_.rotate_to(rotator_.at_ranks() ? static_cast<Position>(rank) : observation.query, dim_,
                       query_);
  }

  void evict(const Candidates& candidates,
             Draws& /*draws*/,
             std::vector<std::size_t>& victims) override {
    const std::size_t n = candidates.positions.size();
    const std::size_t capacity = candidates.capacity;
    KV_CHECK(width_ > 0 && (candidates.first_rank + n) * width_ <= keys_.size());
    const std::size_t blocks = n / block_;
    const std::size_t rest = n % block_;
    std::vector<double> scores(blocks);
    for (std::size_t i = 0; i < blocks; ++i) scores[i] = score(candidates, i * block_);
    append_lowest_blocks(scores, block_, rest, capacity, victims);
    // A rest that does not fit alone keeps its newest tokens.
    for (std::size_t i = capacity; i < rest; ++i) victims.push_back(n - rest + i - capacity);
  }

  void forget(std::span<const std::size_t> ranks) override { erase_rows(keys_, ranks, width_); }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<SemanticBlocks>(*this);
  }

  void save(ByteWriter& writer) const override {
    writer.put(dim_);
    writer.put(width_);
    writer.put(keys_);
    writer.put(query_);
  }

  void load(ByteReader& reader) override {
    dim_ = reader.get<std::size_t>();
    width_ = reader.get<std::size_t>();
    reader.get(keys_);
    reader.get(query_);
  }

 private:
  // The mean key of the block that begins with that candidate. Keys are rotated here and not in
  // observe, because ranks change with evictions.
  [[nodiscard]] std::vector<float> centre_of(const Candidates& candidates,
                                             std::size_t first) const {
    std::vector<double> sums(width_);
    std::vector<float> key(width_);
    for (std::size_t i = first; i < first + block_; ++i) {
      const std::size_t rank = candidates.first_rank + i;
      std::copy_n(keys_.data() + rank * width_, width_, key.data());
      if (rotated_) {
        rotator_.rotate_to(
            rotator_.at_ranks() ? static_cast<Position>(rank) : candidates.positions[i], dim_, key);
      }
      for (std::size_t j = 0; j < width_; ++j) sums[j] += static_cast<double>(key[j]);
    }
    for (std::size_t j = 0; j < width_; ++j) {
      key[j] = static_cast<float>(sums[j] / static_cast<double>(block_));
    }
    return key;
  }

  // The similarity of the last query and that block, summed over query heads: all blocks have the
  // same number of heads, so the sum has the order of the mean.
  [[nodiscard]] double score(const Candidates& candidates, std::size_t first) const {
    const std::vector<float> centre = centre_of(candidates, first);
    const std::size_t group = query_.size() / width_;  // query heads per kv-head
    double sum = 0;
    for (std::size_t head = 0; head * dim_ < query_.size(); ++head) {
      const auto query = std::span<const float>(query_).subspan(head * dim_, dim_);
      const auto key = std::span<const float>(centre).subspan(head / group * dim_, dim_);
      const double norms = cosine_ ? norm_of(query) * norm_of(key) : 1;
      sum += norms > 0 ? dot_of(query, key) / norms : 0;
    }
    return sum;
  }

  std::size_t block_;
  bool cosine_;
  bool rotated_;
  Rotator rotator_;
  std::size_t dim_ = 0;       // of one head
  std::size_t width_ = 0;     // of a token's keys
  std::vector<float> keys_;   // [residents, width], by rank
  std::vector<float> query_;  // [query heads, dim], the last; rotated if rotated_
};

// Not of constant size, because whole blocks are evicted.
constexpr auto claims = std::array<std::string_view, 1>{"deterministic"};

constexpr auto scorings = std::array<std::string_view, 2>{"raw", "rotated"};
constexpr auto likenesses = std::array<std::string_view, 2>{"cosine", "dot"};
constexpr auto parameters = std::array<Parameter, 3>{{
    {.name = "block",
     .default_value = "16",
     .meaning =
         "residents that are kept or evicted together; if the middle does not hold two blocks, "
         "no score decides and the oldest tokens are evicted",
     .range = counts(1, 4096)},
    {.name = "likeness",
     .default_value = "cosine",
     .choices = likenesses,
     .meaning = "how the last query is compared with the mean key of a block"},
    {.name = "scores",
     .default_value = "raw",
     .choices = scorings,
     .meaning = "whether keys and queries are compared before rotation, or as rotated by position"},
}};

}  // namespace

std::unique_ptr<Policy> make_semantic_blocks(std::size_t block, bool cosine, bool rotated) {
  return std::make_unique<SemanticBlocks>(block, cosine, rotated);
}

PolicyEntry semantic_blocks_policy() {
  return {.name = "semantic-blocks",
          .summary = "Keeps the blocks of tokens whose mean key is most similar to the last query.",
          .protection = {.sinks = 4},
          .parameters = parameters,
          .claims = claims,
          .source =
              "a reimplementation of StreamingLLM on Pythia-2.8b with compression, "
              "compress/pythia_streaming_compress.py, mode none",
          .differs =
              "Blocks are scored before rotation and by cosine unless scores=rotated,likeness=dot. "
              "Each head is compared by itself and the results are averaged; the source averages "
              "the heads first. Tokens that do not make a whole block are kept; the source evicts "
              "them. Of equal scores the older block is evicted.",
          .cost =
              "O(middle * keys) time a trim, where keys counts the numbers in a token's keys; 4 "
              "bytes for each of these numbers per resident",
          .make = [](const Options& options) {
            return make_semantic_blocks(options.count("block"), options.at("likeness") == "cosine",
                                        options.at("scores") == "rotated");
          }};
}

}  // namespace kv
