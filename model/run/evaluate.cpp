#include "kvcheck/model/run/evaluate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/model/decoder/decoder_group.h"
#include "kvcheck/model/weights/finite_weights.h"
#include "kvcheck/sim/cache/visible_limits.h"

namespace kv::model {

Error not_finite(const LanguageModel& model, std::size_t position) {
  return computed_not_finite(model, "after token " + std::to_string(position) +
                                        " the model's logits are no finite numbers");
}

Result<std::vector<float>> losses_of(const LanguageModel& model,
                                     std::span<const float> logits,
                                     std::span<const TokenId> targets,
                                     std::size_t at) {
  const std::size_t vocabulary = model.config.vocabulary;
  std::vector<float> losses;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto row = logits.subspan(i * vocabulary, vocabulary);
    losses.push_back(static_cast<float>(nll_of(row, targets[i])));
    if (!std::isfinite(losses.back())) return not_finite(model, at + i);
  }
  return losses;
}

namespace {

using Chunks = std::vector<std::span<const TokenId>>;

// The next chunk of each decoder, as its spec says: empty where it has read all, which some have
// before others.
Chunks next_of(const DecoderGroup& group, std::span<const TokenId> tokens) {
  Chunks chunks;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const auto left = tokens.subspan(group[i].seen());
    chunks.push_back(left.first(left.empty() ? 0 : group[i].next_chunk(left.size())));
  }
  return chunks;
}

std::size_t rows_of(const Chunks& chunks) {
  std::size_t rows = 0;
  for (const auto& chunk : chunks) rows += chunk.size();
  return rows;
}

// What a cell's policy left of a stream decides how well each target is predicted.
class TogetherRun {
 public:
  TogetherRun(const LanguageModel& model,
              std::span<const Cell> cells,
              const DecoderOptions& options,
              const Progress& report)
      : model_(model), cells_(cells), options_(options), report_(report), done_(cells.size()) {}

  Result<std::vector<Evaluation>> all(std::span<const std::vector<TokenId>> streams) {
    for (const auto& stream : streams) total_ += (stream.size() - 1) * cells_.size();
    for (const std::vector<TokenId>& tokens : streams) {
      if (auto read = stream(tokens); !read) return read.error();
    }
    if (Result<void> same = model_.unchanged(); !same) return same.error();
    return std::move(done_);
  }

  // The cell that the error is of, if it is one cell's.
  [[nodiscard]] const Cell* failed() const { return failed_; }

 private:
  Result<std::vector<Decoder>> decoders_of(std::size_t length) {
    std::vector<Decoder> decoders;
    DecoderOptions own = options_;
    own.length = length;
    for (const Cell& cell : cells_) {
      own.seed = cell.seed;
      Result<Decoder> decoder = Decoder::create(model_, cell.spec, own);
      if (!decoder) return failure(decoders.size(), decoder.error());
      decoders.push_back(*std::move(decoder));
    }
    return decoders;
  }

  Result<void> stream(const std::vector<TokenId>& tokens) {
    Result<std::vector<Decoder>> decoders = decoders_of(tokens.size());
    if (!decoders) return decoders.error();
    DecoderGroup group(model_, *std::move(decoders), team());
    for (Evaluation& one : done_) {
      one.nll.emplace_back();
      one.right.emplace_back();
    }
    // The last token is a target only.
    const auto fed = std::span(tokens).first(tokens.size() - 1);
    for (Chunks chunks = next_of(group, fed); rows_of(chunks) > 0; chunks = next_of(group, fed)) {
      if (const auto failed = group.feed(chunks)) return failure(failed->decoder, failed->error);
      for (std::size_t i = 0; i < group.size(); ++i) {
        const std::size_t at = group[i].seen() - chunks[i].size();
        const auto targets = std::span(tokens).subspan(at + 1, chunks[i].size());
        if (auto scored = score(i, group.logits(i), targets, at); !scored) return scored;
      }
      read_ += rows_of(chunks);
      const double share = static_cast<double>(read_) / static_cast<double>(total_);
      if (report_ && !report_(share)) return io_error("stopped");
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      done_[i].first_losses.push_back(first_loss_of(group[i].spec(), fed.size()));
      // The most of any stream: that much has to be there, whatever the mean.
      done_[i].kv_bytes = std::max(done_[i].kv_bytes, group[i].attention().bytes());
    }
    return {};
  }

  // Target i is predicted by query i.
  [[nodiscard]] std::size_t first_loss_of(const Spec& spec, std::size_t queries) const {
    const HeadGrid grid{model_.config.layers, model_.config.kv_heads};
    std::vector<std::size_t> layers(grid.layers);
    std::iota(layers.begin(), layers.end(), std::size_t{0});
    return first_loss(spec, grid, layers, queries).query;
  }

  Result<void> score(std::size_t cell,
                     std::span<const float> logits,
                     std::span<const TokenId> targets,
                     std::size_t at) {
    const auto losses = losses_of(model_, logits, targets, at);
    if (!losses) return failure(cell, losses.error());
    std::vector<float>& nll = done_[cell].nll.back();
    nll.insert(nll.end(), losses->begin(), losses->end());
    const std::size_t vocabulary = model_.config.vocabulary;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const auto row = logits.subspan(i * vocabulary, vocabulary);
      const bool right = std::ranges::max_element(row) - row.begin() == targets[i];
      done_[cell].right.back().push_back(right ? 1 : 0);
    }
    return {};
  }

  Error failure(std::size_t cell, const Error& error) {
    failed_ = &cells_[cell];
    return error;
  }

  std::shared_ptr<Team> team() {
    if (options_.team == nullptr) options_.team = std::make_shared<Team>(1);
    return options_.team;
  }

  const LanguageModel& model_;
  std::span<const Cell> cells_;
  DecoderOptions options_;
  const Progress& report_;
  std::vector<Evaluation> done_;
  const Cell* failed_ = nullptr;
  std::size_t read_ = 0;  // rows, of all cells
  std::size_t total_ = 0;
};

}  // namespace

Result<Evaluation> evaluate(const LanguageModel& model,
                            const Spec& spec,
                            std::span<const std::vector<TokenId>> streams,
                            const DecoderOptions& options,
                            const Progress& report) {
  const Cell cell{.spec = spec, .seed = options.seed};
  auto done = TogetherRun(model, {&cell, 1}, options, report).all(streams);
  if (!done) return done.error();
  return std::move(done->front());
}

Result<std::vector<Evaluation>> evaluate_together(const LanguageModel& model,
                                                  std::span<const Cell> cells,
                                                  std::span<const std::vector<TokenId>> streams,
                                                  const DecoderOptions& options,
                                                  const Progress& report) {
  TogetherRun run(model, cells, options, report);
  auto done = run.all(streams);
  if (done || run.failed() == nullptr) return done;
  return Error{done.error().kind, run.failed()->spec.label() + ": " + done.error().message};
}

ClosedLoopCell closed_loop_cell(const Cell& cell,
                                const Evaluation& evaluation,
                                std::span<const std::vector<RecallQuestion>> questions,
                                std::size_t width) {
  ClosedLoopCell result{.cell = cell, .kv_bytes = evaluation.kv_bytes, .series = {}, .recall = {}};
  KV_CHECK(evaluation.first_losses.size() == evaluation.nll.size());
  for (std::size_t at = 0; at < evaluation.nll.size(); ++at) {
    const std::vector<float>& stream = evaluation.nll[at];
    for (std::size_t i = 0; i < stream.size(); ++i) {
      if (i >= evaluation.first_losses[at]) {
        result.nats_after += static_cast<double>(stream[i]);
        ++result.targets_after;
      }
      if (i / width == result.series.size()) result.series.push_back({.first = i});
      LossPoint& point = result.series[i / width];
      point.nats += static_cast<double>(stream[i]);
      ++point.targets;
    }
  }
  if (std::ranges::all_of(questions, [](const auto& list) { return list.empty(); })) return result;
  result.recall = recall_bins();
  for (std::size_t i = 0; i < questions.size(); ++i) {
    count_recall(questions[i], evaluation.right[i], result.recall);
  }
  return result;
}

std::size_t Evaluation::targets() const {
  std::size_t count = 0;
  for (const auto& stream : nll) count += stream.size();
  return count;
}

double Evaluation::perplexity() const {
  double nats = 0;
  for (const auto& stream : nll) {
    for (const float one : stream) nats += static_cast<double>(one);
  }
  return perplexity_of(nats, targets());
}

double nll_of(std::span<const float> logits, TokenId target) {
  // With the largest logit taken off, so that no exponential overflows.
  const auto most = static_cast<double>(*std::ranges::max_element(logits));
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - most);
  return most + std::log(sum) - static_cast<double>(logits[static_cast<std::size_t>(target)]);
}

}  // namespace kv::model
