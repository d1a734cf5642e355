#include "kvcheck/sim/spec/phases.h"

#include <algorithm>

#include "kvcheck/sim/cache/unit_cache.h"
#include "kvcheck/sim/cache/visible_limits.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/sim/spec/presets.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/traces/synthetic/synthetic.h"

namespace kv {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& words, const SpecDefaults& defaults = {}) {
  const auto spec = parse_spec(words, defaults);
  return spec ? "" : spec.error().message;
}

// How many rows each query of a stream sees.
std::vector<std::uint32_t> seen_under(const std::string& words, const Marks& marks, std::size_t n) {
  const auto spec = resolved(parse_spec(words).value(), marks, n, "x");
  EXPECT_TRUE(spec) << spec.error().message;
  return visible_limits(*spec, n);
}

TEST(Phases, AreWrittenAndReadBack) {
  for (const std::string word :
       {"never", "prompt+grow", "prompt+hold", "question+every:64", "question+grow"}) {
    const auto spec = parse_spec("h2o:budget=64;compress=" + word);
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_EQ(spec->phases.text(), word);
    EXPECT_THAT(spec->canonical(), HasSubstr(";compress=" + word));
    EXPECT_EQ(parse_spec(spec->canonical()).value(), *spec);
  }
  EXPECT_EQ(parse_spec("h2o;compress=prompt").value().phases.text(), "prompt+grow");
  // Specs without phases are written as before there were any.
  EXPECT_EQ(parse_spec("h2o").value().canonical().find("compress"), std::string::npos);
  const Spec share = parse_spec("h2o:ratio=0.25;compress=prompt").value();
  EXPECT_THAT(share.canonical(), HasSubstr("h2o:sinks=0,ratio=0.25,"));
  EXPECT_EQ(parse_spec(share.canonical()).value(), share);
  const Spec recent = parse_spec("h2o:recent=8,ratio=0.25;compress=prompt").value();
  EXPECT_EQ(parse_spec(recent.canonical()).value(), recent);
  EXPECT_NE(share, recent);
}

TEST(Phases, WrongWordsAreAnsweredWithTheNearest) {
  EXPECT_THAT(error_of("h2o;compress=promt"), HasSubstr("did you mean 'prompt'?"));
  EXPECT_THAT(error_of("h2o;compress=prompt+hld"), HasSubstr("did you mean 'hold'?"));
  EXPECT_THAT(error_of("h2o;compress=prompt+every"), HasSubstr("expected it as in every:64"));
  EXPECT_THAT(error_of("h2o;compress=prompt+every:0"), HasSubstr("expected a whole number from 1"));
  EXPECT_THAT(error_of("h2o;compress=always+grow"), HasSubstr("no later phase"));
  EXPECT_THAT(error_of("h2o;comprss=prompt"), HasSubstr("did you mean 'compress'?"));
  EXPECT_THAT(error_of("h2o:ratio=0.5"), HasSubstr("expected compress=prompt"));
  for (const std::string ratio : {"0", "1.5", "0.12345", "x"}) {
    EXPECT_THAT(error_of("h2o:ratio=" + ratio + ";compress=prompt"), HasSubstr("ratio")) << ratio;
  }
  EXPECT_THAT(error_of("h2o:ratio=0.5,budget=8;compress=prompt"), HasSubstr("both given"));
  EXPECT_THAT(error_of("h2o:ratio=0.5;compress=prompt", {.budget = 8}), HasSubstr("--budget asks"));
  EXPECT_THAT(error_of("dense;compress=prompt"), HasSubstr("it keeps everything"));
  EXPECT_THAT(error_of("h2o;visibility=window;compress=prompt"), HasSubstr("visibility=causal"));
  EXPECT_THAT(error_of("h2o;timing=lazy:4;compress=prompt+every:8"), HasSubstr("leave out one"));
}

TEST(Phases, APresetsRatioAndABudgetReplaceEachOther) {
  const Spec tokens = parse_spec("@snapkv-prompt:budget=100").value();
  EXPECT_EQ(tokens.budget, 100U);
  EXPECT_EQ(tokens.phases.ratio, 0U);
  EXPECT_EQ(parse_spec("@snapkv-prompt:ratio=0.2").value().phases.ratio, 200U);
}

// Whatever is stored at the end of the prompt is what the ratio says, rounded down.
TEST(Phases, AreResolvedForAStream) {
  const Spec spec = parse_spec("h2o:sinks=4,ratio=0.25;compress=question").value();
  const auto own = resolved(spec, {.prompt = 90, .question = 13}, 200, "'x'");
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->phases.first_trim, 103U);
  EXPECT_EQ(own->budget, 25U);
  EXPECT_EQ(own->recent, 10U);  // half of what the sinks leave
  EXPECT_EQ(own->canonical(), spec.canonical());
  EXPECT_EQ(resolved(*own, {.prompt = 90, .question = 13}, 200, "'x'").value(), *own);
  const auto message = [&](const Marks& marks, std::size_t tokens) {
    const auto wrong = resolved(spec, marks, tokens, "'x'");
    return wrong ? "" : wrong.error().message;
  };
  EXPECT_THAT(message({}, 200), HasSubstr("'x' has no mark there; expected --prompt with"));
  EXPECT_THAT(message({.prompt = 200}, 200), HasSubstr("expected tokens after them"));
  EXPECT_THAT(message({.prompt = 12}, 200), HasSubstr("which are 3; expected at least the 4"));
}

TEST(Phases, ACacheGrowsIsHeldOrTrimsEveryFewTokens) {
  using Seen = std::vector<std::uint32_t>;
  const Marks marks{.prompt = 6, .question = 2};
  const std::string h2o = "h2o:recent=2,budget=4;compress=";
  EXPECT_EQ(seen_under(h2o + "never", marks, 9), (Seen{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(seen_under(h2o + "prompt", marks, 11), (Seen{1, 2, 3, 4, 5, 6, 5, 6, 7, 8, 9}));
  EXPECT_EQ(seen_under(h2o + "question", marks, 11), (Seen{1, 2, 3, 4, 5, 6, 7, 8, 5, 6, 7}));
  EXPECT_EQ(seen_under(h2o + "prompt+hold", marks, 10), (Seen{1, 2, 3, 4, 5, 6, 5, 5, 5, 5}));
  EXPECT_EQ(seen_under(h2o + "prompt+hold;timing=lazy:1", marks, 11),
            (Seen{1, 2, 3, 4, 5, 6, 5, 6, 5, 6, 5}));
  EXPECT_EQ(seen_under(h2o + "prompt+hold;timing=trim-then-attend", marks, 10),
            (Seen{1, 2, 3, 4, 5, 6, 4, 4, 4, 4}));
  EXPECT_EQ(seen_under(h2o + "prompt+every:3", marks, 13),
            (Seen{1, 2, 3, 4, 5, 6, 5, 6, 7, 5, 6, 7, 5}));
  // A chunk ends with the prompt.
  EXPECT_EQ(seen_under(h2o + "prompt;chunk=4", marks, 11), (Seen{1, 2, 3, 4, 5, 6, 5, 6, 7, 8, 9}));
}

ReplayResult replayed(const std::vector<std::string>& specs, const Marks& marks) {
  const auto words =
      parse_synthetic("zipf:hitters=16,within=30,tokens=80,kind=qkv,layers=2,heads=2,kv_heads=1");
  Trace trace = make_synthetic(words.value());
  trace.mark(marks);
  std::vector<Cell> cells;
  for (const std::string& spec : specs) cells.push_back({.spec = parse_spec(spec).value()});
  ReplayOptions options;
  options.threads = 1;
  options.oracle = true;
  return replay(trace, cells, options).value();
}

// Nothing is evicted before the prompt's end, so its chunks and timing cannot matter.
TEST(Phases, APromptIsCompressedAlikeInAnyChunks) {
  const Marks marks{.prompt = 50, .question = 6};
  for (const Preset& preset : presets()) {
    if (!preset.name.ends_with("-prompt")) continue;
    if (needs_of(parse_spec(preset.spec).value()).reconstruction > 0) continue;  // not of a trace
    const std::string name = "@" + std::string(preset.name) + ":ratio=0.8";
    const ReplayResult result = replayed({name, name + ";chunk=7", name + ";chunk=100"}, marks);
    const std::vector<HeadResult>& one = result.cells[0].heads;
    for (const CellResult& cell : result.cells) {
      EXPECT_EQ(cell.cell.spec.budget, cell.cell.spec.phases.first_trim * 8 / 10) << name;
      std::uint64_t evictions = 0;  // some layer of a pyramid may keep the whole prompt
      for (const auto& unit : cell.units) evictions += unit.evictions;
      EXPECT_GT(evictions, 0U) << name;
      if (cell.cell.spec.phases.then == Phases::Then::every) continue;
      for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_EQ(cell.heads[i].metrics, one[i].metrics) << cell.cell.spec.canonical();
      }
    }
  }
}

// The oracle has the sizes of the phases: no policy retains more, and it loses nothing either where
// a policy cannot.
TEST(Phases, NoPolicyRetainsMoreThanTheOracle) {
  const Marks marks{.prompt = 40};
  const ReplayResult result =
      replayed({"h2o:ratio=0.3;compress=prompt", "h2o:ratio=0.3;compress=prompt+hold",
                "random:ratio=0.3;compress=prompt+every:9", "h2o:budget=12;compress=never",
                "scissorhands:ratio=0.3;compress=prompt", "snapkv:budget=12;compress=question",
                "h2o:ratio=0.5;budgets=pyramid:4;compress=prompt",
                "h2o:ratio=0.3;budgets=adaptive:0.2;unit=head;compress=prompt"},
               marks);
  for (const CellResult& cell : result.cells) {
    const bool never = cell.cell.spec.phases.compress == Phases::Compress::never;
    std::size_t at = 0;
    for (const UnitBounds& unit : cell.bounds) {
      double retained = 0;
      for (std::size_t i = 0; i < unit.heads; ++i) {
        retained += cell.heads[at++].metrics.retained_mass / static_cast<double>(unit.heads);
      }
      EXPECT_LE(retained, unit.optimum + 3e-6) << cell.cell.spec.canonical();
      EXPECT_EQ(never, unit.optimum > 1 - 1e-9) << cell.cell.spec.canonical();
    }
    for (const SeriesPoint& point : cell.series) {
      if (point.first_step >= 40) break;
      EXPECT_EQ(point.visible, point.first_step + 1.0);
    }
  }
}

}  // namespace
}  // namespace kv
