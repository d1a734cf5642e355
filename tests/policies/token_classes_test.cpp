#include "kvcheck/policies/content/token_classes.h"

#include "kvcheck/policies/policy.h"
#include "kvcheck/tests/policies/feed.h"

namespace kv {
namespace {

using Kept = std::vector<Position>;

// c: content, f: function word, s: separator.
Kept kept_by(Policy& policy, std::string_view classes) {
  ScriptedDraws draws;
  MiniCache cache{.capacity = 2};
  for (const char c : classes) {
    const TokenClass token_class = c == 'c'   ? TokenClass::content
                                   : c == 'f' ? TokenClass::function
                                              : TokenClass::separator;
    feed(cache, policy, draws, {.token_class = token_class});
  }
  return cache.residents;
}

TEST(TokenClasses, DropsTheOldestOfOtherClassesFirst) {
  EXPECT_EQ(kept_by(*make_token_classes(TokenClass::content, false), "cfc"), (Kept{0, 2}));
  EXPECT_EQ(kept_by(*make_token_classes(TokenClass::content, false), "cfs"), (Kept{0, 2}));
  EXPECT_EQ(kept_by(*make_token_classes(TokenClass::content, false), "cfcs"), (Kept{0, 2}));
}

TEST(TokenClasses, AmongContentWordsKeepsTheNewestOrTheOldest) {
  EXPECT_EQ(kept_by(*make_token_classes(TokenClass::content, false), "cfccc"), (Kept{3, 4}));
  EXPECT_EQ(kept_by(*make_token_classes(TokenClass::content, true), "cfccc"), (Kept{0, 2}));
}

TEST(Separators, KeepPunctuationBeforeWords) {
  EXPECT_EQ(kept_by(*make_token_classes(TokenClass::separator, false), "scf"), (Kept{0, 2}));
  EXPECT_EQ(kept_by(*make_token_classes(TokenClass::separator, false), "scfscc"), (Kept{0, 3}));
  EXPECT_EQ(kept_by(*make_token_classes(TokenClass::separator, false), "scfscs"), (Kept{3, 5}));
}

}  // namespace
}  // namespace kv
