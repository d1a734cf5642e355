// A report for people.
#include <algorithm>
#include <ostream>
#include <vector>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/base/text/text_stream.h"
#include "kvcheck/properties/battery/result_phrases.h"
#include "kvcheck/properties/output/result_writers.h"

namespace kv::properties {
namespace {

// What is written to, and how many characters a line of it has at most.
struct Page {
  std::ostream& stream;
  std::size_t width;
};

template <typename Value>
Page& operator<<(Page& page, const Value& value) {
  page.stream << value;
  return page;
}

// `text` after `label`, broken at spaces and indented under itself, as are its own lines.
void write_field(std::string_view label, const std::string& text, Page& out) {
  constexpr std::size_t indent = 14;
  std::string line(label);
  line.insert(0, 4, ' ');
  line.resize(std::max(indent, line.size() + 1), ' ');
  for (const std::string_view paragraph : split(text, '\n')) {
    bool empty = true;
    for (const std::string_view word : split(paragraph, ' ')) {
      if (!empty && line.size() + 1 + word.size() > out.width) {
        out << line << "\n";
        line.assign(indent, ' ');
        empty = true;
      }
      if (!empty) line += ' ';
      line += word;
      empty = false;
    }
    out << line << "\n";
    line.assign(indent, ' ');
  }
}

std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

void write_indented(const std::string& text, Page& out) {
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty()) out << "      " << line << "\n";
  }
}

void write_case(const LawResult& result, Page& out) {
  const Finding& finding = *result.finding;
  if (!result.recorded_at.empty()) write_field("file", result.recorded_at, out);
  if (const std::string where = where_of(result); !where.empty()) write_field("where", where, out);
  write_field("expected", finding.expected, out);
  write_field("seen", finding.seen, out);
  if (result.history) {
    if (const std::string drawn = picture(*result.history, finding); !drawn.empty()) {
      out << "\n";
      write_indented(drawn, out);
      out << "\n";
    }
  }
  const Case& smallest = *result.smallest;
  // A recorded run has the sizes that are printed first, and a stream that is not known.
  if (result.recorded_at.empty()) {
    write_field("sizes", words_of(smallest.setup), out);
    write_field("stream", words_of(smallest.stream), out);
  }
  write_field("calls", smallest.calls.empty() ? "none" : words_of(smallest.calls), out);
  if (result.shrinks_cut) {
    write_field("not small",
                "time ran out after " + std::to_string(result.shrinks) +
                    " simpler cases, so a smaller one may break the law too",
                out);
  }
  if (const std::string run = run_of(result); !run.empty()) {
    write_field("shown is", "what the law makes of this: " + run, out);
  }
  if (!result.legal_if.empty()) {
    write_field("legal if", "it declared " + result.legal_if, out);
  }
}

void write_measured(const StatisticalVerdict& measured, Page& out) {
  write_field("seen", measured.sentence, out);
  for (const Statistic& statistic : measured.statistics) {
    if (statistic.rejected) write_field("rejected", words_of(statistic), out);
  }
  if (!measured.smallest.empty()) write_field("smallest", measured.smallest, out);
}

// The laws that the case of this one breaks too.
std::vector<std::string> followers_of(const LawResult& result, const BatteryResult& report) {
  std::vector<std::string> ids;
  for (const LawResult& other : report.laws) {
    if (other.follows == result.law) ids.emplace_back(other.law->id);
  }
  return ids;
}

void write_broken(const LawResult& result,
                  const BatteryResult& report,
                  const std::string& command,
                  Page& out) {
  out << "BROKEN  " << result.law->id << "\n";
  write_field("law", std::string(result.law->sentence), out);
  if (result.finding && result.smallest) write_case(result, out);
  if (result.measured) write_measured(*result.measured, out);
  if (!result.reproduce.empty()) {
    out << "    again     " << repeat_line(result, command) << "\n";
  }
  if (const auto followers = followers_of(result, report); !followers.empty()) {
    write_field("follow",
                "this case also breaks " + join(followers, ", ") +
                    "; they may be one fault, and --all shows the smallest case of each",
                out);
  }
  out << "\n";
}

// The laws that are broken only by a failure of the subject, where another law says already what
// fails: a cache that throws is one finding, and not one of each relation.
std::vector<std::string> broken_by_the_failure(const BatteryResult& report) {
  const auto reported = [](const LawResult& result) {
    return result.law->id == "survives" && result.status == Status::broken;
  };
  std::vector<std::string> ids;
  if (std::ranges::none_of(report.laws, reported)) return ids;
  for (const LawResult& result : report.laws) {
    const bool fails = result.finding && result.finding->failed;
    if (result.status == Status::broken && fails) ids.emplace_back(result.law->id);
  }
  return ids;
}

std::string remark_of(const LawResult& result) {
  if (result.follows != nullptr) return "by the case of " + std::string(result.follows->id);
  if (result.status == Status::broken) return "see above";
  if (!result.why.empty()) return in_one_line(result.why);
  if (result.measured) return result.measured->sentence;
  return std::string(result.law->sentence);
}

// `text` broken at spaces into lines of at most `room` characters, the later ones indented.
std::string wrapped(const std::string& text, std::size_t room, std::size_t indent) {
  std::string lines;
  std::size_t used = 0;
  for (const std::string_view word : split(text, ' ')) {
    if (used > 0 && used + 1 + word.size() > room) {
      lines += '\n';
      lines.append(indent, ' ');
      used = 0;
    }
    if (used > 0) lines += ' ';
    lines += word;
    used += (used > 0 ? 1 : 0) + word.size();
  }
  return lines;
}

// Nothing is cut: what does not fit into `columns` is wrapped under itself; without a width a law
// has one line.
void write_table(const BatteryResult& report, std::size_t columns, Listing listing, Page& out) {
  std::size_t width = 3;
  for (const LawResult& result : report.laws) width = std::max(width, result.law->id.size());
  std::vector<const LawResult*> listed;
  for (const Status status :
       {Status::broken, Status::not_run, Status::held, Status::not_applicable}) {
    if (listing == Listing::open_laws && status == Status::held) break;
    for (const LawResult& result : report.laws) {
      if (result.status == status) listed.push_back(&result);
    }
  }
  for (const LawResult* const at : listed) {
    const LawResult& result = *at;
    std::string line(result.law->id);
    line.resize(width + 2, ' ');
    line += name_of(result.status);
    // "not applicable" takes the room of the count of cases, which would be none.
    if (result.status != Status::not_applicable) {
      line.resize(width + 11, ' ');
      std::string cases = result.cases == 0 ? "" : std::to_string(result.cases - result.vacuous);
      cases.insert(0, cases.size() < 6 ? 6 - cases.size() : 0, ' ');
      line += cases;
    }
    line.resize(std::max(line.size() + 2, width + 19), ' ');
    constexpr std::size_t narrowest = 20;
    const std::string remark = remark_of(result);
    const bool wraps = columns >= line.size() + narrowest;
    out << line << (wraps ? wrapped(remark, columns - line.size(), line.size()) : remark) << "\n";
  }
}

// Laws that apply and say nothing are part of the verdict, and come before what is good.
void write_not_run(const BatteryResult& report, Page& out) {
  std::vector<std::string> ids;
  for (const LawResult& result : report.laws) {
    if (result.status == Status::not_run) ids.emplace_back(result.law->id);
  }
  if (ids.empty()) return;
  constexpr std::size_t indent = 9;
  out << "\nNOT RUN  "
      << wrapped(std::to_string(ids.size()) +
                     (ids.size() == 1 ? " law that applies says" : " laws that apply say") +
                     " nothing of the subject: " + join(ids, ", "),
                 out.width - indent, indent)
      << "\n";
}

void write_sum(const BatteryResult& report, Page& out) {
  if (report.interrupted) {
    out << "\nINTERRUPTED  this is what the cases show that had been tried by then\n";
  }
  write_not_run(report, out);
  const std::size_t held = report.count(Status::held);
  out << "\n" << held << (held == 1 ? " law holds, " : " laws hold, ");
  out << report.count(Status::broken) << " broken, " << report.count(Status::not_run)
      << " not run, " << report.count(Status::not_applicable) << " not applicable\n";
  if (report.recorded) {
    out << report.cases << (report.cases == 1 ? " recorded run\n" : " recorded runs\n");
  } else {
    out << report.cases << (report.cases == 1 ? " case, level " : " cases, level ")
        << name_of(report.effort.level) << ", seed " << report.effort.seed << "\n";
  }
  if (const std::string note = scores_note(report); !note.empty()) {
    out << wrapped(note, out.width, 0) << "\n";
  }
  if (report.count(Status::broken) > 0) {
    out << "The subject breaks its laws.\n";
  } else if (!report.holds()) {
    const bool late = report.cases > 0 && !report.interrupted;
    std::string why = late ? "Time ran out" : "Interrupted";
    why = report.cases == 0 ? "No law was tried" : why + " before any law had been tried in full";
    why += ": this says nothing of the subject";
    why += late ? "; give it more --time." : ".";
    out << wrapped(why, out.width, 0) << "\n";
  }
}

}  // namespace

void write_text(const BatteryResult& report,
                const std::string& command,
                std::ostream& terminal,
                std::size_t columns,
                Listing listing) {
  TextStream text;
  // Without a terminal, and on a wide one, lines are as long as they read well.
  Page out{text, columns == 0 ? 100 : std::clamp<std::size_t>(columns, 40, 100)};
  out << in_one_line(report.subject) << "\n";
  write_field("sizes", words_of(report.requested), out);
  if (!report.contract.claims.empty()) {
    const std::vector<std::string> claims(report.contract.claims.begin(),
                                          report.contract.claims.end());
    write_field("claims", join(claims, ", "), out);
  }
  for (const std::string& line : report.deviations) write_field("declares", line, out);
  out << "\n";
  const std::vector<std::string> failed = broken_by_the_failure(report);
  for (const LawResult& result : report.laws) {
    if (result.status != Status::broken) continue;
    const bool is_shown = result.follows == nullptr || listing == Listing::every_law;
    if (is_shown && std::ranges::find(failed, result.law->id) == failed.end()) {
      write_broken(result, report, command, out);
    }
  }
  if (!failed.empty()) {
    out << "BROKEN  by the same, as the subject failed in cases of these laws too\n";
    write_field("laws", join(failed, ", "), out);
    out << "\n";
  }
  write_table(report, columns, listing, out);
  write_sum(report, out);
  terminal << printable(text.str());  // subjects have a say in much of it
}

}  // namespace kv::properties
