#include "kvcheck/base/token_class.h"

namespace kv {
namespace {

TEST(TokenClass, TellsFunctionWordsWhateverTheirBlanksAndCapitals) {
  for (const char* word : {"the", " the", "The ", "\tAND", " of", "you", "a"}) {
    EXPECT_EQ(token_class_of(word), TokenClass::function) << word;
  }
}

TEST(TokenClass, TellsSeparatorsByTheirPunctuation) {
  for (const char* word : {".", ",", " ;", "...", "\n", " \n\n", "\"", "-"}) {
    EXPECT_EQ(token_class_of(word), TokenClass::separator) << word;
  }
}

TEST(TokenClass, TakesAllElseForContent) {
  for (const char* word : {"cat", " Theo", "42", "it's", "an1", "\xC3\xA9", "x."}) {
    EXPECT_EQ(token_class_of(word), TokenClass::content) << word;
  }
}

TEST(TokenClass, TakesBlanksAndNothingForFunctionWords) {
  EXPECT_EQ(token_class_of(""), TokenClass::function);
  EXPECT_EQ(token_class_of("  "), TokenClass::function);
}

}  // namespace
}  // namespace kv
