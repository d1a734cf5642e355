#include "kvcheck/tests/reports/fake_replay.h"

#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "kvcheck/base/random/rng.h"

namespace kv::testing {
namespace {

using Rows = std::vector<std::vector<double>>;  // [tokens][query + 1]

// A sink, a recent window and a few heavy positions, differently strong in every head.
Rows attention_of(std::size_t layer, std::size_t head, std::size_t tokens) {
  const Rng rng(7, stream_of(layer, head));
  const double sink = layer == 0 ? 0.2 : 4.0 * rng.uniform(0);
  const double reach = 8 + 60 * rng.uniform(1);
  std::vector<double> heavy(tokens);
  for (std::size_t k = 0; k < tokens; ++k) {
    heavy[k] = std::pow(rng.uniform(static_cast<Position>(k), 2), 12.0);
  }
  Rows rows(tokens);
  for (std::size_t q = 0; q < tokens; ++q) {
    double sum = 0;
    for (std::size_t k = 0; k <= q; ++k) {
      const double near = std::exp(-static_cast<double>(q - k) / reach);
      rows[q].push_back(near + 0.25 * heavy[k] + 0.002 + (k == 0 ? sink : 0.0));
      sum += rows[q].back();
    }
    for (double& p : rows[q]) p /= sum;
  }
  return rows;
}

struct Sums {
  std::vector<SeriesPoint> series;
  std::vector<std::uint32_t> kept;
  std::vector<std::uint64_t> lifetimes;
};

// One unit's cache, one token at a time.
class FakeUnit {
 public:
  FakeUnit(const Cell& cell, std::uint32_t stream, std::size_t tokens)
      : spec_(cell.spec), rng_(cell.seed, stream), score_(tokens), evicted_at_(tokens) {
    std::ranges::fill(evicted_at_, static_cast<Position>(tokens + 1));
  }

  std::vector<Position>& step(const std::vector<double>& row) {
    residents_.push_back(seen_++);
    for (const Position p : residents_) {
      score_[p] = spec_.policy->name == "h2o" ? score_[p] + row[p] : row[p];
    }
    return residents_;
  }

  void trim() {
    if (!spec_.bounded() || residents_.size() <= spec_.budget + spec_.slack) return;
    ++trims_;
    while (residents_.size() > spec_.budget) evict(victim());
  }

  [[nodiscard]] std::uint64_t trims() const { return trims_; }

  [[nodiscard]] const std::vector<Position>& evicted_at() const { return evicted_at_; }

 private:
  std::size_t victim() {
    const std::size_t first = spec_.sinks;
    const std::size_t middle = spec_.budget - spec_.sinks - spec_.recent;
    if (middle == 0) return first;
    const Position newcomer = residents_[first + middle];
    const std::string_view name = spec_.policy->name;
    if (name == "random") return first + rng_.below(middle + 1, newcomer);
    if (name == "reservoir") {
      return first + std::min<std::size_t>(middle, rng_.below(newcomer - first + 1, newcomer));
    }
    const auto less = [&](Position a, Position b) { return score_[a] < score_[b]; };
    const auto begin = residents_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(middle + 1);
    return static_cast<std::size_t>(std::min_element(begin, end, less) - residents_.begin());
  }

  void evict(std::size_t rank) {
    evicted_at_[residents_[rank]] = seen_;
    residents_.erase(residents_.begin() + static_cast<std::ptrdiff_t>(rank));
  }

  Spec spec_;
  Rng rng_;
  std::vector<double> score_;
  std::vector<Position> evicted_at_;
  std::vector<Position> residents_;
  Position seen_ = 0;
  std::uint64_t trims_ = 0;
};

void add_point(SeriesPoint& sum, const HeadMetrics& m, std::size_t visible, double share) {
  sum.retained_mass += share * m.retained_mass;
  sum.kl_to_dense += share * m.kl_to_dense;
  sum.topk_overlap += share * m.topk_overlap;
  sum.output_error += share * m.output_error;
  sum.visible += share * static_cast<double>(visible);
  sum.stored += share * static_cast<double>(visible);
}

void close_unit(const FakeUnit& cache, Sums& sums, UnitResult& unit) {
  std::uint64_t lived = 0;
  for (std::size_t p = 0; p < cache.evicted_at().size(); ++p) {
    const Position at = cache.evicted_at()[p];
    if (at > cache.evicted_at().size()) {
      ++sums.kept[p];
      ++unit.kept_at_end;
    } else {
      ++sums.lifetimes[at - p];
      ++unit.evictions;
      lived += at - p;
    }
  }
  unit.trims = cache.trims();
  unit.moved = 3 * unit.evictions;
  if (unit.evictions > 0) {
    unit.lifetime_mean = static_cast<double>(lived) / static_cast<double>(unit.evictions);
  }
}

// Runs one head of one cell and adds what it measures.
void run_head(const FakeReplay& fake, CellResult& cell, const Rows& rows, Sums& sums) {
  const std::size_t index = cell.heads.size();
  HeadResult head{.layer = index / fake.heads, .head = index % fake.heads, .metrics = {}};
  head.metrics.output_error = fake.values ? 0 : not_measured;
  UnitResult unit{.layer = head.layer, .head = head.head};
  FakeUnit cache(cell.cell, stream_of(head.layer, head.head), fake.tokens);
  const double each = 1.0 / static_cast<double>(fake.tokens);
  const double share = 1.0 / static_cast<double>(fake.layers * fake.heads);
  for (std::size_t q = 0; q < fake.tokens; ++q) {
    const std::vector<Position>& residents = cache.step(rows[q]);
    double mass = 0;
    for (const Position p : residents) mass += rows[q][p];
    mass = std::min(mass, 1.0);
    const HeadMetrics m{.retained_mass = mass,
                        .kl_to_dense = -std::log(mass),
                        .topk_overlap = std::sqrt(mass),
                        .output_error = fake.values ? 1.3 * (1 - mass) : not_measured};
    const auto seen = static_cast<double>(residents.size());
    add_point(sums.series[q], m, residents.size(), share);
    head.metrics.retained_mass += each * m.retained_mass;
    head.metrics.kl_to_dense += each * m.kl_to_dense;
    head.metrics.topk_overlap += each * m.topk_overlap;
    head.metrics.output_error += each * m.output_error;
    unit.stored_mean += each * seen;
    unit.visible_mean += each * seen;
    unit.stored_peak = std::max<std::uint64_t>(unit.stored_peak, residents.size());
    unit.visible_peak = unit.stored_peak;
    cache.trim();
    sums.series[q].kept += share * static_cast<double>(residents.size());
  }
  close_unit(cache, sums, unit);
  cell.heads.push_back(head);
  cell.units.push_back(unit);
  cell.residency.push_back(
      {.layer = head.layer, .head = head.head, .evicted_at = cache.evicted_at()});
}

CellResult run_cell(const FakeReplay& fake, const Cell& which, const std::vector<Rows>& heads) {
  CellResult cell;
  cell.cell = which;
  cell.bytes_per_row = 64;
  Sums sums;
  sums.series.resize(fake.tokens);
  for (std::size_t q = 0; q < fake.tokens; ++q) {
    sums.series[q].first_step = static_cast<Position>(q);
    sums.series[q].output_error = fake.values ? 0 : not_measured;
  }
  sums.kept.resize(fake.tokens);
  sums.lifetimes.resize(fake.tokens + 1);
  for (const Rows& rows : heads) run_head(fake, cell, rows, sums);
  cell.series = std::move(sums.series);
  cell.kept = std::move(sums.kept);
  cell.lifetimes = std::move(sums.lifetimes);
  return cell;
}

AttentionMap map_of(const Rows& rows, std::size_t layer) {
  AttentionMap map{.layer = layer, .head = 0, .side = rows.size() / 4, .block = 4, .mass = {}};
  map.mass.resize(map.side * map.side);
  for (std::size_t q = 0; q < map.side * map.block; ++q) {
    for (std::size_t k = 0; k <= q; ++k) {
      map.mass[q / 4 * map.side + k / 4] += static_cast<float>(rows[q][k] / 4);
    }
  }
  return map;
}

bool draws(std::string_view name) {
  return name == "random" || name == "reservoir";
}

}  // namespace

ReplayResult fake_replay(const FakeReplay& fake) {
  ReplayResult result;
  result.trace = {.name = "stories.qkv.safetensors",
                  .kind = TraceKind::qkv,
                  .model = "a made-up model, 2 M parameters",
                  .source = "tests/reports",
                  .licence = "Apache-2.0",
                  .loop = "open",
                  .tokens = fake.tokens,
                  .query_heads = fake.heads,
                  .kv_heads = fake.heads,
                  .head_dim = 8,
                  .layers = {},
                  .trained_context = 512,
                  .rope = {RopeLayout::interleaved, 8, 10000},
                  .number = Number::f16,
                  .checksum = 0xfedcba9876543210};
  result.top_k = 16;
  result.series_width = 1;
  std::vector<Rows> heads;
  for (std::size_t layer = 0; layer < fake.layers; ++layer) {
    result.trace.layers.push_back(layer);
    for (std::size_t head = 0; head < fake.heads; ++head) {
      heads.push_back(attention_of(layer, head, fake.tokens));
      result.dense.push_back({layer, head, 0.1 + 0.01 * static_cast<double>(head), 0.3, 0.5, 2.25});
    }
  }
  result.map = map_of(heads[heads.size() - fake.heads], fake.layers - 1);
  for (const std::string& text : fake.specs) {
    for (const std::uint32_t budget : fake.budgets) {
      const bool dense = text == "dense";
      const Spec spec = parse_spec(text, {.budget = dense ? 0 : budget}).value();
      for (const std::uint64_t seed : fake.seeds) {
        if (seed == fake.seeds[0] || draws(spec.policy->name)) {
          result.cells.push_back(run_cell(fake, {.spec = spec, .seed = seed}, heads));
        }
      }
      if (dense) break;
    }
  }
  return result;
}

FakeReplay small_fake() {
  return {.tokens = 40,
          .layers = 2,
          .heads = 2,
          .specs = {"dense", "window", "reservoir:sinks=4"},
          .budgets = {12, 20},
          .seeds = {1, 18446744073709551615U},
          .values = true};
}

TemporaryFolder::TemporaryFolder() {
  folder_ = (std::filesystem::temp_directory_path() / "kvcheck-test-XXXXXX").string();
  if (::mkdtemp(folder_.data()) == nullptr) folder_ = "/nonexistent";
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace kv::testing
