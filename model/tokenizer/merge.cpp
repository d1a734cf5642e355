#include "kvcheck/model/tokenizer/merge.h"

#include <limits>
#include <queue>

namespace kv::model {
namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

// One symbol of the text: a link of a doubly linked list.
struct Symbol {
  TokenId token = 0;
  std::size_t before = none;
  std::size_t after = none;
  bool live = true;
};

// A possible join; stale when either symbol has changed since.
struct Join {
  Joined joined;
  std::size_t left = 0;
  std::size_t right = 0;
  TokenId left_token = 0;
  TokenId right_token = 0;

  // The heap's top is its greatest.
  bool operator<(const Join& other) const {
    return joined.order != other.joined.order ? joined.order > other.joined.order
                                              : left > other.left;
  }
};

class Merger {
 public:
  Merger(const std::vector<TokenId>& tokens, const FindJoin& find) : find_(find) {
    for (const TokenId token : tokens) {
      const std::size_t at = symbols_.size();
      symbols_.push_back({token, at == 0 ? none : at - 1, at + 1 < tokens.size() ? at + 1 : none});
    }
    for (std::size_t i = 0; i + 1 < symbols_.size(); ++i) offer(i, i + 1);
  }

  void run() {
    while (!joins_.empty()) {
      const Join join = joins_.top();
      joins_.pop();
      // Joins are not taken out of the heap when a neighbour changes; those that are stale are
      // skipped here. So a text of n symbols costs O(n log n).
      if (is_current(join)) apply(join);
    }
  }

  void write(std::vector<TokenId>& tokens) const {
    tokens.clear();
    for (const Symbol& symbol : symbols_) {
      if (symbol.live) tokens.push_back(symbol.token);
    }
  }

 private:
  void offer(std::size_t left, std::size_t right) {
    if (left == none || right == none) return;
    const TokenId first = symbols_[left].token;
    const TokenId second = symbols_[right].token;
    const std::optional<Joined> joined = find_(first, second);
    if (joined) joins_.push({*joined, left, right, first, second});
  }

  [[nodiscard]] bool is_current(const Join& join) const {
    const Symbol& left = symbols_[join.left];
    const Symbol& right = symbols_[join.right];
    return left.live && right.live && left.after == join.right && left.token == join.left_token &&
           right.token == join.right_token;
  }

  void apply(const Join& join) {
    Symbol& left = symbols_[join.left];
    Symbol& right = symbols_[join.right];
    left.token = join.joined.token;
    right.live = false;
    left.after = right.after;
    if (right.after != none) symbols_[right.after].before = join.left;
    offer(left.before, join.left);
    offer(join.left, left.after);
  }

  const FindJoin& find_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Join> joins_;
};

}  // namespace

void merge_tokens(std::vector<TokenId>& tokens, const FindJoin& find) {
  if (tokens.size() < 2) return;
  Merger merger(tokens, find);
  merger.run();
  merger.write(tokens);
}

}  // namespace kv::model
