#include "kvcheck/cli/report/plot_names.h"

#include <algorithm>
#include <map>

#include "kvcheck/base/file.h"
#include "kvcheck/reports/compare/named_spec.h"
#include "kvcheck/reports/numbers/row_names.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::cli {
namespace {

constexpr std::size_t most_bytes = 1U << 20U;

}  // namespace

Result<PlotNames> PlotNames::read(const std::string& path) {
  PlotNames names;
  names.path_ = path;
  if (path.empty()) return names;
  const auto file = MappedFile::open(path);
  if (!file) return file.error();
  const auto bytes = file->bytes();
  if (bytes.size() > most_bytes) {
    return Error{Error::Kind::malformed, path + " has " + std::to_string(bytes.size()) +
                                             " bytes; expected a list of names of at most " +
                                             std::to_string(most_bytes)};
  }
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto parsed = reports::parse_figure_names(text, path);
  if (!parsed) return parsed.error();
  names.names_ = *std::move(parsed);
  return names;
}

const reports::FigureName* PlotNames::find(const Spec& spec) const {
  const auto found = std::ranges::find_if(
      names_, [&](const reports::FigureName& one) { return reports::names_spec(one.words, spec); });
  return found == names_.end() ? nullptr : &*found;
}

reports::Renaming PlotNames::renaming() const {
  return [this](const Spec& spec) { return find(spec); };
}

Result<void> PlotNames::check(std::span<const Spec> specs, const std::string& part) const {
  const std::vector<std::string> names = reports::names_of(specs);
  std::map<const reports::FigureName*, std::string> given;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const reports::FigureName* const name = find(specs[i]);
    if (name == nullptr || name->name.empty()) continue;
    const auto [first, is_new] = given.emplace(name, names[i]);
    if (is_new || first->second == names[i]) continue;
    return Error{Error::Kind::malformed,
                 path_ + " line " + std::to_string(name->line) + ": '" + name->words +
                     "' means both '" + first->second + "' and '" + names[i] + "' of " + part +
                     ", which would have one name; expected a line for each, with its whole spec"};
  }
  return {};
}

}  // namespace kv::cli
