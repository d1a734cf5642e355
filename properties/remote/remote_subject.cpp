#include "kvcheck/properties/remote/remote_subject.h"

#include <algorithm>

#include "kvcheck/properties/remote/request_json.h"

namespace kv::properties {
namespace {

// The process that a subject and its forks live in.
struct Home {
  explicit Home(const RemoteSubjectOptions& asked) : options(asked) {}

  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  ~Home() {
    if (conversation) options.pool->give(std::move(conversation));
  }

  RemoteSubjectOptions options;
  std::unique_ptr<Conversation> conversation{};
  std::uint32_t branches = 1;
  bool begun = false;
};

class RemoteSubject final : public Subject {
 public:
  RemoteSubject(std::shared_ptr<Home> home, std::uint32_t branch, std::vector<Token> fed)
      : home_(std::move(home)), branch_(branch), fed_(std::move(fed)) {}

  Answer<Facts> feed(const Feed& feed) override {
    Asked asked = this->asked(Call::Kind::feed, 0);
    asked.fed.assign(feed.tokens.begin(), feed.tokens.end());
    const auto text = [&](const RunRequest& request) {
      return call_json(request, asked, home_->options.logits);
    };
    Reported reported = report_to(text, feed.stream, asked.fed.size());
    if (reported.refused) return Refused{*reported.refused};
    fed_.insert(fed_.end(), asked.fed.begin(), asked.fed.end());
    return std::move(reported.facts);
  }

  Facts look() override {
    const auto text = [&](const RunRequest&) { return look_json(branch_); };
    return report_to(text, {}, 0).facts;
  }

  Answer<Done> reset() override {
    if (auto refused = refusal(asked(Call::Kind::reset, 0))) return Refused{*refused};
    fed_.clear();
    return Done{};
  }

  Answer<std::unique_ptr<Subject>> fork() override {
    if (auto refused = refusal(asked(Call::Kind::fork, 0))) return Refused{*refused};
    return std::make_unique<RemoteSubject>(home_, home_->branches++, fed_);
  }

  Answer<Done> truncate(std::int64_t length) override {
    if (auto refused = refusal(asked(Call::Kind::truncate, length))) return Refused{*refused};
    keep_first(length, fed_);
    return Done{};
  }

  Answer<Done> reorder(std::span<const std::uint32_t> from) override {
    Asked asked = this->asked(Call::Kind::reorder, 0);
    asked.call.from.assign(from.begin(), from.end());
    return done(asked);
  }

  Answer<Done> shift(std::int64_t begin, std::int64_t delta) override {
    if (begin != static_cast<std::int64_t>(home_->options.setup.sinks)) {
      return Refused{"only what follows the sinks can be shifted"};
    }
    return done(asked(Call::Kind::shift, -delta));
  }

 private:
  struct Reported {
    std::optional<std::string> refused;
    Facts facts;
  };

  [[nodiscard]] Asked asked(Call::Kind kind, std::int64_t amount) const {
    return {.call = {.kind = kind, .branch = branch_, .amount = amount}, .branch = fed_};
  }

  Answer<Done> done(const Asked& asked) {
    if (auto refused = refusal(asked)) return Refused{*refused};
    return Done{};
  }

  std::optional<std::string> refusal(const Asked& asked) {
    return report_to([&](const RunRequest& request) { return call_json(request, asked, false); },
                     {}, 0)
        .refused;
  }

  template <typename Text>
  Reported report_to(const Text& text, const Stream& stream, std::size_t queries) {
    Home& home = *home_;
    if (!home.conversation) {
      auto conversation = home.options.pool->take();
      if (!conversation) throw SubjectFailed(conversation.error().message);
      home.conversation = *std::move(conversation);
    }
    const RunRequest request{.setup = home.options.setup,
                             .stream = stream,
                             .first = !home.begun,
                             .own_seed = !home.options.draws};
    const History shape{.what = {home.options.setup, stream, {}},
                        .contract = home.options.contract};
    Reported reported;
    std::string failure;
    const auto done = home.conversation->ask(
        run_request(request, text(request)), home.options.draws ? &home.options.draws : nullptr,
        [&](const JsonAt& at) {
          if (const auto failed = at.find("failure")) {
            failure = failed->text("what went wrong");
            return;
          }
          const JsonAt events = at.need("events");
          if (events.size("a list of events") != 1) return events.expected("one event");
          reported.refused = read_refusal(events[0]);
          reported.facts = read_facts(events[0], reported.refused ? 0 : queries, shape);
        });
    home.begun = true;
    if (!done) throw SubjectFailed(done.error().message);
    if (!failure.empty()) throw SubjectFailed(failure);
    return reported;
  }

  std::shared_ptr<Home> home_;
  std::uint32_t branch_;
  std::vector<Token> fed_;
};

}  // namespace

Result<std::unique_ptr<Conversation>> ConversationPool::take() {
  bool greets = false;
  RemoteOptions options;
  double pace = 0;
  {
    const std::scoped_lock lock(mutex_);
    greets = greets_;
    options = options_;
    pace = pace_;
    if (!waiting_.empty()) {
      auto last = std::move(waiting_.back());
      waiting_.pop_back();
      last->wait_at_most(options_.seconds);
      last->expect_pace(pace_);
      return last;
    }
  }
  auto child = start_();
  if (!child) return child.error();
  auto conversation = std::make_unique<Conversation>(*std::move(child), options);
  conversation->expect_pace(pace);
  if (greets) {
    if (const auto hello = say_hello(*conversation); !hello) return hello.error();
  }
  return conversation;
}

void ConversationPool::give(std::unique_ptr<Conversation> conversation) {
  const std::scoped_lock lock(mutex_);
  slowest_ = std::max(slowest_, conversation->slowest_seconds());
  pace_ = std::max(pace_, conversation->pace());
  if (conversation->usable()) waiting_.push_back(std::move(conversation));
}

void ConversationPool::greet_newcomers() {
  const std::scoped_lock lock(mutex_);
  greets_ = true;
}

void ConversationPool::lose_patience() {
  constexpr double least = 1;
  constexpr double times = 10;
  const std::scoped_lock lock(mutex_);
  options_.seconds = std::min(options_.seconds, std::max(least, times * slowest_));
}

std::unique_ptr<Subject> make_remote_subject(const RemoteSubjectOptions& options) {
  return std::make_unique<RemoteSubject>(std::make_shared<Home>(options), 0, std::vector<Token>{});
}

}  // namespace kv::properties
