// What runs measured, as one number for each spec and text: the values that paired tests compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/reports/compare/measures.h"
#include "kvcheck/reports/numbers/after_loss.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::reports {

struct SeedValue {
  std::uint64_t seed = 0;
  double value = 0;
};

// One spec on every text.
struct MeasuredSpec {
  Spec spec;
  std::string canonical;
  // Than its budget, in any replay of the runs; without one, as the spec lets expect.
  bool stores_more = false;
  std::vector<double> values{};  // by text, the mean over seeds and heads; NaN: not measured
  std::vector<std::vector<SeedValue>> seeds{};  // by text, what `values` are means of, by seed
  // By text, of replays: whether some seed stored more than the budget. Empty for other measures.
  std::vector<bool> stored_more{};
  // By text, of a mean over queries: the first that counts, which is also the first target that it
  // predicts. Empty for other measures.
  std::vector<FirstTarget> first_queries{};
};

// A model of evaluations or tasks whose weights are known.
struct MeasuredModel {
  std::string name;           // without folders
  std::uint64_t weights = 0;  // ModelInputs::weights
  std::size_t bytes = 0;      // that the weights take, which depends on how they are stored

  auto operator<=>(const MeasuredModel&) const = default;  // NOLINT(modernize-use-nullptr)
};

// A measure over the texts of some runs.
struct MeasuredTexts {
  // What identifies each text, also in another file and under another name: of a trace its
  // checksum; of an evaluation the model's name without folders, the text's checksum, and how it
  // was cut and stored; of an item the checksum of what it asks and expects, the model's name, and
  // how keys and values were stored; of a repetition its number, the model's name, how weights,
  // keys and values were stored, the threads, the kernels and the processor if they are known, the
  // length of the prompt and the tokens after it.
  std::vector<std::string> texts{};
  std::vector<std::string> names{};    // of each text, with the name of its file where it has one
  std::vector<MeasuredSpec> specs{};   // in the order in which runs have them first
  std::optional<std::size_t> layer{};  // Selection::layer
  std::optional<std::string> group{};  // Selection::group
  std::set<MeasuredModel> models{};
};

// Which results count.
struct Selection {
  std::optional<std::size_t> window{};              // of evaluations: cut into windows of this size
  std::optional<std::size_t> length{};              // of timings: after prompts of this length
  std::optional<std::size_t> layer{};               // of replays: the heads of this layer alone
  std::optional<std::string> group{};               // of tasks: the items of this group alone
  std::function<bool(const Spec& spec)> accepts{};  // empty: every spec
  // False: an item is what has one id in one file, because results of older versions have no
  // checksums of items.
  bool items_by_text = true;
  // A model with the weights of one of these, and another name than all of them, is called by its
  // name: the same model in another folder.
  std::set<MeasuredModel> models{};
  // Values are standard deviations over seeds (n - 1) instead of means; NaN of a single seed.
  bool spread = false;
};

// A text that several of the runs measured with one spec and seed counts once, as the last measured
// it. Specs and texts without any value are left out.
//
// Of one layer, too, those queries count that come after the first loss of the whole cell. Layers
// with equal numbers of heads therefore have the whole cell's value as their mean. A unit that all
// layers share has no rows moved and no optimum of one layer. Measures of other kinds than replays
// have no layers, so selection.layer leaves nothing of them; and selection.group leaves nothing of
// measures of other kinds than tasks.
MeasuredTexts measured(std::span<const StoredRun> runs,
                       const Measure& measure,
                       const Selection& selection = {});

}  // namespace kv::reports
