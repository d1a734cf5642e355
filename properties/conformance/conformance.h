// The way in for a cache in C++: derive, register, run. Ten lines, CMake included:
//
//   find_package(kvcheck REQUIRED COMPONENTS conformance)
//   add_executable(my_laws my_laws.cpp)
//   target_link_libraries(my_laws PRIVATE kvcheck::conformance)
//   kvcheck_discover_tests(my_laws)
//
//   #include "kvcheck/properties/conformance/conformance.h"
//   class MyCache : public kv::properties::SimpleCache { ... };
//   KVCHECK_SUBJECT(MyCache)
//   int main(int argc, char** argv) { return kv::properties::kvcheck_main(argc, argv); }
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvcheck/properties/family.h"
#include "kvcheck/properties/history.h"
#include "kvcheck/properties/verdict.h"

namespace kv::properties {

// A cache of one unit that knows which tokens it holds, and nothing of layers, heads or vectors.
// One is made for each sequence, layer and kv-head. A cache that can say more (rows with keys and
// values apart, weights, positions) derives from Subject instead.
class SimpleCache {
 public:
  SimpleCache() = default;
  SimpleCache(const SimpleCache&) = delete;
  SimpleCache& operator=(const SimpleCache&) = delete;
  virtual ~SimpleCache() = default;

  // Takes tokens in. For each: the tokens that it may attend to, itself included.
  virtual std::vector<std::vector<Token>> append(std::span<const Token> tokens) = 0;

  // What is stored now, in slot order.
  [[nodiscard]] virtual std::vector<Token> kept() const = 0;

  // What the cache says its length is; nothing: not reported.
  [[nodiscard]] virtual std::optional<std::size_t> size() const { return std::nullopt; }

  // Forgets everything. False: not offered, and nothing has changed; here and below.
  virtual bool reset() { return false; }

  // Takes back all but the first `length` tokens. Hostile lengths are to be refused.
  virtual bool truncate(std::int64_t /*length*/) { return false; }

  // An independent copy. Null: not offered.
  [[nodiscard]] virtual std::unique_ptr<SimpleCache> fork() const { return nullptr; }
};

using MakeCache = std::function<std::unique_ptr<SimpleCache>(const Setup&, Draws&)>;
using Declare = std::function<void(Contract& contract)>;

// A family of such caches. `declare` is given a contract of the strictest reading with the setup's
// sizes. A cache whose constructor throws refuses the sizes.
std::unique_ptr<Family> make_simple_family(std::string name, MakeCache make, Declare declare);

// Makes `Cache` of a setup, and of draws if it takes them.
template <typename Cache>
std::unique_ptr<Family> simple_family(std::string name, Declare declare = {}) {
  return make_simple_family(
      std::move(name),
      [](const Setup& setup, Draws& draws) -> std::unique_ptr<SimpleCache> {
        if constexpr (std::constructible_from<Cache, const Setup&, Draws&>) {
          return std::make_unique<Cache>(setup, draws);
        } else {
          return std::make_unique<Cache>(setup);
        }
      },
      std::move(declare));
}

using MakeFamily = std::function<std::unique_ptr<Family>()>;

// Makes a subject known to kvcheck_main and to tests. True, so that it can initialise a variable.
bool register_subject(std::string name, MakeFamily make);

struct RegisteredSubject {
  std::string name;
  MakeFamily make;
};

// In the order of their names.
std::vector<RegisteredSubject> registered_subjects();

// Registers a SimpleCache; what follows the class declares:
// KVCHECK_SUBJECT(MyCache, [](kv::properties::Contract& c) { c.may_evict_newest = true; })
#define KVCHECK_SUBJECT(Cache, ...)                                                       \
  [[maybe_unused]] static const bool kvcheck_registered_##Cache =                         \
      ::kv::properties::register_subject(#Cache, [] {                                     \
        return ::kv::properties::simple_family<Cache>(#Cache __VA_OPT__(, ) __VA_ARGS__); \
      });

// The first law that judges one run and that this run breaks, with what was expected and seen;
// empty: none. Cost: that of judging the whole run.
std::string broken_law(const History& history);

// What a battery of one law came to.
struct LawVerdict {
  enum class Outcome { holds, broken, not_run };

  Outcome outcome = Outcome::not_run;
  std::string text;  // the report for people; why it was not run
};

// Tries one law on a registered subject, at the quick level. Requires the subject to be registered
// and the law to be one of law_ids(). `command` is what checks the subject and takes --reproduce,
// for the line that repeats a finding; may be empty.
LawVerdict check_law(std::string_view subject,
                     std::string_view law,
                     const Effort& effort = {},
                     const std::string& command = {});

std::vector<std::string> law_ids();

// `kvcheck check` for the registered subjects: SUBJECT is the name of one, and may be left out if
// there is only one; all of its options stand. Beside them:
//   --list-tests         "SUBJECT LAW" for each pair, a line each
//   --law LAW            one law; exit status 77 if it does not apply or was not run
// Exit status: 0 every law that was run holds, 1 a law is broken, 2 usage.
int kvcheck_main(int count, char** words);

}  // namespace kv::properties
