#include <boost/json/parse.hpp>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/properties/remote/contract_json.h"
#include "kvcheck/properties/remote/remote_family.h"
#include "kvcheck/properties/remote/request_json.h"

namespace kv::properties {
namespace {

constexpr std::size_t most_complaints = 5;  // reported of one answer
constexpr std::size_t most_shown = 200;     // characters of an answer

std::string shown(const std::string& answer) {
  return answer.size() <= most_shown ? answer : answer.substr(0, most_shown) + "...";
}

// Answers {"draw":"below","unit":0,"bound":5,"position":7,"index":0} with {"value":3}.
std::string drawn(const JsonAt& at, const DrawsOf& draws) {
  at.only({"draw", "unit", "bound", "position", "index"});
  constexpr std::int64_t most = 0xffffffff;
  const std::string kind = at.need("draw").text("\"below\" or \"uniform\"");
  const auto unit = static_cast<std::uint32_t>(at.need("unit").integer("a unit", 0, most));
  const Position position = static_cast<Position>(
      at.need("position").integer("a position", 0, std::numeric_limits<std::int32_t>::max()));
  const auto found = at.find("index");
  const auto index =
      static_cast<std::uint32_t>(found ? found->integer("a draw's number", 0, most) : 0);
  const std::unique_ptr<Draws> source = draws(unit);
  if (kind == "uniform") {
    return JsonObject().add("value", source->uniform(position, index)).text();
  }
  if (kind != "below") at.need("draw").expected("\"below\" or \"uniform\"");
  const std::uint64_t bound = at.need("bound").unsigned64("a whole number");
  if (bound == 0) at.complain("the bound must be at least 1");
  const std::uint64_t value = bound == 0 ? 0 : source->below(bound, position, index);
  return JsonObject().add("value", value).text();
}

Result<void> judged(const Complaints& complaints, const std::string& answer) {
  if (complaints.lines.empty()) return {};
  std::string sentence = "the answer breaks the protocol: ";
  for (std::size_t i = 0; i < complaints.lines.size() && i < most_complaints; ++i) {
    sentence += (i == 0 ? "" : "; ") + complaints.lines[i];
  }
  const std::size_t left =
      complaints.lines.size() - std::min(complaints.lines.size(), most_complaints);
  if (left > 0) sentence += "; and " + std::to_string(left) + " more";
  return malformed(sentence + "\nthe answer was: " + shown(answer));
}

}  // namespace

Result<void> Conversation::ask(std::string_view request,
                               const DrawsOf* draws,
                               const std::function<void(const JsonAt&)>& read,
                               double work) {
  Result<void> answered = ask_once(request, draws, read, work);
  // After an answer that cannot be read, the next one may belong to any question.
  if (!answered) usable_ = false;
  return answered;
}

// A right subject may be so slow that a large case takes longer than the limit: what it took for
// smaller ones says so.
double Conversation::patience(double work) const {
  if (!started_) return options_.start_seconds;
  constexpr double times = 4;
  constexpr double most = 120;
  return std::max(options_.seconds, std::min(most, times * pace_ * work));
}

std::string Conversation::unasked() {
  std::string said = shown(child_->unasked());
  if (!said.empty()) usable_ = false;
  return said;
}

std::string Conversation::take_number(boost::json::value& answer) const {
  if (!numbered_ || !answer.is_object()) return {};
  const auto found = answer.as_object().find("number");
  const std::string asked = std::to_string(number_);
  if (found == answer.as_object().end() || !found->value().is_int64()) {
    return "the answer to request " + asked + " has no number, though hello says numbers";
  }
  const std::int64_t number = found->value().as_int64();
  answer.as_object().erase(found);
  if (number == number_) return {};
  if (number > number_) {
    return "an answer to request " + std::to_string(number) +
           ", which was not made; the last was request " + asked;
  }
  return "a superfluous line: one more answer to request " + std::to_string(number) +
         ", where the one to request " + asked + " was expected";
}

Result<void> Conversation::ask_once(std::string_view request,
                                    const DrawsOf* draws,
                                    const std::function<void(const JsonAt&)>& read,
                                    double work) {
  std::string line(request);
  if (numbered_) line = numbered(request, ++number_);
  for (;;) {
    const Result<std::string> answer = child_->ask(line, patience(work), options_.longest_line);
    if (!answer) return answer.error();
    constexpr double slow = 0.2;  // less may be the machine's doing
    if (started_ && work > 0 && child_->last_seconds() >= slow) {
      expect_pace(child_->last_seconds() / work);
    }
    started_ = true;
    boost::system::error_code failed;
    boost::json::value value = boost::json::parse(*answer, failed);
    if (failed) {
      return malformed("the answer is no JSON (" + failed.message() + "): " + shown(*answer));
    }
    Complaints complaints{.strict = options_.strict, .lines = {}};
    const bool is_draw = value.is_object() && value.as_object().contains("draw");
    if (!is_draw) {
      const std::string wrong = take_number(value);
      if (!wrong.empty()) return malformed(wrong + "\nthe line was: " + shown(*answer));
    }
    const JsonAt at(value, "answer", complaints);
    const bool draws_now = draws != nullptr && is_draw;
    if (draws_now) {
      line = drawn(at, *draws);
    } else if (const auto error = at.find("error")) {
      return malformed("the subject's process says: " + error->text("what is wrong"));
    } else {
      read(at);
    }
    Result<void> right = judged(complaints, *answer);
    if (!right || !draws_now) return right;
  }
}

Result<Hello> say_hello(Conversation& conversation) {
  Hello hello;
  const auto reported = conversation.ask(hello_request(), nullptr, [&](const JsonAt& at) {
    at.only_ever({"protocol", "name", "draws", "logits", "sizes", "wanted", "numbers"});
    const JsonAt version = at.need("protocol");
    static_cast<void>(version.integer("protocol " + std::to_string(protocol_version),
                                      protocol_version, protocol_version));
    hello.name = at.need("name").text("a name");
    if (const auto field = at.find("draws")) hello.draws = field->boolean("a flag");
    if (const auto field = at.find("logits")) hello.logits = field->boolean("a flag");
    if (const auto field = at.find("numbers")) hello.numbers = field->boolean("a flag");
    if (const auto field = at.find("wanted")) hello.requested = read_setup(*field, hello.requested);
    if (const auto field = at.find("sizes")) {
      const std::string word = field->text("\"any\" or \"wanted\"");
      hello.sizes = word != "wanted";
      if (word != "any" && word != "wanted") field->expected("\"any\" or \"wanted\"");
    }
  });
  if (!reported) return reported.error();
  if (hello.numbers) conversation.expect_numbers();
  return hello;
}

Result<Declared> ask_contract(Conversation& conversation,
                              const Setup& setup,
                              const std::string& name) {
  Declared declared;
  const auto reported = conversation.ask(contract_request(setup), nullptr, [&](const JsonAt& at) {
    at.only_ever({"contract", "refused"});
    if (const auto why = at.find("refused")) {
      declared.refused = why->text("why");
    } else {
      declared.contract = read_contract(at.need("contract"), setup, name);
    }
  });
  if (!reported) return reported.error();
  return declared;
}

}  // namespace kv::properties
