// A uniformity report in words, as JSON, and as numbers to draw.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "kvcheck/properties/sampling/uniformity.h"
#include "kvcheck/reports/figures/figure_uniformity.h"

namespace kv::cli {

// What was measured.
struct Sampled {
  std::string title;                 // for people: "reservoir at budget 64"
  std::string name;                  // a canonical spec, or what a program calls itself
  std::uint32_t first_position = 0;  // of the first token that entered the middle
};

Sampled sampled_by(const Spec& spec);

void print_uniformity(const Sampled& sampled,
                      const properties::UniformityResult& report,
                      std::ostream& out);

// One JSON object with everything that was counted; pairs row by row for i < j.
std::string uniformity_json(const Sampled& sampled, const properties::UniformityResult& report);

reports::UniformityPlot uniformity_plot(const Sampled& sampled,
                                        const properties::UniformityResult& report);

}  // namespace kv::cli
