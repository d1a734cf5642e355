#include "kvcheck/tests/reports/fake_results.h"

#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::testing {

ClosedLoopResult fake_evaluation(std::size_t targets, bool asks) {
  ClosedLoopResult result;
  result.model = "model <m>";
  result.architecture = "gpt_neox";
  result.weight_bytes = 5000;
  result.context = 256;
  result.text = "folder/text.txt";
  result.checksum = 0xfedcba9876543210U;
  result.storage = "f16";
  result.window = asks ? 256 : 0;
  result.streams = 1;
  result.tokens = targets + 1;
  result.longest = targets + 1;
  result.segment = 256;
  result.series_width = 16;
  result.inputs = {.weights = ~std::uint64_t{0}, .cell = 7};
  double nats = 1;
  for (const std::string spec : {"dense", "window:budget=32", "h2o:sinks=4,budget=32",
                                 "window:budget=64", "h2o:sinks=4,budget=64"}) {
    ClosedLoopCell cell;
    cell.cell = {.spec = taken(parse_spec(spec)), .seed = ~std::uint64_t{0}};
    cell.kv_bytes = 1025;
    for (std::size_t first = 0; first < targets; first += 16) {
      cell.series.push_back({.first = first, .targets = 16, .nats = 16 * nats});
    }
    if (cell.cell.spec.bounded() && targets > cell.cell.spec.budget) {
      cell.targets_after = targets - cell.cell.spec.budget;
      cell.nats_after = static_cast<double>(cell.targets_after) * (nats + 0.125);
    }
    nats += 0.25;
    if (asks) {
      cell.recall = recall_bins();
      cell.recall[1].asked = 8;
      cell.recall[1].right = result.cells.size();
      cell.recall[3].asked = 5;
    }
    result.cells.push_back(cell);
  }
  return result;
}

TaskResult fake_tasks() {
  TaskResult result;
  result.model = "model <m>";
  result.architecture = "gpt_neox";
  result.file = "folder/items.jsonl";
  result.storage = "f32";
  result.inputs = {.weights = 5, .cell = ~std::uint64_t{0}};
  for (std::size_t i = 0; i < 10; ++i) {
    result.items.push_back({.id = "item, " + std::to_string(i),
                            .group = i < 5 ? "one" : "two",
                            .context = 100,
                            .question = 5,
                            .answer = 2,
                            .choices = i < 5 ? std::size_t{4} : 0});
  }
  for (const std::string spec : {"dense", "window:budget=32"}) {
    TaskCell& cell = result.cells.emplace_back();
    cell.cell = {.spec = taken(parse_spec(spec)), .seed = 1};
    for (std::size_t i = 0; i < 10; ++i) {
      const bool right = result.cells.size() == 1 || i % 2 == 0;
      cell.answers.push_back({.text = right ? "a \"word\"" : "",
                              .exact = right,
                              .contains = right,
                              .f1 = right ? 1.0 : 0.0,
                              .loss = right ? 0.25 : 2.0,
                              .rank = i < 5 ? std::size_t{2} : 0});
    }
  }
  return result;
}

TimingResult fake_timing() {
  TimingResult result{
      .model = "model <m>", .weights = "nf4", .weight_bytes = 5000, .storage = "f16", .tokens = 7};
  for (const std::string spec : {"dense", "window:budget=32", "window:budget=64"}) {
    for (const std::size_t length : {256U, 1024U}) {
      result.cells.push_back({.cell = {.spec = taken(parse_spec(spec)), .seed = ~std::uint64_t{0}},
                              .length = length,
                              .first_token_s = 0.25,
                              .token_s = 1e-6 * static_cast<double>(length),
                              .attention_s = 1.0 / 3,
                              .kv_bytes = std::size_t{3} << 20U,
                              .peak_bytes = 1U << 20U});
    }
  }
  return result;
}

// Two laws of cases and one of statistics; a mutant killed by all, one by chance alone, one that
// no law can kill.
const std::string& fake_matrix_json() {
  static const std::string json = R"({"passed":true,"seed":3,"whole":true,
"laws":[{"law":"rows.unique","statistical":false},{"law":"size.full","statistical":false},
{"law":"chance.exact","statistical":true}],
"mutants":[
{"mutant":"a|b","wrong":"all <b> of it","source":"made","equivalent":"","verdict":"killed",
"killers":[{"law":"chance.exact","cases":1},{"law":"size.full","cases":7},
{"law":"rows.unique","cases":30}],"smallest":"sinks=0;calls=f1"},
{"mutant":"by-chance","wrong":"draws","source":"x #1","equivalent":"","verdict":"killed",
"killers":[{"law":"chance.exact","cases":1}],"smallest":"token 1"},
{"mutant":"same","wrong":"nothing","source":"made","equivalent":"it is the same",
"verdict":"equivalent","killers":[],"smallest":""}],
"idle_laws":[],"accusations":[],"right_subjects":4,"right_batteries":800})";
  return json;
}

}  // namespace kv::testing
