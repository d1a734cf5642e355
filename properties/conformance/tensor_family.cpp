#include <algorithm>
#include <cstddef>
#include <exception>

#include "kvcheck/base/check.h"
#include "kvcheck/properties/cases/requested_sizes.h"
#include "kvcheck/properties/conformance/tensor_cache.h"
#include "kvcheck/properties/conformance/tensor_reader.h"
#include "kvcheck/properties/heads.h"

namespace kv::properties {
namespace {

// What update returned for one layer, read.
struct Returned {
  std::size_t rows = 0;
  std::vector<std::vector<Row>> units;    // [sequence and head][row]
  std::vector<std::uint8_t> mask;         // [sequence and head][query][row]
  std::vector<float> weights;             // [sequence and query head][query][row]; or empty
  std::vector<double> query_positions{};  // [query]
};

class TensorSubject final : public Subject {
 public:
  struct Parts {
    std::string name;
    TensorFormat format;
    MakeTensors make;
    Setup setup;
    Contract contract;
  };

  TensorSubject(const Parts& parts, std::unique_ptr<TensorCache> cache, std::size_t fed = 0)
      : parts_(parts),
        reader_(parts.format, parts.setup, reports_positions()),
        cache_(std::move(cache)),
        fed_(fed) {}

  Answer<Facts> feed(const Feed& feed) override {
    if (feed.tokens.empty()) return look();
    std::vector<Returned> layers;
    for (std::size_t layer = 0; layer < setup().layers; ++layer) {
      layers.push_back(update(layer, feed));
    }
    fed_ += feed.tokens.size();
    Facts facts = look();
    for (std::size_t unit = 0; unit < facts.units.size(); ++unit) {
      const Place place = Heads{setup()}.place_of(unit);
      report(layers[place.layer], place, feed.tokens.size(), facts.units[unit]);
    }
    return facts;
  }

  Facts look() override {
    Facts facts;
    facts.units.resize(Heads{setup()}.count());
    for (std::size_t layer = 0; layer < setup().layers; ++layer) {
      const KeysAndValues stored = cache_->stored(layer);
      const auto units = reader_.read(stored, layer, "stored");
      const auto length = cache_->length(layer);
      for (std::size_t i = 0; i < units.size(); ++i) {
        UnitFacts& unit = facts.units[unit_at(i, layer)];
        for (const TensorRow& row : units[i]) {
          if (row.written) unit.stored.push_back(row.row);
        }
        if (length) unit.reported = *length;
      }
    }
    return facts;
  }

  Answer<Done> reset() override {
    if (!cache_->reset()) return Refused{"reset is not offered"};
    fed_ = 0;
    return Done{};
  }

  Answer<std::unique_ptr<Subject>> fork() override {
    auto copy = cache_->fork();
    if (!copy) return Refused{"fork is not offered"};
    return std::unique_ptr<Subject>(std::make_unique<TensorSubject>(parts_, std::move(copy), fed_));
  }

  Answer<Done> truncate(std::int64_t length) override {
    if (!cache_->truncate(length)) return Refused{"this truncate is not offered"};
    fed_ = static_cast<std::size_t>(std::max<std::int64_t>(0, length));
    return Done{};
  }

  Answer<Done> reorder(std::span<const std::uint32_t> from) override {
    if (!cache_->reorder(from)) return Refused{"this reorder is not offered"};
    return Done{};
  }

 private:
  [[nodiscard]] const Setup& setup() const { return parts_.setup; }

  [[nodiscard]] bool reports_positions() const {
    return parts_.contract.positions != PositionMode::unreported;
  }

  // The index in Facts::units of sequence and head `i`.
  [[nodiscard]] std::size_t unit_at(std::size_t i, std::size_t layer) const {
    const std::size_t heads = setup().kv_heads;
    return (i / heads * setup().layers + layer) * heads + i % heads;
  }

  [[nodiscard]] std::vector<double> key_positions(std::size_t layer, std::size_t count) {
    std::vector<double> positions = cache_->positions(layer, fed_, count);
    if (!positions.empty() && positions.size() != count) {
      throw SubjectFailed("positions() gave " + std::to_string(positions.size()) + " for " +
                          std::to_string(count) + " tokens");
    }
    for (std::size_t i = positions.size(); i < count; ++i) {
      positions.push_back(static_cast<double>(fed_ + i));
    }
    return positions;
  }

  Returned update(std::size_t layer, const Feed& feed) {
    const std::size_t queries = feed.tokens.size();
    const std::vector<double> positions = key_positions(layer, queries);
    const TensorChunk given = reader_.chunk(layer, feed.tokens, positions);
    const Attended attended = cache_->update(layer, given.views);
    const auto units = reader_.read(attended, layer, "returned");
    Returned out;
    out.rows = attended.keys.rows;
    out.mask = reader_.mask(attended, layer, queries);
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      std::vector<Row> rows;
      for (const TensorRow& row : units[unit]) rows.push_back(row.row);
      out.units.push_back(std::move(rows));
    }
    out.weights = attended.weights;
    const std::size_t weights =
        std::size_t{setup().sequences} * setup().query_heads() * queries * out.rows;
    if (!out.weights.empty() && out.weights.size() != weights) {
      throw SubjectFailed("update gave " + std::to_string(out.weights.size()) +
                          " weights; expected " + std::to_string(weights));
    }
    if (parts_.contract.wants_attention) {
      if (out.weights.empty()) out.weights = weighed(out, layer, feed);
      cache_->observe(layer, out.weights);
    }
    out.query_positions = cache_->query_positions(layer, queries);
    if (out.query_positions.empty()) out.query_positions = positions;
    return out;
  }

  // The stream's attention over what each query sees. Rows of no token get none.
  [[nodiscard]] std::vector<float> weighed(const Returned& of,
                                           std::size_t layer,
                                           const Feed& feed) const {
    const std::size_t queries = feed.tokens.size();
    std::vector<float> weights(std::size_t{setup().sequences} * setup().query_heads() * queries *
                               of.rows);
    for (std::uint32_t i = 0; i < setup().sequences * setup().query_heads(); ++i) {
      const Payer payer{i / setup().query_heads(), static_cast<std::uint32_t>(layer),
                        i % setup().query_heads()};
      const std::size_t unit = payer.sequence * setup().kv_heads + payer.query_head / setup().group;
      for (std::size_t query = 0; query < queries; ++query) {
        std::vector<std::size_t> seen;
        std::vector<Token> keys;
        for (std::size_t row = 0; row < of.rows; ++row) {
          const Token key = of.units[unit][row].key;
          if (of.mask[(unit * queries + query) * of.rows + row] == 0 || key.position < 0) continue;
          seen.push_back(row);
          keys.push_back(key);
        }
        std::vector<float> mass(keys.size());
        visible_mass(feed.stream, payer, feed.tokens[query], keys, mass);
        for (std::size_t k = 0; k < seen.size(); ++k) {
          weights[(i * queries + query) * of.rows + seen[k]] = mass[k];
        }
      }
    }
    return weights;
  }

  void report(const Returned& of, const Place& place, std::size_t queries, UnitFacts& facts) const {
    const std::size_t unit = place.sequence * setup().kv_heads + place.head;
    const std::uint8_t* const mask = of.mask.data() + unit * queries * of.rows;
    std::vector<std::size_t> there;
    for (std::size_t row = 0; row < of.rows; ++row) {
      bool seen = false;
      for (std::size_t query = 0; query < queries; ++query)
        seen |= mask[query * of.rows + row] != 0;
      if (seen || of.units[unit][row].value.position >= 0) there.push_back(row);
    }
    for (const std::size_t row : there) facts.returned.push_back(of.units[unit][row]);
    facts.mask_width = there.size();
    const bool weighed = !of.weights.empty();
    for (std::size_t query = 0; query < queries; ++query) {
      for (const std::size_t row : there) {
        facts.visible.push_back(mask[query * of.rows + row] != 0 ? 1 : 0);
        if (weighed) facts.weights.push_back(mean_weight(of, place, queries, query, row));
      }
    }
    if (reports_positions()) facts.query_positions = of.query_positions;
  }

  // Over the query heads of the unit.
  [[nodiscard]] float mean_weight(const Returned& of,
                                  const Place& place,
                                  std::size_t queries,
                                  std::size_t query,
                                  std::size_t row) const {
    float sum = 0;
    for (std::uint32_t i = 0; i < setup().group; ++i) {
      const std::size_t head =
          place.sequence * setup().query_heads() + place.head * setup().group + i;
      sum += of.weights[(head * queries + query) * of.rows + row];
    }
    return sum / static_cast<float>(setup().group);
  }

  Parts parts_;
  TensorReader reader_;
  std::unique_ptr<TensorCache> cache_;
  std::size_t fed_ = 0;  // tokens that count
};

class TensorFamily final : public Family {
 public:
  TensorFamily(std::string name, const TensorFormat& format, MakeTensors make, Declare declare)
      : name_(std::move(name)),
        format_(format),
        make_(std::move(make)),
        declare_(std::move(declare)) {}

  [[nodiscard]] std::string name() const override { return name_; }

  [[nodiscard]] Result<Contract> contract(const Setup& setup) const override {
    if (std::max({setup.layers, setup.kv_heads, setup.sequences}) > most_places) {
      return Error{Error::Kind::unsupported,
                   "a row's tag has room for 16 layers, heads, sequences"};
    }
    try {
      static_cast<void>(make_(setup, format_));
    } catch (const std::exception& refused) {
      return Error{Error::Kind::unsupported,
                   name_ + " refuses these sizes: " + std::string(refused.what())};
    }
    Contract contract = strictest(name_, setup);
    constexpr Precision precisions[] = {Precision::f32, Precision::f16, Precision::bf16};
    contract.precision = precisions[static_cast<std::size_t>(format_.type)];
    if (format_.raw_keys) contract.positions = PositionMode::unreported;
    if (declare_) declare_(contract);
    return contract;
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const Setup& setup,
                                              const DrawsOf& /*draws*/) override {
    return std::make_unique<TensorSubject>(
        TensorSubject::Parts{name_, format_, make_, setup, contract(setup).value()},
        make_(setup, format_));
  }

  [[nodiscard]] Setup requested() const override { return first_accepted(*this); }

 private:
  std::string name_;
  TensorFormat format_;
  MakeTensors make_;
  Declare declare_;
};

}  // namespace

std::unique_ptr<Family> make_tensor_family(std::string name,
                                           const TensorFormat& format,
                                           MakeTensors make,
                                           Declare declare) {
  KV_CHECK(wrong_format(format).empty());
  return std::make_unique<TensorFamily>(std::move(name), format, std::move(make),
                                        std::move(declare));
}

}  // namespace kv::properties
