#include "kvcheck/cli/evaluate/cell_groups.h"

#include <algorithm>

namespace kv::cli {
namespace {

// Of weights, above which they do not remain in a processor's cache from one step to the next.
constexpr std::size_t cached_bytes = std::size_t{32} << 20;

// Tokens of a step. Of more, a step computes for longer than it reads weights; and the cells of a
// group end together, so that a run that is killed loses what all of them have not finished.
constexpr std::size_t most_rows = 8;

}  // namespace

bool large_weights(const model::LanguageModel& model) {
  return model.weight_bytes() > cached_bytes;
}

std::vector<std::span<const Cell>> cell_groups(std::span<const Cell> cells, bool large_weights) {
  std::vector<std::span<const Cell>> groups;
  std::size_t begin = 0;
  std::size_t rows = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t more = std::min<std::size_t>(cells[i].spec.chunk, most_rows);
    if (i > begin && (!large_weights || rows + more > most_rows)) {
      groups.push_back(cells.subspan(begin, i - begin));
      begin = i;
      rows = 0;
    }
    rows += more;
  }
  if (begin < cells.size()) groups.push_back(cells.subspan(begin));
  return groups;
}

}  // namespace kv::cli
