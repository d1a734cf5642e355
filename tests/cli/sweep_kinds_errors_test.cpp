// What is wrong with plans of evaluations and of tasks.
#include <filesystem>
#include <fstream>

#include "kvcheck/tests/cli/sweep_kinds.h"

namespace kv {
namespace {

using test::Ran;
using test::run;
using testing::HasSubstr;
using testing::IsEmpty;

using SweepKindsErrors = test::SweepKinds;

TEST_F(SweepKindsErrors, AreOneSentenceAndNoFile) {
  struct Wrong {
    std::string section;
    std::string sentence;
  };

  const std::string text = R"("texts": [)" + listed({"text-0"}) + R"(], "policies": ["h2o"])";
  const std::string model = R"("model": ")" + test::a_model() + R"(", )";
  const std::string eval = R"("eval": {)" + model + text + ", ";
  const std::string items = R"("tasks": {)" + model + R"("policies": ["h2o"], "files": [)";
  std::filesystem::copy_file(folder_ / "text-0", folder_ / "copy");
  std::ofstream(folder_ / "wrong-items") << "{\"id\": \"a\"}\n";
  for (const Wrong& wrong : std::vector<Wrong>{
           {R"("detail": "summary")",
            R"(plan: expected "replay", "eval", "tasks" or "speed", found none)"},
           {eval + R"("seeds": 1}, "replay": {})",
            R"(plan: expected one of "replay", "eval", "tasks")"},
           {R"("eval": 3)", "plan.eval: expected an object, found 3"},
           {R"("eval": {)" + text + "}", "plan.eval: the field \"model\" is missing"},
           {eval + R"("window": [3]})",
            "plan.eval: unknown field 'window'; did you mean 'windows'?"},
           {eval + R"("windows": [3, 3]})", "plan.eval.windows[1]: 3 is given twice"},
           {eval + R"("segment": 64.5})", "plan.eval.segment: expected a count, found 64.5\n"},
           {eval + R"("windows": [1]})", R"(plan.eval.texts[0]: "windows" has 1; expected 0)"},
           {eval + R"("storage": "f31"})", "plan.eval: "},
           {eval + R"("weights": "int7"})", "plan.eval.model: "},
           {eval + R"("each": true})",
            R"(plan.eval.texts[0]: "each" and "mark" are about the pieces)"},
           {eval + R"("open-loop": true, "windows": [0], "budgets": [9]}, "detail": "heads")",
            "plan.detail: evaluations have no numbers of heads"},
           {eval + R"("question": 4})", R"(plan.eval: "question" is given without "prompt")"},
           {R"("eval": {)" + model + R"("texts": [)" + listed({"text-0"}) +
                R"(], "policies": ["dense", "window:budget=32"], "budgets": [64]})",
            "plan.eval.policies[1]: in spec 'window:budget=32': the spec fixes the budget at 32, "
            "but \"budgets\" asks for 64; leave out 'budget' in the spec, or \"budgets\";"},
           {R"("eval": {)" + model + R"("texts": [)" + listed({"text-0"}) +
                R"(], "policies": ["@snapkv-prompt"]})",
            "plan.eval.texts[0]: 'snapkv:recent=32;unit=head;compress=question' compresses at the "
            "end of the question, and the text has no mark there; expected \"prompt\" with a "
            "number of tokens"},
           {R"("eval": {"model": "none", )" + text + "}",
            "plan.eval.model: there is no model at 'none'"},
           {R"("eval": {)" + model + R"("texts": ["none.txt"], "policies": ["h2o"]})",
            "plan.eval.texts[0]: cannot open 'none.txt'"},
           {R"("eval": {)" + model + R"("texts": [)" + listed({"text-0", "copy"}) +
                R"(], "policies": ["h2o"]})",
            "plan.eval.texts[1]: the words of '" + (folder_ / "text-0") + "' are given twice"},
           {R"("eval": {)" + model + R"("texts": [)" + listed({"text-0"}) +
                R"(], "policies": ["h2o", "dense;visibility=top-pages:8/4/9"]})",
            "plan.eval.policies: "},
           {R"("eval": {)" + model + R"("texts": [)" + listed({"text-0"}) +
                R"(], "policies": ["streaming:sinks=400,recent=4"]})",
            "plan.eval.texts[0]: streaming:"},
           {items + listed({"wrong-items"}) + "]}", "plan.tasks.files[0]: "},
           {items + listed({"items-1"}) + R"(], "tokens": 3})",
            "plan.tasks: unknown field 'tokens'"},
           {items + listed({"items-1"}) + R"(]}, "detail": "series")",
            "plan.detail: every answer is kept anyway"}}) {
    const std::string plan = written("{" + wrong.section + "}");
    const Ran ran = run({"sweep", plan, "-o", folder_ / "run.db"});
    EXPECT_EQ(ran.status, 2) << wrong.section;
    EXPECT_THAT(ran.err, HasSubstr("plan.json', line 1: " + wrong.sentence)) << wrong.section;
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_FALSE(std::ifstream(folder_ / "run.db").good());
  }
}

}  // namespace
}  // namespace kv
