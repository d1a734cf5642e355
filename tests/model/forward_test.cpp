// The decoder against an independent forward pass (tests/model/reference_model.py): four families,
// policies, chunks, positions and storages; each query of the reference runs over all keys under
// the mask of what the decoder says it saw.
#include "kvcheck/tests/model/against_numpy.h"
#include "kvcheck/tests/model/small_models.h"

namespace kv::model {
namespace {

using test::SmallModel;
using Case = NumpyCase;

KvFormat format_of(std::string_view words) {
  return parse_kv_format(words).value();
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"dense"},
      {"dense;chunk=7"},
      {"streaming:sinks=2,recent=9"},
      {"streaming:sinks=2,recent=9;positions=in-cache;chunk=5"},
      {"window:recent=8;visibility=window;chunk=6;positions=in-cache"},
      {"reservoir:sinks=1,recent=4,budget=12;positions=in-cache;timing=trim-then-attend"},
      {"h2o:sinks=1,recent=4,budget=12;timing=lazy:3;chunk=3"},
      {"h2o:sinks=1,recent=4,budget=12;positions=in-cache;visibility=window;chunk=8"},
      {"tova:budget=10;unit=layer;vectors=kept;chunk=4"},
      {"h2o:recent=4,budget=12;unit=head"},
      {"h2o:recent=4,budget=12;unit=model;vectors=kept;chunk=3"},
      {"h2o:recent=4,budget=12;unit=model;visibility=window"},
      {"reservoir:sinks=1,recent=4,budget=12;unit=model;vectors=kept;chunk=3;positions=in-cache"},
      {"h2o:sinks=1,recent=4,budget=12;budgets=pyramid:4;chunk=3"},
      {"streaming:sinks=2,recent=9;budgets=retrieval:1.0;visibility=window;chunk=5"},
      {"h2o:sinks=1,recent=4,budget=12;budgets=adaptive:0.2;chunk=3"},
      {"tova:recent=2,budget=10;unit=head;budgets=adaptive:0.2;visibility=window;chunk=5"},
      {"dense;visibility=top-pages:8/4/0"},
      {"dense;visibility=top-pages:12/4/1;chunk=5"},
      {"dense;visibility=top-pages:8/4/0;chunk=5", {.keys = KeyStorage::raw}},
      {"dense;visibility=top-pages:8/4/0", {.storage = format_of("int8")}, 4e-2},
      {"reservoir:sinks=1,recent=4,budget=12;positions=in-cache;chunk=3",
       {.keys = KeyStorage::raw}},
      {"h2o:recent=4,budget=12;chunk=2", {.keys = KeyStorage::raw}},
      {"streaming:sinks=2,recent=9;positions=in-cache", {.storage = Number::f16}, 5e-3},
      {"streaming:sinks=2,recent=9", {.storage = Number::bf16, .keys = KeyStorage::raw}, 4e-2},
      {"streaming:sinks=2,recent=9;positions=in-cache", {.storage = format_of("int8")}, 4e-2},
      {"h2o:recent=4,budget=12", {.storage = format_of("int8"), .keys = KeyStorage::raw}, 4e-2},
      {"h2o:recent=4,budget=12;chunk=3", {.storage = format_of("int8:recent=3,sinks=2")}, 4e-2},
      {"streaming:sinks=2,recent=9;chunk=5", {.storage = format_of("int4:recent=16,sinks=2")}},
      {"streaming:sinks=2,recent=9;chunk=4", {.storage = format_of("int8:group=4")}, 4e-2},
      {"reservoir:sinks=1,recent=4,budget=12;positions=in-cache",
       {.storage = format_of("kivi4:recent=2,group=4"), .keys = KeyStorage::raw},
       0.5},
  };
  return all;
}

// Keys rotated in place stand where in-cache positions want them, up to their rounding.
const std::vector<Case>& shifted_cases() {
  static const std::vector<Case> all = {
      {"streaming:sinks=2,recent=9;positions=shifted"},
      {"streaming:sinks=2,recent=9;positions=shifted;chunk=5"},
      {"streaming:sinks=2,recent=9;positions=shifted;timing=lazy:4;chunk=3"},
      {"window:recent=8;visibility=window;chunk=6;positions=shifted"},
      {"h2o:sinks=1,recent=4,budget=12;positions=shifted;chunk=3"},
      {"h2o:sinks=1,recent=4,budget=12;positions=shifted;budgets=pyramid:3;chunk=3"},
      {"h2o:sinks=1,recent=4,budget=12;positions=shifted;budgets=adaptive:0.2;chunk=3"},
      {"h2o:sinks=1,recent=4,budget=12;positions=in-cache;budgets=adaptive:0.2;chunk=3"},
      {"streaming:sinks=2,recent=9;budgets=retrieval:0.1;positions=in-cache;chunk=5"},
      {"reservoir:sinks=1,recent=4,budget=12;unit=model;vectors=kept;chunk=3;positions=shifted"},
      {"h2o:recent=4,budget=12;unit=model;visibility=window;positions=shifted"},
      {"streaming:sinks=2,recent=9;positions=shifted", {.storage = Number::f16}, 5e-3},
      {"streaming:sinks=2,recent=9;positions=shifted",
       {.storage = Number::f16, .keys = KeyStorage::rotated_f16},
       5e-3},
      {"streaming:sinks=2,recent=9;positions=shifted", {.storage = Number::bf16}, 4e-2},
      {"streaming:sinks=2,recent=9;positions=shifted", {.storage = format_of("int8")}, 8e-2},
      {"streaming:sinks=2,recent=9;positions=shifted",
       {.storage = format_of("int8:recent=4,sinks=2")},
       8e-2},
  };
  return all;
}

class Forward : public NumpyTest {};

TEST_F(Forward, LlamaAgreesWithNumPy) {
  EXPECT_TRUE(agrees(test::small_llama(), cases()));
}

TEST_F(Forward, Qwen2AgreesWithNumPy) {
  EXPECT_TRUE(agrees(test::small_qwen2(), cases()));
}

TEST_F(Forward, GptNeoxAgreesWithNumPy) {
  EXPECT_TRUE(agrees(test::small_gpt_neox(), cases()));
}

TEST_F(Forward, GptNeoxWithoutParallelResidualAgreesWithNumPy) {
  SmallModel small = test::small_gpt_neox();
  small.set("residual\":true", "residual\":false");
  EXPECT_TRUE(agrees(small, {{"dense;chunk=7"}}));
}

TEST_F(Forward, Gpt2AgreesWithNumPy) {
  EXPECT_TRUE(agrees(test::small_gpt2(), cases()));
}

TEST_F(Forward, KeysShiftedInPlaceAgreeWithNumPy) {
  EXPECT_TRUE(agrees(test::small_llama(), shifted_cases()));
  EXPECT_TRUE(agrees(test::small_gpt_neox(), shifted_cases()));
}

TEST_F(Forward, TheReferenceSeesWrongPositions) {
  const std::vector<Case> in_cache = {{"streaming:sinks=2,recent=9;positions=in-cache"}};
  EXPECT_TRUE(agrees(test::small_llama(), in_cache));
  EXPECT_FALSE(agrees(test::small_llama(), in_cache, true));
}

}  // namespace
}  // namespace kv::model
