// What a tokenizer does to a text before it is split.
//
// Source: the normalizers of Hugging Face's tokenizer.json: NFC, Prepend, Replace of a text, and a
// Sequence of these. All others are refused.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"

namespace kv::model {

class Normalizer {
 public:
  // The entry 'normalizer'; null stands for none. Errors name the step that is not supported.
  static Result<Normalizer> read(const boost::json::value* from);

  // Requires UTF-8.
  [[nodiscard]] Result<std::string> apply(std::string_view text) const;

  // Whether every text remains as it is.
  [[nodiscard]] bool empty() const { return steps_.empty(); }

 private:
  struct Step {
    enum class Kind { nfc, prepend, replace };
    Kind kind = Kind::nfc;
    std::string from;  // of replace; not empty
    std::string to;    // ... and of prepend
  };

  Result<void> add(const boost::json::value& step);

  std::vector<Step> steps_;
};

}  // namespace kv::model
