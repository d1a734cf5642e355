#include "policies/keep_recent.h"

#include "base/check.h"

namespace kv {
namespace {

class KeepRecent final : public Policy {
 public:
  void evict(const Candidates&, Draws&, std::vector<std::size_t>&) override {
    constexpr bool has_a_middle_to_choose_from = false;
    KV_CHECK(has_a_middle_to_choose_from);
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<KeepRecent>(*this);
  }
};

}  // namespace

std::unique_ptr<Policy> make_keep_recent() {
  return std::make_unique<KeepRecent>();
}

}  // namespace kv
