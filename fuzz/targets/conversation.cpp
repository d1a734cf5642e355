#include <unistd.h>

#include <array>

#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/properties/case.h"
#include "kvcheck/properties/history.h"
#include "kvcheck/properties/remote/remote_family.h"

namespace kv::fuzz {

using namespace properties;

// A child process that says these lines whatever it is asked. What is refused here has several
// lines, with the last words of the child.
bool conversation(Input input) {
  if (text_of(input).find('\n') == std::string_view::npos) return false;
  const StartChild start = [&] {
    return Child::run_function([&](int in, int out) {
      static_cast<void>(::write(out, input.data(), input.size()));
      // It lives until its input ends: whether its death is noticed would be a matter of time.
      std::array<char, 4096> asked;
      while (::read(in, asked.data(), asked.size()) > 0) continue;
    });
  };
  // All lines are there with the first, so whatever comes later never comes.
  const RemoteOptions options = {.start_seconds = 2, .seconds = 0.05, .strict = true};
  const auto family = make_remote_family(start, options);
  if (!family) return false;
  const Case what =
      parse_case("sinks=1,recent=1,budget=3;stream=random;calls=f3,f2,k,b1:f1,t4,s,r").value();
  const auto history = run_case(**family, what, counter_draws(1));
  return history.has_value() && history->failure.empty();
}

}  // namespace kv::fuzz
