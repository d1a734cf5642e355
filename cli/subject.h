// The subject that words of a command line name.
#pragma once

#include <memory>
#include <string>

#include "cli/options.h"
#include "properties/family.h"

namespace kv::cli {

struct NamedSubject {
  std::unique_ptr<Family> family;
  std::string words;  // that name it again, quoted for a shell
};

// From a spec or preset, the operand. Errors are those of parse_spec, and of no subject or several.
Result<NamedSubject> subject_of(const Words& words);

// `word` as a POSIX shell reads it: between quotes unless that is not needed.
std::string shell_quoted(const std::string& word);

}  // namespace kv::cli
