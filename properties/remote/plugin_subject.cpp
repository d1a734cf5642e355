#include "kvcheck/properties/remote/plugin_subject.h"

#include <cstring>

#include "kvcheck/properties/heads.h"
#include "kvcheck/properties/history.h"
#include "kvcheck/properties/remote/plugin_rows.h"

namespace kv::properties {
namespace {

// The host's side of the draws.
struct HostDraws {
  explicit HostDraws(DrawsOf from) : draws(std::move(from)) {}

  static std::uint64_t below(void* context,
                             std::uint32_t unit,
                             std::uint64_t bound,
                             std::uint32_t position,
                             std::uint32_t index) {
    return static_cast<HostDraws*>(context)->draws(unit)->below(bound, position, index);
  }

  static double uniform(void* context,
                        std::uint32_t unit,
                        std::uint32_t position,
                        std::uint32_t index) {
    return static_cast<HostDraws*>(context)->draws(unit)->uniform(position, index);
  }

  DrawsOf draws;
  kvp_host table{.size = sizeof(kvp_host), .context = this, .below = below, .uniform = uniform};
};

class PluginSubject final : public Subject {
 public:
  PluginSubject(const kvp_plugin& plugin,
                const Heads& heads,
                std::shared_ptr<HostDraws> host,
                void* cache,
                std::vector<Token> fed)
      : plugin_(plugin),
        heads_(heads),
        host_(std::move(host)),
        cache_(cache),
        fed_(std::move(fed)),
        rows_(tensor_rows(plugin)) {}

  ~PluginSubject() override { plugin_.destroy(cache_); }

  PluginSubject(const PluginSubject&) = delete;
  PluginSubject& operator=(const PluginSubject&) = delete;

  Answer<Facts> feed(const Feed& feed) override {
    given_ = give(plugin_, rows_, heads_.setup, fed_, feed);
    const kvp_feed reported{.size = sizeof(kvp_feed),
                            .tokens = feed.tokens.size(),
                            .position = fed_.size(),
                            .ids = given_.ids.data(),
                            .keys = has(KVP_ROWS) ? pointer_to(given_.keys) : nullptr,
                            .values = has(KVP_ROWS) ? pointer_to(given_.values) : nullptr,
                            .logits = has(KVP_LOGITS) ? given_.logits.data() : nullptr,
                            .logit_width = fed_.size() + feed.tokens.size()};
    Units units(*this);
    const auto why = refused(plugin_.feed(cache_, &reported, units.pointers.data(), units.count()));
    if (why) return Refused{*why};
    fed_.insert(fed_.end(), feed.tokens.begin(), feed.tokens.end());
    return facts(units, feed.tokens.size());
  }

  Facts look() override {
    Units units(*this);
    if (refused(plugin_.look(cache_, units.pointers.data(), units.count()))) {
      throw SubjectFailed("look was refused");
    }
    return facts(units, 0);
  }

  Answer<Done> reset() override {
    if (plugin_.reset == nullptr) return Subject::reset();
    if (const auto why = refused(plugin_.reset(cache_))) return Refused{*why};
    fed_.clear();
    return Done{};
  }

  Answer<std::unique_ptr<Subject>> fork() override {
    if (plugin_.fork == nullptr) return Subject::fork();
    void* copy = nullptr;
    if (const auto why = refused(plugin_.fork(cache_, &copy))) return Refused{*why};
    if (copy == nullptr) throw SubjectFailed("fork gave no cache");
    return std::make_unique<PluginSubject>(plugin_, heads_, host_, copy, fed_);
  }

  Answer<Done> truncate(std::int64_t length) override {
    if (plugin_.truncate == nullptr) return Subject::truncate(length);
    if (const auto why = refused(plugin_.truncate(cache_, length))) return Refused{*why};
    keep_first(length, fed_);
    return Done{};
  }

  Answer<Done> reorder(std::span<const std::uint32_t> from) override {
    if (plugin_.reorder == nullptr) return Subject::reorder(from);
    return done(plugin_.reorder(cache_, from.data(), from.size()));
  }

  Answer<Done> shift(std::int64_t begin, std::int64_t delta) override {
    if (plugin_.shift == nullptr) return Subject::shift(begin, delta);
    return done(plugin_.shift(cache_, begin, delta));
  }

  Answer<std::vector<std::uint8_t>> snapshot() override {
    if (plugin_.snapshot == nullptr || plugin_.restore == nullptr) return Subject::snapshot();
    const std::uint8_t* bytes = nullptr;
    std::uint64_t count = 0;
    if (const auto why = refused(plugin_.snapshot(cache_, &bytes, &count))) return Refused{*why};
    // Ours first: what was fed, which the plugin is not asked to know.
    std::vector<std::uint8_t> all(sizeof(std::uint64_t) + fed_.size() * sizeof(Token));
    const std::uint64_t tokens = fed_.size();
    std::memcpy(all.data(), &tokens, sizeof tokens);
    if (tokens > 0) std::memcpy(all.data() + sizeof tokens, fed_.data(), tokens * sizeof(Token));
    all.insert(all.end(), bytes, bytes + count);
    return all;
  }

  Answer<Done> restore(std::span<const std::uint8_t> bytes) override {
    if (plugin_.restore == nullptr) return Subject::restore(bytes);
    std::uint64_t tokens = 0;
    std::memcpy(&tokens, bytes.data(), sizeof tokens);
    const std::size_t ours = sizeof tokens + tokens * sizeof(Token);
    const auto theirs = bytes.subspan(ours);
    if (const auto why = refused(plugin_.restore(cache_, theirs.data(), theirs.size()))) {
      return Refused{*why};
    }
    fed_.resize(tokens);
    if (tokens > 0) {
      std::memcpy(fed_.data(), bytes.data() + sizeof tokens, tokens * sizeof(Token));
    }
    return Done{};
  }

 private:
  // One kvp_unit per unit, with nothing reported.
  struct Units {
    explicit Units(const PluginSubject& subject) : reported(subject.heads_.count()) {
      for (kvp_unit& unit : reported) {
        unit.size = sizeof(kvp_unit);
        unit.reported = unit.moved = unit.bytes = -1;
        pointers.push_back(&unit);
      }
    }

    [[nodiscard]] std::uint64_t count() const { return reported.size(); }

    std::vector<kvp_unit> reported;
    std::vector<kvp_unit*> pointers{};
  };

  [[nodiscard]] bool has(std::uint32_t flag) const { return (plugin_.flags & flag) != 0; }

  // Why a call was refused; nothing if it was done.
  std::optional<std::string> refused(int status) {
    if (status == KVP_OK) return std::nullopt;
    const char* words = plugin_.why == nullptr ? nullptr : plugin_.why(cache_);
    const std::string why = words == nullptr || *words == 0 ? "no reason given" : words;
    if (status == KVP_REFUSED) return why;
    throw SubjectFailed("the plugin answered " + std::to_string(status) + ": " + why);
  }

  Answer<Done> done(int status) {
    if (const auto why = refused(status)) return Refused{*why};
    return Done{};
  }

  // The interface has one type for numbers of all types (plugin.h).
  static const float* pointer_to(const std::vector<std::byte>& numbers) {
    return reinterpret_cast<const float*>(numbers.data());
  }

  [[nodiscard]] Facts facts(const Units& units, std::size_t queries) const {
    Facts reported;
    for (std::size_t i = 0; i < units.reported.size(); ++i) {
      reported.units.push_back(unit_facts(plugin_, rows_, units.reported[i], queries));
    }
    return reported;
  }

  const kvp_plugin& plugin_;
  Heads heads_;
  std::shared_ptr<HostDraws> host_;
  void* cache_;
  std::vector<Token> fed_;
  std::optional<TensorRows> rows_;
  Given given_;
};

}  // namespace

kvp_setup setup_for(const Setup& setup) {
  return {.size = sizeof(kvp_setup),
          .seed = setup.seed,
          .layers = setup.layers,
          .kv_heads = setup.kv_heads,
          .group = setup.group,
          .sequences = setup.sequences,
          .sinks = setup.sinks,
          .recent = setup.recent,
          .budget = setup.budget};
}

std::unique_ptr<Subject> make_plugin_subject(const kvp_plugin& plugin,
                                             const Setup& setup,
                                             const Contract& contract,
                                             const DrawsOf& draws) {
  auto host = std::make_shared<HostDraws>(draws);
  const kvp_setup sizes = setup_for(setup);
  void* cache = nullptr;
  const int status = plugin.create(&sizes, &host->table, &cache);
  if (status != KVP_OK || cache == nullptr) {
    const char* words = plugin.why == nullptr ? nullptr : plugin.why(nullptr);
    throw SubjectFailed("create answered " + std::to_string(status) + " for sizes that have a " +
                        "contract" + (words == nullptr ? "" : ": " + std::string(words)));
  }
  return std::make_unique<PluginSubject>(plugin, Heads{setup, contract.unit}, std::move(host),
                                         cache, std::vector<Token>{});
}

}  // namespace kv::properties
