#include "kvcheck/properties/plain/plain_subject.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace kv::properties {
namespace {

// |held - fed| / |fed|.
double distance(const KeyVector& held, const KeyVector& fed) {
  double off = 0;
  double whole = 0;
  for (std::size_t i = 0; i < key_size; ++i) {
    const double difference = static_cast<double>(held[i]) - static_cast<double>(fed[i]);
    off += difference * difference;
    whole += static_cast<double>(fed[i]) * static_cast<double>(fed[i]);
  }
  return std::sqrt(off / whole);
}

// The largest difference, in steps of its group. Numbers without a step must be 0.
double most_steps(std::span<const float> held,
                  std::span<const float> fed,
                  std::span<const float> steps) {
  double most = 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const double off = std::abs(static_cast<double>(held[i]) - static_cast<double>(fed[i]));
    const auto step = static_cast<double>(steps[i / payload_group]);
    if (off > 0) most = std::max(most, step > 0 ? off / step : 1);
  }
  return most;
}

}  // namespace

PlainSubject::PlainSubject(const PlainOptions& options,
                           const Setup& setup,
                           const Contract& contract,
                           const DrawsOf& draws,
                           Factory again)
    : options_(options),
      setup_(setup),
      contract_(contract),
      re_evaluation_(std::move(again)),
      draws_of_(draws) {
  state_.groups.resize(units() / shared());
  for (std::size_t group = 0; group < state_.groups.size(); ++group) {
    draws_.push_back(draws_of_(static_cast<std::uint32_t>(group * shared())));
  }
}

std::size_t PlainSubject::units() const {
  const std::size_t heads = options_.unit == Unit::head ? setup_.query_heads() : setup_.kv_heads;
  return heads * setup_.layers * setup_.sequences;
}

std::size_t PlainSubject::shared() const {
  if (options_.unit == Unit::layer) return setup_.kv_heads;
  if (options_.unit == Unit::model) return std::size_t{setup_.kv_heads} * setup_.layers;
  return 1;
}

std::size_t PlainSubject::index_of(const PlainGroup& group) const {
  return static_cast<std::size_t>(&group - state_.groups.data());
}

std::size_t PlainSubject::first_unit(const PlainGroup& group) const {
  return index_of(group) * shared();
}

Place PlainSubject::place_of(std::size_t unit) const {
  const std::size_t heads = options_.unit == Unit::head ? setup_.query_heads() : setup_.kv_heads;
  return {static_cast<std::uint32_t>(unit / (heads * setup_.layers)),
          static_cast<std::uint32_t>(unit / heads % setup_.layers),
          static_cast<std::uint32_t>(unit % heads)};
}

Draws& PlainSubject::draws_of(const PlainGroup& group) {
  return *draws_[index_of(group)];
}

Answer<Facts> PlainSubject::feed(const Feed& feed) {
  const std::size_t chunk = feed.tokens.size();
  if (contract_.longest_chunk > 0 && chunk > contract_.longest_chunk) {
    return Refused{"chunks of more than " + std::to_string(contract_.longest_chunk) +
                   " tokens are not offered"};
  }
  for (std::size_t i = 0; i < chunk; ++i) {
    if (feed.tokens[i].position != static_cast<std::int32_t>(state_.fed + i)) {
      return Refused{"the next token is " + std::to_string(state_.fed)};
    }
  }
  if (chunk == 0) return look();
  remember(feed);
  Facts facts;
  facts.units.resize(units());
  state_.fed += chunk;
  chunk_ = chunk;
  feed_groups(feed, facts);
  return facts;
}

void PlainSubject::feed_groups(const Feed& feed, Facts& facts) {
  for (PlainGroup& group : state_.groups) feed_group(group, feed, facts);
}

void PlainSubject::feed_group(PlainGroup& group, const Feed& feed, Facts& facts) {
  make_room(group, feed.tokens.size());
  append(group, feed.tokens);
  const std::vector<std::size_t> returned = begin_attention(group, feed, facts);
  for (std::size_t query = 0; query < feed.tokens.size(); ++query) {
    before_query(group, feed.tokens[query]);
    attend(group, feed, query, returned, facts);
  }
  after_chunk(group);
  report_state(group, facts);
}

// The rows that attention is given.
std::vector<std::size_t> PlainSubject::begin_attention(PlainGroup& group,
                                                       const Feed& feed,
                                                       Facts& facts) {
  std::vector<std::size_t> returned = returned_rows(group, feed.tokens.size());
  for (std::size_t cell = 0; cell < shared(); ++cell) {
    UnitFacts& unit = facts.units[first_unit(group) + cell];
    unit.returned.reserve(returned.size());
    for (const std::size_t row : returned)
      unit.returned.push_back(report_to(group.rows[row], cell));
  }
  return returned;
}

void PlainSubject::attend(PlainGroup& group,
                          const Feed& feed,
                          std::size_t query,
                          const std::vector<std::size_t>& returned,
                          Facts& facts) {
  const std::vector<std::uint8_t> mask = mask_row(group, returned, feed.tokens, query);
  std::vector<std::size_t> visible;  // in stream order
  visible.reserve(returned.size());
  for (std::size_t i = 0; i < std::min(mask.size(), returned.size()); ++i) {
    if (mask[i] != 0) visible.push_back(returned[i]);
  }
  std::ranges::sort(visible);
  const double position = query_position(group, feed.tokens[query], visible);
  const std::vector<double> keys = key_positions(returned, visible);
  std::vector<std::vector<float>> weights;
  const std::vector<float> mass = weigh(group, feed, query, visible, weights);
  for (std::size_t cell = 0; cell < shared(); ++cell) {
    UnitFacts& unit = facts.units[first_unit(group) + cell];
    unit.mask_width = mask.size();
    unit.visible.insert(unit.visible.end(), mask.begin(), mask.end());
    unit.query_positions.push_back(position);
    unit.key_positions.insert(unit.key_positions.end(), keys.begin(), keys.end());
    if (!ranked()) continue;
    const std::size_t begin = unit.weights.size();
    unit.weights.resize(begin + returned.size());
    for (std::size_t i = 0; i < returned.size(); ++i) {
      const auto rank = std::ranges::find(visible, returned[i]) - visible.begin();
      if (rank == static_cast<std::ptrdiff_t>(visible.size())) continue;
      unit.weights[begin + i] = weights[cell][static_cast<std::size_t>(rank)];
    }
  }
  if (ranked()) observe(group, visible, mass);
}

std::vector<double> PlainSubject::key_positions(const std::vector<std::size_t>& returned,
                                                const std::vector<std::size_t>& visible) {
  std::vector<double> keys;
  if (options_.positions != PositionMode::in_cache) return keys;
  for (const std::size_t row : returned) {
    const auto rank = std::ranges::find(visible, row) - visible.begin();
    const bool sees = rank < static_cast<std::ptrdiff_t>(visible.size());
    keys.push_back(sees ? static_cast<double>(rank) : not_reported);
  }
  return keys;
}

std::vector<float> PlainSubject::weigh(const PlainGroup& group,
                                       const Feed& feed,
                                       std::size_t query,
                                       const std::vector<std::size_t>& visible,
                                       std::vector<std::vector<float>>& per_unit) {
  std::vector<float> sum(visible.size());
  if (!ranked()) return sum;
  std::vector<Token> keys;
  keys.reserve(visible.size());
  for (const std::size_t row : visible) keys.push_back(group.rows[row].token);
  const std::uint32_t heads = options_.unit == Unit::head ? 1 : setup_.group;
  std::vector<float> mass(visible.size());
  for (std::size_t cell = 0; cell < shared(); ++cell) {
    const Place place = place_of(first_unit(group) + cell);
    std::vector<float> mean(visible.size());
    for (std::uint32_t head = 0; head < heads; ++head) {
      const Payer payer{place.sequence, place.layer, place.head * heads + head};
      visible_mass(feed.stream, payer, feed.tokens[query], keys, mass);
      for (std::size_t i = 0; i < mass.size(); ++i) {
        sum[i] += mass[i];
        mean[i] += mass[i] / static_cast<float>(heads);
      }
    }
    per_unit.push_back(mean);
  }
  for (float& x : sum) x /= static_cast<float>(shared() * heads);
  return sum;
}

Row PlainSubject::report_to(const PlainRow& row, std::size_t cell) const {
  const PlainCell& held = row.cells[cell];
  const KeyReading key = read_key(held.key, options_.layout);
  const ValueReading value = read_value(held.value);
  const bool derived = options_.positions == PositionMode::in_cache;
  Row reported{.value = value.token,
               .key = key.token,
               .value_place = value.place,
               .key_place = key.place,
               .position = derived ? not_reported : key.position,
               .key_error = key.error,
               .full_precision = held.full_precision,
               .apart = true};
  if (!has_tiers(options_.precision)) return reported;
  if (options_.positions != PositionMode::shifted) reported.steps_off = steps_off(held);
  if (options_.precision == Precision::int4 && !held.full_precision) {
    reported.value = reported.key = held.tag.token;
    reported.value_place = reported.key_place = held.tag.place;
    reported.position = derived ? not_reported : held.tag.position;
    reported.key_error = distance(
        held.key, encode_key(held.tag.token, held.tag.place, held.tag.position, options_.layout));
  }
  return reported;
}

double PlainSubject::steps_off(const PlainCell& cell) const {
  const KeyVector key =
      encode_key(cell.tag.token, cell.tag.place, cell.tag.position, options_.layout);
  const ValueVector value = encode_value(cell.tag.token, cell.tag.place);
  if (cell.full_precision) return key == cell.key && value == cell.value ? 0 : 1;
  const std::span<const float> steps(cell.steps);
  constexpr std::size_t of_keys = (key_size + payload_group - 1) / payload_group;
  return std::max(most_steps(cell.key, key, steps.first(of_keys)),
                  most_steps(cell.value, value, steps.subspan(of_keys)));
}

void PlainSubject::report_state(PlainGroup& group, Facts& facts) {
  const std::vector<std::size_t> rows = stored_rows(group);
  for (std::size_t cell = 0; cell < shared(); ++cell) {
    UnitFacts& unit = facts.units[first_unit(group) + cell];
    unit.stored.reserve(rows.size());
    for (const std::size_t row : rows) unit.stored.push_back(report_to(group.rows[row], cell));
    unit.reported = reported(group);
    unit.moved = group.moved;
  }
}

Facts PlainSubject::look() {
  Facts facts;
  facts.units.resize(units());
  for (PlainGroup& group : state_.groups) report_state(group, facts);
  return facts;
}

}  // namespace kv::properties
