// A cache in C++ that keeps the first tokens and a window of the newest.
#include <algorithm>
#include <deque>
#include <stdexcept>

#include "kvcheck/properties/conformance/conformance.h"

using kv::properties::Setup;
using kv::properties::SimpleCache;
using kv::properties::Token;

class SinkWindow : public SimpleCache {
 public:
  explicit SinkWindow(const Setup& setup) : sinks_(setup.sinks), budget_(setup.budget) {
    if (setup.budget < setup.sinks + std::max(setup.recent, 1U)) {
      throw std::invalid_argument("the budget leaves no room for a window");
    }
  }

  std::vector<std::vector<Token>> append(std::span<const Token> tokens) override {
    std::vector<std::vector<Token>> seen;
    for (const Token token : tokens) {
      held_.push_back(token);
      if (held_.size() > budget_) held_.erase(held_.begin() + sinks_);
      seen.push_back(kept());
    }
    return seen;
  }

  std::vector<Token> kept() const override { return {held_.begin(), held_.end()}; }

  std::optional<std::size_t> size() const override { return held_.size(); }

  bool reset() override {
    held_.clear();
    return true;
  }

 protected:
  std::size_t budget() const { return budget_; }

 private:
  std::ptrdiff_t sinks_;
  std::size_t budget_;
  std::deque<Token> held_;
};

KVCHECK_SUBJECT(SinkWindow)

// The same cache with a fault, which shows what a finding looks like: it reports the whole budget
// before it is full. CTest fails until you remove this class.
class Broken : public SinkWindow {
 public:
  using SinkWindow::SinkWindow;

  std::optional<std::size_t> size() const override { return budget(); }
};

KVCHECK_SUBJECT(Broken)

int main(int argc, char** argv) {
  return kv::properties::kvcheck_main(argc, argv);
}
