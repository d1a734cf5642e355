// The commands that docs/models.md gives for published models, on narrow models of the same kinds.
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/model/against_numpy.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

class PublishedModels : public model::NumpyTest, public testing::WithParamInterface<const char*> {};

class PublishedPage : public model::NumpyTest {};

TEST_P(PublishedModels, RunUnderTheCommandsOfTheirPage) {
  const test::TemporaryFolder folder;
  EXPECT_TRUE(model::run_python("published/try_page.py",
                                KVCHECK_PROGRAM " " + folder / "models " + GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All,
                         PublishedModels,
                         testing::Values("Llama-3.2-1B",
                                         "Qwen3-0.6B",
                                         "SmolLM2-135M",
                                         "gemma-3-270m",
                                         "TinyLlama-1.1B",
                                         "pythia-70m"));

TEST_F(PublishedPage, FailsWhereACommandDoes) {
  const test::TemporaryFolder folder;
  EXPECT_FALSE(model::run_python("published/try_page.py",
                                 "/bin/false " + folder / "models pythia-70m >/dev/null"));
}

}  // namespace
}  // namespace kv
