// The parts of results whose figures `kvcheck plot` draws.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "kvcheck/reports/plot/figure.h"
#include "kvcheck/reports/plot/figure_names.h"
#include "kvcheck/reports/store/results.h"

namespace kv::cli {

// One trace, evaluation, timing or task file with the policies that were asked for.
struct PlotPart {
  std::string folder;          // that its figures have in a report
  std::set<std::string> used;  // the words of --policies that mean some of its cells
  bool complete = true;        // whether its run finished
  std::vector<Spec> all;       // of all cells, also of those that are left out
  std::vector<Spec> specs;     // of the cells that are left
  std::vector<reports::Figure> figures;
};

// Leaves out the cells that none of `words` means, unless there are no words, and makes all
// figures.
std::vector<PlotPart> plot_parts(std::vector<reports::StoredRun>& runs,
                                 const std::vector<std::string>& words,
                                 reports::Page page,
                                 const reports::Renaming& renaming);

// Those of `words` whose policies the figure has no numbers of, as one of inclusion has none of a
// window. Nothing if the figure shows several policies as one, or
// calls them otherwise than tables do.
std::vector<std::string> words_not_drawn(const PlotPart& part,
                                         const reports::Figure& figure,
                                         const std::vector<std::string>& words);

}  // namespace kv::cli
