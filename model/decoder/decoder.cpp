#include "kvcheck/model/decoder/decoder.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/describe.h"
#include "kvcheck/model/decoder/output_norms.h"
#include "kvcheck/model/decoder/repeat_passes.h"
#include "kvcheck/model/kernels/numbers.h"
#include "kvcheck/model/weights/finite_weights.h"
#include "kvcheck/sim/replay/serves.h"

namespace kv::model {
namespace {

// The length of a text that is still to be written.
constexpr std::size_t no_length = std::numeric_limits<std::size_t>::max();

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

// An upper bound, from the spec alone, on the positions of the next `chunk` queries after `seen`
// tokens: a text that learned positions cannot serve is refused before anything is read.
std::size_t last_position(const Spec& spec, std::size_t seen, std::size_t chunk) {
  const std::size_t last = seen + chunk - 1;
  if (!are_ranks(spec.positions) || !spec.bounded()) return last;
  // A prompt is stored whole, and the cache may grow after it.
  if (spec.phases.compress != Phases::Compress::always) return last;
  const std::size_t budget = spec.budget;
  if (spec.visibility == Visibility::window) return std::min(last, budget - 1);
  if (spec.timing != Timing::trim_then_attend) {
    return std::min(seen, budget + spec.slack) + chunk - 1;
  }
  // Room is made for the chunk, as far as the recent window gives way.
  const std::size_t left = budget - std::min<std::size_t>(spec.recent, chunk);
  return std::min(seen, left) + chunk - 1;
}

// The tokens whose rotation a text gets: fewer than it has where positions are ranks in a cache.
std::size_t rotation_length(const ModelConfig& config, const Spec& spec, std::size_t length) {
  if (length == 0 || !config.scaling.by_length()) return 0;
  const std::size_t chunk = std::min<std::size_t>(spec.chunk, length);
  return last_position(spec, length - chunk, chunk) + 1;
}

Error rotated_past(std::size_t position, std::size_t limit) {
  return malformed("position " + std::to_string(position) + " is past the " +
                   std::to_string(limit) +
                   " that this text's rotation is for, which depends on the text's length; "
                   "expected a shorter text, or positions=in-cache with a budget that fits");
}

// What the families with unlike layers cannot do yet.
Result<void> check_layers(const ModelConfig& config, const Spec& spec) {
  if (spec.selects() && config.has_windows()) {
    return usage_error(
        "visibility=top-pages selects among all positions, and some layers of this model see only "
        "the newest ones; expected another visibility");
  }
  const bool mixed = spec.unit == Unit::model && needs_of(spec).vectors();
  if (mixed && config.has_several_rotations()) {
    return usage_error(
        "unit=model shows one policy the vectors of all layers, and the layers of this model "
        "rotate unlike each other; expected another unit");
  }
  return {};
}

// An infinite key or value would reach other tokens' sums, or none, depending on the kernel.
Error not_stored(const LanguageModel& model, const KvHeadGroup& group, KvStore::Unfit unfit) {
  const std::string what = std::string(unfit.of_key ? "a key" : "a value") + " of layer " +
                           std::to_string(group.layer) + " has " + shown(unfit.number);
  if (!std::isfinite(unfit.number)) return computed_not_finite(model, what);
  const Number full = group.store.format().full;
  return malformed(what + ", which " + std::string(number_name(full)) +
                   " cannot hold; expected storage as " +
                   (full == Number::f16 ? "bf16 or f32" : "f32"));
}

}  // namespace

Result<Decoder> Decoder::create(const LanguageModel& model,
                                const Spec& specified,
                                const DecoderOptions& given) {
  const std::size_t length = given.length > 0 ? given.length : no_length;
  const Result<Spec> marked = resolved(specified, given.marks, length, "the text");
  if (!marked) return marked.error();
  const Spec& spec = *marked;
  DecoderOptions options = given;
  if (spec.storage) options.storage = *spec.storage;
  if (Result<void> sized = check_chunk(spec, spec.chunk); !sized) return sized.error();
  if (Result<void> kept = check_keys(model.config, spec, options.storage, options.keys); !kept) {
    return kept.error();
  }
  if (Result<void> stored = check_format(spec, options.storage); !stored) return stored.error();
  if (Result<void> alike = check_layers(model.config, spec); !alike) return alike.error();
  if (Result<void> once = check_repeats(spec); !once) return once.error();
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
      length_(rotation_length(model.config, spec, options.length)),
      token_classes_(needs_of(spec).token_classes ? options.token_classes : nullptr),
      repeat_request_(options.repeat_request),
      observer_(options.observer),
      on_attention_(options.on_attention),
      team_(options.team != nullptr ? options.team : std::make_shared<Team>(1)),
      only_layer_(options.only_layer),
      attention_(std::make_unique<CachedAttention>(
          model.config,
          spec,
          AttentionOptions{options.seed, options.storage, options.keys, length_,
                           options.only_layer},
          *team_)),
      re_evaluation_(model, options.storage, options.keys, length_, team_),
      pass_(model, team_) {}

Result<void> Decoder::check(std::span<const TokenId> tokens) const {
  const ModelConfig& config = model_->config;
  for (const TokenId token : tokens) {
    if (token < 0 || static_cast<std::size_t>(token) >= config.vocabulary) {
      return malformed("the text has token " + std::to_string(token) +
                       ", which is not in the model's vocabulary; expected 0 to " +
                       std::to_string(config.vocabulary - 1));
    }
  }
  if (Result<void> sized = check_chunk(spec_, tokens.size()); !sized) return sized;
  const std::size_t limit = rotation_limit(config, length_);
  if (!config.learned_positions() && limit == 0) return {};
  const std::size_t last = last_position(spec_, seen(), tokens.size());
  if (limit > 0 && last >= limit) return rotated_past(last, limit);
  if (config.learned_positions() && last >= config.context) {
    return learned_past(last, config.context);
  }
  return {};
}

Result<void> Decoder::feed(std::span<const TokenId> tokens, Logits requested) {
  if (Result<void> begun = begin_chunk(tokens); !begun) return begun;
  embed(tokens, pass_.begin(tokens_));
  // Before each layer, as another call of a policy that failed may take as long.
  for (std::size_t layer = 0; layer < model_->layers.size(); ++layer) {
    if (Result<void> kept = check_promises(); !kept) return kept;
    run_layer(layer);
  }
  if (Result<void> ended = end_chunk(); !ended) return ended;
  // The head is the widest matrix of a small model: callers that sample ask for the last row only.
  const std::size_t rows = requested == Logits::all ? tokens_ : 1;
  pass_.finish(tokens_ - rows, rows, logits_);
  return {};
}

Result<void> Decoder::begin_chunk(std::span<const TokenId> tokens) {
  KV_CHECK(!tokens.empty() && !only_layer_);
  if (Result<void> checked = check(tokens); !checked) return checked;
  tokens_ = tokens.size();
  attending(true);
  attention_->begin_chunk(tokens_, classes_of(tokens));
  attending(false);
  const bool of_prompt = seen() - tokens_ < spec_.phases.first_trim;
  if (of_prompt && needs_of(spec_).reconstruction > 0) {
    prompt_.insert(prompt_.end(), tokens.begin(), tokens.end());
  }
  if (spec_.vectors != Vectors::re_evaluated || !spec_.bounded()) return {};
  // Before the chunk's queries, which are to see the residents' new vectors.
  return re_evaluation_.refresh(*attention_, tokens);
}

Result<void> Decoder::end_chunk() {
  // The policy sees what the passes pay before it decides.
  if (!prompt_.empty() && seen() >= spec_.phases.first_trim) {
    if (Result<void> repeated = repeat_prompt(); !repeated) return repeated;
  }
  attending(true);
  attention_->end_chunk();
  attending(false);
  return check_promises();
}

Result<void> Decoder::check_promises() const {
  for (const ModelUnit& unit : attention_->units()) {
    const std::string& broken = unit.cache.broken_promise();
    if (!broken.empty()) return malformed(broken);
    for (const KvHeadGroup& group : unit.groups) {
      if (const auto unfit = group.store.unfit()) return not_stored(*model_, group, *unfit);
    }
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

void Decoder::embed(std::span<const TokenId> tokens, std::span<float> states) const {
  const Matrix& table = model_->embedding;
  const std::size_t width = table.columns;
  std::vector<float> position(width);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    float* row = states.data() + i * width;
    table.widen_row(static_cast<std::size_t>(tokens[i]), row);
    scale_by(model_->config.embedding_scale, {row, width});
    if (!model_->config.learned_positions()) continue;
    const auto query = static_cast<Position>(seen() - tokens.size() + i);
    const std::size_t at = are_ranks(spec_.positions) ? attention_->rank_of(query) : query;
    model_->positions.widen_row(at, position.data());
    kernels().add(row, position.data(), width);
  }
}

void Decoder::attend(LayerVectors vectors, float* attended) {
  attending(true);
  if (attention_->units().front().needs().output_norms) {
    output_norms(*model_, vectors.layer, vectors.tokens, vectors.v, output_norms_, *team_);
    vectors.output_norms = output_norms_.data();
  }
  attention_->run_layer(vectors, attended, observer_);
  attending(false);
}

LayerVectors Decoder::vectors_of(const ForwardPass::Projected& projected) const {
  return {.layer = projected.layer,
          .tokens = tokens_,
          .q = projected.q,
          .k = projected.k,
          .v = projected.v};
}

void Decoder::run_layer(std::size_t index) {
  pass_.run_layer(index, [this](const ForwardPass::Projected& projected) {
    attend(vectors_of(projected), projected.attended);
  });
}

}  // namespace kv::model
