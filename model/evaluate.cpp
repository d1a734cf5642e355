#include "model/evaluate.h"

#include <algorithm>
#include <cmath>

namespace kv {
namespace {

std::string_view stripped(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> pieces_of(std::string_view text, std::string_view separator) {
  if (separator.empty()) return {text};
  std::vector<std::string_view> pieces;
  for (bool more = true; more;) {
    const std::size_t end = text.find(separator);
    more = end != std::string_view::npos;
    const std::string_view piece = stripped(text.substr(0, end));
    if (!piece.empty()) pieces.push_back(piece);
    if (more) text.remove_prefix(end + separator.size());
  }
  return pieces;
}

// Scores the rows of one chunk: row i predicts the token after tokens[at + i].
void score(std::span<const Token> tokens,
           std::size_t at,
           std::size_t rows,
           const Decoder& decoder,
           std::vector<float>& nll) {
  const std::size_t vocabulary = decoder.logits().size() / rows;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = decoder.logits().subspan(i * vocabulary, vocabulary);
    nll.push_back(static_cast<float>(nll_of(row, tokens[at + i + 1])));
  }
}

double mean_exp(double nats, std::size_t targets) {
  return targets == 0 ? 1 : std::exp(nats / static_cast<double>(targets));
}

}  // namespace

Result<std::vector<std::vector<Token>>> streams_of(std::string_view text,
                                                   const Tokenizer& tokenizer,
                                                   const TextOptions& options) {
  std::vector<std::vector<Token>> streams;
  if (stripped(text).empty()) return malformed("the text is empty; expected something to predict");
  std::size_t left = options.tokens == 0 ? ~std::size_t{0} : options.tokens;
  for (const std::string_view piece : pieces_of(text, options.separator)) {
    if (left == 0) break;
    Result<std::vector<Token>> tokens = tokenizer.encode(piece);
    if (!tokens) return tokens.error();
    const bool marked = streams.empty() || options.each || options.mark;
    if (options.begin && marked) tokens->insert(tokens->begin(), *options.begin);
    if (tokens->size() > left) tokens->resize(left);
    left -= tokens->size();
    if (streams.empty() || options.each) streams.emplace_back();
    streams.back().insert(streams.back().end(), tokens->begin(), tokens->end());
  }
  std::erase_if(streams, [](const std::vector<Token>& stream) { return stream.size() < 2; });
  if (!streams.empty()) return streams;
  return malformed("the text has no two tokens; expected one to predict from another");
}

Result<Evaluation> evaluate(const LanguageModel& model,
                            const Spec& spec,
                            std::span<const std::vector<Token>> streams,
                            const DecoderOptions& options,
                            const Report& report) {
  std::size_t total = 0;
  for (const auto& stream : streams) total += stream.size() - 1;
  std::size_t done = 0;
  Evaluation result;
  for (const std::vector<Token>& tokens : streams) {
    Result<Decoder> decoder = Decoder::create(model, spec, options);
    if (!decoder) return decoder.error();
    std::vector<float>& nll = result.nll.emplace_back();
    // The last token is a target only.
    for (std::size_t at = 0; at + 1 < tokens.size();) {
      const std::size_t rows = std::min<std::size_t>(spec.chunk, tokens.size() - 1 - at);
      if (auto fed = decoder->feed(std::span(tokens).subspan(at, rows)); !fed) return fed.error();
      score(tokens, at, rows, *decoder, nll);
      at += rows;
      done += rows;
      const double share = static_cast<double>(done) / static_cast<double>(total);
      if (report && !report(share)) return io_error("stopped");
    }
    result.kv_bytes = std::max(result.kv_bytes, decoder->attention().bytes());
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
  return mean_exp(nats, targets());
}

double Segment::perplexity() const {
  return mean_exp(nats, targets);
}

std::vector<Segment> segments_of(const Evaluation& evaluation, std::size_t width) {
  std::size_t longest = 0;
  for (const auto& stream : evaluation.nll) longest = std::max(longest, stream.size());
  std::vector<Segment> segments;
  for (std::size_t first = 0, last = width; first < longest; first = last, last *= 2) {
    Segment segment{first, last, 0, 0};
    for (const auto& stream : evaluation.nll) {
      for (std::size_t i = first; i < std::min(last, stream.size()); ++i) {
        segment.nats += static_cast<double>(stream[i]);
        ++segment.targets;
      }
    }
    segments.push_back(segment);
  }
  return segments;
}

double nll_of(std::span<const float> logits, Token target) {
  const auto most = static_cast<double>(*std::ranges::max_element(logits));
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - most);
  return most + std::log(sum) - static_cast<double>(logits[static_cast<std::size_t>(target)]);
}

}  // namespace kv
