// A finding as a picture of one call: positions across, queries down.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "kvcheck/properties/output/result_writers.h"

namespace kv::properties {
namespace {

constexpr std::size_t most_columns = 72;  // characters
constexpr std::size_t most_rows = 9;

std::string name_of(Token token) {
  if (token.position < 0) return "?";
  std::string name = std::to_string(token.position);
  if (token.variant != 0) name += "v" + std::to_string(token.variant);
  return name;
}

class Picture {
 public:
  Picture(const Event& event, const UnitFacts& unit, const Finding& finding)
      : event_(event), unit_(unit), finding_(finding) {
    columns_ = event.branch;
    std::set<Token> known(columns_.begin(), columns_.end());
    const auto add = [&](Token token) {
      if (known.insert(token).second) columns_.push_back(token);
    };
    for (const Row& row : unit.returned) add(row.value);
    for (const Row& row : unit.stored) add(row.value);
    if (finding.should_see) std::ranges::for_each(*finding.should_see, add);
    for (const Token token : columns_) width_ = std::max(width_, name_of(token).size());
    select_columns();
  }

  [[nodiscard]] std::string text() const {
    std::string text = line("", [](Token token) { return name_of(token); });
    const std::size_t queries = event_.fed.size();
    const std::size_t first = first_query();
    const std::size_t last = std::min(queries, first + most_rows);
    for (std::size_t query = first; query < last; ++query) text += query_line(query);
    if (last - first < queries) {
      text += "  (" + std::to_string(queries - (last - first)) + " more queries)\n";
    }
    std::set<Token> stored;
    for (const Row& row : unit_.stored) stored.insert(row.value);
    text += line("stored", [&](Token token) { return stored.contains(token) ? "#" : "."; });
    text += legend(text);
    return text;
  }

 private:
  [[nodiscard]] std::size_t first_query() const {
    const std::size_t queries = event_.fed.size();
    if (queries <= most_rows) return 0;
    const std::size_t before = most_rows / 2;
    const std::size_t first = finding_.query > before ? finding_.query - before : 0;
    return std::min(first, queries - most_rows);
  }

  // All columns if they fit; else the first, those of the finding and the last, with gaps.
  void select_columns() {
    const std::size_t fit = most_columns / (width_ + 1);
    std::set<std::size_t> selected;
    const auto select = [&](std::size_t index) {
      if (selected.size() < fit) selected.insert(index);
    };
    const std::size_t count = columns_.size();
    for (std::size_t i = 0; i < std::min<std::size_t>(count, 4); ++i) select(i);
    for (std::size_t i = 0; i < count; ++i) {
      if (is_wrong(columns_[i])) select(i);
    }
    for (std::size_t i = count; i-- > 0;) select(i);
    selected_.assign(selected.begin(), selected.end());
  }

  [[nodiscard]] bool is_visible(std::size_t query, Token token) const {
    for (std::size_t r = 0; r < std::min(unit_.returned.size(), unit_.mask_width); ++r) {
      const bool bit = unit_.visible[query * unit_.mask_width + r] != 0;
      if (bit && unit_.returned[r].value == token) return true;
    }
    return false;
  }

  [[nodiscard]] bool should_see(Token token) const {
    return std::ranges::find(*finding_.should_see, token) != finding_.should_see->end();
  }

  [[nodiscard]] bool is_wrong(Token token) const {
    return finding_.should_see && finding_.query < event_.fed.size() &&
           is_visible(finding_.query, token) != should_see(token);
  }

  [[nodiscard]] std::string mark(std::size_t query, Token token) const {
    const bool visible = is_visible(query, token);
    if (query == finding_.query && is_wrong(token)) return visible ? "x" : "o";
    return visible ? "#" : ".";
  }

  [[nodiscard]] std::string query_line(std::size_t query) const {
    const std::string label =
        (query == finding_.query && finding_.should_see ? ">query " : "query ") +
        name_of(event_.fed[query]);
    return line(label, [&](Token token) { return mark(query, token); });
  }

  template <typename Mark>
  [[nodiscard]] std::string line(std::string_view label, Mark mark) const {
    constexpr std::size_t label_width = 12;
    std::string text(label);
    text.resize(std::max(label_width, text.size()), ' ');
    std::size_t before = 0;
    for (const std::size_t index : selected_) {
      std::string entry = mark(columns_[index]);
      const bool gap = index > before;
      before = index + 1;
      entry.insert(0, width_ + 1 > entry.size() ? width_ + 1 - entry.size() : 1, ' ');
      if (gap) text += " ~";
      text += entry;
    }
    return text + "\n";
  }

  static std::string legend(const std::string& text) {
    std::string words = "# visible  . not";
    const std::string marks = text.substr(text.find('\n'));
    if (marks.find(" o") != std::string::npos) words += "  o missing";
    if (marks.find(" x") != std::string::npos) words += "  x forbidden";
    if (text.find(" ~") != std::string::npos) words += "  ~ left out here";
    return "(" + words + ")\n";
  }

  const Event& event_;
  const UnitFacts& unit_;
  const Finding& finding_;
  std::vector<Token> columns_;
  std::vector<std::size_t> selected_;
  std::size_t width_ = 1;
};

}  // namespace

std::string picture(const History& history, const Finding& finding) {
  const History& shown = finding.history ? *finding.history : history;
  if (finding.event >= shown.events.size()) return {};
  const Event& event = shown.events[finding.event];
  if (finding.unit >= event.facts.units.size()) return {};
  // Without tokens there is nothing to draw.
  const UnitFacts& unit = event.facts.units[finding.unit];
  if (event.branch.empty() && unit.returned.empty() && unit.stored.empty()) return {};
  return Picture(event, unit, finding).text();
}

}  // namespace kv::properties
