#include "kvcheck/model/run/evaluate.h"

#include <algorithm>
#include <cmath>

#include "kvcheck/model/weights/finite_weights.h"

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

Result<Evaluation> evaluate(const LanguageModel& model,
                            const Spec& spec,
                            std::span<const std::vector<TokenId>> streams,
                            const DecoderOptions& options,
                            const Progress& report) {
  std::size_t total = 0;
  for (const auto& stream : streams) total += stream.size() - 1;
  std::size_t done = 0;
  Evaluation result;
  for (const std::vector<TokenId>& tokens : streams) {
    DecoderOptions own = options;
    own.length = tokens.size();
    Result<Decoder> decoder = Decoder::create(model, spec, own);
    if (!decoder) return decoder.error();
    std::vector<float>& nll = result.nll.emplace_back();
    std::vector<std::uint8_t>& right = result.right.emplace_back();
    // The last token is a target only.
    for (std::size_t at = 0; at + 1 < tokens.size();) {
      const std::size_t rows = decoder->next_chunk(tokens.size() - 1 - at);
      if (auto fed = decoder->feed(std::span(tokens).subspan(at, rows)); !fed) return fed.error();
      const auto targets = std::span(tokens).subspan(at + 1, rows);
      const auto losses = losses_of(model, decoder->logits(), targets, at);
      if (!losses) return losses.error();
      nll.insert(nll.end(), losses->begin(), losses->end());
      for (std::size_t i = 0; i < rows; ++i) {
        const auto row =
            decoder->logits().subspan(i * model.config.vocabulary, model.config.vocabulary);
        right.push_back(std::ranges::max_element(row) - row.begin() == targets[i] ? 1 : 0);
      }
      at += rows;
      done += rows;
      const double share = static_cast<double>(done) / static_cast<double>(total);
      if (report && !report(share)) return io_error("stopped");
    }
    // The most of any stream: that much has to be there, whatever the mean.
    result.kv_bytes = std::max(result.kv_bytes, decoder->attention().bytes());
  }
  if (Result<void> same = model.unchanged(); !same) return same.error();
  return result;
}

ClosedLoopCell closed_loop_cell(const Cell& cell,
                                const Evaluation& evaluation,
                                std::span<const std::vector<RecallQuestion>> questions,
                                std::size_t width) {
  ClosedLoopCell result{.cell = cell, .kv_bytes = evaluation.kv_bytes, .series = {}, .recall = {}};
  for (const auto& stream : evaluation.nll) {
    for (std::size_t i = 0; i < stream.size(); ++i) {
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
