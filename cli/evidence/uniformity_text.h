// A uniformity report in words, as JSON, and as numbers to draw.
#pragma once

#include <iosfwd>
#include <string>

#include "kvcheck/properties/sampling/uniformity.h"
#include "kvcheck/reports/figures/figure_uniformity.h"

namespace kv::cli {

void print_uniformity(const Spec& spec,
                      const properties::UniformityResult& report,
                      std::ostream& out);

// One JSON object with everything that was counted; pairs row by row for i < j.
std::string uniformity_json(const Spec& spec, const properties::UniformityResult& report);

reports::UniformityPlot uniformity_plot(const Spec& spec,
                                        const properties::UniformityResult& report);

}  // namespace kv::cli
