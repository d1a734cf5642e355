#include "kvcheck/model/run/layered_pass.h"

#include <algorithm>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/model/decoder/decoder.h"

namespace kv::model {
namespace {

// Notes take a flush of the disk; what is done between two of them may be done twice.
constexpr std::size_t tokens_between_notes = 1024;

// The multiplications of a layer, for the share that is done.
class Work {
 public:
  Work(const ModelConfig& config, const LayeredPass& pass)
      : tokens_(static_cast<double>(pass.tokens.size())),
        layers_(pass.layers),
        per_pair_(2.0 * static_cast<double>(config.query_width())) {
    const auto width = static_cast<double>(config.width);
    const auto vectors = 2.0 * static_cast<double>(config.query_width() + config.kv_width());
    per_token_ = width * (vectors + (config.gated ? 3.0 : 2.0) * static_cast<double>(config.inner));
    per_loss_ = width * static_cast<double>(config.vocabulary);
    total_ =
        static_cast<double>(layers_) * of_layer(tokens_) + (pass.losses ? per_loss_ * tokens_ : 0);
  }

  [[nodiscard]] double share(const PassPlace& place) const {
    const auto tokens = static_cast<double>(place.tokens);
    const double before = static_cast<double>(place.layer) * of_layer(tokens_);
    return (before + (place.layer < layers_ ? of_layer(tokens) : per_loss_ * tokens)) / total_;
  }

 private:
  [[nodiscard]] double of_layer(double tokens) const {
    return tokens * per_token_ + tokens * tokens / 2 * per_pair_;
  }

  double tokens_;
  std::size_t layers_;
  double per_token_ = 0;
  double per_pair_;
  double per_loss_ = 0;
  double total_ = 1;
};

class Pass {
 public:
  Pass(const LanguageModel& model,
       const LayeredPass& pass,
       PassFile& file,
       const std::function<Result<void>()>& observed,
       const Progress& report)
      : model_(model),
        pass_(pass),
        file_(file),
        observed_(observed),
        report_(report),
        work_(model.config, pass) {}

  Result<std::vector<float>> run() {
    PassPlace at = file_.found();
    for (; at.layer < pass_.layers; at = {at.layer + 1, 0}) {
      if (Result<void> done = run_layer(at); !done) return done.error();
    }
    std::vector<float> losses;
    if (!pass_.losses) return losses;
    if (Result<void> done = predict(at.tokens); !done) return done.error();
    losses.resize(pass_.tokens.size());
    if (Result<void> read = file_.get_losses(losses); !read) return read.error();
    return losses;
  }

 private:
  [[nodiscard]] std::size_t width() const { return model_.embedding.columns; }

  [[nodiscard]] std::span<const TokenId> chunk_at(std::size_t at) const {
    return pass_.tokens.subspan(at, std::min(pass_.chunk, pass_.tokens.size() - at));
  }

  [[nodiscard]] Result<Decoder> decoder_of(std::size_t layer) const {
    const Result<Spec> dense =
        parse_spec("dense", {.chunk = static_cast<std::uint32_t>(pass_.chunk)});
    if (!dense) return dense.error();
    return Decoder::create(model_, *dense,
                           {.length = pass_.tokens.size(),
                            .observer = pass_.observer,
                            .only_layer = layer,
                            .team = pass_.team});
  }

  // The results of the layer before; the first reads tokens.
  Result<void> read_states(std::size_t layer, std::size_t at, std::span<const TokenId> chunk) {
    states_.resize(chunk.size() * width());
    return layer == 0 ? Result<void>() : file_.get_states(layer - 1, at, states_);
  }

  // Continues after the tokens that the layer has read before.
  Result<void> run_layer(const PassPlace& begin) {
    Result<Decoder> decoder = decoder_of(begin.layer);
    if (!decoder) return decoder.error();
    if (Result<void> same = file_.check_before(begin.layer); !same) return same;
    KV_CHECK(begin.tokens % pass_.chunk == 0 || begin.tokens == pass_.tokens.size());
    for (std::size_t at = 0; at < begin.tokens; at += pass_.chunk) {
      const auto chunk = chunk_at(at);
      if (Result<void> read = read_states(begin.layer, at, chunk); !read) return read;
      if (Result<void> stored = decoder->store_layer(chunk, states_); !stored) return stored;
    }
    for (std::size_t at = begin.tokens; at < pass_.tokens.size(); at += pass_.chunk) {
      const auto chunk = chunk_at(at);
      if (Result<void> read = read_states(begin.layer, at, chunk); !read) return read;
      if (Result<void> fed = decoder->feed_layer(chunk, states_); !fed) return fed;
      if (Result<void> seen = observed_(); !seen) return seen;
      if (Result<void> put = file_.put_states(begin.layer, at, states_); !put) return put;
      if (Result<void> on = go_on({begin.layer, at + chunk.size()}); !on) return on;
    }
    return {};
  }

  Result<void> predict(std::size_t begin) {
    Result<Decoder> decoder = decoder_of(pass_.layers - 1);
    if (!decoder) return decoder.error();
    if (Result<void> same = file_.check_before(pass_.layers); !same) return same;
    for (std::size_t at = begin; at < pass_.tokens.size(); at += pass_.chunk) {
      const auto chunk = chunk_at(at);
      if (Result<void> read = read_states(pass_.layers, at, chunk); !read) return read;
      decoder->finish_states(states_);
      // The last token of the text predicts none.
      const auto targets =
          pass_.tokens.subspan(at + 1, std::min(chunk.size(), pass_.tokens.size() - at - 1));
      const auto losses = losses_of(model_, decoder->logits(), targets, at);
      if (!losses) return losses.error();
      if (Result<void> put = file_.put_losses(at + 1, *losses); !put) return put;
      if (Result<void> on = go_on({pass_.layers, at + chunk.size()}); !on) return on;
    }
    return {};
  }

  Result<void> go_on(const PassPlace& place) {
    const bool on = !report_ || report_(work_.share(place));
    const bool due = place.tokens % tokens_between_notes < pass_.chunk;
    if (on && !due && place.tokens < pass_.tokens.size()) return {};
    // A layer that is complete is noted as the begin of the next.
    const bool whole = place.tokens == pass_.tokens.size() && place.layer < pass_.layers;
    const PassPlace next = whole ? PassPlace{place.layer + 1, 0} : place;
    if (whole) file_.end_layer();
    if (Result<void> noted = file_.note(next); !noted) return noted;
    return on ? Result<void>() : io_error("stopped");
  }

  const LanguageModel& model_;
  const LayeredPass& pass_;
  PassFile& file_;
  const std::function<Result<void>()>& observed_;
  const Progress& report_;
  Work work_;
  std::vector<float> states_;
};

}  // namespace

Result<std::vector<float>> run_layers(const LanguageModel& model,
                                      const LayeredPass& pass,
                                      PassFile& file,
                                      const std::function<Result<void>()>& observed,
                                      const Progress& report) {
  KV_CHECK(!pass.tokens.empty() && pass.layers > 0 && pass.layers <= model.layers.size());
  KV_CHECK(!pass.losses || pass.layers == model.layers.size());
  return Pass(model, pass, file, observed, report).run();
}

}  // namespace kv::model
