#include "kvcheck/properties/laws/chance/chance_measures.h"
#include "kvcheck/properties/laws/judging/law_groups.h"

namespace kv::properties {
namespace {

using NotApplicable = std::optional<std::string>;

// What keeps every law of chance from being measured.
NotApplicable not_countable(const Contract& contract) {
  if (contract.budget <= contract.sinks + contract.recent) {
    return "there is no middle to sample";
  }
  if (contract.keeps_fewer) return "keeps-fewer: the middle has no fixed size to sample";
  if (contract.page > 1) return "page: tokens come and go together";
  const std::optional<ChanceLaw> law = chance_law_of(contract);
  if (law && *law != ChanceLaw::uniform && contract.timing == Timing::lazy &&
      !contract.claims_to_be("chunk-invariant")) {
    return "timing=lazy: age-geometric speaks of tokens that are decided one by one";
  }
  return std::nullopt;
}

NotApplicable claims_a_law(const Contract& contract) {
  if (!chance_law_of(contract)) return "it claims neither uniform nor age-geometric";
  return not_countable(contract);
}

NotApplicable decides_one_by_one(const Contract& contract) {
  if (NotApplicable not_applicable = claims_a_law(contract)) return not_applicable;
  if (contract.timing != Timing::lazy || contract.slack == 0) return std::nullopt;
  return "timing=lazy: a trim decides about several tokens at a time";
}

NotApplicable tiny(const Contract& contract) {
  if (NotApplicable not_applicable = claims_a_law(contract)) return not_applicable;
  constexpr std::uint32_t most = 7;  // more tokens than that at a time, and no case is tiny
  if (contract.timing != Timing::lazy || contract.slack <= most) return std::nullopt;
  return "timing=lazy: a trim decides about " + std::to_string(contract.slack + 1) +
         " tokens at a time, whose outcomes are too many to enumerate";
}

NotApplicable claims_uniform(const Contract& contract) {
  if (!contract.claims_to_be("uniform")) return "it does not claim uniform";
  return not_countable(contract);
}

NotApplicable claims_age(const Contract& contract) {
  const std::optional<ChanceLaw> law = chance_law_of(contract);
  if (!law || *law == ChanceLaw::uniform) return "it does not claim age-geometric";
  return not_countable(contract);
}

NotApplicable claims_chunks(const Contract& contract) {
  if (!chance_law_of(contract)) return "it claims neither uniform nor age-geometric";
  if (!contract.claims_to_be("chunk-invariant")) return "it does not claim chunk-invariant";
  if (contract.longest_chunk == 1) return "longest-chunk=1: there is one way to cut a stream";
  return not_countable(contract);
}

// Statistics need no eviction to be seen by others: they count them.
constexpr MustSee nothing = {.eviction = false};

constexpr std::string_view off_by_one =
    "apache/spark SPARK-18678, LightGBM #4450, vesoft nebula #6091: accepts with k/(t-1)";

Law law_of(std::string_view id,
           std::string_view sentence,
           std::string_view why,
           std::string_view seen_in,
           NotApplicable (*not_applicable)(const Contract&),
           Measure measure) {
  return {.id = id,
          .sentence = sentence,
          .why = why,
          .seen_in = seen_in,
          .wants = {},
          .must_see = nothing,
          .not_applicable = not_applicable,
          .check = measure};
}

void add_uniform_laws(std::vector<Law>& laws) {
  laws.push_back(law_of(
      "chance.inclusion", "Each token that ever left the recent window is kept with k/n.",
      "A sample that favours new or old tokens is a window in disguise, and any estimate made from "
      "it is biased. T1, from the exact covariance of k out of n, over a ladder of sizes.",
      "the printed code of the reservoir paper (figure 3): inclusion falls as (k/(k+1))^age; "
      "go-metrics #56 and folsom #7: always replaces",
      claims_uniform, measure_inclusion));
  laws.push_back(law_of(
      "chance.pairs", "Each pair of tokens is kept together as often as any other pair.",
      "Tokens can all have the right share and still come in clumps, or never meet. T2, given how "
      "often each token is kept.",
      "systematic samples (every n/k-th from a random start), samples of whole chunks, one draw "
      "for a whole stream; DataSketches java #647 on merging",
      claims_uniform, measure_pairs));
  laws.push_back(law_of(
      "chance.contrasts", "No single token and no trend over age stands out from k/n.",
      "One token that can never enter hides in a sum over all tokens; a slow drift hides in each "
      "one. Exact binomial tails and a straight line.",
      "otel-go #8309: item k+1 can never be stored; Storj: audits favoured low ids", claims_uniform,
      measure_contrasts));
}

void add_decision_laws(std::vector<Law>& laws) {
  laws.push_back(law_of(
      "chance.acceptance",
      "The t-th token stays at its own decision with k/t (age-geometric: k/(k+1), or always).",
      "The count that k is divided by is where reservoirs go wrong by one; acceptance shows it "
      "with a tenth of the streams that inclusion needs.",
      off_by_one, decides_one_by_one, measure_acceptance));
  laws.push_back(law_of("chance.age-rank",
                        "Whoever makes room for a newcomer is any of the elders, whatever its age.",
                        "A victim chosen by place or age makes a queue of the sample.",
                        "OnlineStats.jl #222: the last slot is never replaced", decides_one_by_one,
                        measure_age_rank));
}

}  // namespace

std::vector<Law> statistical_laws() {
  std::vector<Law> laws;
  laws.push_back(law_of(
      "chance.exact", "In tiny cases the kept set has exactly the law that is claimed.",
      "Every outcome of every draw is tried, with rational probabilities: no streams, no chance of "
      "error, and a fraction as witness. Draws of real numbers cannot be enumerated.",
      "otel-python #5462: filled one short; the printed code of the reservoir paper", tiny,
      measure_exact));
  add_uniform_laws(laws);
  add_decision_laws(laws);
  laws.push_back(law_of(
      "chance.age-law", "A token survives each decision with the claimed share, whatever its age.",
      "The other law of chance: inclusion falls geometrically with age. It is tested as "
      "strictly as uniform is, with its own covariance.",
      "cold-compress KVCacheRandom, where it is the intent", claims_age, measure_age_law));
  laws.push_back(law_of(
      "chance.independence",
      "Heads, layers and neighbouring seeds draw on their own: their samples overlap by chance "
      "only.",
      "Heads that share draws keep the same tokens, and more heads then remember no more; seeds "
      "that share draws make ten runs one. Too little overlap is as wrong as too much.",
      "kvpress RandomPress: the same tokens in every layer; linear congruential seeds",
      claims_a_law, measure_independence));
  laws.push_back(law_of("chance.chunks",
                        "The law of who is kept does not depend on how the stream was cut.",
                        "A prefill in chunks must sample as tokens one by one do.",
                        "the printed code of the reservoir paper: a chunk of m leaves k/(k+m)",
                        claims_chunks, measure_chunks));
  return laws;
}

}  // namespace kv::properties
