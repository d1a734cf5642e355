// The calls of one run.
#include <algorithm>
#include <array>

#include "kvcheck/base/text/json_at.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/properties/facts_shape.h"
#include "kvcheck/properties/heads.h"
#include "kvcheck/properties/recorded/history_entry.h"
#include "kvcheck/properties/recorded/history_file.h"

namespace kv::properties {
namespace {

constexpr std::int64_t most_fed = std::int64_t{1} << 20U;  // tokens of a call
constexpr std::size_t most_positions = 10'000'000;         // what token ids can name
constexpr std::size_t nothing = ~std::size_t{0};

// Whether reading the block reads the whole run.
bool is_whole(const Block& block, const Setup& setup) {
  return block.layers == setup.layers && block.kv_heads == setup.kv_heads;
}

// Units of a layer for each of its kv-heads.
std::uint32_t units_per_head(const RunHead& head) {
  return head.contract.unit == Unit::head ? head.setup.group : 1;
}

// The contract and the setup as they are for a block alone.
History history_of(const RunHead& head, const Block& block) {
  const std::uint32_t per_head = units_per_head(head);
  History history{.what = {head.setup, head.stream.value_or(Stream{}), {}},
                  .contract = head.contract,
                  .origin = {0, block.first_layer, block.first_head * per_head}};
  history.what.setup.layers = block.layers;
  history.what.setup.kv_heads = block.kv_heads;
  if (head.contract.budgets.empty() || is_whole(block, head.setup)) return history;
  const std::size_t in_layer = std::size_t{head.setup.kv_heads} * per_head;
  std::vector<std::uint32_t> budgets;
  for (std::size_t layer = block.first_layer; layer < block.first_layer + block.layers; ++layer) {
    const auto begin =
        head.contract.budgets.begin() +
        static_cast<std::ptrdiff_t>(layer * in_layer + std::size_t{block.first_head} * per_head);
    budgets.insert(budgets.end(), begin, begin + std::ptrdiff_t{block.kv_heads} * per_head);
  }
  history.contract.set_budgets(std::move(budgets));
  // Equal budgets are not said one by one, and a window then follows from the one that all have.
  if (history.contract.budgets.empty()) {
    history.contract =
        head.contract.of_unit(Heads{head.setup, head.contract.unit}.index_of(history.origin));
  }
  return history;
}

}  // namespace

class RunReader {
 public:
  RunReader(HistoryFile& file, const RunHead& head, const Block& block, std::uint64_t bytes)
      : file_(file),
        bytes_(bytes),
        heads_{head.setup, head.contract.unit},
        history_(history_of(head, block)),
        local_of_(heads_.count(), nothing) {
    for (std::size_t unit = 0; unit < history_.units(); ++unit) {
      local_of_[heads_.index_of(history_.place_of(unit))] = unit;
    }
  }

  Result<void> take(const boost::json::value& line) {
    Complaints complaints{.strict = true, .lines = {}};
    complaints_ = &complaints;
    const JsonAt at(line, "call", complaints);
    if (line.get_object().contains("failure")) {
      at.only_ever({"failure", "died"});
      history_.failure = at.need("failure").text("what went wrong");
      if (const auto died = at.find("died")) history_.died = died->boolean("a flag");
      if (history_.failure.empty()) history_.failure = "the cache failed";
    } else if (!history_.failure.empty()) {
      at.complain("a call after the failure of the run");
    } else {
      take_call(at);
    }
    if (!complaints.lines.empty()) return file_.wrong(complaints.lines.front());
    return {};
  }

  [[nodiscard]] bool cut() const { return cut_; }

  RecordedPart part(std::size_t line) && {
    for (const Event& event : history_.events) history_.what.calls.push_back(event.call);
    const bool is_whole = history_.units() == heads_.count();
    return {.history = std::move(history_),
            .lines = std::move(lines_),
            .is_whole = is_whole,
            .cut = cut_,
            .no_mask = no_mask_,
            .line = line};
  }

 private:
  // Reads the words of the call into the event; what a feed takes in is bounded first.
  [[nodiscard]] Call read_call(const JsonAt& at) const {
    constexpr std::array<std::string_view, 7> verbs = {"feed",    "fork",  "truncate", "reset",
                                                       "reorder", "shift", "snapshot"};
    at.only_ever(
        {"do", "branch", "tokens", "variant", "length", "delta", "from", "refused", "units"});
    Call call;
    const JsonAt verb = at.need("do");
    const std::string word = verb.text("the name of a call");
    const auto found = std::ranges::find(verbs, word);
    if (found != verbs.end()) {
      call.kind = static_cast<Call::Kind>(found - verbs.begin());
    } else if (verb.is_string()) {
      verb.complain(unknown_word("call", word, verbs));
    }
    if (const auto branch = at.find("branch")) {
      const auto last = static_cast<std::int64_t>(branches_.size()) - 1;
      call.branch = static_cast<std::uint32_t>(
          branch->integer("a branch that exists, 0 to " + std::to_string(last), 0, last));
    }
    constexpr std::int64_t far = std::int64_t{1} << 53U;
    if (call.kind == Call::Kind::feed) {
      call.amount = at.need("tokens").integer("a number of tokens", 0, most_fed);
      if (const auto variant = at.find("variant")) {
        call.variant = static_cast<std::int32_t>(variant->integer("a variant", 0, 999));
      }
    } else if (call.kind == Call::Kind::truncate) {
      call.amount = at.need("length").integer("a number of tokens", -far, far);
    } else if (call.kind == Call::Kind::shift) {
      call.amount = -at.need("delta").integer("a distance", -far, far);
    } else if (call.kind == Call::Kind::reorder) {
      // A cache may take sequences that do not exist, which is a finding and no wrong file.
      const JsonAt from = at.need("from");
      const std::size_t count = from.size("a list of sequences");
      for (std::size_t i = 0; i < count; ++i) {
        call.from.push_back(
            static_cast<std::uint32_t>(from[i].integer("a sequence", 0, 0xfffffffe)));
      }
    }
    return call;
  }

  void take_call(const JsonAt& at) {
    Event event{.call = read_call(at)};
    const auto refused = at.find("refused");
    event.refused = refused.has_value();
    if (refused) event.why = refused->text("why it was refused");
    std::vector<Token>& branch = branches_[event.call.branch];
    if (branch.size() + static_cast<std::size_t>(std::max<std::int64_t>(0, event.call.amount)) >
            most_positions &&
        event.call.kind == Call::Kind::feed) {
      return at.complain("the stream has more than " + std::to_string(most_positions) + " tokens");
    }
    const std::uint64_t fed =
        event.call.kind == Call::Kind::feed ? static_cast<std::uint64_t>(event.call.amount) : 0;
    // The event's copy of the branch, the branch itself, and a fork's.
    if (!takes((2 * branch.size() + 2 * fed) * sizeof(Token) + sizeof(Event))) return;
    event.fed = tokens_of(event.call, branches_);
    if (!read_units(at, event) || cut_) return;
    if (!event.refused) carry_out(event.call, event.fed, branches_);
    event.branch = branches_[event.call.branch];
    const bool fed_any = event.call.kind == Call::Kind::feed && !event.refused;
    if (const auto wrong =
            shape_error(event.facts, history_.units(), fed_any ? event.fed.size() : 0)) {
      return at.complain(*wrong);
    }
    event.branches = static_cast<std::uint32_t>(branches_.size());
    last_.resize(branches_.size(), nothing);
    last_[event.call.branch] = history_.events.size();
    // A fork begins with what its parent holds.
    if (!event.refused && event.call.kind == Call::Kind::fork)
      last_.back() = last_[event.call.branch];
    history_.events.push_back(std::move(event));
    lines_.push_back(file_.at_.line);
  }

  // Whether so many bytes more may be held; else the run is cut here.
  bool takes(std::uint64_t bytes) {
    cut_ |= bytes > bytes_;
    if (!cut_) bytes_ -= bytes;
    return !cut_;
  }

  [[nodiscard]] std::span<const Row> stored_before(std::uint32_t branch, std::size_t unit) const {
    if (last_[branch] == nothing) return {};
    return history_.events[last_[branch]].facts.units[unit].stored;
  }

  // Whether a unit stores the same rows after the call as before it, if the cache is right.
  static bool leaves_rows(const Event& event) {
    const Call::Kind kind = event.call.kind;
    return event.refused || kind == Call::Kind::fork || kind == Call::Kind::snapshot ||
           (kind == Call::Kind::feed && event.fed.empty());
  }

  bool read_units(const JsonAt& at, Event& event) {
    const bool feeds = event.call.kind == Call::Kind::feed && !event.refused;
    const std::span<const Token> fed =
        feeds ? std::span<const Token>(event.fed) : std::span<const Token>();
    if (!takes(history_.units() * sizeof(UnitFacts))) return false;
    event.facts.units.resize(history_.units());
    std::vector<std::uint8_t> stated(heads_.count(), 0);
    if (const auto units = at.find("units")) {
      const std::size_t count = units->size("a list of entries");
      for (std::size_t i = 0; i < count && !cut_ && complaints_->lines.empty(); ++i) {
        read_one((*units)[i], fed, event, stated);
      }
    }
    if (!complaints_->lines.empty()) return false;
    for (std::size_t unit = 0; unit < history_.units() && !cut_; ++unit) {
      if (stated[heads_.index_of(history_.place_of(unit))] != 0) continue;
      if (!leaves_rows(event)) {
        at.complain("says nothing of " + name_of(heads_.index_of(history_.place_of(unit))) +
                    "; a call that changes what is stored has an entry for every unit");
        return false;
      }
      const auto stored = stored_before(event.call.branch, unit);
      if (!takes(stored.size() * sizeof(Row))) return false;
      event.facts.units[unit].stored.assign(stored.begin(), stored.end());
    }
    return true;
  }

  void read_one(const JsonAt& entry,
                std::span<const Token> fed,
                Event& event,
                std::vector<std::uint8_t>& stated) {
    for (const std::size_t full : units_of(entry, heads_)) {
      // Also outside the block, so that a line takes no longer than its units.
      if (stated[full]++ != 0) return entry.complain("is the second entry of " + name_of(full));
      const std::size_t unit = local_of_[full];
      if (unit == nothing) continue;
      const UnitBefore before{stored_before(event.call.branch, unit), fed};
      if (!takes(entry_bytes(entry, before))) return;
      event.facts.units[unit] = read_entry(entry, before);
      // A large entry of many units need not be refused for each of them.
      if (!complaints_->lines.empty()) return;
      if (!fed.empty() && !states_mask(entry) && no_mask_.empty()) {
        no_mask_ = "line " + std::to_string(file_.at_.line) + " does not say what its queries saw";
      }
    }
  }

  [[nodiscard]] std::string name_of(std::size_t unit) const {
    const Place place = heads_.place_of(unit);
    return "sequence " + std::to_string(place.sequence) + ", layer " + std::to_string(place.layer) +
           ", head " + std::to_string(place.head);
  }

  HistoryFile& file_;
  std::uint64_t bytes_;  // that may still be held
  Heads heads_;          // of the whole run
  History history_;
  std::vector<std::size_t> lines_;     // of each event
  std::vector<std::size_t> local_of_;  // of each unit of the run, its index in the block
  Branches branches_{{}};
  std::vector<std::size_t> last_{nothing};  // the last event of each branch
  const Complaints* complaints_ = nullptr;  // of the line at hand
  bool cut_ = false;
  std::string no_mask_;
};

Result<RecordedPart> HistoryFile::read(const RunHead& head,
                                       const Block& block,
                                       std::uint64_t bytes) {
  at_ = run_;
  RunReader reader(*this, head, block, bytes);
  while (!reader.cut()) {
    auto line = next_line();
    if (!line) return line.error();
    if (!*line) break;
    if ((*line)->get_object().contains("kvcheck_history")) {
      at_ = before_;
      break;
    }
    auto taken = reader.take(**line);
    if (!taken) return taken.error();
  }
  return std::move(reader).part(at_.line);
}

}  // namespace kv::properties
