#include "kvcheck/reports/numbers/lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::reports {
namespace {

// By place in the registry. The first policy is the dense one, so it is black.
constexpr std::array<std::string_view, 8> colours = {"#000000", "#e69f00", "#56b4e9", "#009e73",
                                                     "#0072b2", "#d55e00", "#cc79a7", "#8a7a00"};
constexpr std::array<int, 8> points = {1, 5, 9, 13, 7, 11, 15, 3};
constexpr std::array<std::string_view, 5> dashes = {"1", "(8,4)", "(2,3)", "(8,3,2,3)", "(14,4)"};

std::size_t place_of(const PolicyEntry* policy) {
  const auto registry = policy_registry();
  for (std::size_t i = 0; i < registry.size(); ++i) {
    if (registry[i].name == policy->name) return i;
  }
  return registry.size();
}

// Variants alternate between an open marker and the next filled shape. In gnuplot the number of a
// filled marker is one above that of its outline.
int marker_of(int own, std::size_t variant) {
  if (variant == 0) return own;
  constexpr std::array<int, 6> filled = {5, 7, 9, 11, 13, 15};
  const auto at = std::ranges::find(filled, own);
  const auto first = static_cast<std::size_t>(at == filled.end() ? 0 : at - filled.begin());
  return filled[(first + variant / 2) % filled.size()] - static_cast<int>(variant % 2);
}

}  // namespace

Look look_of(const PolicyEntry* policy, std::size_t variant) {
  const std::size_t place = place_of(policy);
  // Policies beyond the palette repeat its colours, except black, with another dash and another
  // marker.
  const std::size_t round = place < colours.size() ? 0 : 1 + (place - colours.size()) / 7;
  const std::size_t slot = place < colours.size() ? place : 1 + (place - colours.size()) % 7;
  const std::size_t shape = round == 0 ? slot : 1 + (slot - 1 + 2 * round) % 7;
  return {.colour = colours[slot],
          .dash = dashes[(variant + 2 * round) % dashes.size()],
          .point = marker_of(points[shape], variant)};
}

std::vector<Line> lines_of(std::span<const Spec> specs, std::span<const std::string> labels) {
  std::vector<Line> lines;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    auto line = std::ranges::find(lines, labels[i], &Line::label);
    if (line == lines.end()) {
      lines.push_back({.label = labels[i], .policy = specs[i].policy, .look = {}, .specs = {}});
      line = lines.end() - 1;
    }
    line->specs.push_back(i);
  }
  std::map<std::string_view, std::size_t> variants;
  for (Line& line : lines) {
    line.look = look_of(line.policy, variants[line.policy->name]++);
    std::ranges::stable_sort(line.specs, {}, [&](std::size_t i) { return specs[i].budget; });
  }
  return lines;
}

void highlight(std::vector<Line>& lines, std::span<const double> scores) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].policy != &policy_registry().front()) order.push_back(i);
  }
  if (order.size() <= most_colours) return;
  const auto rank = [&](std::size_t i) {
    return std::isnan(scores[i]) ? -std::numeric_limits<double>::infinity() : scores[i];
  };
  std::ranges::stable_sort(order, std::greater<>(), rank);
  for (std::size_t place = 0; place < order.size(); ++place) {
    lines[order[place]].look = place < most_colours
                                   ? Look{.colour = colours[1 + place], .point = points[1 + place]}
                                   : Look{.colour = "#c4c4c4", .point = 7, .quiet = true};
  }
}

void recolour_others(std::vector<Line>& lines, const std::vector<bool>& given) {
  const auto has = [&](std::string_view colour, bool only_given) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].look.colour == colour && (given[i] || !only_given)) return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (given[i] || lines[i].look.quiet || !has(lines[i].look.colour, true)) continue;
    const auto* const free =
        std::ranges::find_if(colours, [&](std::string_view one) { return !has(one, false); });
    if (free != colours.end()) lines[i].look.colour = *free;
  }
}

std::string_view free_colour(std::span<const std::string_view> used) {
  const auto is_free = [&](std::string_view colour) {
    return std::ranges::find(used, colour) == used.end();
  };
  const auto* const found = std::ranges::find_if(colours.begin() + 1, colours.end(), is_free);
  return found == colours.end() ? std::string_view() : *found;
}

std::vector<Line> in_drawing_order(const std::vector<Line>& lines) {
  std::vector<Line> ordered = lines;
  // Not that of std::ranges, whose result clang 14 cannot compile with the headers of g++ 12.
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const Line& line) { return line.look.quiet; });
  return ordered;
}

std::uint32_t middle_budget(std::span<const Spec> specs) {
  std::map<std::uint32_t, std::size_t> uses;
  for (const Spec& spec : specs) {
    if (spec.bounded()) ++uses[spec.budget];
  }
  std::size_t most = 0;
  for (const auto& [budget, count] : uses) most = std::max(most, count);
  std::vector<std::uint32_t> common;
  for (const auto& [budget, count] : uses) {
    if (count == most) common.push_back(budget);
  }
  // The lower one of two.
  return common.empty() ? 0 : common[(common.size() - 1) / 2];
}

}  // namespace kv::reports
