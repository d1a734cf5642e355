#include "kvcheck/properties/selftest/right_subjects.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/properties/tagged/tagged_family.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

// Refuses every operation that it may refuse.
struct RefusesAll final : TaggedCache {
  Answer<Done> reset() override { return Refused{"not offered"}; }

  Answer<std::unique_ptr<Subject>> fork() override { return Refused{"not offered"}; }

  Answer<Done> reorder(std::span<const std::uint32_t>) override { return Refused{"not offered"}; }

  Answer<std::vector<std::uint8_t>> snapshot() override { return Refused{"not offered"}; }
};

template <typename Made = TaggedCache>
RightSubject plain(std::string_view name, std::string_view why, const TaggedOptions& options) {
  return {name, why, [=]() -> std::unique_ptr<Family> {
            return std::make_unique<TaggedFamily<Made>>(std::string(name), options);
          }};
}

RightSubject of_spec(std::string_view name, std::string_view why, const std::string& text) {
  return {name, why, [text] {
            // A budget that is a share of the prompt leaves no room for another.
            const auto spec = parse_spec(text, {.budget = 12});
            return make_spec_family(spec ? *spec : parse_spec(text).value());
          }};
}

constexpr std::string_view policies[] = {"dense",
                                         "window",
                                         "streaming",
                                         "random",
                                         "reservoir",
                                         "reservoir:algorithm=l",
                                         "reservoir:algorithm=bottom-k",
                                         "h2o",
                                         "h2o:normalise=age",
                                         "tova"};
constexpr std::string_view settings[] = {
    ";timing=attend-then-trim;visibility=causal", ";timing=trim-then-attend;visibility=causal",
    ";timing=lazy:4;visibility=causal;positions=in-cache", ";timing=lazy:4;visibility=window"};

// Every policy in every setting, by the names that they keep.
const std::vector<std::string>& spec_texts() {
  static const auto texts = [] {
    std::vector<std::string> all;
    for (const std::string_view policy : policies) {
      for (const std::string_view setting : settings) {
        all.push_back(std::string(policy) + std::string(setting));
      }
    }
    return all;
  }();
  return texts;
}

// Distinguished by timing, positions and where rows lie.
std::vector<RightSubject> tagged_stores() {
  return {
      plain("plain-streaming", "the strictest reading", {}),
      plain("plain-dense", "nothing is evicted, and everything can be taken back",
            {.policy = "dense", .visibility = Visibility::causal, .rollback = any_depth}),
      plain("plain-causal", "inside a chunk more than the budget is seen, declared",
            {.visibility = Visibility::causal}),
      plain("plain-room-first", "room is made before a chunk, declared",
            {.timing = Timing::trim_then_attend, .visibility = Visibility::causal}),
      plain("plain-room-first-window", "room is made first, each query has its own window",
            {.timing = Timing::trim_then_attend}),
      plain("plain-lazy", "lazy slack, declared",
            {.timing = Timing::lazy, .slack = 5, .visibility = Visibility::causal}),
      plain("plain-lazy-window", "lazy slack that no query sees",
            {.timing = Timing::lazy, .slack = 5}),
      plain("plain-in-cache", "positions are ranks, declared",
            {.positions = PositionMode::in_cache}),
      plain("plain-in-cache-causal", "ranks, and more than the budget inside a chunk",
            {.visibility = Visibility::causal, .positions = PositionMode::in_cache}),
      plain("plain-in-cache-lazy", "ranks of what is seen, while more is stored",
            {.timing = Timing::lazy, .slack = 4, .positions = PositionMode::in_cache}),
      plain("plain-shifted", "stored keys are rotated when a gap closes, declared",
            {.visibility = Visibility::causal, .positions = PositionMode::shifted}),
      plain("plain-shifted-lazy", "rotated only now and then",
            {.timing = Timing::lazy,
             .slack = 4,
             .visibility = Visibility::causal,
             .positions = PositionMode::shifted}),
      plain("plain-shifted-interleaved", "rotated as neighbouring pairs",
            {.visibility = Visibility::causal,
             .positions = PositionMode::shifted,
             .layout = PairLayout::interleaved}),
      plain("plain-slots", "rows lie in any free slot, declared",
            {.slots = SlotOrder::lowest_free}),
      plain("plain-slots-reservoir", "free slots and a middle by chance",
            {.policy = "reservoir", .slots = SlotOrder::lowest_free}),
      plain("plain-ring", "a ring with room for chunks of 4, longer ones refused",
            {.timing = Timing::lazy, .slack = 3, .slots = SlotOrder::ring, .longest_chunk = 4}),
  };
}

// Distinguished by prompts, which are taken in one call and perhaps trimmed once.
std::vector<RightSubject> tagged_prompts() {
  return {
      plain("plain-prompt-once", "a prompt of any length when it is empty, then single tokens",
            {.policy = "h2o",
             .visibility = Visibility::causal,
             .longest_chunk = 1,
             .first_chunk = any_depth}),
      plain("plain-prompt-window", "a first call of up to 9 tokens, then up to 2, taken back too",
            {.longest_chunk = 2, .first_chunk = 9, .rollback = any_depth}),
      plain("plain-prompt-grows", "half of a prompt is kept, and every token after it, declared",
            {.policy = "h2o",
             .visibility = Visibility::causal,
             .compress = Compress::prompt_grow,
             .ratio = 500,
             .rollback = any_depth}),
      plain(
          "plain-prompt-to-budget", "a prompt is trimmed to the budget, and the cache grows",
          {.policy = "tova", .visibility = Visibility::causal, .compress = Compress::prompt_grow}),
      plain("plain-prompt-held", "a third of a prompt is kept for ever, room is made first",
            {.timing = Timing::trim_then_attend,
             .visibility = Visibility::causal,
             .compress = Compress::prompt_hold,
             .ratio = 333}),
      plain("plain-prompt-held-lazy", "a prompt is trimmed to the budget, later ones late",
            {.policy = "reservoir",
             .timing = Timing::lazy,
             .slack = 4,
             .visibility = Visibility::causal,
             .compress = Compress::prompt_hold}),
      plain("plain-prompt-pages", "pages of a prompt are freed once, then single tokens come",
            {.visibility = Visibility::causal,
             .page = 3,
             .longest_chunk = 1,
             .first_chunk = any_depth,
             .compress = Compress::prompt_grow,
             .ratio = 250}),
  };
}

// Distinguished by pages, and by places that are made ahead.
std::vector<RightSubject> tagged_places() {
  return {
      plain("plain-ahead", "the next token's place is free between calls, declared",
            {.evicts_ahead = true}),
      plain("plain-ahead-h2o", "so it is, and a score selects which row makes place",
            {.policy = "h2o", .evicts_ahead = true, .rollback = 3}),
      plain("plain-ahead-causal", "so it is, where a chunk is seen whole",
            {.visibility = Visibility::causal, .evicts_ahead = true}),
      plain("plain-ahead-reservoir", "so it is, and the middle is a uniform sample",
            {.policy = "reservoir", .evicts_ahead = true}),
      plain("plain-pages", "rows come and go in pages, the sinks' page is pinned", {.page = 3}),
      plain("plain-large-pages", "a page may be larger than the window", {.page = 8}),
      plain("plain-pages-shown", "a query sees what its pages hold beside the window, declared",
            {.page = 3, .shows_pages = true}),
      plain("plain-pages-causal", "pages, and more than the budget inside a chunk",
            {.visibility = Visibility::causal, .page = 4}),
  };
}

std::vector<RightSubject> tagged_precisions() {
  return {
      plain("plain-int8", "old rows are quantised, the last 2 are exact",
            {.precision = Precision::int8, .full_precision_recent = 2}),
      plain("plain-int4",
            "old rows are codes of 4 bits with a step per group, the last 3 are exact",
            {.precision = Precision::int4, .full_precision_recent = 3}),
      plain("plain-int4-sinks", "so are the sinks, and a middle by chance lies in any slot",
            {.policy = "reservoir",
             .slots = SlotOrder::lowest_free,
             .precision = Precision::int4,
             .full_precision_recent = 1,
             .full_precision_sinks = true}),
      plain("plain-f16", "stored in half precision", {.precision = Precision::f16}),
      plain("plain-bf16-shifted", "rotated in bf16, declared",
            {.visibility = Visibility::causal,
             .positions = PositionMode::shifted,
             .precision = Precision::bf16}),
  };
}

// Distinguished by operations, units and policies.
std::vector<RightSubject> tagged_policies() {
  return {
      plain("plain-rollback", "the last 6 tokens can be taken back", {.rollback = 6}),
      plain("plain-rollback-h2o", "taken back with the scores that they gave",
            {.policy = "h2o", .rollback = 4}),
      plain("plain-per-head", "each query head keeps its own, declared",
            {.policy = "h2o", .unit = Unit::head}),
      plain("plain-per-layer", "heads of a layer share residents, declared",
            {.policy = "h2o", .unit = Unit::layer}),
      plain("plain-per-model", "all layers and heads share residents, declared",
            {.policy = "reservoir", .unit = Unit::model}),
      plain("plain-random", "a random older token makes room", {.policy = "random"}),
      plain("plain-reservoir-r", "Algorithm R, its chance from outside", {.policy = "reservoir"}),
      plain("plain-reservoir-l", "Algorithm L, its chance from outside",
            {.policy = "reservoir:algorithm=l"}),
      plain("plain-h2o", "decides by attention, declared", {.policy = "h2o"}),
      plain("plain-h2o-by-age", "decides by attention per query",
            {.policy = "h2o:normalise=age", .visibility = Visibility::causal}),
      plain("plain-tova", "the newest token may be evicted at once, declared",
            {.policy = "tova", .visibility = Visibility::causal}),
      plain("plain-shifting", "shifts when it is asked to", {.shifts = true}),
      plain("plain-score-ordered", "slots in the order of scores, declared unordered",
            {.policy = "h2o", .slots = SlotOrder::by_score}),
      plain("plain-sharing", "heads of a layer share their budget by score, declared",
            {.policy = "h2o", .shares = true}),
      plain("plain-sharing-per-head", "query heads share it, room is made first",
            {.policy = "tova",
             .timing = Timing::trim_then_attend,
             .visibility = Visibility::causal,
             .unit = Unit::head,
             .shares = true}),
      plain("plain-choosing", "each query head attends to the pages that may fit it best",
            {.policy = "dense",
             .visibility = Visibility::top_pages,
             .top_pages = {.attended = 64, .page = 16, .dense_layers = 1},
             .unit = Unit::head}),
      plain<RefusesAll>("plain-refuses", "refuses every operation", {}),
  };
}

// Prompts compressed once, and what comes after them.
std::vector<RightSubject> prompt_subjects() {
  return {
      of_spec("snapkv-prompt", "half of a prompt by its last queries, by query heads",
              "@snapkv-prompt:recent=4"),
      of_spec("pyramidkv-prompt", "so it is, and lower layers keep more",
              "@pyramidkv-prompt:recent=4"),
      of_spec("ada-snapkv-prompt", "so it is, and heads share by score",
              "@ada-snapkv-prompt:recent=4"),
      of_spec("rkv-prompt", "a share of the prompt, and later trims every four tokens",
              "@rkv-prompt:recent=2,ratio=0.4;compress=question+every:4"),
      of_spec("h2o;prompt+hold", "a fifth of the prompt for ever",
              "h2o:ratio=0.2;compress=prompt+hold"),
      of_spec("reservoir;prompt", "a sample of the prompt, and every token after it",
              "reservoir:ratio=0.5;compress=prompt"),
      of_spec("streaming;never", "a budget that is never used", "streaming;compress=never"),
  };
}

std::vector<RightSubject> preset_subjects() {
  return {
      of_spec("h2o;budgets=pyramid", "lower layers keep more, each budget declared",
              "h2o:recent=2;budgets=pyramid:2;visibility=window"),
      of_spec("streaming;budgets=retrieval", "one head keeps everything and the others slide",
              "streaming;budgets=retrieval:0.0;visibility=window"),
      of_spec("h2o;unit=head", "each query head keeps its own", "h2o;unit=head;visibility=window"),
      of_spec("h2o;budgets=adaptive", "heads share by score, and trim late",
              "h2o;budgets=adaptive:0.2;timing=lazy:4"),
      of_spec("snapkv;budgets=adaptive", "query heads share what a prompt leaves",
              "snapkv:recent=2,select=once;unit=head;budgets=adaptive:0.5;visibility=window"),
      of_spec("keyformer;budgets=adaptive", "heads share once, and newcomers are evicted after it",
              "keyformer:select=once;budgets=adaptive:0.5"),
      of_spec("pages;first-page=masked", "what is left of the sinks' page remains stored",
              "pages:sinks=3,page=2,first-page=masked"),
      of_spec("ladder;unit=head", "other tokens in other layers, of runs of five",
              "ladder:keep=2,drop=3;unit=head"),
      of_spec("quest", "the paper's pages: nothing is evicted, and little is seen",
              "@quest;visibility=top-pages:12/4/1"),
      of_spec("tova;unit=layer", "the paper's sharing, the newest may be evicted",
              "tova;unit=layer"),
      of_spec("reservoir;unit=model", "one sample for all",
              "reservoir;unit=model;timing=trim-then-attend"),
  };
}

}  // namespace

std::span<const RightSubject> right_subjects() {
  static const auto all = [] {
    std::vector<RightSubject> out = tagged_stores();
    for (auto* const group :
         {tagged_prompts, tagged_places, tagged_precisions, tagged_policies, borrowing_subjects}) {
      std::ranges::move(group(), std::back_inserter(out));
    }
    for (const std::string& text : spec_texts()) {
      // A recent window whatever the default, so that a query always sees itself.
      const bool tova = text.starts_with("tova");
      out.push_back(of_spec(text, "our own policy in our own cache",
                            tova ? "tova:recent=2" + text.substr(4) : text));
    }
    std::ranges::move(preset_subjects(), std::back_inserter(out));
    std::ranges::move(prompt_subjects(), std::back_inserter(out));
    return out;
  }();
  return all;
}

}  // namespace kv::properties
