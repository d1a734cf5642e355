// The file of a pass layer by layer: what each layer makes of the tokens, the losses, and what is
// recorded, with a note of how far the pass is. A later program can continue it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/model/run/spool.h"

namespace kv::model {

// How far a pass is: all layers before `layer`, and `tokens` tokens of it. The layer after the last
// is the one that predicts.
struct PassPlace {
  std::size_t layer = 0;
  std::size_t tokens = 0;

  bool operator==(const PassPlace&) const = default;
};

struct PassSizes {
  std::size_t tokens = 0;
  std::size_t width = 0;  // of a layer's result for one token
};

class PassFile {
 public:
  // With an `identity`, a file beside `path` that remains if the program ends before the pass does;
  // one that an earlier pass of the same identity left is continued. Without, a file without a
  // name. Errors: the disk's; another program that uses the file; one of another identity.
  static Result<PassFile> open(const std::string& path,
                               const std::string& identity,
                               const PassSizes& sizes);

  // Where an earlier pass ended.
  [[nodiscard]] const PassPlace& found() const { return found_; }

  // Notes how far the pass is. Everything put before is then kept, even if the machine fails.
  Result<void> note(const PassPlace& place);

  // Ends a layer. Its note follows.
  void end_layer() { put_ = {put_.states, 0, put_.losses}; }

  // Error if the states that `layer` is going to read, those of the layer before it, are not those
  // that were put. The first layer reads none. Cost: reads them.
  [[nodiscard]] Result<void> check_before(std::size_t layer) const;

  // What layer `layer` makes of the tokens from `first` on: [tokens, width]. Those of a layer take
  // the place of those of the layer before the last.
  Result<void> put_states(std::size_t layer, std::size_t first, std::span<const float> states);
  [[nodiscard]] Result<void> get_states(std::size_t layer,
                                        std::size_t first,
                                        std::span<float> states) const;

  // Losses of the tokens from `first` on.
  Result<void> put_losses(std::size_t first, std::span<const float> losses);
  // All of them. An error if they are not those that were put.
  [[nodiscard]] Result<void> get_losses(std::span<float> losses) const;

  // The spool of what is recorded, whose numbers begin with number recorded().
  Spool& spool() { return spool_; }

  [[nodiscard]] std::uint64_t recorded() const;

  // Removes the file. Call it when nothing is left to continue.
  void remove() { spool_.remove(); }

 private:
  PassFile(Spool spool, const PassSizes& sizes, std::uint64_t identity, bool kept)
      : spool_(std::move(spool)), sizes_(sizes), identity_(identity), kept_(kept) {}

  [[nodiscard]] std::uint64_t states_at(std::size_t layer, std::size_t first) const;
  Result<void> continue_noted(const std::string& path);
  [[nodiscard]] Result<void> check(std::uint64_t sum, std::uint64_t put) const;

  // Sums of what was put since the pass began, in this program and before.
  struct Sums {
    std::uint64_t before = 0;  // states of the layer before
    std::uint64_t states = 0;  // of this layer
    std::uint64_t losses = 0;
  };

  Spool spool_;
  PassSizes sizes_;
  std::uint64_t identity_;
  bool kept_;
  PassPlace found_;
  Sums put_;
};

}  // namespace kv::model
