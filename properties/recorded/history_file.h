// The runs of a file of histories, read line by line. HISTORY.md is the specification.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/properties/history.h"

namespace kv {
struct Spec;
}  // namespace kv

namespace kv::properties {

inline constexpr std::size_t longest_history_line = std::size_t{32} << 20U;

// What is declared instead of what a file declares.
struct Redeclared {
  // The contract of this spec in place of the file's; null: the file's.
  std::shared_ptr<const Spec> spec{};

  // Fields of the contract by name; their values are JSON, or plain words.
  std::vector<std::pair<std::string, std::string>> fields{};
};

// The first line of a run.
struct RunHead {
  Setup setup;
  Contract contract;
  std::optional<Stream> stream{};  // whose logits the cache was given; a real run knows of none
  bool draws = false;              // its random numbers were kvcheck's, of the setup's seed
  std::size_t line = 0;            // counted from 1
};

// The units that are read together: these kv-heads of these layers, of all sequences.
struct Block {
  std::uint32_t first_layer = 0;
  std::uint32_t layers = 1;
  std::uint32_t first_head = 0;
  std::uint32_t kv_heads = 1;
};

// What a run says of a block.
struct RecordedPart {
  History history;
  std::vector<std::size_t> lines{};  // of each event, counted from 1
  bool is_whole = true;              // all layers and heads of the run
  bool cut = false;                  // the memory ended before the run
  std::string no_mask{};  // where a call leaves out what its queries saw; empty: none does
  std::size_t line = 0;   // the last one read
};

// The text must outlive it.
class HistoryFile {
 public:
  // `name` begins the sentence of every error.
  HistoryFile(std::string_view text, std::string name, Redeclared redeclared = {})
      : text_(text), name_(std::move(name)), redeclared_(std::move(redeclared)) {}

  // The next run; nothing at the end of the file.
  Result<std::optional<RunHead>> next_run();

  // The calls of the run that next_run() gave last, as many as fit into so many bytes. May be
  // called again, for another block.
  Result<RecordedPart> read(const RunHead& head, const Block& block, std::uint64_t bytes);

 private:
  struct Place {
    std::size_t offset = 0;
    std::size_t line = 0;
  };

  // The next line that is not blank, as JSON; nothing at the end.
  Result<std::optional<boost::json::value>> next_line();
  [[nodiscard]] Result<RunHead> read_head(const boost::json::value& line) const;
  [[nodiscard]] boost::json::value declared_in(const boost::json::value& line,
                                               const Setup& setup) const;
  [[nodiscard]] Error wrong(const std::string& sentence) const;

  friend class RunReader;

  std::string_view text_;
  std::string name_;
  Redeclared redeclared_;
  Place at_{};      // behind the last line read
  Place before_{};  // in front of it
  Place run_{};     // behind the head of the run
};

}  // namespace kv::properties
