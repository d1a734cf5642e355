#include "kvcheck/policies/sampling/weighted_middle.h"

#include <algorithm>
#include <bit>

#include "kvcheck/base/check.h"

namespace kv {

std::size_t WeightedMiddle::add(Position position, double weight) {
  KV_CHECK(tokens_.empty() || tokens_.back().position < position);
  if (tokens_.size() == tree_.size()) renumber();
  tokens_.push_back({.weight = weight, .position = position, .state = State::neither});
  ++size_;
  return tokens_.size() - 1;
}

void WeightedMiddle::make_light(std::size_t token) {
  if (tokens_[token].state != State::neither) return;
  tokens_[token].state = State::light;
  set_light(token, true);
}

void WeightedMiddle::make_overweight(std::size_t token) {
  tokens_[token].state = State::overweight;
  heap_.push_back(token);
  std::ranges::push_heap(heap_, [this](std::size_t a, std::size_t b) { return is_below(a, b); });
}

void WeightedMiddle::remove(std::size_t token) {
  KV_CHECK(!is_overweight(token) && tokens_[token].state != State::gone);
  if (tokens_[token].state == State::light) set_light(token, false);
  tokens_[token].state = State::gone;
  --size_;
}

void WeightedMiddle::release_lightest() {
  tokens_[lightest()].state = State::neither;
  std::ranges::pop_heap(heap_, [this](std::size_t a, std::size_t b) { return is_below(a, b); });
  heap_.pop_back();
}

// Entry i of the tree, counted from 1, counts the tokens of the 2^z numbers up to i, where z is the
// number of zero bits at the end of i.
std::size_t WeightedMiddle::light(std::size_t n) const {
  std::size_t number = 0;
  for (std::size_t step = std::bit_floor(tree_.size()); step > 0; step /= 2) {
    if (number + step > tree_.size() || tree_[number + step - 1] > n) continue;
    number += step;
    n -= tree_[number - 1];
  }
  KV_CHECK(number < tokens_.size() && tokens_[number].state == State::light);
  return number;
}

void WeightedMiddle::set_light(std::size_t token, bool is_light) {
  for (std::size_t i = token + 1; i <= tree_.size(); i += i & (~i + 1)) {
    tree_[i - 1] += is_light ? 1U : ~0U;
  }
}

// Drops the gone tokens and makes room for as many again. Numbers keep their order, so the heap
// remains one.
void WeightedMiddle::renumber() {
  std::vector<std::size_t> renamed(tokens_.size());
  std::size_t kept = 0;
  for (std::size_t token = 0; token < tokens_.size(); ++token) {
    renamed[token] = kept;
    if (tokens_[token].state != State::gone) tokens_[kept++] = tokens_[token];
  }
  tokens_.resize(kept);
  for (std::size_t& token : heap_) token = renamed[token];
  index();
}

void WeightedMiddle::index() {
  tree_.assign(2 * tokens_.size() + 8, 0);
  for (std::size_t token = 0; token < tokens_.size(); ++token) {
    if (tokens_[token].state == State::light) set_light(token, true);
  }
}

void WeightedMiddle::save(ByteWriter& writer) const {
  std::vector<double> weights;
  std::vector<Position> positions;
  std::vector<std::uint8_t> overweight;
  for (const Token& token : tokens_) {
    if (token.state == State::gone) continue;
    weights.push_back(token.weight);
    positions.push_back(token.position);
    overweight.push_back(token.state == State::overweight ? 1 : 0);
  }
  writer.put(weights);
  writer.put(positions);
  writer.put(overweight);
}

void WeightedMiddle::load(ByteReader& reader) {
  std::vector<double> weights;
  std::vector<Position> positions;
  std::vector<std::uint8_t> overweight;
  reader.get(weights);
  reader.get(positions);
  reader.get(overweight);
  *this = {};
  // Bytes that are cut off leave shorter vectors; ByteReader::finished reports them.
  size_ = std::min({weights.size(), positions.size(), overweight.size()});
  for (std::size_t i = 0; i < size_; ++i) {
    tokens_.push_back({.weight = weights[i], .position = positions[i], .state = State::light});
    if (overweight[i] != 0) make_overweight(i);
  }
  index();
}

}  // namespace kv
