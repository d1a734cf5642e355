#include "kvcheck/model/tasks/story_tasks.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kv::model {
namespace {

// The words of model/training/text.py; a test encodes every kind with the bundled tokenizer.
constexpr std::array<std::string_view, 31> names = {
    "anna", "ben",  "carl", "dora", "emil", "fina", "gus",  "hana", "ivan", "jana", "karl",
    "lena", "max",  "nina", "otto", "pia",  "quin", "rosa", "sam",  "tina", "udo",  "vera",
    "will", "xena", "yara", "zeno", "abel", "bela", "cleo", "dirk", "ella"};

struct Item {
  std::string_view name;
  std::array<std::string_view, 12> values;
};

constexpr std::array<Item, 6> items = {{
    {"hat",
     {"red", "blue", "green", "white", "black", "brown", "grey", "pink", "gold", "silver", "purple",
      "orange"}},
    {"pet",
     {"cat", "dog", "bird", "fish", "horse", "mouse", "rabbit", "snake", "goat", "duck", "sheep",
      "frog"}},
    {"drink",
     {"tea", "milk", "water", "juice", "cocoa", "coffee", "lemonade", "cider", "soda", "wine",
      "beer", "broth"}},
    {"town",
     {"rome", "paris", "oslo", "lima", "cairo", "tokyo", "delhi", "quito", "berlin", "vienna",
      "lisbon", "dublin"}},
    {"tool",
     {"hammer", "saw", "axe", "drill", "rake", "spade", "knife", "brush", "pliers", "chisel",
      "wrench", "file"}},
    {"fruit",
     {"apple", "pear", "plum", "peach", "cherry", "grape", "melon", "lemon", "banana", "mango",
      "kiwi", "fig"}},
}};

struct Topic {
  std::string_view name;
  std::array<std::string_view, 12> nouns;
  std::array<std::string_view, 4> verbs;
};

constexpr std::array<Topic, 4> topics = {{
    {"sea",
     {"boat", "wave", "sand", "shell", "gull", "sail", "net", "harbour", "tide", "whale", "island",
      "rope"},
     {"sails", "floats", "drifts", "dives"}},
    {"farm",
     {"barn", "hay", "field", "cow", "plough", "fence", "seed", "tractor", "egg", "corn", "gate",
      "pig"},
     {"digs", "feeds", "plants", "mows"}},
    {"forest",
     {"tree", "leaf", "moss", "path", "owl", "fox", "branch", "root", "log", "fern", "stream",
      "hill"},
     {"walks", "climbs", "hides", "hunts"}},
    {"city",
     {"street", "bus", "shop", "tower", "bridge", "square", "tram", "lamp", "market", "park",
      "corner", "sign"},
     {"rides", "buys", "waits", "hurries"}},
}};

std::string text(std::string_view word) {
  return std::string(word);
}

template <std::size_t count>
std::string pick(TaskDraws& draws, const std::array<std::string_view, count>& words) {
  return text(draws.one_of(std::span<const std::string_view>(words)));
}

struct Fact {
  std::size_t name = 0;
  std::size_t item = 0;
  std::string value{};

  [[nodiscard]] std::string sentence() const {
    return text(names[name]) + " 's " + text(items[item].name) + " is " + value + " .";
  }
};

// As in the texts that the bundled model was trained on.
constexpr std::size_t fewest_people = 4;

// A story about the people of its facts, and some more. All of them act in it.
class Story {
 public:
  explicit Story(const TaskRequest& request)
      : request_(request), draws_(request), topic_(topics[draws_.below(topics.size())]) {}

  TaskDraws& draws() { return draws_; }

  // The first fact is the one that is asked for.
  Result<PlantedTask> task_of(const std::vector<Fact>& facts, const SentenceLength& length_of) {
    for (const Fact& fact : facts) cast_.push_back(fact.name);
    while (cast_.size() < fewest_people) cast_.push_back(draws_.below(names.size()));
    PlantedText story{.opening = "story about the " + text(topic_.name) + " .",
                      .filler = [this] { return filler(); }};
    for (const Fact& fact : facts) {
      const double anywhere = static_cast<double>(draws_.below(1000)) / 1000;
      const bool asked = story.planted.empty();
      story.planted.push_back({fact.sentence(), asked ? request_.depth : anywhere});
    }
    std::ranges::stable_sort(story.planted, {}, &Planted::depth);
    PlantedTask task;
    for (const Planted& one : story.planted) task.planted.push_back(one.sentence);
    auto context = joined_text(story, request_, length_of);
    if (!context) return context.error();
    const Fact& asked = facts.front();
    task.item.context = *std::move(context);
    // The mark belongs to the answer: the logits of an answer's first token are those of the last
    // token of the question, which a cache that is compressed after the question still sees whole.
    // A model looks the value up at the mark, so only a restated question has a query that does.
    const std::string asks =
        " what is " + text(names[asked.name]) + " 's " + text(items[asked.item].name);
    task.item.question = request_.restate ? asks + " ?" + asks : asks;
    task.item.answers = {"? " + asked.value};
    for (const std::string_view value : items[asked.item].values) {
      task.item.choices.push_back("? " + text(value));
    }
    task.item.stops = {"."};
    return task;
  }

 private:
  std::string filler() {
    const std::string name = text(names[cast_[draws_.below(cast_.size())]]);
    const std::string noun = pick(draws_, topic_.nouns);
    const std::string other = pick(draws_, topic_.nouns);
    const std::string verb = pick(draws_, topic_.verbs);
    switch (draws_.below(4)) {
      case 0:
        return name + " " + verb + " near the " + noun + " .";
      case 1:
        return name + " sees a " + noun + " and a " + other + " .";
      case 2:
        return "the " + noun + " is near the " + other + " .";
      default:
        return name + " " + verb + " with the " + noun + " .";
    }
  }

  const TaskRequest& request_;
  TaskDraws draws_;
  const Topic& topic_;
  std::vector<std::size_t> cast_{};
};

Result<void> check_others(const TaskRequest& request, std::size_t most) {
  if (request.others <= most) return {};
  return usage_error(request.kind + " has " + std::to_string(most + 1) +
                     " different facts; expected --others of at most " + std::to_string(most));
}

}  // namespace

Result<PlantedTask> story_fact_task(const TaskRequest& request, const SentenceLength& length_of) {
  TaskRequest alone = request;
  alone.others = 0;
  return story_facts_task(alone, length_of);
}

Result<PlantedTask> story_facts_task(const TaskRequest& request, const SentenceLength& length_of) {
  const std::size_t pairs = names.size() * items.size();
  if (auto fine = check_others(request, pairs - 1); !fine) return fine.error();
  Story story(request);
  std::vector<Fact> facts;
  for (const std::size_t pair : story.draws().different(request.others + 1, pairs)) {
    Fact fact{.name = pair / items.size(), .item = pair % items.size()};
    fact.value = pick(story.draws(), items[fact.item].values);
    facts.push_back(std::move(fact));
  }
  return story.task_of(facts, length_of);
}

// Values differ, so that no other fact has the right answer.
Result<PlantedTask> story_names_task(const TaskRequest& request, const SentenceLength& length_of) {
  if (auto fine = check_others(request, items.front().values.size() - 1); !fine) {
    return fine.error();
  }
  Story story(request);
  TaskDraws& draws = story.draws();
  const std::size_t item = draws.below(items.size());
  const std::size_t count = request.others + 1;
  const auto people = draws.different(count, names.size());
  const auto values = draws.different(count, items[item].values.size());
  std::vector<Fact> facts;
  for (std::size_t i = 0; i < count; ++i) {
    facts.push_back(
        {.name = people[i], .item = item, .value = text(items[item].values[values[i]])});
  }
  return story.task_of(facts, length_of);
}

}  // namespace kv::model
