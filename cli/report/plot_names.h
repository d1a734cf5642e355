// The file that `kvcheck plot --names` reads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/plot/figure_names.h"

namespace kv::cli {

// Names and colours for specs, which are named as by --policies; the first line that means a spec
// counts.
class PlotNames {
 public:
  // Nothing is renamed if `path` is empty. Errors: those of reading a file, and of
  // parse_figure_names().
  static Result<PlotNames> read(const std::string& path);

  // Valid as long as this object.
  [[nodiscard]] reports::Renaming renaming() const;

  // An error if several of these specs, which `part` of the results has, would get one name though
  // more than their budgets differ.
  [[nodiscard]] Result<void> check(std::span<const Spec> specs, const std::string& part) const;

 private:
  [[nodiscard]] const reports::FigureName* find(const Spec& spec) const;

  std::string path_;
  std::vector<reports::FigureName> names_;
};

}  // namespace kv::cli
