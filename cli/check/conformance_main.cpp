#include <unistd.h>

#include <csignal>
#include <ostream>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/check/check.h"
#include "kvcheck/cli/check/subject.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/options/output.h"
#include "kvcheck/properties/conformance/conformance.h"
#include "kvcheck/properties/law.h"
#include "kvcheck/properties/laws/law_filter.h"

namespace kv::properties {
namespace {

constexpr int bad_usage = 2;
constexpr int not_run = 77;  // what CTest's SKIP_RETURN_CODE is set to

int list_tests(std::ostream& out) {
  for (const RegisteredSubject& subject : registered_subjects()) {
    for (const Law& law : laws()) out << subject.name << " " << law.id << "\n";
  }
  return 0;
}

bool is_registered(const std::string& word) {
  for (const RegisteredSubject& subject : registered_subjects()) {
    if (subject.name == word) return true;
  }
  return false;
}

int one_law(const std::string& subject, const std::string& law, cli::Streams& streams) {
  if (find_law(law) == nullptr) {
    streams.err << "error: " << unknown_law(law) << "\n";
    return bad_usage;
  }
  const std::string command =
      cli::shell_quoted(cli::registering_program()) + " " + cli::shell_quoted(subject);
  const LawVerdict verdict = check_law(subject, law, {}, command);
  streams.out << verdict.text;
  if (verdict.outcome == LawVerdict::Outcome::not_run) return not_run;
  return verdict.outcome == LawVerdict::Outcome::holds ? 0 : 1;
}

// With the options of kvcheck check, except those that name a subject.
std::string help_text() {
  std::vector<std::string> names;
  for (const RegisteredSubject& subject : registered_subjects()) names.push_back(subject.name);
  std::vector<cli::Option> options;
  for (const cli::Option& option : cli::check_command.options) {
    if (option.name != "plugin" && option.name != "exec") options.push_back(option);
  }
  const std::string program = printable(cli::registering_program());
  return "Tries the laws of kvcheck on the subjects that this program registers.\n\n"
         "Usage:  " +
         program +
         " [SUBJECT] [OPTIONS]   every law; a single subject need not be named\n"
         "        " +
         program +
         " SUBJECT --law LAW     one law, as CTest runs it\n"
         "        " +
         program +
         " --list                the laws; --explain LAW explains one\n"
         "        " +
         program +
         " --list-tests          a line per subject and law\n"
         "\nSubjects: " +
         join(names, ", ") + "\n\n" + cli::option_table(options) +
         "\nExit status: 0 every law holds, 1 a law is broken, 2 usage or bad input, 77 the law of "
         "--law did not run.\n";
}

// Options that take no subject.
bool wants_none(const std::vector<std::string>& arguments) {
  for (const std::string& word : arguments) {
    for (const char* other : {"--list", "-l", "--explain"}) {
      if (word.starts_with(other)) return true;
    }
  }
  return false;
}

int run(std::vector<std::string> arguments, cli::Streams& streams) {
  if (arguments.size() == 1 && arguments[0] == "--list-tests") return list_tests(streams.out);
  if (cli::asks_for_help(arguments)) {
    streams.out << help_text();
    return 0;
  }
  const auto subjects = registered_subjects();
  if (subjects.empty()) {
    streams.err << "error: no subject is registered; see KVCHECK_SUBJECT\n";
    return bad_usage;
  }
  const bool named = !arguments.empty() && is_registered(arguments[0]);
  if (!named && !wants_none(arguments)) {
    if (subjects.size() > 1) {
      std::vector<std::string> names;
      names.reserve(subjects.size());
      for (const RegisteredSubject& subject : subjects) names.push_back(subject.name);
      const bool wrong = !arguments.empty() && !arguments[0].starts_with('-');
      const std::vector<std::string_view> known(names.begin(), names.end());
      streams.err << "error: "
                  << (wrong ? printable(unknown_word("subject", arguments[0], known)) + "; expected"
                            : "expected")
                  << " the name of a subject first: " << join(names, ", ") << "\n";
      return bad_usage;
    }
    arguments.insert(arguments.begin(), subjects[0].name);
  }
  if (arguments.size() == 3 && arguments[1] == "--law")
    return one_law(arguments[0], arguments[2], streams);
  return cli::run_command(cli::check_command, arguments, streams);
}

}  // namespace

int kvcheck_main(int count, char** arguments) {
  if (count > 0) cli::registering_program() = arguments[0];
  std::signal(SIGPIPE, SIG_IGN);
  cli::DescriptorBuffer out_buffer(STDOUT_FILENO);
  cli::DescriptorBuffer err_buffer(STDERR_FILENO);
  std::ostream out(&out_buffer);
  std::ostream err(&err_buffer);
  err << std::unitbuf;
  cli::Streams streams{out, err, ::isatty(STDERR_FILENO) == 1};
  const int status =
      run(std::vector<std::string>(arguments + (count > 0 ? 1 : 0), arguments + count), streams);
  out.flush();
  return status;
}

}  // namespace kv::properties
