#include "kvcheck/model/run/decoder.h"

#include <algorithm>

#include "kvcheck/base/check.h"
#include "kvcheck/model/kernels/model_kernels.h"
#include "kvcheck/sim/replay/serves.h"

namespace kv::model {
namespace {

Error learned_past(std::size_t position, std::size_t context) {
  return malformed("position " + std::to_string(position) + " is past the " +
                   std::to_string(context) +
                   " that the model has learned; expected a shorter text, or positions=in-cache "
                   "with a budget that fits");
}

Result<void> check_chunk(const Spec& spec, std::size_t tokens) {
  const bool windows = spec.visibility == Visibility::window && spec.bounded();
  if (spec.unit != Unit::model || !windows || tokens <= 1) return {};
  return usage_error(
      "unit=model with visibility=window decides within a chunk what its earlier layers should "
      "have seen; expected chunk=1");
}

}  // namespace

Result<Decoder> Decoder::create(const LanguageModel& model,
                                const Spec& spec,
                                const DecoderOptions& options) {
  if (Result<void> sized = check_chunk(spec, spec.chunk); !sized) return sized.error();
  if (Result<void> kept = check_keys(model.config, spec, options.storage, options.keys); !kept) {
    return kept.error();
  }
  if (Result<void> stored = check_format(spec, options.storage); !stored) return stored.error();
  // Learned positions are added to a token before the first layer, so it has one rank in all
  // layers.
  const bool equal = spec.budgets.law == Budgets::Law::equal;
  if (!equal && are_ranks(spec.positions) && model.config.learned_positions()) {
    return usage_error(
        "budgets=" + spec.budgets.text() +
        " gives a token other ranks in other layers, and learned positions are added "
        "once, before the first; expected positions=absolute or budgets=equal");
  }
  const HeadGrid grid{model.config.layers, model.config.kv_heads};
  if (Result<void> there = check_grid(spec, grid); !there) return there.error();
  if (spec.selects() && spec.top_pages.dense_layers >= model.config.layers) {
    return usage_error(
        "it leaves the first " + std::to_string(spec.top_pages.dense_layers) +
        " layers dense, and the model has " + std::to_string(model.config.layers) +
        "; expected fewer, as in visibility=top-pages:" + std::to_string(spec.top_pages.attended) +
        "/" + std::to_string(spec.top_pages.page) + "/0");
  }
  if (needs_of(spec).token_classes && options.token_classes == nullptr) {
    return usage_error(
        "it looks at the words that tokens are, but the model has no tokenizer here");
  }
  return Decoder(model, spec, options);
}

Decoder::Decoder(const LanguageModel& model, const Spec& spec, const DecoderOptions& options)
    : model_(&model),
      spec_(spec),
      token_classes_(needs_of(spec).token_classes ? options.token_classes : nullptr),
      observer_(options.observer),
      on_attention_(options.on_attention),
      attention_(std::make_unique<CachedAttention>(
          model.config, spec, options.seed, options.storage, options.keys)),
      re_evaluation_(model, options.storage, options.keys) {}

namespace {

// An upper bound, from the spec alone, on the positions of the next `chunk` queries after `seen`
// tokens: a text that learned positions cannot serve is refused before anything is read.
std::size_t last_position(const Spec& spec, std::size_t seen, std::size_t chunk) {
  const std::size_t last = seen + chunk - 1;
  if (!are_ranks(spec.positions) || !spec.bounded()) return last;
  const std::size_t budget = spec.budget;
  if (spec.visibility == Visibility::window) return std::min(last, budget - 1);
  if (spec.timing != Timing::trim_then_attend) {
    return std::min(seen, budget + spec.slack) + chunk - 1;
  }
  // Room is made for the chunk, as far as the recent window gives way.
  const std::size_t left = budget - std::min<std::size_t>(spec.recent, chunk);
  return std::min(seen, left) + chunk - 1;
}

}  // namespace

Result<void> Decoder::check(std::span<const TokenId> tokens) const {
  const ModelConfig& config = model_->config;
  for (const TokenId token : tokens) {
    if (token < 0 || static_cast<std::size_t>(token) >= config.vocabulary) {
      return malformed("token " + std::to_string(token) + " is out of range; expected 0 to " +
                       std::to_string(config.vocabulary - 1));
    }
  }
  if (Result<void> sized = check_chunk(spec_, tokens.size()); !sized) return sized;
  if (!config.learned_positions()) return {};
  const std::size_t last = last_position(spec_, seen(), tokens.size());
  if (last >= config.context) return learned_past(last, config.context);
  return {};
}

Result<void> Decoder::feed(std::span<const TokenId> tokens, Logits requested) {
  KV_CHECK(!tokens.empty());
  if (Result<void> checked = check(tokens); !checked) return checked;
  tokens_ = tokens.size();
  attending(true);
  attention_->begin_chunk(tokens_, classes_of(tokens));
  attending(false);
  if (spec_.vectors == Vectors::re_evaluated && spec_.bounded()) {
    // Before the chunk's queries, which are to see the residents' new vectors.
    if (Result<void> done = re_evaluation_.refresh(*attention_, tokens); !done) return done;
  }
  embed(tokens);
  for (std::size_t layer = 0; layer < model_->layers.size(); ++layer) run_layer(layer);
  attending(true);
  attention_->end_chunk();
  attending(false);
  if (Result<void> kept = check_promises(); !kept) return kept;
  finish(requested);
  return {};
}

Result<void> Decoder::check_promises() const {
  for (const ModelUnit& unit : attention_->units()) {
    const std::string& broken = unit.cache.broken_promise();
    if (!broken.empty()) return malformed(broken);
  }
  return {};
}

// A model may have more token numbers than its tokenizer; those count as content.
std::vector<TokenClass> Decoder::classes_of(std::span<const TokenId> tokens) const {
  std::vector<TokenClass> classes;
  if (token_classes_ == nullptr) return classes;
  for (const TokenId token : tokens) {
    const auto number = static_cast<std::size_t>(token);
    const bool known = number < token_classes_->size();
    classes.push_back(known ? (*token_classes_)[number] : TokenClass::content);
  }
  return classes;
}

void Decoder::embed(std::span<const TokenId> tokens) {
  const Matrix& table = model_->embedding;
  const std::size_t width = table.columns;
  hidden_states_.resize(tokens_ * width);
  std::vector<float> position(width);
  for (std::size_t i = 0; i < tokens_; ++i) {
    float* row = hidden_states_.data() + i * width;
    kernels().widen(table.number, table.row(static_cast<std::size_t>(tokens[i])), width, row);
    if (!model_->config.learned_positions()) continue;
    const auto query = static_cast<Position>(seen() - tokens_ + i);
    const std::size_t at = are_ranks(spec_.positions) ? attention_->rank_of(query) : query;
    kernels().widen(model_->positions.number, model_->positions.row(at), width, position.data());
    kernels().add(row, position.data(), width);
  }
}

void Decoder::run_layer(std::size_t index) {
  const ModelConfig& config = model_->config;
  const LayerWeights& layer = model_->layers[index];
  const std::size_t numbers = hidden_states_.size();
  normed_.resize(numbers);
  normalise(layer.before_attention, config.epsilon, tokens_, hidden_states_.data(), normed_.data());
  apply(layer.query, tokens_, normed_.data(), q_);
  apply(layer.key, tokens_, normed_.data(), k_);
  apply(layer.value, tokens_, normed_.data(), v_);
  attended_.resize(q_.size());
  attending(true);
  attention_->run_layer({index, tokens_, q_.data(), k_.data(), v_.data()}, attended_.data(),
                        observer_);
  attending(false);
  if (config.parallel) {
    // The MLP reads the hidden states that attention read, so they are normalised before its output
    // is added.
    normalise(layer.before_mlp, config.epsilon, tokens_, hidden_states_.data(), normed_.data());
  }
  apply(layer.output, tokens_, attended_.data(), added_);
  kernels().add(hidden_states_.data(), added_.data(), numbers);
  if (!config.parallel) {
    normalise(layer.before_mlp, config.epsilon, tokens_, hidden_states_.data(), normed_.data());
  }
  mlp_.run(layer, config.activation, tokens_, normed_.data(), added_);
  kernels().add(hidden_states_.data(), added_.data(), numbers);
}

void Decoder::finish(Logits requested) {
  // The head is the widest matrix of a small model: callers that sample ask for the last row only.
  const std::size_t rows = requested == Logits::all ? tokens_ : 1;
  const Matrix& head = model_->head;
  const float* from = hidden_states_.data() + (tokens_ - rows) * head.columns;
  normed_.resize(rows * head.columns);
  normalise(model_->last, model_->config.epsilon, rows, from, normed_.data());
  logits_.resize(rows * head.rows);
  model_kernels().multiply({head.number, head.data, head.rows, head.columns}, normed_.data(), rows,
                           logits_.data());
}

}  // namespace kv::model
