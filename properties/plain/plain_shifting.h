// A plain cache that can also be told to shift: absolute positions, rotated keys turned in place.
#pragma once

#include "kvcheck/properties/plain/plain_subject.h"

namespace kv::properties {

// What is fed after a shift stands at its place in the stream again. Requires absolute positions.
class PlainShifting : public PlainSubject {
 public:
  using PlainSubject::PlainSubject;

  // Refuses to shift forward, and onto what lies before `begin`. Nothing can be taken back beyond
  // a shift.
  Answer<Done> shift(std::int64_t begin, std::int64_t delta) override {
    for (const PlainGroup& group : state_.groups) {
      for (const PlainRow& row : group.rows) {
        const bool moves = row.token.position >= begin;
        if (delta > 0 ||
            (moves && row.position + static_cast<double>(delta) < static_cast<double>(begin))) {
          return Refused{"rows would come to lie on others"};
        }
      }
    }
    state_.past.clear();
    for (PlainGroup& group : state_.groups) shift_rows(group, begin, static_cast<double>(delta));
    return Done{};
  }

 protected:
  virtual void shift_rows(PlainGroup& group, std::int64_t begin, double delta) {
    for (PlainRow& row : group.rows) {
      if (row.token.position >= begin) rotate(row, delta);
    }
  }
};

}  // namespace kv::properties
