// Text that is written piece by piece, as to a file, and then taken as a whole.
#pragma once

#include <sstream>

namespace kv {

// A std::ostringstream that throws std::bad_alloc if memory runs out. The one of the C++ library
// keeps quiet about that: its text ends there, and every later piece is ignored.
class TextStream : public std::ostringstream {
 public:
  TextStream() { exceptions(std::ios::badbit); }
};

}  // namespace kv
