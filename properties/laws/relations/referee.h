// Compares a history with the reference cache, which gets the same calls, draws and attention and
// works on lists of positions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kvcheck/properties/heads.h"
#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/reference/reference_cache.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {

// Which of the reference cache's answers are compared.
enum class Compared { visible, visible_and_stored };

// Where the reference cache's attention comes from.
enum class Masses {
  of_stream,  // the stream's, over the rows that the reference cache shows
  reported,   // the weights that the history's facts report
};

class Referee {
 public:
  // Requires rule_of(spec). `name` is what findings call the specification.
  Referee(const History& history,
          const Spec& spec,
          Compared compare,
          std::string name,
          Masses masses = Masses::of_stream);

  // The first disagreement. Branches are followed through forks, resets and reorders, and left
  // alone after a truncate or once a decision hangs on rounding.
  std::optional<Finding> judge();

  // Whether any call was compared.
  [[nodiscard]] bool compared() const { return compared_; }

 private:
  struct Branch {
    std::vector<ReferenceCache> references;  // one for all caches that share a budget
    bool lost = false;                       // not judged any more
  };

  [[nodiscard]] std::vector<std::shared_ptr<Draws>> draws_of(std::size_t reference) const;
  [[nodiscard]] Branch fresh(std::uint64_t prompt = 1) const;
  void prepare(const Event& event);
  void reorder(const std::vector<std::uint32_t>& from, Branch& branch) const;
  std::optional<Finding> feed(const Step& step, Branch& branch);
  [[nodiscard]] TokenInputs inputs_of(std::size_t cache, Token token) const;
  [[nodiscard]] std::vector<float> mass_of(const Event& event,
                                           std::size_t cache,
                                           const std::vector<Position>& visible,
                                           Position query) const;
  [[nodiscard]] std::vector<float> reported_mass(const Event& event,
                                                 std::size_t cache,
                                                 const Tokens& keys,
                                                 Position query) const;
  [[nodiscard]] std::optional<Finding> compare(const Step& step,
                                               std::size_t unit,
                                               const ReferenceCache::Visible& visible) const;
  [[nodiscard]] std::optional<Finding> compare_stored(const Step& step,
                                                      std::size_t unit,
                                                      const ReferenceCache& reference) const;

  const History& history_;
  Spec spec_;
  Compared compare_;
  std::string name_;
  Masses masses_;
  Heads heads_;
  std::size_t per_cache_ = 1;  // units that share residents
  std::size_t together_ = 1;   // caches that share a budget
  std::vector<Branch> branches_;
  bool compared_ = false;
};

}  // namespace kv::properties
