#include "kvcheck/cli/evaluate/speed_run.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/threads/machine.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/sim/replay/serves.h"

namespace kv::cli {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Writing 5 resets the largest resident size that Linux reports for the process.
void reset_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

std::size_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib * 1024;
  }
  return 0;
}

std::vector<model::TokenId> tokens_from(std::size_t first,
                                        std::size_t count,
                                        std::size_t vocabulary) {
  std::vector<model::TokenId> tokens;
  for (std::size_t i = first; i < first + count; ++i) {
    tokens.push_back(static_cast<model::TokenId>((i * 7919 + 13) % vocabulary));
  }
  return tokens;
}

// The tokens stand for no text, so their classes are an even mixture.
std::shared_ptr<const std::vector<TokenClass>> alternating_classes(std::size_t vocabulary) {
  std::vector<TokenClass> classes;
  classes.reserve(vocabulary);
  for (std::size_t i = 0; i < vocabulary; ++i) classes.push_back(static_cast<TokenClass>(i % 3));
  return std::make_shared<const std::vector<TokenClass>>(std::move(classes));
}

// The options of the cell's decoder after a prompt of this length.
model::DecoderOptions options_for(const model::LanguageModel& model,
                                  const Cell& cell,
                                  model::DecoderOptions options,
                                  std::size_t length,
                                  std::size_t tokens) {
  options.seed = cell.seed;
  options.length = length + tokens;
  options.marks.prompt = length;
  if (needs_of(cell.spec).token_classes) {
    options.token_classes = alternating_classes(model.config.vocabulary);
  }
  return options;
}

}  // namespace

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const double low = values[(values.size() - 1) / 2];
  return low + (values[values.size() / 2] - low) / 2;
}

Result<void> check_timed(const model::LanguageModel& model,
                         const Cell& cell,
                         model::DecoderOptions options,
                         std::size_t length,
                         std::size_t tokens) {
  options = options_for(model, cell, std::move(options), length, tokens);
  const auto decoder = model::Decoder::create(model, cell.spec, options);
  if (!decoder) return decoder.error();
  return {};
}

Result<void> warm_up(const model::LanguageModel& model,
                     const Cell& cell,
                     model::DecoderOptions options,
                     std::size_t length,
                     std::size_t tokens) {
  options = options_for(model, cell, std::move(options), length, tokens);
  Result<model::Decoder> decoder = model::Decoder::create(model, cell.spec, options);
  if (!decoder) return decoder.error();
  for (const std::size_t most : {length, std::size_t{1}}) {
    const std::size_t at = decoder->seen();
    const std::size_t size = decoder->next_chunk(most);
    const auto fed =
        decoder->feed(tokens_from(at, size, model.config.vocabulary), model::Logits::last);
    if (!fed) return fed.error();
  }
  return {};
}

Result<TimedCell> time_decoder(const model::LanguageModel& model,
                               const Cell& cell,
                               model::DecoderOptions options,
                               std::size_t length,
                               std::size_t tokens) {
  const Spec& spec = cell.spec;
  options = options_for(model, cell, std::move(options), length, tokens);
  double attention = 0;
  options.on_attention = [&attention](bool begins) {
    attention += begins ? -seconds() : seconds();
  };
  reset_peak();
  Result<model::Decoder> decoder = model::Decoder::create(model, spec, options);
  if (!decoder) return decoder.error();
  const std::size_t vocabulary = model.config.vocabulary;
  TimedCell row{.cell = cell, .length = length, .kernels = std::string(kernels().name)};
  row.processor = processor_name();
  const double begun = seconds();
  for (std::size_t at = 0; at < length; at = decoder->seen()) {
    const std::size_t size = decoder->next_chunk(length - at);
    const auto fed = decoder->feed(tokens_from(at, size, vocabulary), model::Logits::last);
    if (!fed) return fed.error();
    if (interrupted()) return io_error("interrupted");
  }
  row.first_token_s = seconds() - begun;
  std::vector<double> whole;
  std::vector<double> attending;
  for (std::size_t i = 0; i < tokens; ++i) {
    attention = 0;
    const double before = seconds();
    const auto fed = decoder->feed(tokens_from(length + i, 1, vocabulary), model::Logits::last);
    if (!fed) return fed.error();
    whole.push_back(seconds() - before);
    attending.push_back(attention);
    if (interrupted()) return io_error("interrupted");
  }
  row.token_s = median(whole);
  row.mean_token_s = std::accumulate(whole.begin(), whole.end(), 0.0) / static_cast<double>(tokens);
  row.attention_s = median(attending);
  row.kv_bytes = decoder->attention().bytes();
  row.peak_bytes = peak_bytes();
  if (Result<void> same = model.unchanged(); !same) return same.error();
  return row;
}

}  // namespace kv::cli
