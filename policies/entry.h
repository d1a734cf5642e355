// An entry of the registry: one policy as help, laws, replays and reports see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "kvcheck/base/error.h"

namespace kv {

class Policy;

// A parameter beyond sinks, recent and budget: `name=value` in a spec.
struct Parameter {
  // The numbers that are legal values.
  struct Range {
    enum class Of { names, counts, reals };  // whole numbers, or decimals

    Of of = Of::names;
    double least = 0;  // for counts: a whole number below 2^53
    double most = 0;
  };

  std::string_view name;
  std::string_view default_value;
  std::span<const std::string_view> choices{};  // the legal words, the default among them
  std::string_view meaning;                     // one line
  Range range{};                                // instead of choices
};

// The ranges of numeric parameters.
constexpr Parameter::Range counts(std::uint32_t least, std::uint32_t most) {
  return {Parameter::Range::Of::counts, static_cast<double>(least), static_cast<double>(most)};
}

constexpr Parameter::Range reals(double least, double most) {
  return {Parameter::Range::Of::reals, least, most};
}

// The value as specs write it: the word, or the number in its shortest form. The error names the
// parameter, what was found, and the nearest word or the range.
Result<std::string> legal_value(const Parameter& parameter, std::string_view value);

// The values of a policy's parameters, all present and legal.
class Options {
 public:
  // Starts with every default.
  explicit Options(std::span<const Parameter> parameters = {});

  // Requires `name` to be a parameter and `value` as legal_value gives it.
  void set(std::string_view name, std::string_view value);

  // Requires `name` to be a parameter.
  [[nodiscard]] const std::string& at(std::string_view name) const;

  // The value as a number. Requires `name` to be a parameter of counts, or of reals.
  [[nodiscard]] std::size_t count(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;

  bool operator==(const Options& other) const { return values_ == other.values_; }

 private:
  std::span<const Parameter> parameters_;
  std::map<std::string, std::string, std::less<>> values_;
};

// Which of the common fields a policy takes, and what they are when the spec leaves them out.
struct Protection {
  enum class Middle {
    none,       // budget = sinks + recent: no decision is ever needed
    some,       // the middle is what the budget leaves beside sinks and recent
    unbounded,  // nothing is ever evicted: no sinks, recent or budget
  };

  Middle middle = Middle::some;
  bool takes_sinks = true;
  std::uint32_t sinks = 0;  // the default

  // The default recent window as a share of the budget that the sinks leave, in percent: 100 for
  // policies without a middle, usually 50 otherwise, 0 for policies that protect no recent tokens.
  std::uint32_t recent_percent = 50;
};

// One policy as help, laws and reports see it.
//
// `claims` are what its source promises. `kvcheck check` tests the policy against them:
//   constant-size     a decision names exactly n - capacity victims, so a full middle remains full
//   chunk-invariant   the residents after n tokens do not depend on how the n were chunked
//   uniform           each token that ever left the recent window is in the middle with the same
//                     probability, and so is each pair
//   age-geometric     fed token by token, each decision draws its victim uniformly from all
//                     candidates, whatever their age: each survives with k/(k+1), k = capacity
//   admits-newcomers  a newcomer is never the victim of its own decision; with age-geometric, the
//                     victim is one of the k older tokens, each of which survives with (k-1)/k
//   deterministic     the policy makes no random draws
//   score-driven      decisions depend on attention
//   ageing            older tokens lose rank with time, so a newer one may be kept with less
//                     attention
//   pooled            a token is scored with its neighbours, so one of them may be kept instead
struct PolicyEntry {
  std::string_view name;
  std::string_view summary;  // one sentence, its verb first and with a capital
  Protection protection;
  std::span<const Parameter> parameters;
  std::span<const std::string_view> claims;
  std::string_view source;   // paper or code, with section
  std::string_view differs;  // from its source; "nothing" if it does not
  std::string_view cost;     // time per token and state
  std::unique_ptr<Policy> (*make)(const Options& options);
};

}  // namespace kv
