#include "kvcheck/properties/remote/serve.h"

#include <unistd.h>

#include <array>
#include <boost/json/parse.hpp>
#include <cerrno>
#include <exception>
#include <optional>
#include <utility>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/policies/guarded.h"
#include "kvcheck/properties/history.h"
#include "kvcheck/properties/remote/contract_json.h"
#include "kvcheck/properties/remote/facts_json.h"
#include "kvcheck/properties/remote/request_json.h"

namespace kv::properties {
namespace {

// Lines over two descriptors.
class Lines {
 public:
  Lines(int in, int out) : in_(in), out_(out) {}

  // Nothing at the end.
  std::optional<std::string> read() {
    for (;;) {
      const std::size_t end = text_.find('\n');
      if (end != std::string::npos)
        return std::exchange(text_, text_.substr(end + 1)).substr(0, end);
      std::array<char, 65536> bytes;
      const ssize_t count = ::read(in_, bytes.data(), bytes.size());
      if (count > 0) text_.append(bytes.data(), static_cast<std::size_t>(count));
      if (count == 0 || (count < 0 && errno != EINTR)) return std::nullopt;
    }
  }

  void write(std::string line) {
    line += '\n';
    std::string_view rest = line;
    while (!rest.empty()) {
      const ssize_t count = ::write(out_, rest.data(), rest.size());
      if (count < 0 && errno != EINTR) return;  // the host is gone; the next read ends
      if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
    }
  }

 private:
  int in_;
  int out_;
  std::string text_;
};

// Draws that the host makes.
class AskedDraws final : public Draws {
 public:
  AskedDraws(Lines& lines, std::uint32_t unit) : lines_(lines), unit_(unit) {}

  std::uint64_t below(std::uint64_t bound, Position position, std::uint32_t index) override {
    const boost::json::value value = ask(question("below", position, index).add("bound", bound));
    Complaints complaints;
    const std::uint64_t drawn = JsonAt(value, "draw", complaints).unsigned64("a whole number");
    if (!complaints.lines.empty() || drawn >= bound) throw DrawFailed(wrong_draw);
    return drawn;
  }

  double uniform(Position position, std::uint32_t index) override {
    const boost::json::value value = ask(question("uniform", position, index));
    Complaints complaints;
    const double drawn = JsonAt(value, "draw", complaints).number("a number");
    if (!complaints.lines.empty() || drawn <= 0 || drawn >= 1) throw DrawFailed(wrong_draw);
    return drawn;
  }

 private:
  static constexpr const char* wrong_draw = "the host's draw is not what was asked for";

  [[nodiscard]] JsonObject question(std::string_view kind,
                                    Position position,
                                    std::uint32_t index) const {
    return JsonObject()
        .add("draw", kind)
        .add("unit", std::uint64_t{unit_})
        .add("position", static_cast<std::int64_t>(position))
        .add("index", std::uint64_t{index});
  }

  boost::json::value ask(const JsonObject& question) {
    lines_.write(question.text());
    const auto line = lines_.read();
    boost::system::error_code failed;
    const boost::json::value answer = boost::json::parse(line.value_or("null"), failed);
    const auto* object = answer.if_object();
    const auto* value = object == nullptr ? nullptr : object->if_contains("value");
    return value == nullptr ? boost::json::value() : *value;
  }

  Lines& lines_;
  std::uint32_t unit_;
};

std::string error_line(const std::string& words) {
  return JsonObject().add("error", words).text();
}

// One host in conversation with one family.
class Server {
 public:
  Server(Family& family, Lines& lines) : family_(family), lines_(lines) {}

  std::string answer(const JsonAt& at) {
    const std::string ask = at.need("ask").text("a request");
    if (ask == "hello") return hello();
    if (ask == "contract") return contract(read_setup(at.need("setup"), {}));
    if (ask == "run") {
      const Setup setup = read_setup(at.need("setup"), {});
      return begin(setup, at.need("draws").text("draws") == "ask", at);
    }
    if (ask == "more" && !draws_) return error_line("\"more\" continues a run, and there is none");
    if (ask == "more") return perform(at);
    return error_line("unknown request \"" + ask + "\"");
  }

 private:
  std::string hello() {
    return JsonObject()
        .add("protocol", std::uint64_t{protocol_version})
        .add("name", family_.name())
        .add("draws", family_.uses_draws())
        .add("numbers", true)
        .add("sizes", family_.takes_sizes() ? "any" : "wanted")
        .add_raw("wanted", setup_json(family_.requested()))
        .text();
  }

  std::string contract(const Setup& setup) {
    const auto declared = family_.contract(setup);
    if (!declared) {
      const bool is_wrong = declared.error().kind == Error::Kind::malformed;
      return JsonObject().add(is_wrong ? "error" : "refused", declared.error().message).text();
    }
    return JsonObject().add_raw("contract", contract_json(*declared)).text();
  }

  std::string begin(const Setup& setup, bool asks, const JsonAt& at) {
    branches_.clear();
    draws_ = nullptr;  // nothing to continue if the setup is refused
    shape_.what.setup = setup;
    const auto declared = family_.contract(setup);
    if (!declared) return error_line(declared.error().message);
    shape_.contract = *declared;
    draws_ = counter_draws(setup.seed);
    if (asks) draws_ = [&](std::uint32_t of) { return std::make_unique<AskedDraws>(lines_, of); };
    return perform(at);
  }

  std::string perform(const JsonAt& at) {
    read_stream(at.need("stream"));
    std::string events;
    std::string failure;
    try {
      if (branches_.empty()) branches_.push_back(family_.make(shape_.what.setup, draws_));
      const JsonAt calls = at.need("calls");
      for (std::size_t i = 0; i < calls.size("a list of calls"); ++i) {
        std::string why;
        events += (events.empty() ? "" : ",") + call(calls[i], why);
        if (!why.empty()) break;
      }
    } catch (const std::exception& thrown) {
      failure = thrown.what();
      if (failure.empty()) failure = "it threw an exception without words";
      draws_ = nullptr;  // a cache that failed takes no further calls
    }
    JsonObject object;
    object.add_raw("events", "[" + events + "]");
    if (!failure.empty()) object.add("failure", failure);
    return object.text();
  }

  void read_stream(const JsonAt& at) {
    Stream& stream = shape_.what.stream;
    const auto kind = stream_kind_of(at.need("kind").text("a kind"));
    stream.kind = kind ? *kind : StreamKind::random;
    const auto whole = [&](std::string_view name) {
      return static_cast<std::int32_t>(at.need(name).integer("a number", -1, 0xffffffff));
    };
    stream.seed = static_cast<std::uint32_t>(whole("seed"));
    stream.planted = static_cast<std::uint32_t>(whole("planted"));
    if (at.find("until")) stream.until = whole("until");
    stream.first_sequence = static_cast<std::uint32_t>(whole("first_sequence"));
    stream.disturbed_sequence = whole("disturbed_sequence");
    stream.disturbed_layer = whole("disturbed_layer");
    stream.disturbed_query_head = whole("disturbed_query_head");
    stream.mirrored_group = static_cast<std::uint32_t>(whole("mirrored_group"));
    stream.offset = static_cast<float>(at.need("offset").number("a number"));
  }

  // Does one call; its event. `why` is set if it was refused.
  std::string call(const JsonAt& at, std::string& why) {
    const std::string verb = at.need("do").text("a call");
    const auto branch = static_cast<std::size_t>(at.need("branch").integer("a branch", 0, 4096));
    std::unique_ptr<Subject>& subject = branches_.at(branch);
    if (verb == "feed") {
      const JsonAt ids = at.need("tokens");
      std::vector<Token> tokens;
      for (std::size_t i = 0; i < ids.size("a list of token ids"); ++i) {
        tokens.push_back(read_token(ids[i]));
      }
      const Answer<Facts> answer = subject->feed({tokens, shape_.what.stream});
      if (const auto* facts = std::get_if<Facts>(&answer)) return event({}, *facts, tokens.size());
      why = std::get<Refused>(answer).why;
    } else if (verb != "look") {
      why = operate(verb, at, subject);
      if (why == done) why.clear();
    }
    return event(why, branches_.at(branch)->look(), 0);
  }

  // What a call that feeds nothing comes to: `done`, or why it was refused.
  std::string operate(std::string_view verb, const JsonAt& at, std::unique_ptr<Subject>& subject) {
    constexpr std::int64_t most = std::int64_t{1} << 53;
    if (verb == "reset") return outcome(subject->reset());
    if (verb == "truncate") {
      return outcome(subject->truncate(at.need("length").integer("a length", -most, most)));
    }
    if (verb == "shift") {
      return outcome(subject->shift(at.need("begin").integer("a position", -most, most),
                                    at.need("delta").integer("a number", -most, most)));
    }
    if (verb == "reorder") {
      std::vector<std::uint32_t> from;
      const JsonAt list = at.need("from");
      for (std::size_t i = 0; i < list.size("a list of sequences"); ++i) {
        from.push_back(static_cast<std::uint32_t>(list[i].integer("a sequence", 0, most)));
      }
      return outcome(subject->reorder(from));
    }
    if (verb == "fork") {
      auto copy = subject->fork();
      if (auto* refused = std::get_if<Refused>(&copy)) return refused->why;
      branches_.push_back(std::get<std::unique_ptr<Subject>>(std::move(copy)));
      return done;
    }
    if (verb == "snapshot") {
      const auto bytes = subject->snapshot();
      if (const auto* refused = std::get_if<Refused>(&bytes)) return refused->why;
      std::unique_ptr<Subject> fresh = family_.make(shape_.what.setup, draws_);
      std::string words = outcome(fresh->restore(std::get<std::vector<std::uint8_t>>(bytes)));
      if (words == done) subject = std::move(fresh);
      return words;
    }
    return "the call \"" + std::string(verb) + "\" is not known here";
  }

  static std::string outcome(const Answer<Done>& answer) {
    return std::holds_alternative<Done>(answer) ? done : std::get<Refused>(answer).why;
  }

  std::string event(const std::string& why, const Facts& facts, std::size_t queries) {
    const auto unit_of = [&](const UnitFacts& unit) { return unit_json(unit, queries); };
    JsonObject object;
    if (!why.empty()) object.add("refused", why);
    return object.add_raw("units", json_list(facts.units, unit_of)).text();
  }

  static constexpr const char* done = "\n";  // no reason for a refusal

  Family& family_;
  Lines& lines_;
  History shape_;
  DrawsOf draws_;
  std::vector<std::unique_ptr<Subject>> branches_;
};

}  // namespace

void serve_family(const std::function<Result<std::unique_ptr<Family>>()>& make, int in, int out) {
  Lines lines(in, out);
  const auto family = make();
  std::optional<Server> server;
  if (family) server.emplace(**family, lines);
  while (const auto line = lines.read()) {
    if (!server) {
      lines.write(error_line(family.error().message));
      continue;
    }
    boost::system::error_code failed;
    const boost::json::value value = boost::json::parse(*line, failed);
    Complaints complaints;
    const JsonAt request(value, "request", complaints);
    std::string answer = server->answer(request);
    const auto number = request.find("number");
    if (number) answer = numbered(answer, number->integer("a number", 0, std::int64_t{1} << 53));
    lines.write(complaints.lines.empty() ? answer : error_line(complaints.lines.front()));
  }
}

}  // namespace kv::properties
