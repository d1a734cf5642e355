#include <array>

#include "kvcheck/properties/laws/chance/chance_measures.h"
#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/laws/judging/law_groups.h"

namespace kv::properties {
namespace {

// What keeps every law of chance from being measured.
WhyNot not_countable(const Contract& contract) {
  if (contract.budget <= contract.sinks + contract.recent) {
    return "there is no middle to sample";
  }
  if (contract.keeps_fewer) return "keeps-fewer: the middle has no fixed size to sample";
  if (contract.page > 1) return "page: tokens come and go together";
  if (WhyNot why = unless_prompt_decides(contract)) return why;
  const std::optional<ChanceLaw> law = chance_law_of(contract);
  if (law && *law != ChanceLaw::uniform && contract.timing == Timing::lazy &&
      !contract.claims_to_be("chunk-invariant")) {
    return "timing=lazy: age-geometric speaks of tokens that are decided one by one";
  }
  return {};
}

WhyNot claims_a_law(const Contract& contract) {
  if (!chance_law_of(contract)) return "it claims neither uniform nor age-geometric";
  return not_countable(contract);
}

WhyNot decides_one_by_one(const Contract& contract) {
  if (WhyNot why = claims_a_law(contract)) return why;
  if (contract.timing != Timing::lazy || contract.slack == 0) return {};
  return "timing=lazy: a trim decides about several tokens at a time";
}

WhyNot tiny(const Contract& contract) {
  if (WhyNot why = claims_a_law(contract)) return why;
  constexpr std::uint32_t most = 7;  // more tokens than that at a time, and no case is tiny
  if (contract.timing != Timing::lazy || contract.slack <= most) return {};
  return "timing=lazy: a trim decides about " + std::to_string(contract.slack + 1) +
         " tokens at a time, whose outcomes are too many to enumerate";
}

WhyNot claims_uniform(const Contract& contract) {
  if (!contract.claims_to_be("uniform")) return "it does not claim uniform";
  return not_countable(contract);
}

WhyNot claims_age(const Contract& contract) {
  const std::optional<ChanceLaw> law = chance_law_of(contract);
  if (!law || *law == ChanceLaw::uniform) return "it does not claim age-geometric";
  return not_countable(contract);
}

WhyNot claims_chunks(const Contract& contract) {
  if (!chance_law_of(contract)) return "it claims neither uniform nor age-geometric";
  if (!contract.claims_to_be("chunk-invariant")) return "it does not claim chunk-invariant";
  if (contract.longest_after(0) == 1) return "longest-chunk=1: there is one way to cut a stream";
  return not_countable(contract);
}

// A statistic counts evictions itself, so no other run has to show one.
constexpr MustSee nothing = {.eviction = false};

constexpr std::string_view off_by_one =
    "apache/spark SPARK-18678, LightGBM #4450, vesoft nebula #6091: accepts with k/(t-1)";

constexpr auto table = std::to_array<Law>({
    {.id = "chance.exact",
     .sentence = "In tiny cases the kept set has exactly the law that is claimed.",
     .why =
         "Every outcome of every draw is tried, with rational probabilities: no streams, no chance "
         "of error, and a fraction as witness. Draws of real numbers cannot be enumerated.",
     .seen_in = "otel-python #5462: filled one short; the printed code of the reservoir paper",
     .must_see = nothing,
     .not_applicable = tiny,
     .check = measure_exact},
    {.id = "chance.inclusion",
     .sentence = "Each token that ever left the recent window is kept with k/n.",
     .why =
         "A sample that favours new or old tokens is a window in disguise, and any estimate made "
         "from it is biased. T1, from the exact covariance of k out of n, over a ladder of sizes.",
     .seen_in = "the printed code of the reservoir paper (figure 3): inclusion falls as "
                "(k/(k+1))^age; go-metrics #56 and folsom #7: always replaces",
     .must_see = nothing,
     .not_applicable = claims_uniform,
     .check = measure_inclusion},
    {.id = "chance.pairs",
     .sentence = "Each pair of tokens is kept together as often as any other pair.",
     .why = "Tokens can all have the right share and still come in clumps, or never meet. T2, "
            "given how often each token is kept.",
     .seen_in = "systematic samples (every n/k-th from a random start), samples of whole chunks, "
                "one draw for a whole stream; DataSketches java #647 on merging",
     .must_see = nothing,
     .not_applicable = claims_uniform,
     .check = measure_pairs},
    {.id = "chance.contrasts",
     .sentence = "No single token and no trend over age stands out from k/n.",
     .why = "One token that can never enter hides in a sum over all tokens; a slow drift hides in "
            "each one. Exact binomial tails and a straight line.",
     .seen_in = "otel-go #8309: item k+1 can never be stored; Storj: audits favoured low ids",
     .must_see = nothing,
     .not_applicable = claims_uniform,
     .check = measure_contrasts},
    {.id = "chance.acceptance",
     .sentence =
         "The t-th token is kept at its own decision with k/t (age-geometric: k/(k+1), or always).",
     .why = "The count that k is divided by is where reservoirs go wrong by one; acceptance shows "
            "it with a tenth of the streams that inclusion needs.",
     .seen_in = off_by_one,
     .must_see = nothing,
     .not_applicable = decides_one_by_one,
     .check = measure_acceptance},
    {.id = "chance.age-rank",
     .sentence = "A newcomer may replace any older token, each with the same probability.",
     .why = "A victim selected by place or age makes a queue of the sample.",
     .seen_in = "OnlineStats.jl #222: the last slot is never replaced",
     .must_see = nothing,
     .not_applicable = decides_one_by_one,
     .check = measure_age_rank},
    {.id = "chance.age-law",
     .sentence = "A token survives each decision with the claimed share, whatever its age.",
     .why = "The other law of chance: inclusion falls geometrically with age. It is tested as "
            "strictly as uniform is, with its own covariance.",
     .seen_in = "cold-compress KVCacheRandom, where it is the intent",
     .must_see = nothing,
     .not_applicable = claims_age,
     .check = measure_age_law},
    {.id = "chance.independence",
     .sentence = "Heads, layers and neighbouring seeds draw on their own: their samples overlap by "
                 "chance only.",
     .why = "Heads that share draws keep the same tokens, and more heads then remember no more; "
            "seeds that share draws make ten runs one. Too little overlap is as wrong as too much.",
     .seen_in = "kvpress RandomPress: the same tokens in every layer; linear congruential seeds",
     .must_see = nothing,
     .not_applicable = claims_a_law,
     .check = measure_independence},
    {.id = "chance.chunks",
     .sentence = "The probability to be kept does not depend on how the stream was cut.",
     .why = "A prefill in chunks must sample as tokens one by one do.",
     .seen_in = "the printed code of the reservoir paper: a chunk of m leaves k/(k+m)",
     .must_see = nothing,
     .not_applicable = claims_chunks,
     .check = measure_chunks},
});

}  // namespace

constinit const Laws statistical_laws = table;

}  // namespace kv::properties
