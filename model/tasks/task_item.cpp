#include "kvcheck/model/tasks/task_item.h"

#include <xxhash.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/stream_parser.hpp>
#include <optional>
#include <set>

#include "kvcheck/base/packed_bytes.h"
#include "kvcheck/base/text/json_at.h"
#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/repeated_key.h"
#include "kvcheck/model/tokenizer/tokenizer.h"

namespace kv::model {
namespace {

std::string filled_text(const JsonAt& at) {
  std::string text = at.text("a text");
  if (at.is_string() && text.empty()) at.expected("a text that is not empty");
  return text;
}

std::vector<std::string> filled_texts(const JsonAt& at) {
  std::vector<std::string> texts;
  const std::size_t count = at.size("a list of texts");
  for (std::size_t i = 0; i < count; ++i) texts.push_back(filled_text(at[i]));
  return texts;
}

std::vector<std::string> choices_at(const JsonAt& at, const TaskItem& item) {
  std::vector<std::string> choices = filled_texts(at);
  if (choices.size() == 1) at.complain("there is one choice; expected two or more, or none");
  if (!item.answers.empty() && !choices.empty() &&
      std::ranges::find(choices, item.answers.front()) == choices.end()) {
    at.complain("the first answer is not among the choices");
  }
  if (std::set<std::string>(choices.begin(), choices.end()).size() < choices.size()) {
    at.complain("two choices are equal");
  }
  return choices;
}

// A generated answer ends before a stop, so that none can be one with a stop inside. Choices are
// ranked by their losses, which stops do not change.
void check_stops(const TaskItem& item, const JsonAt& answers) {
  if (!item.choices.empty() || item.answers.size() != answers.size("a list of texts")) return;
  for (std::size_t i = 0; i < item.answers.size(); ++i) {
    for (const std::string& stop : item.stops) {
      if (stop.empty() || item.answers[i].find(stop) == std::string::npos) continue;
      answers[i].complain("it has the stop '" + printable_line(stop) +
                          "', before which every generated answer ends; expected answers without "
                          "a stop");
    }
  }
}

TaskItem item_at(const JsonAt& at) {
  TaskItem item;
  at.only_ever({"id", "group", "context", "question", "answers", "choices", "stop", "about"});
  if (!at.is_object()) return item;
  item.id = filled_text(at.need("id"));
  if (const auto group = at.find("group")) item.group = group->text("a text");
  item.context = filled_text(at.need("context"));
  if (const auto question = at.find("question")) item.question = question->text("a text");
  const JsonAt answers = at.need("answers");
  item.answers = filled_texts(answers);
  if (answers.is_array() && item.answers.empty()) answers.complain("there is no answer");
  if (const auto choices = at.find("choices")) item.choices = choices_at(*choices, item);
  item.stops = {"\n"};
  if (const auto stops = at.find("stop")) item.stops = filled_texts(*stops);
  if (answers.is_array()) check_stops(item, answers);
  return item;
}

// The place of the first text that is not UTF-8; empty if there is none.
std::string place_not_utf8(const boost::json::value& value, const std::string& place) {
  std::string found;
  if (const auto* const text = value.if_string()) {
    if (first_invalid_utf8(std::string_view(*text))) found = place;
  } else if (const auto* const list = value.if_array()) {
    for (std::size_t i = 0; i < list->size() && found.empty(); ++i) {
      found = place_not_utf8((*list)[i], place + "[" + std::to_string(i) + "]");
    }
  } else if (const auto* const object = value.if_object()) {
    for (auto field = object->begin(); field != object->end() && found.empty(); ++field) {
      const bool named = !first_invalid_utf8(std::string_view(field->key()));
      found =
          named ? place_not_utf8(field->value(), place + "." + std::string(field->key())) : place;
    }
  }
  return found;
}

Error not_utf8(std::string_view line, const std::string& where, std::size_t byte) {
  boost::json::error_code failed;
  boost::json::parse_options options;
  options.allow_invalid_utf8 = true;
  const auto value = boost::json::parse({line.data(), line.size()}, failed, {}, options);
  const std::string place = failed ? std::string() : place_not_utf8(value, "item");
  return malformed(where + ": " + (place.empty() ? "" : printable_line(place) + ": ") + "byte " +
                   std::to_string(byte) + " of the line is not UTF-8");
}

Result<TaskItem> parse_item(std::string_view line, const std::string& where) {
  if (line.starts_with("\xEF\xBB\xBF")) {
    return malformed(where + " begins with a byte order mark; expected a file without one");
  }
  if (const auto at = first_invalid_utf8(line)) return not_utf8(line, where, *at);
  boost::json::stream_parser parser;
  boost::json::error_code failed;
  const std::size_t used = parser.write_some(line.data(), line.size(), failed);
  if (!failed && used < line.size()) failed = boost::json::error::extra_data;
  if (!failed) parser.finish(failed);
  if (failed) {
    return malformed(where + " is not JSON (" + failed.message() + " at byte " +
                     std::to_string(used) + "); expected an item of a task on each line");
  }
  if (auto once = check_keys(line, where); !once) return once.error();
  const boost::json::value value = parser.release();
  Complaints complaints;
  TaskItem item = item_at(JsonAt(value, "item", complaints));
  if (!complaints.lines.empty()) {
    return malformed(where + ": " + printable_line(complaints.lines.front()));
  }
  return item;
}

// Takes lines off the text, and counts them, up to the next one that is not empty; none if all are.
std::optional<std::string_view> next_item(std::string_view& text, std::size_t& number) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) return line;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<TaskItem>> parse_tasks(std::string_view text, const std::string& name) {
  std::vector<TaskItem> items;
  std::set<std::string> ids;
  std::size_t number = 0;
  while (const auto line = next_item(text, number)) {
    const std::string where = "'" + name + "' line " + std::to_string(number);
    Result<TaskItem> item = parse_item(*line, where);
    if (!item) return item.error();
    if (!ids.insert(item->id).second) {
      return malformed(where + ": item.id: another item has the id '" + printable_line(item->id) +
                       "'; expected one that no other has");
    }
    items.push_back(*std::move(item));
  }
  if (items.empty()) {
    return malformed("'" + name + "' has no items; expected JSON lines, each an item of a task");
  }
  return items;
}

std::size_t line_of_item(std::string_view text, std::size_t index) {
  std::size_t number = 0;
  for (std::size_t i = 0; i <= index; ++i) next_item(text, number);
  return number;
}

std::uint64_t checksum_of(const TaskItem& item) {
  PackedWriter writer;
  const auto add = [&](const std::string& text) {
    writer.number(text.size());
    for (const char c : text) writer.number(static_cast<unsigned char>(c));
  };
  add(item.context);
  add(item.question);
  for (const auto* const list : {&item.answers, &item.choices, &item.stops}) {
    writer.number(list->size());
    for (const std::string& text : *list) add(text);
  }
  const std::vector<std::byte> bytes = writer.take();
  return std::max<std::uint64_t>(1, XXH3_64bits(bytes.data(), bytes.size()));
}

std::string task_line(const TaskItem& item, const std::string& about) {
  JsonObject line;
  line.add("id", item.id);
  if (!item.group.empty()) line.add("group", item.group);
  line.add("context", item.context);
  if (!item.question.empty()) line.add("question", item.question);
  line.add_raw("answers", json_list(item.answers, json_string));
  if (!item.choices.empty()) line.add_raw("choices", json_list(item.choices, json_string));
  if (item.stops != std::vector<std::string>{"\n"}) {
    line.add_raw("stop", json_list(item.stops, json_string));
  }
  if (!about.empty()) line.add_raw("about", about);
  return line.text();
}

}  // namespace kv::model
