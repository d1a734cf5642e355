// Right caches that declare what they are not: each field and each claim of a contract once.
#include "kvcheck/properties/forwarding.h"
#include "kvcheck/properties/mutants/wrong.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

using Change = void (*)(Contract&);

struct Held {
  std::unique_ptr<Family> held;
};

// The subject does not know what is declared of it.
class Redeclared final : Held, public ForwardingFamily {
 public:
  Redeclared(std::string_view name, std::unique_ptr<Family> right, Change change)
      : Held{std::move(right)}, ForwardingFamily(*held), name_(name), change_(change) {}

  [[nodiscard]] std::string name() const override { return name_; }

  [[nodiscard]] Result<Contract> contract(const Setup& setup) const override {
    auto contract = ForwardingFamily::contract(setup);
    if (contract) change_(*contract);
    return contract;
  }

 private:
  std::string name_;
  Change change_;
};

Mutant lie(std::string_view name,
           std::string_view wrong,
           const TaggedOptions& options,
           Change change) {
  return {name, wrong, "made", [=](std::string_view made) -> std::unique_ptr<Family> {
            auto right = std::make_unique<TaggedFamily<TaggedCache>>(
                "right", options, [](Contract& contract) { contract.reference.clear(); });
            return std::make_unique<Redeclared>(made, std::move(right), change);
          }};
}

Mutant lie_of_spec(std::string_view name,
                   std::string_view wrong,
                   const std::string& spec,
                   Change change) {
  return {name, wrong, "made", [=](std::string_view made) -> std::unique_ptr<Family> {
            auto right = make_spec_family(parse_spec(spec, {.budget = 12}).value());
            return std::make_unique<Redeclared>(made, std::move(right), change);
          }};
}

// What a unit keeps shrinks by one row in the end, as no budget of its own would.
struct SizeSlides final : CausalScoredWrong {
  static void declare(Contract& contract) {
    CausalScoredWrong::declare(contract);
    contract.largest_budget = contract.budget + 1;
  }

  void settle(CacheUnit& unit) override {
    const Spec right = spec();
    Spec larger = right;
    ++larger.budget;
    if (unit.fed <= 2 * std::uint64_t{right.budget}) use(larger);
    CausalScoredWrong::settle(unit);
    use(right);
  }
};

std::vector<Mutant> wrong_sizes() {
  return {
      lie("misdeclares-sinks", "one sink more is declared than is kept", {},
          [](Contract& c) { ++c.sinks; }),
      lie("misdeclares-recent", "one recent token more is declared than is protected",
          {.policy = "h2o"}, [](Contract& c) { ++c.recent; }),
      lie("misdeclares-budget", "one row more is declared than is kept", {},
          [](Contract& c) { ++c.budget; }),
      lie_of_spec("misdeclares-largest_budget", "the largest budget is declared too small",
                  "h2o;budgets=pyramid:2;visibility=window",
                  [](Contract& c) {
                    c.reference.clear();
                    c.budgets.clear();
                    if (c.uneven()) --c.largest_budget;
                  }),
      lie_of_spec("misdeclares-budgets", "the budgets of the layers are declared in reverse",
                  "h2o;budgets=pyramid:2;visibility=window",
                  [](Contract& c) {
                    c.reference.clear();
                    std::ranges::reverse(c.budgets);
                  }),
      lie("misdeclares-mean_budget", "heads share one row a head less than is declared",
          {.policy = "h2o", .visibility = Visibility::causal, .shares = true},
          [](Contract& c) { ++c.mean_budget; }),
      lie("misdeclares-ratio", "a larger share of the prompt is declared than is kept",
          {.policy = "h2o",
           .visibility = Visibility::causal,
           .compress = Compress::prompt_hold,
           .ratio = 500},
          [](Contract& c) { c.ratio = 600; }),
      lie("misdeclares-timing", "a lazy cache declares to trim after every call",
          {.timing = Timing::lazy, .slack = 4},
          [](Contract& c) { c.timing = Timing::attend_then_trim; }),
      lie("misdeclares-slack", "half of the slack is declared",
          {.timing = Timing::lazy, .slack = 4}, [](Contract& c) { c.slack = 2; }),
      lie("misdeclares-page", "pages of two rows are declared, and they have three", {.page = 3},
          [](Contract& c) { c.page = 2; }),
      lie("misdeclares-longest_chunk", "chunks that are refused are not declared too long",
          {.timing = Timing::lazy, .slack = 3, .slots = SlotOrder::ring, .longest_chunk = 4},
          [](Contract& c) { c.longest_chunk = 0; }),
      lie("misdeclares-first_chunk", "a prompt is declared to be longer than one that is taken",
          {.longest_chunk = 1, .first_chunk = 4}, [](Contract& c) { c.first_chunk = any_depth; }),
      lie("misdeclares-rollback", "more is declared than can be taken back", {.rollback = 3},
          [](Contract& c) { c.rollback = 6; }),
      lie("misdeclares-full_precision_recent", "one exact row more is declared than there is",
          {.precision = Precision::int8, .full_precision_recent = 2},
          [](Contract& c) { c.full_precision_recent = 3; }),
      lie("misdeclares-full_precision_sinks", "the sinks are declared exact, and are not",
          {.precision = Precision::int8, .full_precision_recent = 1},
          [](Contract& c) { c.full_precision_sinks = c.sinks; }),
  };
}

std::vector<Mutant> wrong_words() {
  return {
      lie("misdeclares-visibility", "what is seen inside a chunk is declared a window",
          {.visibility = Visibility::causal},
          [](Contract& c) { c.visibility = Visibility::window; }),
      lie("misdeclares-compress", "a budget that is held after the prompt is said to grow",
          {.policy = "h2o", .visibility = Visibility::causal, .compress = Compress::prompt_hold},
          [](Contract& c) {
            c.compress = Compress::prompt_grow;
            c.claims.erase("constant-size");
          }),
      lie("misdeclares-positions", "ranks are declared absolute positions",
          {.positions = PositionMode::in_cache},
          [](Contract& c) { c.positions = PositionMode::absolute; }),
      lie("misdeclares-unit", "heads that decide alone declare to share", {.policy = "h2o"},
          [](Contract& c) { c.unit = Unit::layer; }),
      lie_of_spec("misdeclares-pinned_first_page", "a page that remains hidden is not declared",
                  "pages:sinks=3,page=2,first-page=masked;visibility=window",
                  [](Contract& c) {
                    c.reference.clear();
                    c.pinned_first_page = false;
                  }),
      lie("misdeclares-shows_pages", "what pages hold beside the window is seen, and not declared",
          {.page = 3, .shows_pages = true}, [](Contract& c) { c.shows_pages = false; }),
      lie("misdeclares-unordered", "rows in any slot are declared in order",
          {.slots = SlotOrder::lowest_free}, [](Contract& c) { c.unordered = false; }),
      lie_of_spec("misdeclares-masks_instead", "rows that are hidden are declared freed",
                  "h2o:form=mask-simulation",
                  [](Contract& c) {
                    c.reference.clear();
                    c.masks_evicted = false;
                  }),
      lie("misdeclares-self_may_go", "a newest token that may be evicted is declared protected",
          {.policy = "tova", .visibility = Visibility::causal},
          [](Contract& c) { c.may_evict_newest = false; }),
      lie("misdeclares-random", "residents drawn by chance are declared certain",
          {.policy = "reservoir"}, [](Contract& c) { c.random = false; }),
  };
}

std::vector<Mutant> wrong_promises() {
  return {
      lie_of_spec("misdeclares-keeps_fewer", "a cache that keeps fewer declares to be full",
                  "pages",
                  [](Contract& c) {
                    c.reference.clear();
                    c.keeps_fewer = false;
                  }),
      lie("misdeclares-evicts_ahead", "place for the next token is declared, and none is made", {},
          [](Contract& c) { c.evicts_ahead = true; }),
      lie_of_spec("misdeclares-windows", "attention decides what is declared a window",
                  "h2o;budgets=pyramid:2;visibility=window",
                  [](Contract& c) {
                    c.reference.clear();
                    c.windows = true;
                  }),
      lie("misdeclares-rows_from", "layers read the rows of others, and declare none to be shared",
          {.borrows = true}, [](Contract& c) { c.rows_from.clear(); }),
      lie("misdeclares-shifts", "a shift is declared and refused", {},
          [](Contract& c) { c.shifts = true; }),
      lie("misdeclares-precision", "half precision is declared exact",
          {.precision = Precision::bf16}, [](Contract& c) { c.precision = Precision::f32; }),
      lie_of_spec("misdeclares-wants_attention", "attention is said to decide, and position does",
                  "fifo:sinks=1,recent=2;visibility=window",
                  [](Contract& c) {
                    c.reference.clear();
                    c.wants_attention = true;
                  }),
      lie("misdeclares-reference", "the specification of another policy is named", {},
          [](Contract& c) { c.reference = "fifo:budget=" + std::to_string(c.budget); }),
  };
}

std::vector<Mutant> wrong_selection() {
  const TaggedOptions selecting = {.policy = "dense",
                                   .visibility = Visibility::top_pages,
                                   .top_pages = {.attended = 64, .page = 16, .dense_layers = 1},
                                   .unit = Unit::head};
  return {
      lie("misdeclares-attended", "queries attend to a page more than is declared", selecting,
          [](Contract& c) { c.top_pages.attended = 48; }),
      lie("misdeclares-attended_page", "pages of twice the declared size are selected", selecting,
          [](Contract& c) { c.top_pages.page = 8; }),
      lie("misdeclares-dense_layers", "a layer that attends to everything is said to select",
          selecting, [](Contract& c) { c.top_pages.dense_layers = 0; }),
  };
}

std::vector<Mutant> wrong_claims_made() {
  return {
      {"misclaims-constant-size", "constant size is claimed, and a full unit shrinks", "made",
       of<SizeSlides>},
      lie("misclaims-chunk-invariant", "the chunks of a stream decide what is kept",
          {.policy = "h2o", .visibility = Visibility::causal},
          [](Contract& c) { c.claims.emplace("chunk-invariant"); }),
      lie("misclaims-uniform", "a geometric sample claims to be uniform", {.policy = "random"},
          [](Contract& c) {
            c.claims.erase("age-geometric");
            c.claims.emplace("uniform");
          }),
      lie("misclaims-age-geometric", "a uniform sample claims to be geometric",
          {.policy = "reservoir"},
          [](Contract& c) {
            c.claims.erase("uniform");
            c.claims.emplace("age-geometric");
          }),
      lie("misclaims-admits-newcomers", "a place is promised to newcomers, and chance gives it",
          {.policy = "reservoir"}, [](Contract& c) { c.claims.emplace("admits-newcomers"); }),
      lie("misclaims-deterministic", "chance decides, and none is claimed", {.policy = "reservoir"},
          [](Contract& c) {
            c.claims.emplace("deterministic");
            c.random = false;
          }),
      lie("misclaims-score-driven", "attention is claimed to decide, and chance does",
          {.policy = "reservoir"}, [](Contract& c) { c.claims.emplace("score-driven"); }),
      lie_of_spec("misclaims-ageing", "scores that age are not said to", "lru",
                  [](Contract& c) {
                    c.reference.clear();
                    c.claims.erase("ageing");
                  }),
      lie_of_spec("misclaims-pooled", "scores of neighbours are not said to be pooled", "snapkv",
                  [](Contract& c) {
                    c.reference.clear();
                    c.claims.erase("pooled");
                  }),
  };
}

}  // namespace

std::vector<Mutant> declared_mutants() {
  std::vector<Mutant> all = wrong_sizes();
  for (auto* const group : {wrong_words, wrong_promises, wrong_selection, wrong_claims_made}) {
    std::ranges::move(group(), std::back_inserter(all));
  }
  return all;
}

}  // namespace kv::properties
