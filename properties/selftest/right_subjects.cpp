#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/base/check.h"
#include "kvcheck/properties/mutants.h"
#include "kvcheck/properties/plain/plain_family.h"
#include "kvcheck/properties/plain/plain_selecting.h"
#include "kvcheck/properties/plain/plain_sharing.h"
#include "kvcheck/properties/plain/plain_shifting.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

// One plain cache by its place in this table.
struct Plain {
  std::string_view name;
  std::string_view why;
  PlainOptions options;
};

constexpr std::array<Plain, 34> plains = {{
    {"plain-streaming", "the strictest reading", {}},
    {"plain-dense",
     "nothing is evicted, and everything can be taken back",
     {.policy = PlainPolicy::keep_all, .visibility = Visibility::causal, .rollback = any_depth}},
    {"plain-causal",
     "inside a chunk more than the budget is seen, declared",
     {.visibility = Visibility::causal}},
    {"plain-room-first",
     "room is made before a chunk, declared",
     {.timing = Timing::trim_then_attend, .visibility = Visibility::causal}},
    {"plain-room-first-window",
     "room is made first, each query has its own window",
     {.timing = Timing::trim_then_attend}},
    {"plain-lazy",
     "lazy slack, declared",
     {.timing = Timing::lazy, .slack = 5, .visibility = Visibility::causal}},
    {"plain-lazy-window", "lazy slack that no query sees", {.timing = Timing::lazy, .slack = 5}},
    {"plain-in-cache", "positions are ranks, declared", {.positions = PositionMode::in_cache}},
    {"plain-in-cache-causal",
     "ranks, and more than the budget inside a chunk",
     {.visibility = Visibility::causal, .positions = PositionMode::in_cache}},
    {"plain-in-cache-lazy",
     "ranks of what is seen, while more is stored",
     {.timing = Timing::lazy, .slack = 4, .positions = PositionMode::in_cache}},
    {"plain-shifted",
     "stored keys are turned when a gap closes, declared",
     {.visibility = Visibility::causal, .positions = PositionMode::shifted}},
    {"plain-shifted-lazy",
     "turned only now and then",
     {.timing = Timing::lazy,
      .slack = 4,
      .visibility = Visibility::causal,
      .positions = PositionMode::shifted}},
    {"plain-shifted-interleaved",
     "turned as neighbouring pairs",
     {.visibility = Visibility::causal,
      .positions = PositionMode::shifted,
      .layout = PairLayout::interleaved}},
    {"plain-slots", "rows lie in any free slot, declared", {.slots = PlainSlots::lowest_free}},
    {"plain-slots-reservoir",
     "free slots and a middle by chance",
     {.policy = PlainPolicy::reservoir_r, .slots = PlainSlots::lowest_free}},
    {"plain-ring",
     "a ring with room for chunks of 4, longer ones refused",
     {.timing = Timing::lazy, .slack = 3, .slots = PlainSlots::ring, .longest_chunk = 4}},
    {"plain-pages", "rows come and go in pages, the sinks' page is pinned", {.page = 3}},
    {"plain-large-pages", "a page may be larger than the window", {.page = 8}},
    {"plain-int8",
     "old rows are quantised, the last 2 are exact",
     {.precision = Precision::int8, .full_precision_recent = 2}},
    {"plain-int4",
     "old rows are codes of 4 bits with a step per group, the last 3 are exact",
     {.precision = Precision::int4, .full_precision_recent = 3}},
    {"plain-int4-sinks",
     "so are the sinks, and a middle by chance lies in any slot",
     {.policy = PlainPolicy::reservoir_r,
      .slots = PlainSlots::lowest_free,
      .precision = Precision::int4,
      .full_precision_recent = 1,
      .full_precision_sinks = true}},
    {"plain-f16", "stored in half precision", {.precision = Precision::f16}},
    {"plain-bf16-shifted",
     "turned in bf16, declared",
     {.visibility = Visibility::causal,
      .positions = PositionMode::shifted,
      .precision = Precision::bf16}},
    {"plain-rollback", "the last 6 tokens can be taken back", {.rollback = 6}},
    {"plain-rollback-h2o",
     "taken back with the scores that they gave",
     {.policy = PlainPolicy::h2o, .rollback = 4}},
    {"plain-per-head",
     "each query head keeps its own, declared",
     {.policy = PlainPolicy::h2o, .unit = Unit::head}},
    {"plain-per-layer",
     "heads of a layer share residents, declared",
     {.policy = PlainPolicy::h2o, .unit = Unit::layer}},
    {"plain-per-model",
     "all layers and heads share residents, declared",
     {.policy = PlainPolicy::reservoir_r, .unit = Unit::model}},
    {"plain-random", "a random older token makes room", {.policy = PlainPolicy::random}},
    {"plain-reservoir-r",
     "Algorithm R, its chance from outside",
     {.policy = PlainPolicy::reservoir_r}},
    {"plain-reservoir-l",
     "Algorithm L, its chance from outside",
     {.policy = PlainPolicy::reservoir_l}},
    {"plain-h2o", "decides by attention, declared", {.policy = PlainPolicy::h2o}},
    {"plain-h2o-by-age",
     "decides by attention per query",
     {.policy = PlainPolicy::h2o_by_age, .visibility = Visibility::causal}},
    {"plain-tova",
     "the newest token may go at once, declared",
     {.policy = PlainPolicy::tova, .visibility = Visibility::causal}},
}};

template <std::size_t index>
std::unique_ptr<Family> make_plain() {
  const Plain& plain = plains[index];
  return std::make_unique<PlainFamily<PlainSubject>>(std::string(plain.name), plain.options);
}

template <std::size_t... index>
void add_plains(std::vector<RightSubject>& all, std::index_sequence<index...>) {
  (all.push_back({plains[index].name, plains[index].why, make_plain<index>}), ...);
}

// Survivors lie in the order of their scores; keys carry their positions, so that no order counts.
class ScoreOrdered final : public PlainSubject {
 public:
  using PlainSubject::PlainSubject;

 private:
  void close_gaps(PlainGroup& group) override {
    std::vector<PlainRow*> by_score;
    for (PlainRow& row : group.rows) by_score.push_back(&row);
    std::ranges::stable_sort(by_score, std::greater<>(), &PlainRow::gathered);
    for (std::size_t i = 0; i < by_score.size(); ++i) by_score[i]->slot = i;
  }
};

std::unique_ptr<Family> make_score_ordered() {
  return std::make_unique<PlainFamily<ScoreOrdered>>(
      "plain-score-ordered", PlainOptions{.policy = PlainPolicy::h2o},
      [](Contract& contract) { contract.unordered = true; });
}

// Refuses every operation that it may refuse.
class RefusesAll final : public PlainSubject {
 public:
  using PlainSubject::PlainSubject;

 private:
  Answer<Done> reset() override { return Refused{"not offered"}; }

  Answer<std::unique_ptr<Subject>> fork() override { return Refused{"not offered"}; }

  Answer<Done> reorder(std::span<const std::uint32_t>) override { return Refused{"not offered"}; }

  Answer<std::vector<std::uint8_t>> snapshot() override { return Refused{"not offered"}; }
};

std::unique_ptr<Family> make_refuses_all() {
  return std::make_unique<PlainFamily<RefusesAll>>("plain-refuses", PlainOptions{});
}

constexpr std::array<std::string_view, 10> policies = {"dense",
                                                       "window",
                                                       "streaming",
                                                       "random",
                                                       "reservoir",
                                                       "reservoir:algorithm=l",
                                                       "reservoir:algorithm=bottom-k",
                                                       "h2o",
                                                       "h2o:normalise=age",
                                                       "tova"};
constexpr std::array<std::string_view, 4> settings = {
    ";timing=attend-then-trim;visibility=causal", ";timing=trim-then-attend;visibility=causal",
    ";timing=lazy:4;visibility=causal;positions=in-cache", ";timing=lazy:4;visibility=window"};

const std::string& spec_text(std::size_t index) {
  static const auto texts = [] {
    std::vector<std::string> all;
    for (const std::string_view policy : policies) {
      for (const std::string_view setting : settings) {
        all.push_back(std::string(policy) + std::string(setting));
      }
    }
    return all;
  }();
  return texts[index];
}

// A recent window whatever the policy's default, so that a query always sees itself.
template <std::size_t index>
std::unique_ptr<Family> make_spec() {
  std::string text = spec_text(index);
  if (text.starts_with("tova")) text.replace(0, 4, "tova:recent=2");
  const auto spec = parse_spec(text, {.budget = 12});
  KV_CHECK(spec.has_value());
  return make_spec_family(*spec);
}

template <std::size_t... index>
void add_specs(std::vector<RightSubject>& all, std::index_sequence<index...>) {
  (all.push_back({spec_text(index), "our own policy in our own cache", make_spec<index>}), ...);
}

std::unique_ptr<Family> make_preset(std::string_view text) {
  return make_spec_family(parse_spec(text, {.budget = 12}).value());
}

}  // namespace

std::span<const RightSubject> right_subjects() {
  static const auto all = [] {
    std::vector<RightSubject> out;
    add_plains(out, std::make_index_sequence<plains.size()>());
    out.push_back({"plain-score-ordered", "slots in the order of scores, declared unordered",
                   make_score_ordered});
    out.push_back({"plain-refuses", "refuses every operation", make_refuses_all});
    out.push_back({"plain-shifting", "shifts when it is told to", []() -> std::unique_ptr<Family> {
                     return std::make_unique<PlainFamily<PlainShifting>>(
                         "plain-shifting", PlainOptions{},
                         [](Contract& contract) { contract.shifts = true; });
                   }});
    out.push_back({"plain-sharing", "heads of a layer share their budget by score, declared",
                   []() -> std::unique_ptr<Family> {
                     return std::make_unique<PlainFamily<PlainSharing>>(
                         "plain-sharing", PlainOptions{.policy = PlainPolicy::h2o, .shares = true});
                   }});
    out.push_back({"plain-sharing-per-head", "query heads share it, room is made first",
                   []() -> std::unique_ptr<Family> {
                     return std::make_unique<PlainFamily<PlainSharing>>(
                         "plain-sharing-per-head", PlainOptions{.policy = PlainPolicy::tova,
                                                                .timing = Timing::trim_then_attend,
                                                                .visibility = Visibility::causal,
                                                                .unit = Unit::head,
                                                                .shares = true});
                   }});
    out.push_back({"plain-choosing", "each query head attends to the pages that may fit it best",
                   []() -> std::unique_ptr<Family> {
                     return std::make_unique<PlainFamily<PlainSelecting>>(
                         "plain-choosing", PlainSelecting::options());
                   }});
    add_specs(out, std::make_index_sequence<policies.size() * settings.size()>());
    out.push_back({"h2o;unit=head", "each query head keeps its own",
                   [] { return make_preset("h2o;unit=head;visibility=window"); }});
    out.push_back({"h2o;budgets=adaptive", "heads share by score, and trim late",
                   [] { return make_preset("h2o;budgets=adaptive:0.2;timing=lazy:4"); }});
    out.push_back({"snapkv;budgets=adaptive", "query heads share what a prompt leaves", [] {
                     return make_preset(
                         "snapkv:recent=2,select=once;unit=head;"
                         "budgets=adaptive:0.5;visibility=window");
                   }});
    out.push_back({"keyformer;budgets=adaptive", "heads share once, and newcomers go after it",
                   [] { return make_preset("keyformer:select=once;budgets=adaptive:0.5"); }});
    out.push_back({"pages;first-page=masked", "what is left of the sinks' page stays stored",
                   [] { return make_preset("pages:sinks=3,page=2,first-page=masked"); }});
    out.push_back({"ladder;unit=head", "other tokens in other layers, of runs of five",
                   [] { return make_preset("ladder:keep=2,drop=3;unit=head"); }});
    out.push_back({"quest", "the paper's pages: nothing is evicted, and little is seen",
                   [] { return make_preset("@quest;visibility=top-pages:12/4/1"); }});
    out.push_back({"tova;unit=layer", "the paper's sharing, the newest may go",
                   [] { return make_preset("tova;unit=layer"); }});
    out.push_back({"reservoir;unit=model", "one sample for all",
                   [] { return make_preset("reservoir;unit=model;timing=trim-then-attend"); }});
    return out;
  }();
  return all;
}

}  // namespace kv::properties
