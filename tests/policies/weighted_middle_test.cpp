// The weighted tokens of a middle against plain lists of them.
#include "kvcheck/policies/sampling/weighted_middle.h"

#include <algorithm>

#include "kvcheck/base/random/rng.h"

namespace kv {
namespace {

struct Listed {
  Position position = 0;
  double weight = 0;
  bool overweight = false;
};

// The index of the lightest overweight token, among equals the newest.
std::size_t lightest_of(const std::vector<Listed>& tokens) {
  std::size_t found = tokens.size();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].overweight) continue;
    if (found == tokens.size() || tokens[i].weight <= tokens[found].weight) found = i;
  }
  return found;
}

std::vector<Position> lights_of(const std::vector<Listed>& tokens) {
  std::vector<Position> lights;
  for (const Listed& token : tokens) {
    if (!token.overweight) lights.push_back(token.position);
  }
  return lights;
}

void expect_alike(const WeightedMiddle& middle, const std::vector<Listed>& tokens) {
  const std::vector<Position> lights = lights_of(tokens);
  ASSERT_EQ(middle.size(), tokens.size());
  ASSERT_EQ(middle.overweight(), tokens.size() - lights.size());
  for (std::size_t n = 0; n < lights.size(); ++n) {
    ASSERT_EQ(middle.position(middle.light(n)), lights[n]);
  }
  if (middle.overweight() == 0) return;
  ASSERT_EQ(middle.position(middle.lightest()), tokens[lightest_of(tokens)].position);
}

WeightedMiddle restored(const WeightedMiddle& middle) {
  ByteWriter writer;
  middle.save(writer);
  ByteReader reader(writer.bytes());
  WeightedMiddle copy;
  copy.load(reader);
  EXPECT_TRUE(reader.finished());
  return copy;
}

// Weights are small whole numbers, so that many are equal. So many tokens come and go that numbers
// are given anew several times.
TEST(WeightedMiddle, FindsTheLightestAndTheLightTokensInOrder) {
  const Rng rng(5, 0);
  WeightedMiddle middle;
  std::vector<Listed> tokens;
  for (Position p = 0; p < 400; ++p) {
    const Listed token{.position = p,
                       .weight = static_cast<double>(1 + rng.below(6, p, 0)),
                       .overweight = rng.below(2, p, 1) == 0};
    const std::size_t number = middle.add(token.position, token.weight);
    token.overweight ? middle.make_overweight(number) : middle.make_light(number);
    tokens.push_back(token);
    if (rng.below(3, p, 2) == 0 && middle.overweight() > 0) {
      const std::size_t released = middle.lightest();
      tokens[lightest_of(tokens)].overweight = false;
      middle.release_lightest();
      middle.make_light(released);
    }
    const std::vector<Position> lights = lights_of(tokens);
    if (tokens.size() > 9 && !lights.empty()) {
      const std::size_t n = rng.below(lights.size(), p, 3);
      middle.remove(middle.light(n));
      std::erase_if(tokens, [&](const Listed& listed) { return listed.position == lights[n]; });
    }
    if (p % 16 == 0) middle = restored(middle);
    ASSERT_NO_FATAL_FAILURE(expect_alike(middle, tokens)) << p;
  }
}

}  // namespace
}  // namespace kv
