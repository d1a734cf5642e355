// WeightedMiddle: the weighted tokens of a middle, of which some are overweight. It finds the
// lightest of the overweight ones, and the n-th of the others in stream order.
//
// Tokens have numbers, which are indices in the order of their arrival. A number is valid until the
// next call of add, which renumbers when many tokens are gone, without changing their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kvcheck/base/bytes.h"
#include "kvcheck/base/position.h"

namespace kv {

class WeightedMiddle {
 public:
  // Adds a token that is newer than all others, neither light nor overweight, and returns its
  // number. Cost: O(log size), amortised.
  std::size_t add(Position position, double weight);

  void make_light(std::size_t token);       // cost: O(log size)
  void make_overweight(std::size_t token);  // cost: O(log size)

  // Removes a token that is not overweight. Cost: O(log size).
  void remove(std::size_t token);

  // The lightest overweight token; among equals the newest. Requires one. Cost: O(1).
  [[nodiscard]] std::size_t lightest() const { return heap_.front(); }

  // That token is then neither light nor overweight. Cost: O(log size).
  void release_lightest();

  // The n-th light token in stream order, from 0. Requires n below their number. Cost: O(log size).
  [[nodiscard]] std::size_t light(std::size_t n) const;

  [[nodiscard]] std::size_t size() const { return size_; }

  [[nodiscard]] std::size_t overweight() const { return heap_.size(); }

  [[nodiscard]] double weight(std::size_t token) const { return tokens_[token].weight; }

  [[nodiscard]] Position position(std::size_t token) const { return tokens_[token].position; }

  [[nodiscard]] bool is_overweight(std::size_t token) const {
    return tokens_[token].state == State::overweight;
  }

  void save(ByteWriter& writer) const;
  void load(ByteReader& reader);

 private:
  enum class State : std::uint8_t { gone, neither, light, overweight };

  struct Token {
    double weight = 0;
    Position position = 0;
    State state = State::gone;
  };

  void set_light(std::size_t token, bool is_light);
  void renumber();
  void index();

  // The order of the heap: its first token is the lightest.
  [[nodiscard]] bool is_below(std::size_t a, std::size_t b) const {
    return weight(a) > weight(b) || (weight(a) == weight(b) && a < b);
  }

  std::vector<Token> tokens_;        // by number, the gone ones among them
  std::vector<std::uint32_t> tree_;  // counts the light tokens: a binary indexed tree
  std::vector<std::size_t> heap_;    // the overweight tokens
  std::size_t size_ = 0;             // tokens that are not gone
};

}  // namespace kv
