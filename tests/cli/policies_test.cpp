#include "kvcheck/cli/policies/policies.h"

#include <boost/json.hpp>
#include <sstream>

#include "kvcheck/base/text/text.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/spec/presets.h"

namespace kv::cli {
namespace {

// What the command prints, or its error.
std::string run(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  Streams streams{out, err};
  const auto done = policies_command.run(arguments, streams);
  EXPECT_EQ(err.str(), "");
  return done ? out.str() : "error: " + done.error().message;
}

TEST(PoliciesCommand, NamesEveryPolicyFieldClaimAndPreset) {
  const std::string text = run({});
  for (const PolicyEntry& entry : policy_registry()) {
    EXPECT_THAT(text, testing::HasSubstr("\n" + std::string(entry.name) + "\n"));
    EXPECT_THAT(text, testing::HasSubstr(std::string(entry.summary)));
    for (const Parameter& parameter : entry.parameters) {
      EXPECT_THAT(text, testing::HasSubstr(std::string(parameter.name) + "=" +
                                           std::string(parameter.default_value)));
    }
    for (const std::string_view claim : entry.claims) {
      EXPECT_THAT(text, testing::HasSubstr(std::string(claim)));
    }
  }
  for (const Preset& preset : presets()) {
    EXPECT_THAT(text, testing::HasSubstr("\n@" + std::string(preset.name) + "\n"));
    EXPECT_THAT(text, testing::HasSubstr(std::string(preset.spec)));
  }
}

TEST(PoliciesCommand, KeepsTheListWithinAHundredColumns) {
  for (const std::string_view line : split(run({}), '\n')) {
    const bool one_word = line.find(' ', line.find_first_not_of(' ')) == line.npos;  // a spec
    EXPECT_TRUE(one_word || line.size() <= 100) << line;
  }
  EXPECT_THAT(std::string(policies_command.help), testing::HasSubstr("Examples:"));
}

TEST(PoliciesCommand, TellsAllAboutANamedPolicy) {
  const std::string text = run({"reservoir"});
  EXPECT_THAT(text, testing::StartsWith("reservoir\n"));
  for (const char* word : {"claims", "differs", "cost", "timing=attend-then-trim", "visibility=",
                           "positions=", "unit=kv-head", "chunk=1", "r | l | bottom-k"}) {
    EXPECT_THAT(text, testing::HasSubstr(word)) << word;
  }
  // Every claim is explained: its meaning stands after its name.
  for (const PolicyEntry& entry : policy_registry()) {
    for (const std::string_view claim : entry.claims) {
      EXPECT_THAT(run({std::string(entry.name)}),
                  testing::ContainsRegex(std::string(claim) + ": [a-z]"));
    }
  }
}

TEST(PoliciesCommand, TellsOfEveryPresetWhatItClaimsAndCosts) {
  for (const Preset& preset : presets()) {
    const std::string text = run({"@" + std::string(preset.name)});
    for (const char* word : {"\n  claims  ", "\n  source  ", "\n  cost  ", "\n  differs  "}) {
      EXPECT_THAT(text, testing::HasSubstr(word)) << preset.name;
    }
  }
  EXPECT_THAT(run({"@ada-h2o"}), testing::HasSubstr("256 tokens for each head on average"));
  // A policy's claim that a setting voids is not the preset's.
  EXPECT_THAT(run({"reservoir"}), testing::HasSubstr("uniform: "));
  EXPECT_THAT(run({"--json", "@tova"}), testing::HasSubstr("\"claims\":[\""));
}

TEST(PoliciesCommand, ShowsAPresetWithItsCanonicalText) {
  const std::string text = run({"--show", "@tova"});
  EXPECT_THAT(text, testing::HasSubstr("tova:sinks=0,recent=0,budget=256;timing=attend-then-trim"));
  EXPECT_EQ(text, run({"@tova"}));
}

TEST(PoliciesCommand, ShowsWhatFieldsAfterANameMakeOfIt) {
  const std::string preset = run({"--show", "@h2o:budget=64"});
  EXPECT_THAT(preset, testing::StartsWith("@h2o\n"));
  EXPECT_THAT(preset, testing::HasSubstr("budget: 64 tokens for each kv-head"));
  const std::string policy = run({"--show", "h2o:budget=64;timing=lazy:8"});
  EXPECT_THAT(policy, testing::StartsWith("h2o\n"));
  EXPECT_THAT(policy, testing::HasSubstr("h2o:sinks=0,recent=32,budget=64,form=real-drop"));
  EXPECT_THAT(policy, testing::HasSubstr("timing: lazy:8"));
  EXPECT_THAT(run({"h2o:bugdet=64"}), testing::HasSubstr("did you mean 'budget'?"));
  EXPECT_THAT(run({"@h20:budget=64"}), testing::HasSubstr("did you mean '@h2o'?"));
  for (const char* spec : {"h2o:budget=64", "@h2o:budget=64"}) {
    const auto object = boost::json::parse(run({"--json", spec})).as_object();
    EXPECT_EQ(object.at("given"), spec);
    EXPECT_THAT(std::string(object.at("given_canonical").as_string()),
                testing::StartsWith("h2o:sinks=0,recent=32,budget=64"));
  }
}

TEST(PoliciesCommand, PrintsOneJsonObjectALine) {
  std::istringstream lines(run({"--json"}));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto object = boost::json::parse(line).as_object();
    EXPECT_FALSE(object.at("name").as_string().empty());
    EXPECT_FALSE(object.at("source").as_string().empty());
    if (object.at("kind") == "policy") {
      EXPECT_FALSE(object.at("claims").as_array().empty());
      EXPECT_FALSE(object.at("cost").as_string().empty());
    } else {
      EXPECT_FALSE(object.at("canonical").as_string().empty());
    }
  }
  EXPECT_EQ(count, policy_registry().size() + presets().size());
}

TEST(PoliciesCommand, ExplainsWordsItDoesNotKnow) {
  EXPECT_THAT(run({"resrvoir"}), testing::HasSubstr("did you mean 'reservoir'?"));
  EXPECT_THAT(run({"@tva"}), testing::HasSubstr("unknown preset '@tva'; did you mean '@tova'?"));
  EXPECT_THAT(run({"streaming-llm"}), testing::HasSubstr("did you mean '@streaming-llm'?"));
  EXPECT_THAT(run({"--jsn"}), testing::HasSubstr("did you mean '--json'?"));
  EXPECT_THAT(run({"--show"}), testing::HasSubstr("error: --show needs"));
}

}  // namespace
}  // namespace kv::cli
