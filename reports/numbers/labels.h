// Labels: the short names under which a report's specs stand in tables and figures.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/sim/replay/replay.h"

namespace kv::reports {

// One label per spec. A policy with one variant (Spec::label()) keeps that text. Of several
// variants a label has the policy, the fields that not all of them share, and all settings, as
// other policies may have others: "h2o", "h2o lazy:40", "h2o recent=4 unit=layer". Specs that
// differ only in their budget have the same label; others never do.
std::vector<std::string> labels_of(std::span<const Spec> specs);

// The texts at most `width` wide, such that different texts stay different: where cutting would
// make two the same, the later ones end in "#2", "#3" and so on. Equal texts stay equal.
std::vector<std::string> shortened_apart(std::span<const std::string> texts, std::size_t width);

// A trace's name for headings: "zipf, 1,024 tokens" for one from a generator, whose own name is its
// whole spec; else the trace's name, shortened when it is very long.
std::string short_name(const TraceInfo& trace);

// The attention was made by kvcheck's own generator, not recorded from a model.
bool generated(const TraceInfo& trace);

// 1,024
std::string with_commas(std::size_t value);

}  // namespace kv::reports
