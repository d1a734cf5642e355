#include "kvcheck/properties/recorded/record_cases.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "kvcheck/properties/battery/campaign.h"
#include "kvcheck/properties/cases/child.h"
#include "kvcheck/properties/cases/child_time.h"
#include "kvcheck/properties/recorded/history_file.h"
#include "kvcheck/properties/recorded/history_lines.h"

namespace kv::properties {
namespace {

// What a child leaves behind: how far it came, and the lines of the cases that it finished.
struct LinesPage {
  std::uint64_t at = 0;    // the case at hand
  std::uint64_t next = 0;  // the first case that is not finished
  RecordedCases count;
  std::size_t size = 0;
  char bytes[std::size_t{256} << 20U];  // mapped, and used as far as lines need

  // Whether there was room. What a whole page has no room for counts as too long.
  bool add(const History& history, bool uses_draws) {
    const std::string lines = history_lines(history, uses_draws);
    if (lines.size() > sizeof(bytes) - size && size > 0) return false;
    if (lines.size() > sizeof(bytes) || has_long_line(lines)) {
      ++count.too_long;
      return true;
    }
    std::memcpy(bytes + size, lines.data(), lines.size());
    size += lines.size();
    ++count.recorded;
    if (!history.failure.empty()) ++count.failed;
    return true;
  }

 private:
  static bool has_long_line(std::string_view lines) {
    for (std::size_t begin = 0; begin < lines.size();) {
      const std::size_t end = std::min(lines.find('\n', begin), lines.size());
      if (end - begin > longest_history_line) return true;
      begin = end + 1;
    }
    return false;
  }
};

class Recorder {
 public:
  Recorder(Family& family, const BatteryOptions& options)
      : family_(family),
        options_(options),
        campaign_(family, options, {}),
        cases_(case_counts(options.effort.level, options.cases).pool),
        begun_(options.clock ? options.clock() : 0) {}

  Result<RecordedCases> run(const std::function<Result<void>(std::string_view)>& take) {
    const SharedMemory memory(sizeof(LinesPage));
    auto* const page = static_cast<LinesPage*>(memory.data());
    while (page->next < cases_ && !late()) {
      page->size = 0;
      fill(*page);
      if (auto taken = take({page->bytes, page->size}); !taken) return taken.error();
    }
    return page->count;
  }

 private:
  [[nodiscard]] bool late() const {
    return options_.clock && options_.clock() - begun_ > seconds_of(options_);
  }

  // As many cases as the page has room for. A death is the end of its case and of the child.
  void fill(LinesPage& page) const {
    if (!family_.in_process()) return run_cases(page, 0);
    const std::string death = run_in_child([&] { run_cases(page, options_.case_seconds); }, {});
    if (death.empty()) return;
    History history{.what = campaign_.case_of(Board::pool, page.at).value()};
    const auto contract = family_.contract(history.what.setup);
    history.failure = death;
    history.died = true;
    if (contract) history.contract = *contract;
    if (page.add(history, family_.uses_draws())) page.next = page.at + 1;
  }

  void run_cases(LinesPage& page, double case_seconds) const {
    for (; page.next < cases_ && !late(); ++page.next) {
      page.at = page.next;
      if (case_seconds > 0) stay_alive(case_seconds);
      const auto history = run_case(family_, campaign_.case_of(Board::pool, page.at).value());
      if (!history) {
        ++page.count.refused;
      } else if (!page.add(*history, family_.uses_draws())) {
        return;
      }
    }
  }

  Family& family_;
  const BatteryOptions& options_;
  Campaign campaign_;
  std::uint64_t cases_;
  double begun_;
};

}  // namespace

Result<RecordedCases> record_cases(Family& family,
                                   const BatteryOptions& options,
                                   const std::function<Result<void>(std::string_view)>& take) {
  return Recorder(family, options).run(take);
}

}  // namespace kv::properties
