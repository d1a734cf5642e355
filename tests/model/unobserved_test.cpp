// Without an observer, attention is computed by another path, for all queries of a chunk at once.
// The results must be the same to the last bit. forward_test.cpp compares the observed path with
// NumPy.
#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/tests/model/small_models.h"

namespace kv::model {
namespace {

class Blind final : public AttentionObserver {
 public:
  void on_row(std::size_t /*layer*/,
              std::size_t /*head*/,
              Position /*query*/,
              const Visible& /*visible*/,
              std::span<const float> /*mass*/) override {
    ++rows_;
  }

  [[nodiscard]] std::size_t rows() const { return rows_; }

 private:
  std::size_t rows_ = 0;
};

std::vector<float> logits_of(const LanguageModel& model,
                             const Spec& spec,
                             const DecoderOptions& options) {
  Decoder decoder = Decoder::create(model, spec, options).value();
  std::vector<float> logits;
  std::vector<TokenId> chunk;
  for (TokenId i = 0; i < 48; ++i) {
    chunk.push_back(i * i * 7 % 31 + 1);
    if (chunk.size() < spec.chunk && i < 47) continue;
    EXPECT_TRUE(decoder.feed(chunk));
    logits.insert(logits.end(), decoder.logits().begin(), decoder.logits().end());
    chunk.clear();
  }
  return logits;
}

TEST(Unobserved, RunsOfEveryPolicyGiveTheSameBits) {
  const std::string folder = test::small_llama().write("unobserved");
  const LanguageModel model = open_model(folder).value();
  std::vector<TokenClass> classes;
  for (std::size_t i = 0; i < 32; ++i) classes.push_back(static_cast<TokenClass>(i % 3));
  DecoderOptions options;
  options.token_classes = std::make_shared<const std::vector<TokenClass>>(classes);
  for (const PolicyEntry& policy : policy_registry()) {
    const bool bounded = policy.protection.middle != Protection::Middle::unbounded;
    const std::string name = std::string(policy.name) + (bounded ? ":budget=12" : "");
    for (const std::string settings :
         {";chunk=1", ";chunk=7", ";chunk=20;timing=trim-then-attend", ";chunk=7;timing=lazy:3",
          ";chunk=7;positions=in-cache", ";chunk=5;positions=shifted", ";chunk=7;unit=head",
          ";chunk=7;unit=layer", ";chunk=7;budgets=retrieval:0.1", ";chunk=48"}) {
      const auto spec = parse_spec(name + settings);
      if (!spec) {
        EXPECT_EQ(policy.name, "dense") << spec.error().message;
        continue;
      }
      if (needs_of(*spec).reconstruction > 0) continue;  // runs after a prompt only
      for (const std::string_view storage : {"f32", "int8", "int4:sinks=2", "int4:recent=5"}) {
        options.storage = parse_kv_format(storage).value();
        options.observer = nullptr;
        const std::vector<float> alone = logits_of(model, *spec, options);
        Blind observer;
        options.observer = &observer;
        EXPECT_EQ(logits_of(model, *spec, options), alone) << name << settings;
        EXPECT_EQ(observer.rows(), 48U * 4 * 2) << name << settings;
      }
    }
  }
}

}  // namespace
}  // namespace kv::model
