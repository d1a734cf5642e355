// The subject that words of a command line name.
#pragma once

#include <memory>
#include <string>

#include "kvcheck/cli/options/options.h"
#include "kvcheck/properties/family.h"

namespace kv::cli {

struct NamedSubject {
  std::unique_ptr<properties::Family> family;
  std::string arguments;  // the command that checks it again, quoted for a shell
  std::string unseen{};   // what the subject declares and no law looks at; empty if nothing
};

// The program that has registered subjects; kvcheck_main sets it to its own name.
std::string& registering_program();

// From --plugin LIB or --exec COMMAND, else from a spec or preset, the operand. Requires both
// options to be in the table of `words`. Errors are those of parse_spec and of the families, and of
// no subject or several. `seconds` bounds the answers of a program, also its first; 0: as usual.
Result<NamedSubject> subject_of(const Arguments& arguments, double seconds = 0);

// `word` as a POSIX shell reads it: between quotes unless that is not needed.
std::string shell_quoted(const std::string& word);

}  // namespace kv::cli
