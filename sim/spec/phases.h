// Phases: when a cache compresses, and what it does afterwards.
//
//   compress=always           trims whenever more than the budget is stored, for ever (the default)
//   compress=never            stores everything
//   compress=prompt           stores the prompt whole, trims once at its end, and then grows
//   compress=question         the same after the question, so that the policy has seen it
//   compress=prompt+hold      trims at the prompt's end and then like compress=always
//   compress=prompt+every:64  trims at the prompt's end and after every 64 tokens; question too
//
// Benchmarks of prompt compression ask their question after the context was compressed (the policy
// is query-agnostic) or before (query-aware): compress=prompt or compress=question. Where a stream
// has no question of its own, both are the end of the prompt. The first trim is to the budget,
// whatever timing says; timing says when later trims are made.
//
// A budget may be a share of the tokens that were stored at the first trim: ratio=0.25 keeps a
// quarter of them, rounded down. A spec of which a stream's marks decide something is *resolved*
// for a stream before a cache is made of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/base/marks.h"

namespace kv {

struct Spec;

// A first trim that never comes.
inline constexpr std::uint64_t no_trim = std::numeric_limits<std::uint64_t>::max();

struct Phases {
  // When the cache trims for the first time.
  enum class Compress { always, never, prompt, question };

  // What it does after the first trim of prompt or question.
  enum class Then { grow, hold, every };

  Compress compress = Compress::always;
  Then then = Then::hold;    // hold for always and never
  std::uint32_t period = 0;  // tokens from trim to trim; for Then::every
  // The budget in thousandths of what is stored at the first trim; 0: a budget in tokens.
  std::uint32_t ratio = 0;
  bool recent_follows = false;   // with a ratio: recent is the policy's share of the budget
  std::uint64_t first_trim = 0;  // tokens seen at the first trim, once resolved; not in the text

  // Whether the first trim depends on the marks of a stream.
  [[nodiscard]] bool marked() const {
    return compress == Compress::prompt || compress == Compress::question;
  }

  // The word that parse_phases reads, in full: "always", "prompt+grow", "question+every:64".
  [[nodiscard]] std::string text() const;

  bool operator==(const Phases&) const = default;
};

// Sets all but the ratio. Errors name the wrong word, what was expected, and the nearest correct
// word.
Result<Phases> parse_phases(std::string_view word);

// A ratio as a spec writes it: more than 0, at most 1, with at most three decimals.
Result<std::uint32_t> parse_ratio(std::string_view word);
std::string ratio_text(std::uint32_t thousandths);

// An error if the spec does not allow its phases: a policy that never evicts, a ratio without a
// prompt, windows or re-evaluation beside a first trim.
Result<void> check_phases(const Spec& spec);

// The spec with first_trim and, from a ratio, with budget and recent window, for a stream with
// these marks. `stream` names it in errors: its prompt is not known or not shorter than the stream,
// or the budget is too small for the protected tokens. A spec without marked phases is unchanged,
// and resolving twice is the same as once.
Result<Spec> resolved(const Spec& spec,
                      const Marks& marks,
                      std::size_t tokens,
                      const std::string& stream);

// Whether a cache can be made of the spec as it is.
bool is_resolved(const Spec& spec);

// The error of a command that can only use specs with compress=always.
Error no_phases(const Spec& spec, std::string_view command);

// The same policy and settings with compress=always, and the default budget in place of a ratio.
Spec without_phases(const Spec& spec);

// The tokens of the next chunk after `seen` of a stream: a chunk ends with the first trim.
std::size_t next_chunk(const Spec& spec, std::size_t seen, std::size_t tokens);

}  // namespace kv
