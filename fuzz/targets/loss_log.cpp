#include "kvcheck/reports/tables/loss_log.h"

#include <cmath>
#include <filesystem>

#include "kvcheck/base/check.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/reports/figures/figure_loss_log.h"
#include "kvcheck/reports/plot/figure_names.h"

namespace kv::fuzz {

bool loss_log(Input input) {
  const std::string_view text = text_of(input);
  const auto parsed = reports::parse_loss_log(text);
  if (!parsed) return refused(parsed.error());
  KV_CHECK(!parsed->empty());
  for (std::size_t i = 0; i < parsed->size(); ++i) {
    const LossPoint& point = (*parsed)[i];
    KV_CHECK(point.targets == 1 && std::isfinite(point.nats) && point.nats >= 0);
    KV_CHECK(i == 0 || (*parsed)[i - 1].first < point.first);
  }
  scratch_file("logs/window.csv", text);
  const std::string folder = std::filesystem::path(scratch_path("logs/window.csv")).parent_path();
  const auto logs = reports::read_loss_logs(folder);
  KV_CHECK(logs.has_value() && logs->logs.size() == 1 && logs->logs[0].label == "window");
  const std::vector<reports::LossLogs> models = {*logs};
  const reports::Table table = reports::loss_log_table(models);
  KV_CHECK(table.rows.size() == 1 && table.rows[0].size() == table.columns.size());
  KV_CHECK(!reports::loss_log_figure(models).body.empty());
  return true;
}

bool figure_names(Input input) {
  const auto parsed = reports::parse_figure_names(text_of(input), "names.txt");
  if (!parsed) return refused(parsed.error());
  std::string text;
  for (const reports::FigureName& one : *parsed) {
    KV_CHECK(!one.words.empty() && (!one.name.empty() || !one.colour.empty()));
    KV_CHECK(one.colour.empty() || one.colour.size() == 7);
    text += one.words + " = " + one.name + " " + one.colour + "\n";
  }
  const auto again = reports::parse_figure_names(text, "names.txt");
  KV_CHECK(again.has_value() && again->size() == parsed->size());
  for (std::size_t i = 0; i < parsed->size(); ++i) {
    const reports::FigureName& one = (*parsed)[i];
    const reports::FigureName& other = (*again)[i];
    KV_CHECK(one.words == other.words && one.name == other.name && one.colour == other.colour);
  }
  return true;
}

}  // namespace kv::fuzz
