// What a host may ask of the program that serves a cache, however wrong.
#include "kvcheck/properties/remote/serve.h"

#include <fcntl.h>
#include <unistd.h>

#include "kvcheck/base/text/text.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/traces/files.h"

namespace kv::properties {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A request with a stream and these calls.
std::string request(const std::string& head, const std::string& calls) {
  std::string line = "{";
  line += head;
  line += R"(,"stream":{"kind":"random","seed":0,"planted":0,"first_sequence":0,)"
          R"("disturbed_sequence":-1,"disturbed_layer":-1,"disturbed_query_head":-1,)"
          R"("mirrored_group":1,"offset":0},"calls":[)";
  line += calls;
  return line + "]}";
}

std::string run_of_nine_tokens(const std::string& draws) {
  return request(
      R"("ask":"run","setup":{"sinks":1,"recent":1,"budget":4},"draws":")" + draws + "\"",
      R"({"do":"feed","branch":0,"position":0,"tokens":[0,1,2,3,4,5,6,7,8]})");
}

// The lines that these requests are answered with.
std::vector<std::string> answers_to(const std::vector<std::string>& requests) {
  const std::string from = test::temporary_file("requests", join(requests, "\n") + "\n");
  const std::string to = test::temporary_file("answers", "");
  const int in = ::open(from.c_str(), O_RDONLY);
  const int out = ::open(to.c_str(), O_WRONLY);
  serve_family(
      [] { return Result<std::unique_ptr<Family>>(make_spec_family(*parse_spec("random"))); }, in,
      out);
  ::close(in);
  ::close(out);
  std::vector<std::string> answers;
  const std::string text = test::bytes_of_file(to);
  for (const std::string_view line : split(text, '\n')) answers.emplace_back(line);
  answers.pop_back();  // what stands after the last newline
  return answers;
}

TEST(Serve, RefusesToContinueARunThatNeverBegan) {
  const std::string more = request(R"("ask":"more")", "");
  const std::string none = R"({"error":"\"more\" continues a run, and there is none"})";
  EXPECT_THAT(answers_to({more}), ElementsAre(none));
  EXPECT_THAT(answers_to({run_of_nine_tokens("seed"), more}),
              ElementsAre(HasSubstr("\"stored\""), R"({"events":[]})"));
}

TEST(Serve, ContinuesNoRunThatFailed) {
  const std::vector<std::string> answers =
      answers_to({run_of_nine_tokens("ask"), "{}", request(R"("ask":"more")", "")});
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_THAT(answers[1], HasSubstr("\"failure\""));
  EXPECT_THAT(answers[2], HasSubstr("continues a run, and there is none"));
}

TEST(Serve, TakesNoDrawThatItDidNotAskFor) {
  for (const char* draw : {R"({"value":1000000})", R"({"value":-1})", R"({"value":"x"})", "{}"}) {
    const std::vector<std::string> answers = answers_to({run_of_nine_tokens("ask"), draw});
    ASSERT_EQ(answers.size(), 2U) << draw;
    EXPECT_THAT(answers[0], HasSubstr(R"({"draw":)"));
    EXPECT_THAT(answers[1], HasSubstr(R"("failure":"the host's draw is not what was asked for")"));
  }
}

}  // namespace
}  // namespace kv::properties
