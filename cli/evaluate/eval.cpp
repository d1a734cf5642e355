#include "kvcheck/cli/evaluate/eval.h"

#include <array>
#include <memory>
#include <ostream>
#include <utility>

#include "kvcheck/cli/evaluate/eval_open_loop.h"
#include "kvcheck/cli/evaluate/eval_plan.h"
#include "kvcheck/cli/evaluate/eval_run.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/options/memory.h"
#include "kvcheck/cli/options/output_file.h"
#include "kvcheck/cli/options/progress.h"
#include "kvcheck/cli/replay/marks.h"
#include "kvcheck/cli/replay/replay_plan.h"
#include "kvcheck/cli/resume/resumable_run.h"
#include "kvcheck/cli/resume/run_inputs.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/reports/tables/loops_table.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 30> table = {{
    model_option,
    weights_option,
    tokenizer_option,
    {.name = "text", .value = "FILE", .help = "UTF-8 text to predict"},
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
    "\n"
    "The loop is closed: the model sees only the tokens that the policy kept. One cache serves\n"
    "the whole text. Every token but the first is predicted exactly once, for every chunk size.\n"
    "The begin token, if the model has one, is put before the text.\n"
    "\n"
    "If the text is the recall task of the bundled model (model/training/text.py), the share of\n"
    "answers whose likeliest token is correct is printed too, by the distance in tokens to the\n"
    "latest mention of the fact.\n"
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
    "\n"
    "With -o, each policy, budget and window size that is done is kept beside the results file as\n"
    "soon as it ends, even if the program is killed. The same command with --resume computes only\n"
    "the rest, and all outputs are those of an uninterrupted run.\n"
    "\n"
    "Exit status: 0 done, 2 usage or bad input, 130 interrupted.\n";

// One run: the evaluations, then all outputs, of which the results file is written first.
class EvalCommand {
 public:
  EvalCommand(const EvalPlan& plan, Streams& streams)
      : plan_(plan), streams_(streams), progress_(streams.err, streams.terminal && !plan.quiet) {}

  Result<void> all() {
    if (!plan_.outputs.results.empty()) {
      Result<RunToKeep> run = run_to_keep();
      if (!run) return run.error();
      auto begun = ResumableRun::begin(*run, streams_.err);
      if (!begun) return begun.error();
      run_ = *std::move(begun);
    }
    auto results = guarded();
    progress_.clear();
    if (!results) return failed(results.error());
    return write(*results);
  }

 private:
  // The checksums of the weights and of the tokens that were made of the text. Hashing reads all
  // weights once, as the evaluation does anyway.
  [[nodiscard]] Result<RunToKeep> run_to_keep() const {
    auto items = items_of_path("model", plan_.about.model);
    if (!items) return items.error();
    items->push_back(input_item("text", plan_.about.text, plan_.about.checksum));
    items->push_back(input_item("tokens", plan_.about.text, checksum_of_tokens(plan_)));
    return RunToKeep{.results = plan_.outputs.results,
                     .command = plan_.command,
                     .items = *std::move(items),
                     .resume = plan_.resume,
                     .quiet = plan_.quiet};
  }

  // Calls evaluated() and leaves no empty run behind if it throws, for example for lack of memory.
  Result<std::vector<ClosedLoopResult>> guarded() {
    try {
      return evaluated();
    } catch (...) {
      if (run_ == nullptr) throw;
      run_->end();
      run_->note_kept();
      throw;
    }
  }

  Result<std::vector<ClosedLoopResult>> evaluated() {
    const InterruptGuard guard;
    const auto report = [this](double share, const std::string& what) {
      progress_.update(share, what);
      return !interrupted();
    };
    auto results = run_eval(plan_, report, run_.get());
    if (!results || !plan_.open_loop) return results;
    progress_.update(1, "open loop");
    if (auto added = add_open_loop(plan_, *results, run_.get()); !added) return added.error();
    return results;
  }

  Error failed(Error error) {
    if (interrupted()) error = io_error("interrupted");
    if (run_ != nullptr) run_->end(error);
    const std::string kept = run_ == nullptr ? "" : run_->kept_words();
    error.message += interrupted() && kept.empty() ? "; nothing was kept" : kept;
    return error;
  }

  Result<void> write(const std::vector<ClosedLoopResult>& results) {
    for (const ClosedLoopResult& result : results) {
      if (run_ == nullptr) break;
      if (auto added = run_->writer().add(result); !added) return run_->not_stored(added.error());
    }
    // The run is complete when all outputs are: a kill before that leaves a run that --resume ends.
    const Result<void> written = write_outputs(results);
    streams_.out << std::flush;
    if (run_ == nullptr) return written;
    if (const Result<void> done = run_->finish(); !done) return run_->not_stored(done.error());
    return written;
  }

  Result<void> write_outputs(const std::vector<ClosedLoopResult>& results) {
    std::string json;
    std::string markdown;
    for (const ClosedLoopResult& result : results) {
      json += reports::closed_loop_json(result);
      markdown += markdown_of(result, markdown.empty());
    }
    const Outputs& outputs = plan_.outputs;
    if (auto done = write_to(outputs.json, json); !done) return done;
    if (auto done = write_to(outputs.csv, reports::closed_loop_csv(results)); !done) return done;
    if (auto done = write_to(outputs.markdown, markdown); !done) return done;
    if (!outputs.on_standard_output()) print(results);
    return {};
  }

  static std::string markdown_of(const ClosedLoopResult& result, bool first) {
    std::string text = (first ? "" : "\n") + reports::closed_loop_line(result) + "\n";
    text += reports::to_markdown(reports::perplexity_table(result));
    if (reports::has_open_loop(result)) {
      text += "\n" + reports::to_markdown(reports::loops_table(result)) + "\n" +
              reports::loops_words(result) + "\n";
    }
    return result.asks() ? text + "\n" + reports::to_markdown(reports::recall_table(result)) : text;
  }

  Result<void> write_to(const std::string& path, const std::string& text) {
    if (path.empty()) return {};
    if (path != "-") return write_output(path, text);
    streams_.out << text;
    return {};
  }

  void print(const std::vector<ClosedLoopResult>& results) {
    for (const ClosedLoopResult& result : results) {
      if (&result != &results.front()) streams_.out << "\n";
      streams_.out << reports::closed_loop_line(result)
                   << "perplexity, also over runs of targets\n\n"
                   << reports::to_text(reports::perplexity_table(result), streams_.columns);
      if (reports::has_open_loop(result)) {
        streams_.out << "\n"
                     << reports::to_text(reports::loops_table(result), streams_.columns) << "\n"
                     << reports::loops_words(result) << "\n";
      }
      if (!result.asks()) continue;
      streams_.out << "\nshare of questions answered, by tokens since the fact was last mentioned "
                      "(how many)\n\n"
                   << reports::to_text(reports::recall_table(result), streams_.columns);
    }
    if (plan_.quiet || plan_.outputs.results.empty()) return;
    streams_.out << "\nResults: " << plan_.outputs.results << "\nNext: kvcheck report "
                 << shell_word(plan_.outputs.results) << " -o report\n";
  }

  const EvalPlan& plan_;
  Streams& streams_;
  Progress progress_;
  std::unique_ptr<ResumableRun> run_;  // null without -o
};

Result<void> run(std::span<const std::string> given, Streams& streams) {
  const Result<Arguments> arguments = Arguments::parse(table, given);
  if (!arguments) return arguments.error();
  const Result<EvalPlan> plan = plan_eval(*arguments);
  if (!plan) return plan.error();
  if (!plan->quiet) {
    for (const std::string& note : plan->notes) streams.err << "Note: " << note << ".\n";
  }
  return EvalCommand(*plan, streams).all();
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
