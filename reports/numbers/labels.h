// Labels: short names of specs and traces, for figures and headings.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/traces/trace.h"

namespace kv {
struct Spec;
}

namespace kv::reports {

// The names of the specs (names_of), shortened to what a legend has room for.
std::vector<std::string> labels_of(std::span<const Spec> specs);

// The texts shortened to at most `width` characters such that different texts remain different: if
// two would become the same, the later ones end in "#2", "#3" and so on. Equal texts remain equal.
std::vector<std::string> shortened_apart(std::span<const std::string> texts, std::size_t width);

// A trace's name for headings: "zipf, 1,024 tokens" for a trace from a generator, whose name is its
// whole spec; otherwise the trace's name, shortened if it is very long.
std::string short_name(const TraceInfo& trace);

// Whether the attention was made by kvcheck's own generator, not recorded from a model.
bool generated(const TraceInfo& trace);

// "; the first 256 tokens are the prompt, the next 16 its question": what follows the size of a
// stream. Nothing for marks that are not known.
std::string marks_text(const Marks& marks);

// How keys and values were stored under the spec: as it says, or else as the run says. "kivi2";
// "f16, keys raw".
std::string stored_as(const Spec& spec, const std::string& of_run);

// The number with commas: 1,024.
std::string with_commas(std::size_t value);

}  // namespace kv::reports
