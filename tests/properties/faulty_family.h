// Subjects with one fault each over our own streaming cache, for tests of the battery itself.
#pragma once

#include <memory>

#include "kvcheck/properties/family.h"

namespace kv::properties {

enum class Fault {
  none,
  blind,      // once it is full, no query sees the first row that it is given
  dies,       // a chunk longer than three tokens dereferences null
  hangs,      // the seventh token never returns
  throws,     // the seventh token throws
  misshapen,  // tells of one unit too few
  corrupts,   // the seventh token is written 32 bytes past an array
  allocates,  // the seventh token allocates without end
  apart,      // blind, and dies in the process that made the family
};

// Streaming with 1 sink, 3 recent and a budget of 4, attend-then-trim, visibility=window.
std::unique_ptr<Family> make_faulty(Fault fault);

}  // namespace kv::properties
