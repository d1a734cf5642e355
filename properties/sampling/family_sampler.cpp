#include "kvcheck/properties/sampling/family_sampler.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <variant>

#include "kvcheck/base/check.h"
#include "kvcheck/properties/history.h"

namespace kv::properties {
namespace {

// Any attention: what claims a law of chance may not heed it.
const Stream stream{.kind = StreamKind::random, .seed = 1};

Error cannot_count(const std::string& why) {
  return Error{Error::Kind::unsupported, why};
}

// The rows of a unit that later queries may see, as positions, increasing.
void residents_of(const UnitFacts& unit, bool masks, std::vector<std::uint32_t>& out) {
  out.clear();
  const auto add = [&](const Row& row) {
    if (row.value.position >= 0) out.push_back(static_cast<std::uint32_t>(row.value.position));
  };
  if (masks && unit.mask_width > 0 && !unit.returned.empty()) {
    const std::size_t last = unit.visible.size() - unit.mask_width;
    for (std::size_t r = 0; r < std::min(unit.mask_width, unit.returned.size()); ++r) {
      if (unit.visible[last + r] != 0) add(unit.returned[r]);
    }
  } else {
    for (const Row& row : unit.stored) add(row);
  }
  std::ranges::sort(out);
}

// Feeds calls in turn; `use` gets the facts and the tokens fed so far after each.
template <typename Use>
Result<void> feed_all(Subject& subject, std::span<const std::uint32_t> calls, Use use) {
  std::vector<Token> tokens;
  std::uint32_t fed = 0;
  for (const std::uint32_t call : calls) {
    tokens.clear();
    for (std::uint32_t i = 0; i < call; ++i) tokens.push_back({static_cast<std::int32_t>(fed++)});
    const Answer<Facts> answer = subject.feed({tokens, stream, false});
    if (const auto* refused = std::get_if<Refused>(&answer)) {
      return cannot_count("it refused a chunk: " + refused->why);
    }
    if (Result<void> done = use(std::get<Facts>(answer), fed, call); !done) return done;
  }
  return {};
}

// The same for a subject that is asked for whole cases: one request a stream, and not one a token.
// `draws` null: those of the setup's own seed.
template <typename Use>
Result<void> feed_whole(Family& family,
                        const Setup& setup,
                        std::span<const std::uint32_t> calls,
                        const DrawsOf* draws,
                        Use use) {
  Case what{setup, stream, {}};
  for (const std::uint32_t call : calls) {
    what.calls.push_back({.kind = Call::Kind::feed, .amount = call});
  }
  const Result<History> history =
      draws == nullptr ? run_case(family, what) : run_case(family, what, *draws);
  if (!history) return history.error();
  if (!history->failure.empty()) return cannot_count("it failed: " + history->failure);
  std::uint32_t fed = 0;
  for (const Event& event : history->events) {
    if (event.refused) return cannot_count("it refused a chunk: " + event.why);
    const auto call = static_cast<std::uint32_t>(event.fed.size());
    fed += call;
    if (Result<void> done = use(event.facts, fed, call); !done) return done;
  }
  return {};
}

// The only token of `before` or `newcomer` that is not in `after`, as an index among the older
// tokens. Nothing if there is not exactly one.
bool one_gone(std::span<const std::uint32_t> before,
              std::uint32_t newcomer,
              std::span<const std::uint32_t> after,
              std::uint32_t& gone) {
  if (before.size() != after.size()) return false;
  std::size_t rank = 0;
  while (rank < before.size() && before[rank] == after[rank]) ++rank;
  gone = static_cast<std::uint32_t>(rank);
  for (std::size_t i = rank; i + 1 < before.size(); ++i) {
    if (before[i + 1] != after[i]) return false;
  }
  return rank == before.size() || after.back() == newcomer;
}

}  // namespace

FamilySampler::FamilySampler(Unshaped /*tag*/,
                             Family& family,
                             const FeedPlan& plan,
                             Contract contract)
    : family_(family), plan_(plan), contract_(std::move(contract)) {}

Result<std::unique_ptr<FamilySampler>> FamilySampler::make(Family& family, const FeedPlan& plan) {
  Result<Contract> contract = family.contract(plan.setup);
  if (!contract) return contract.error();
  if (contract->budget <= contract->sinks + contract->recent) {
    return cannot_count("there is no middle");
  }
  if (contract->page > 1) return cannot_count("rows come and go in pages");
  if (contract->evicts_ahead) {  // what is counted is what calls leave stored
    contract->recent = contract->recent_stored();
    --contract->budget;
  }
  auto sampler = std::make_unique<FamilySampler>(Unshaped{}, family, plan, *std::move(contract));
  if (auto done = sampler->find_shape(); !done) return done.error();
  return sampler;
}

// Feeds a fresh subject; `draws` null: those of the setup's own seed.
template <typename Use>
Result<void> FamilySampler::feed(const Setup& setup,
                                 std::span<const std::uint32_t> calls,
                                 const DrawsOf* draws,
                                 const Use& use) {
  if (!family_.in_process()) return feed_whole(family_, setup, calls, draws, use);
  // Whatever a subject throws is its failure.
  try {
    const std::unique_ptr<Subject> subject =
        family_.make(setup, draws == nullptr ? counter_draws(setup.seed) : *draws);
    return feed_all(*subject, calls, use);
  } catch (const std::exception& failure) {
    return cannot_count(std::string("it failed: ") + failure.what());
  }
}

Result<void> FamilySampler::find_shape() {
  const std::uint32_t k = contract_.budget - contract_.sinks - contract_.recent;
  const std::uint32_t tokens = contract_.sinks + contract_.recent + std::max(plan_.entering, k + 1);
  std::vector<std::uint32_t> calls;
  std::uint32_t fed = 0;
  for (std::size_t i = 0; fed + 1 < tokens; ++i) {
    std::uint32_t chunk = plan_.chunks.empty() ? 1 : plan_.chunks[i % plan_.chunks.size()];
    const std::uint32_t longest = contract_.longest_after(fed);
    if (longest > 0) chunk = std::min(chunk, longest);
    chunk = std::min(std::max(chunk, 1U), tokens - 1 - fed);
    calls.push_back(chunk);
    fed += chunk;
  }
  // Single tokens from here on, until nothing is stored beyond the budget: a lazy cache is counted
  // right after a trim, when the middle has its declared size.
  const std::uint32_t exempt = contract_.timing == Timing::lazy ? contract_.slack + 1 : 0;
  calls.insert(calls.end(), 1 + exempt, 1);
  std::vector<std::uint32_t> residents;
  bool found = false;
  const auto look = [&](const Facts& facts, std::uint32_t now, std::uint32_t) -> Result<void> {
    if (facts.units.empty()) return cannot_count("it reported no unit");
    if (found || now < tokens) return {};
    residents_of(facts.units[0], contract_.masks_evicted, residents);
    found = residents.size() <= contract_.budget;
    if (found) shape_ = {.n = now - contract_.sinks - contract_.recent, .k = k};
    return {};
  };
  if (auto done = feed(plan_.setup, calls, nullptr, look); !done) return done;
  if (!found) return cannot_count("it never came down to its budget");
  while (true) {
    std::uint32_t sum = 0;
    for (const std::uint32_t call : calls) sum += call;
    if (sum <= shape_.n + contract_.sinks + contract_.recent) break;
    calls.pop_back();
  }
  calls_ = std::move(calls);
  return {};
}

Result<void> FamilySampler::sample(std::uint64_t seed, Replicate& replicate) {
  std::vector<Replicate> replicates(1);
  replicates[0] = std::move(replicate);
  Result<void> done = run(nullptr, seed, replicates);
  replicate = std::move(replicates[0]);
  return done;
}

Result<void> FamilySampler::sample_units(std::uint64_t seed, std::vector<Replicate>& replicates) {
  replicates.clear();
  return run(nullptr, seed, replicates);
}

Result<void> FamilySampler::sample_with(const DrawsOf& draws,
                                        std::uint64_t seed,
                                        std::vector<Replicate>& replicates) {
  replicates.clear();
  return run(&draws, seed, replicates);
}

// Fills one replicate where the caller brings one, else one for each unit.
Result<void> FamilySampler::run(const DrawsOf* draws,
                                std::uint64_t seed,
                                std::vector<Replicate>& replicates) {
  Setup setup = plan_.setup;
  setup.seed = seed;
  before_.clear();
  for (Replicate& replicate : replicates) {
    replicate.kept.clear();
    replicate.gone.clear();
  }
  const auto note = [&](const Facts& facts, std::uint32_t fed, std::uint32_t) {
    if (replicates.empty()) replicates.resize(facts.units.size());
    return take(facts, fed, replicates);
  };
  if (auto done = feed(setup, calls_, draws, note); !done) return done;
  for (std::size_t u = 0; u < replicates.size(); ++u) {
    Replicate& replicate = replicates[u];
    replicate.kept = before_[u];
    if (replicate.kept.size() != shape_.k) {
      return cannot_count("the middle holds " + std::to_string(replicate.kept.size()) +
                          " tokens instead of " + std::to_string(shape_.k) + " (seed " +
                          std::to_string(seed) + ")");
    }
    if (std::ranges::adjacent_find(replicate.kept) != replicate.kept.end()) {
      return cannot_count("the middle holds a token twice");
    }
    if (replicate.gone.size() != shape_.n - shape_.k) replicate.gone.clear();
  }
  return {};
}

// The tokens in the middle now, and the victim, as far as one call shows.
Result<void> FamilySampler::take(const Facts& facts,
                                 std::uint32_t fed,
                                 std::vector<Replicate>& replicates) {
  if (facts.units.size() < replicates.size())
    return cannot_count("it reported fewer units than before");
  const std::uint32_t kept_out = contract_.sinks + contract_.recent;
  const std::uint32_t entered = fed > kept_out ? fed - kept_out : 0;
  before_.resize(replicates.size());
  for (std::size_t u = 0; u < replicates.size(); ++u) {
    residents_of(facts.units[u], contract_.masks_evicted, now_);
    std::erase_if(now_, [&](std::uint32_t position) {
      return position < contract_.sinks || position - contract_.sinks >= entered;
    });
    for (std::uint32_t& position : now_) position -= contract_.sinks;
    std::uint32_t gone = 0;
    if (entered > shape_.k && before_[u].size() == shape_.k &&
        one_gone(before_[u], entered - 1, now_, gone)) {
      replicates[u].gone.push_back(gone);
    }
    std::swap(before_[u], now_);
  }
  return {};
}

std::string FamilySampler::where() const {
  return "n=" + std::to_string(shape_.n) + " k=" + std::to_string(shape_.k) +
         " (sinks=" + std::to_string(contract_.sinks) +
         ",recent=" + std::to_string(contract_.recent) +
         ",budget=" + std::to_string(contract_.budget) + ")";
}

}  // namespace kv::properties
