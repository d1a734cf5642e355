#include "kvcheck/reports/tables/kill_matrix.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <limits>
#include <map>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/json_at.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/labels.h"

namespace kv::reports {
namespace {

using LawIndex = std::map<std::string, std::size_t>;

MatrixRow row_of(const JsonAt& mutant, const LawIndex& laws) {
  MatrixRow row{.mutant = mutant.need("mutant").text("a name"),
                .wrong = mutant.need("wrong").text("a sentence"),
                .source = mutant.need("source").text("a sentence"),
                .equivalent = mutant.need("equivalent").text("a sentence, or nothing"),
                .verdict = mutant.need("verdict").text("a word"),
                .smallest = mutant.need("smallest").text("a case"),
                .killed = {}};
  const JsonAt killers = mutant.need("killers");
  for (std::size_t i = 0; i < killers.size("an array of laws and cases"); ++i) {
    const std::string id = killers[i].need("law").text("a law");
    const auto law = laws.find(id);
    if (law == laws.end()) {
      killers[i].complain("'" + printable_line(id) + "' is not among the laws");
      continue;
    }
    row.killed.push_back({law->second, killers[i].need("cases").unsigned64("a number of cases")});
  }
  std::ranges::sort(row.killed, {}, &MatrixKill::law);
  return row;
}

std::string accusation_of(const JsonAt& accusation) {
  return accusation.need("subject").text("a name") + " of " + accusation.need("law").text("a law") +
         ", seed " + std::to_string(accusation.need("seed").unsigned64("a seed"));
}

KillMatrix matrix_of(const JsonAt& root) {
  KillMatrix matrix;
  matrix.passed = root.need("passed").boolean("true or false");
  matrix.whole = root.need("whole").boolean("true or false");
  matrix.seed = root.need("seed").unsigned64("a seed");
  matrix.right_subjects = root.need("right_subjects").unsigned64("a number");
  matrix.right_batteries = root.need("right_batteries").unsigned64("a number");
  LawIndex index;
  const JsonAt laws = root.need("laws");
  for (std::size_t i = 0; i < laws.size("an array of laws"); ++i) {
    MatrixLaw law{laws[i].need("law").text("a law"),
                  laws[i].need("statistical").boolean("true or false")};
    index.emplace(law.id, matrix.laws.size());
    matrix.laws.push_back(std::move(law));
  }
  const JsonAt mutants = root.need("mutants");
  for (std::size_t i = 0; i < mutants.size("an array of mutants"); ++i) {
    matrix.rows.push_back(row_of(mutants[i], index));
  }
  const JsonAt idle = root.need("idle_laws");
  for (std::size_t i = 0; i < idle.size("an array of laws"); ++i) {
    matrix.idle.push_back(idle[i].text("a law"));
  }
  const JsonAt accusations = root.need("accusations");
  for (std::size_t i = 0; i < accusations.size("an array of accusations"); ++i) {
    matrix.accused.push_back(accusation_of(accusations[i]));
  }
  return matrix;
}

std::string counted(std::size_t n, std::string_view noun) {
  return with_commas(n) + " " + std::string(noun) + (n == 1 ? "" : "s");
}

std::string are(std::size_t n) {
  return n == 1 ? " is " : " are ";
}

}  // namespace

Result<KillMatrix> parse_kill_matrix(std::string_view json) {
  boost::system::error_code failure;
  const boost::json::value value = boost::json::parse(json, failure);
  if (failure) {
    return Error{Error::Kind::malformed,
                 "a kill matrix is JSON, and this is not: " + failure.message()};
  }
  Complaints complaints;
  KillMatrix matrix = matrix_of(JsonAt(value, "matrix", complaints));
  if (!complaints.lines.empty()) return Error{Error::Kind::malformed, complaints.lines.front()};
  return matrix;
}

Result<KillMatrix> read_kill_matrix(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) return file.error();
  const auto bytes = file.value().bytes();
  auto matrix = parse_kill_matrix({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!matrix) return Error{matrix.error().kind, "'" + path + "': " + matrix.error().message};
  return matrix;
}

const MatrixKill* quickest_cell(const KillMatrix& matrix, const MatrixRow& row) {
  const auto rank = [&](const MatrixKill& cell) {
    return std::pair(matrix.laws[cell.law].statistical, cell.cases);
  };
  const auto best = std::ranges::min_element(row.killed, {}, rank);
  return best == row.killed.end() ? nullptr : &*best;
}

std::string cases_text(const KillMatrix& matrix, const MatrixKill& cell) {
  return matrix.laws[cell.law].statistical ? "statistics" : std::to_string(cell.cases);
}

std::string kill_summary(const KillMatrix& matrix) {
  std::size_t equivalent = 0;
  std::vector<std::string> wrong;
  for (const MatrixRow& row : matrix.rows) {
    if (row.verdict == "equivalent") ++equivalent;
    if (row.verdict == "LIVES" || row.verdict == "KILLED") wrong.push_back(row.mutant);
  }
  const std::string mutants = counted(matrix.rows.size(), "mutant");
  const std::size_t killed = matrix.rows.size() - equivalent;
  std::string text =
      wrong.empty() ? with_commas(killed) + " of " + mutants + are(killed) + "killed"
                    : "Of " + mutants + ", these have an unexpected verdict: " + join(wrong, ", ");
  if (wrong.empty() && equivalent > 0) {
    text += "; " + with_commas(equivalent) + are(equivalent) + "declared equivalent";
  }
  if (matrix.whole) {
    const std::string laws = counted(matrix.laws.size(), "law");
    text += matrix.idle.empty()
                ? ". Each of the " + laws + " kills at least one mutant"
                : ". Of " + laws + ", these kill no mutant: " + join(matrix.idle, ", ");
  }
  if (matrix.right_batteries == 0) return text + ".";
  text += ". In " + counted(matrix.right_batteries, "run") + " of " +
          counted(matrix.right_subjects, "right subject") + ", ";
  text += matrix.accused.empty() ? "no law was broken"
                                 : "these broke a law: " + join(matrix.accused, "; ");
  return text + ".";
}

}  // namespace kv::reports
