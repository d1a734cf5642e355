#include "kvcheck/cli/evaluate/eval.h"

#include <array>
#include <ostream>
#include <utility>

#include "kvcheck/cli/evaluate/eval_open_loop.h"
#include "kvcheck/cli/evaluate/eval_plan.h"
#include "kvcheck/cli/evaluate/eval_run.h"
#include "kvcheck/cli/model/kept_work.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/options/memory.h"
#include "kvcheck/cli/replay/marks.h"
#include "kvcheck/cli/replay/replay_plan.h"
#include "kvcheck/cli/resume/resumable_run.h"
#include "kvcheck/cli/resume/run_inputs.h"
#include "kvcheck/cli/tasks/eval_tasks.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/reports/tables/loops_table.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 34> table = {{
    model_option,
    weights_option,
    tokenizer_option,
    {.name = "text", .value = "FILE", .help = "UTF-8 text to predict"},
    {.name = "tasks",
     .value = "FILE",
     .help = "answer these items instead: JSON lines with id, context, question and answers "
             "(docs/tasks.md)"},
    {.name = "answer-tokens",
     .value = "N",
     .help = "with --tasks, tokens to generate at most [8 more than the longest right answer has]"},
    {.name = "beyond-context",
     .help =
         "with --tasks, also ask items that are longer than the texts that the model was trained "
         "on"},
    {.name = "score",
     .value = "WORD",
     .default_value = "exact",
     .help = "with --tasks, what the table of groups shows: exact, contains, f1, choice or "
             "answer_loss"},
    ids_option,
    no_begin_option,
    policy_option,
    {.name = "budget",
     .value = "N,...",
     .help = "residents to keep after trimming, for policies whose spec names no budget; "
             "several make a sweep"},
    {.name = "chunk",
     .value = "N",
     .help = "tokens per forward pass, for specs that name no chunk"},
    {.name = "tokens", .value = "N", .help = "how many tokens of the text to read [all]"},
    {.name = "split",
     .value = "WORD",
     .help = "cut the text at this word into pieces, trim their blanks, and join them"},
    {.name = "each", .help = "every piece is a stream of its own, with an empty cache"},
    {.name = "mark", .help = "put the begin token before every piece, not only before the first"},
    {.name = "windows",
     .value = "N,...",
     .help = "cut streams into windows of at most N tokens and of whole lines, each with an empty "
             "cache; 0 does not cut, and 0,256 does both [0]"},
    {.name = "segment",
     .value = "N",
     .default_value = "256",
     .help = "also print perplexity for the first N targets, the next N, the next 2N, ..."},
    prompt_option,
    question_option,
    {.name = "open-loop",
     .help = "also replay the model's dense run of every stream through the policies, and compare"},
    {.name = "seed", .value = "N", .default_value = "1", .help = "the seed of policies that draw"},
    storage_option,
    keys_option,
    threads_option,
    memory_option,
    {.name = "output", .letter = 'o', .value = "FILE", .help = "add the run to this results file"},
    resume_option,
    {.name = "json", .value = "FILE", .help = "write JSON lines there; - is standard output"},
    {.name = "csv", .value = "FILE", .help = "write CSV there; - is standard output"},
    {.name = "markdown", .value = "FILE", .help = "write the tables there; - is standard output"},
    {.name = "quiet", .letter = 'q', .help = "no progress and no closing summary"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Runs a real model over a text under each policy, and prints its perplexity.\n"
    "\n"
    "Usage:  kvcheck eval --model PATH --text FILE [--policy SPEC...] [OPTIONS]\n"
    "        kvcheck eval --model PATH --tasks FILE [--policy SPEC...] [OPTIONS]\n"
    "\n"
    "The loop is closed: the model sees only the tokens that the policy kept. One cache serves\n"
    "the whole text. Every token but the first is predicted exactly once, for every chunk size.\n"
    "The begin token, if the model has one, is put before the text.\n"
    "\n"
    "If the text is the recall task of the bundled model (model/training/text.py), the share of\n"
    "answers whose likeliest token is correct is printed too, by the distance in tokens to the\n"
    "latest mention of the fact.\n"
    "\n"
    "With --tasks, the model reads the context and the question of each item and answers with its\n"
    "likeliest tokens; the question begins where specs with compress=prompt trim. 'kvcheck tasks'\n"
    "makes such files.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck eval --model model/data --text model/data/held-out.txt --windows 0,256 \\\n"
    "      --policy dense --policy window --policy 'streaming:sinks=1;positions=in-cache' \\\n"
    "      --budget 32,64,128 -o run.db\n"
    "  kvcheck eval --model pythia-70m --text book.txt --policy dense \\\n"
    "      --policy 'streaming:sinks=4;positions=in-cache' --budget 256,512 --tokens 4096\n"
    "  kvcheck eval --model stories260K.bin --tokenizer tok512.bin --text stories.txt \\\n"
    "      --split '<|endoftext|>' --policy window --budget 64,128 --json -\n"
    "  kvcheck eval --model model/data --text model/data/held-out.txt --windows 256 --chunk 64 \\\n"
    "      --policy dense --storage int4:recent=32,sinks=4\n"
    "  kvcheck eval --model pythia-70m --text book.txt --windows 256,1024 --policy @streaming-llm "
    "\\\n"
    "      --budget 64,128,256 -o run.db --resume\n"
    "  kvcheck eval --model model/data --tasks items.jsonl --policy dense \\\n"
    "      --policy @snapkv-prompt --policy window --budget 64 -o tasks.db\n"
    "\n"
    "With -o, each policy, budget and window size that is done is kept beside the results file as\n"
    "soon as it ends, even if the program is killed. The same command with --resume computes only\n"
    "the rest, and all outputs are those of an uninterrupted run.\n"
    "\n"
    "Exit status: 0 done, 2 usage or bad input, 130 interrupted.\n";

// The checksums of the weights and of the tokens that were made of the text. Hashing reads all
// weights once, as the evaluation does anyway.
Result<RunToKeep> run_to_keep(const EvalPlan& plan) {
  auto items = items_of_path("model", plan.about.model);
  if (!items) return items.error();
  items->push_back(input_item("text", plan.about.text, plan.about.checksum));
  items->push_back(input_item("tokens", plan.about.text, checksum_of_tokens(plan)));
  return RunToKeep{.results = plan.outputs.results,
                   .command = plan.command,
                   .items = *std::move(items),
                   .resume = plan.resume,
                   .quiet = plan.quiet};
}

Result<std::vector<ClosedLoopResult>> evaluated(const EvalPlan& plan,
                                                const WorkProgress& progress,
                                                PartStore* parts) {
  auto results = run_eval(plan, progress, parts);
  if (!results || !plan.open_loop) return results;
  progress(1, "open loop");
  const auto continues = [] { return !interrupted(); };
  if (auto added = add_open_loop(plan, *results, continues, parts); !added) return added.error();
  return results;
}

std::string markdown_of(const ClosedLoopResult& result, bool first) {
  std::string text = (first ? "" : "\n") + reports::closed_loop_line(result) + "\n";
  text += reports::to_markdown(reports::perplexity_table(result));
  const std::string words = reports::perplexity_words(result);
  if (!words.empty()) text += "\n" + words + "\n";
  if (reports::has_open_loop(result)) {
    text += "\n" + reports::to_markdown(reports::loops_table(result)) + "\n" +
            reports::loops_words(result) + "\n";
  }
  return result.asks() ? text + "\n" + reports::to_markdown(reports::recall_table(result)) : text;
}

void print(const EvalPlan& plan, const std::vector<ClosedLoopResult>& results, Streams& streams) {
  for (const ClosedLoopResult& result : results) {
    if (&result != &results.front()) streams.out << "\n";
    streams.out << reports::closed_loop_line(result) << reports::perplexity_title(result) << "\n\n"
                << reports::to_text(reports::perplexity_table(result), streams.columns);
    const std::string words = reports::perplexity_words(result);
    if (!words.empty()) streams.out << "\n" << words << "\n";
    if (reports::has_open_loop(result)) {
      streams.out << "\n"
                  << reports::to_text(reports::loops_table(result), streams.columns) << "\n"
                  << reports::loops_words(result) << "\n";
    }
    if (!result.asks()) continue;
    streams.out << "\nshare of questions answered, by tokens since the fact was last mentioned "
                   "(how many)\n\n"
                << reports::to_text(reports::recall_table(result), streams.columns);
  }
  if (plan.quiet || plan.outputs.results.empty()) return;
  streams.out << "\nResults: " << plan.outputs.results << "\nNext: kvcheck report "
              << shell_word(plan.outputs.results) << " -o report\n";
}

Result<void> write_outputs(const EvalPlan& plan,
                           const std::vector<ClosedLoopResult>& results,
                           Streams& streams) {
  std::string json;
  std::string markdown;
  for (const ClosedLoopResult& result : results) {
    json += reports::closed_loop_json(result);
    markdown += markdown_of(result, markdown.empty());
  }
  const Outputs& outputs = plan.outputs;
  const std::string csv = reports::closed_loop_csv(results);
  if (auto done = write_text(outputs.json, json, streams); !done) return done;
  if (auto done = write_text(outputs.csv, csv, streams); !done) return done;
  if (auto done = write_text(outputs.markdown, markdown, streams); !done) return done;
  if (!outputs.on_standard_output()) print(plan, results, streams);
  return {};
}

Result<void> run_eval_text(const Arguments& arguments, Streams& streams) {
  const Result<EvalPlan> plan = plan_eval(arguments);
  if (!plan) return plan.error();
  if (!plan->quiet) {
    for (const std::string& note : plan->notes) streams.err << "Note: " << note << ".\n";
  }
  std::vector<ClosedLoopResult> results;
  KeptWork work{.results = plan->outputs.results, .quiet = plan->quiet};
  std::uint64_t weights = 0;
  work.about = [&] {
    auto about = run_to_keep(*plan);
    if (about) weights = checksum_of_items(about->items, "model");
    return about;
  };
  work.compute = [&](const WorkProgress& progress, PartStore* parts) -> Result<void> {
    auto computed = evaluated(*plan, progress, parts);
    if (!computed) return computed.error();
    results = *std::move(computed);
    return {};
  };
  work.store = [&](reports::ResultsWriter& writer) -> Result<void> {
    for (ClosedLoopResult& result : results) {
      result.inputs.weights = weights;
      if (auto added = writer.add(result); !added) return added;
    }
    return {};
  };
  work.write = [&] { return write_outputs(*plan, results, streams); };
  return run_kept(work, streams);
}

Result<void> run(std::span<const std::string> given, Streams& streams) {
  const Result<Arguments> arguments = Arguments::parse(table, given);
  if (!arguments) return arguments.error();
  if (arguments->given("tasks")) return run_eval_tasks(*arguments, streams);
  for (const std::string_view name : {"answer-tokens", "beyond-context", "score"}) {
    if (!arguments->given(name)) continue;
    return usage_error("--" + std::string(name) + " is about answers; expected --tasks beside it");
  }
  return run_eval_text(*arguments, streams);
}

}  // namespace

constinit const Command eval_command = {
    .name = "eval",
    .summary = "run a real model over a text under each policy, and print its perplexity",
    .help = help,
    .run = done_unless_error<run>,
    .options = table,
};

}  // namespace kv::cli
