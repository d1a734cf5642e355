#include "kvcheck/cli/report/compare_means.h"

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/options/output_file.h"
#include "kvcheck/cli/options/terminal.h"
#include "kvcheck/reports/compare/means_table.h"

namespace kv::cli {

Result<void> compare_means(const MeansOf& of,
                           const reports::Selection& selection,
                           const Outputs& outputs,
                           Streams& streams) {
  std::vector<reports::MeasuredMeans> all;
  std::vector<std::string> lacking;
  for (const reports::Measure& measure : of.measures) {
    auto values = reports::measured(of.runs, measure, selection);
    if (values.specs.empty()) {
      lacking.emplace_back(measure.name);
    } else {
      all.push_back({measure, std::move(values)});
    }
  }
  if (all.empty()) return usage_error("the file has no text of which such a measure is known");
  if (of.named && !lacking.empty()) {
    streams.err << "Note: " << of.file << " has no value of " << join(lacking, ", ") << ".\n";
  }
  const reports::Table table = reports::means_table(all);
  const std::string words = reports::means_words(all);
  const auto done = write_texts({{outputs.json, reports::means_json(all)},
                                 {outputs.csv, to_csv(table)},
                                 {outputs.markdown, to_markdown(table) + "\n" + words + "\n"}},
                                streams.out);
  if (!done) return done;
  if (outputs.on_standard_output()) return {};
  streams.out << to_text(table, streams.columns) << "\n" << folded(words, streams.columns) << "\n";
  return {};
}

}  // namespace kv::cli
