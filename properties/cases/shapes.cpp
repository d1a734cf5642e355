#include "kvcheck/properties/cases/shapes.h"

#include <array>

namespace kv::properties {
namespace {

// Layers 6, 9 and 13, kv-heads 5, 9 and 16, and sequences 5 and 9, in pairs: but 13 layers of 16
// heads, which are too many units. Some have many query heads to a kv-head instead.
constexpr std::array<SetupShape, 24> shapes = {
    {{6, 5, 1, 1},  {6, 9, 1, 2},  {1, 5, 3, 5},  {2, 5, 3, 9},  {6, 1, 2, 5},  {6, 2, 2, 9},
     {6, 2, 8, 1},  {1, 3, 5, 9},  {9, 5, 2, 1},  {9, 9, 1, 1},  {2, 9, 1, 5},  {1, 9, 1, 9},
     {9, 2, 1, 5},  {9, 1, 2, 9},  {9, 3, 5, 1},  {13, 9, 1, 1}, {13, 5, 1, 1}, {6, 16, 1, 1},
     {1, 16, 1, 5}, {1, 16, 1, 9}, {13, 1, 3, 5}, {13, 1, 1, 9}, {1, 2, 8, 5},  {9, 16, 1, 1}}};

}  // namespace

std::span<const SetupShape> covering_shapes() {
  return shapes;
}

}  // namespace kv::properties
