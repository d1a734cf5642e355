#include "kvcheck/model/tasks/english_tasks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace kv::model {
namespace {

constexpr std::array<std::string_view, 24> people = {
    "Ada",   "Bruno", "Clara", "David", "Elena", "Farid", "Greta", "Hugo",
    "Ines",  "Jonas", "Kira",  "Leo",   "Mina",  "Noah",  "Olga",  "Pablo",
    "Rania", "Sven",  "Tara",  "Umar",  "Vera",  "Wanda", "Yusuf", "Zoe"};
constexpr std::array<std::string_view, 16> deeds = {
    "repairs",  "paints",  "carries", "describes", "photographs", "cleans", "measures", "sells",
    "collects", "borrows", "draws",   "opens",     "weighs",      "sorts",  "builds",   "hides"};
constexpr std::array<std::string_view, 24> things = {
    "chair",  "lantern", "kettle", "bicycle", "clock",  "ladder", "basket", "mirror",
    "violin", "blanket", "anchor", "wheel",   "candle", "shovel", "drawer", "window",
    "hammer", "teapot",  "carpet", "bucket",  "bridge", "statue", "wagon",  "fence"};
constexpr std::array<std::string_view, 16> places = {
    "in the garden",    "near the harbour", "behind the school", "at the market",
    "beside the river", "in the workshop",  "on the hill",       "under the roof",
    "by the old well",  "in the library",   "at the station",    "across the square",
    "near the bakery",  "on the balcony",   "in the cellar",     "along the wall"};
// Parts of names for what has a number: no sentence of filler has them.
constexpr std::array<std::string_view, 20> kinds = {
    "amber", "crimson", "distant", "eager",  "frozen", "gentle", "hollow",
    "ivory", "jagged",  "lively",  "modest", "narrow", "odd",    "polite",
    "quiet", "rapid",   "silent",  "tender", "urgent", "vivid"};
constexpr std::array<std::string_view, 20> names = {
    "falcon",  "comet",  "maple",  "tunnel", "glacier", "puzzle", "rocket",
    "saddle",  "temple", "walnut", "zephyr", "canyon",  "dragon", "engine",
    "feather", "goblet", "hermit", "island", "jungle",  "kernel"};

std::string text(std::string_view word) {
  return std::string(word);
}

std::string pick(TaskDraws& draws, std::span<const std::string_view> words) {
  return text(draws.one_of(words));
}

std::string number_of(TaskDraws& draws) {
  return std::to_string(10000 + draws.below(90000));
}

std::vector<std::string> different_numbers(TaskDraws& draws, std::size_t count) {
  std::vector<std::string> numbers;
  while (numbers.size() < count) {
    std::string number = number_of(draws);
    if (std::ranges::find(numbers, number) == numbers.end()) numbers.push_back(std::move(number));
  }
  return numbers;
}

std::string filler_sentence(TaskDraws& draws) {
  std::string sentence = pick(draws, people) + " " + pick(draws, deeds);
  sentence += " the " + pick(draws, things);
  return sentence + " " + pick(draws, places) + ".";
}

// So many different names such as "quiet falcon".
std::vector<std::string> different_names(TaskDraws& draws, std::size_t count) {
  std::vector<std::string> out;
  for (const std::size_t i : draws.different(count, kinds.size() * names.size())) {
    out.push_back(text(kinds[i / names.size()]) + " " + text(names[i % names.size()]));
  }
  return out;
}

Result<void> check_others(const TaskRequest& request, std::size_t most) {
  if (request.others <= most) return {};
  return usage_error(request.kind + " knows " + std::to_string(most + 1) +
                     " different names; expected --others of at most " + std::to_string(most));
}

std::string variable(std::size_t name) {
  return "VAR_" + text(names[name]);
}

// The item whose context is the text, with the planted sentences in its record.
Result<PlantedTask> finished(TaskItem item,
                             const PlantedText& planted,
                             const TaskRequest& request,
                             const SentenceLength& length_of) {
  auto context = joined_text(planted, request, length_of);
  if (!context) return context.error();
  item.context = *std::move(context);
  item.stops = {"\n", "."};
  PlantedTask task{.item = std::move(item), .planted = {}};
  for (const Planted& one : planted.planted) task.planted.push_back(one.sentence);
  return task;
}

PlantedText with_filler(TaskDraws& draws) {
  return {.filler = [&draws] { return filler_sentence(draws); }};
}

void sort_by_depth(PlantedText& text) {
  std::ranges::stable_sort(text.planted, {}, &Planted::depth);
}

// One sentence at the request's depth, the others anywhere.
void plant(PlantedText& text, TaskDraws& draws, double depth, std::vector<std::string> sentences) {
  for (std::string& sentence : sentences) {
    const double anywhere = static_cast<double>(draws.below(1000)) / 1000;
    text.planted.push_back({std::move(sentence), text.planted.empty() ? depth : anywhere});
  }
  sort_by_depth(text);
}

}  // namespace

// This question, as those of needle_task and keys_task, is asked and restated in any case.
Result<PlantedTask> passkey_task(const TaskRequest& request, const SentenceLength& length_of) {
  TaskDraws draws(request);
  const std::string key = number_of(draws);
  PlantedText text = with_filler(draws);
  plant(text, draws, request.depth, {"The pass key is " + key + ". Keep " + key + " in mind."});
  return finished(
      {.question = "\nWhich pass key does the text give? The pass key is", .answers = {key}}, text,
      request, length_of);
}

Result<PlantedTask> needle_task(const TaskRequest& request, const SentenceLength& length_of) {
  TaskRequest alone = request;
  alone.others = 0;
  return keys_task(alone, length_of);
}

Result<PlantedTask> keys_task(const TaskRequest& request, const SentenceLength& length_of) {
  if (auto fine = check_others(request, kinds.size() * names.size() - 1); !fine) {
    return fine.error();
  }
  TaskDraws draws(request);
  const auto keys = different_names(draws, request.others + 1);
  const auto numbers = different_numbers(draws, keys.size());
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    sentences.push_back("The number of the " + keys[i] + " is " + numbers[i] + ".");
  }
  PlantedText text = with_filler(draws);
  plant(text, draws, request.depth, sentences);
  return finished({.question = "\nWhat is the number of the " + keys.front() +
                               " in this text? The number of the " + keys.front() + " is",
                   .answers = {numbers.front()}},
                  text, request, length_of);
}

// The answer names the numbers in the order of the text. Token F1 gives part of the score to a part
// of them, in any order.
Result<PlantedTask> needles_task(const TaskRequest& request, const SentenceLength& length_of) {
  constexpr std::size_t most = 99;
  if (request.others > most) {
    return usage_error("needles plants at most " + std::to_string(most + 1) +
                       " numbers; expected --others of at most " + std::to_string(most));
  }
  TaskDraws draws(request);
  const std::string thing = different_names(draws, 1).front();
  const std::string begin = "One number of the " + thing + " is ";
  std::vector<std::string> sentences;
  for (const std::string& number : different_numbers(draws, request.others + 1)) {
    sentences.push_back(begin + number + ".");
  }
  PlantedText text = with_filler(draws);
  plant(text, draws, request.depth, std::move(sentences));
  std::string answer;
  for (const Planted& one : text.planted) {
    const std::string_view number = std::string_view(one.sentence).substr(begin.size());
    answer += (answer.empty() ? "" : ", ") + std::string(number.substr(0, number.size() - 1));
  }
  return finished(
      {.question = "\nWhich numbers of the " + thing +
                   " does the text give, in order? The numbers of the " + thing + " are",
       .answers = {answer}},
      text, request, length_of);
}

Result<PlantedTask> lookup_task(const TaskRequest& request, const SentenceLength& length_of) {
  TaskDraws draws(request);
  const std::size_t all = kinds.size() * names.size();
  const auto order = draws.different(all, all);
  std::size_t next = 0;
  // No two pairs have one key, because the keys of every round after the first have its number.
  const auto key = [&order, &next] {
    const std::size_t round = next / order.size();
    const std::size_t at = order[next++ % order.size()];
    const std::string words = text(kinds[at / names.size()]) + "-" + text(names[at % names.size()]);
    return round == 0 ? words : words + "-" + std::to_string(round + 1);
  };
  const std::string asked = key();
  const std::string value = number_of(draws);
  PlantedText pairs{.filler = [&] {
    const std::string other = key();
    return other + ": " + number_of(draws) + ";";
  }};
  pairs.planted.push_back({asked + ": " + value + ";", request.depth});
  const std::string asks = request.restate ? "\nWhat is the value of " + asked + " above? " : "\n";
  return finished({.question = asks + "The value of " + asked + " above is", .answers = {value}},
                  pairs, request, length_of);
}

Result<PlantedTask> variables_task(const TaskRequest& request, const SentenceLength& length_of) {
  if (auto fine = check_others(request, names.size() - 1); !fine) return fine.error();
  TaskDraws draws(request);
  const auto order = draws.different(request.others + 1, names.size());
  const std::string value = number_of(draws);
  PlantedText text = with_filler(draws);
  const double count = static_cast<double>(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::string from = i == 0 ? value : variable(order[i - 1]);
    // The first assignment is at the depth, the others follow in equal steps.
    const double depth = request.depth + (1 - request.depth) * static_cast<double>(i) / count;
    text.planted.push_back({"Set " + variable(order[i]) + " to " + from + ".", depth});
  }
  const std::string last = variable(order.back());
  const std::string holder = request.restate ? last : "It";
  return finished({.question = "\nWhich number does " + last + " hold? " + holder + " holds",
                   .answers = {value}},
                  text, request, length_of);
}

namespace {

// Nine words of the list: the frequent one, in the last third of the list fewer of it than of a
// rival, and others, each of about one word in 37. They stand in random order, so that neither the
// end of the list nor a pattern gives the answer away.
std::string words_of_list(TaskDraws& draws,
                          const std::vector<std::size_t>& order,
                          bool last_third) {
  std::vector<std::size_t> words(last_third ? 2 : 4, order[0]);
  if (last_third) words.insert(words.end(), 4, order[1]);
  while (words.size() < 9) words.push_back(order[2 + draws.below(order.size() - 2)]);
  std::string line;
  for (const std::size_t next : draws.different(words.size(), words.size())) {
    line += (line.empty() ? "" : " ") + std::string(names[words[next]]);
  }
  return line + ".";
}

}  // namespace

Result<PlantedTask> frequent_task(const TaskRequest& request, const SentenceLength& length_of) {
  const std::string asks = request.restate ? "\nWhich word stands most often in this list? " : "\n";
  // Once to count the sentences that the length takes, then with a last third.
  std::size_t count = std::numeric_limits<std::size_t>::max();
  while (true) {
    TaskDraws draws(request);
    const auto order = draws.different(names.size(), names.size());
    const std::string frequent(names[order[0]]);
    std::size_t made = 0;
    auto task =
        finished({.question = asks + "The word that stands most often in this list is",
                  .answers = {frequent}},
                 {.filler = [&] { return words_of_list(draws, order, 3 * made++ / 2 >= count); }},
                 request, length_of);
    if (!task) return task;
    if (count <= made + 1) {
      task->planted = {frequent, std::string(names[order[1]])};
      return task;
    }
    count = made;
  }
}

}  // namespace kv::model
