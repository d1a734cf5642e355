// Items of tasks as lines of JSON: what is read, what is refused, and where the error points.
#include "kvcheck/model/tasks/task_item.h"

namespace kv::model {
namespace {

using namespace testing;

std::string error_of(const std::string& text) {
  const auto items = parse_tasks(text, "items.jsonl");
  if (items) return "read";
  EXPECT_EQ(std::ranges::count(items.error().message, '\n'), 0);
  return items.error().message;
}

TEST(TaskItem, AllFieldsAreRead) {
  const auto items = parse_tasks(
      "\n"
      R"({"id":"a","group":"g","context":"c d","question":"q","answers":["x","y"],)"
      R"("choices":["z","x"],"stop":["."],"about":{"any":[1]}})"
      "\r\n"
      R"({"id":"b","context":"e","answers":["f"]})",
      "items.jsonl");
  ASSERT_TRUE(items) << items.error().message;
  const TaskItem first{"a", "g", "c d", "q", {"x", "y"}, {"z", "x"}, {"."}};
  const TaskItem second{.id = "b", .context = "e", .answers = {"f"}, .stops = {"\n"}};
  EXPECT_THAT(*items, ElementsAre(first, second));
}

TEST(TaskItem, ALineReadsBackEqual) {
  const TaskItem item{"a\"b", "g", "c\n\xc3\xa9", "q ", {"x", "y"}, {"z", "x"}, {"\n", "."}};
  const TaskItem small{.id = "b", .context = "e", .answers = {"f"}, .stops = {"\n"}};
  const auto items = parse_tasks(task_line(item, "{\"k\":1}") + "\n" + task_line(small), "x");
  ASSERT_TRUE(items) << items.error().message;
  EXPECT_THAT(*items, ElementsAre(item, small));
}

TEST(TaskItem, ErrorsNameTheLineAndTheField) {
  const std::string good = R"({"id":"a","context":"c","answers":["x"]})";
  EXPECT_EQ(error_of("\n \n"),
            "'items.jsonl' has no items; expected JSON lines, each an item of a task");
  EXPECT_THAT(error_of(good + "\n{\"id\":"), HasSubstr("'items.jsonl' line 2 is not JSON"));
  EXPECT_THAT(error_of(good + "\n" + good),
              HasSubstr("line 2: item.id: another item has the id 'a'"));
  EXPECT_THAT(error_of("[]"), HasSubstr("line 1: item: expected an object"));
  EXPECT_THAT(error_of(R"({"context":"c","answers":["x"]})"), HasSubstr("\"id\" is missing"));
  EXPECT_THAT(error_of(R"({"id":"a","answers":["x"]})"), HasSubstr("\"context\" is missing"));
  EXPECT_THAT(error_of(R"({"id":"a","context":"c"})"), HasSubstr("\"answers\" is missing"));
  EXPECT_THAT(error_of(R"({"id":"a","context":"c","answers":[]})"), HasSubstr("no answer"));
  EXPECT_THAT(error_of(R"({"id":"a","context":"","answers":["x"]})"),
              HasSubstr("item.context: expected a text that is not empty"));
  EXPECT_THAT(error_of(R"({"id":"a","context":"c","answers":["x",3]})"),
              HasSubstr("item.answers[1]: expected a text"));
  EXPECT_THAT(error_of(R"({"id":"a","context":"c","answers":["x"],"choice":["x"]})"),
              HasSubstr("choice"));
  EXPECT_THAT(error_of(R"({"id":"a","context":"c","answers":["x"],"choices":["y","z"]})"),
              HasSubstr("item.choices: the first answer is not among the choices"));
  EXPECT_THAT(error_of(R"({"id":"a","context":"c","answers":["x"],"choices":["x"]})"),
              HasSubstr("item.choices: there is one choice"));
  EXPECT_THAT(error_of(R"({"id":"a","context":"c","answers":["x"],"choices":["x","x"]})"),
              HasSubstr("item.choices: two choices are equal"));
  EXPECT_THAT(error_of(R"({"id":"a","context":"c","context":"d","answers":["x"]})"),
              HasSubstr("line 1 has the field 'context' twice in one object"));
  EXPECT_THAT(error_of(R"({"id":"a","context":"c","answers":["x","a.b"],"stop":["."]})"),
              HasSubstr("item.answers[1]: it has the stop '.', before which every generated"));
  EXPECT_THAT(error_of(R"({"id":"a","context":"c","answers":["a\nb"]})"),
              HasSubstr("item.answers[0]: it has the stop"));
  EXPECT_THAT(error_of(good + "\n{\"id\":\"\xff\"}"),
              HasSubstr("line 2: item.id: byte 7 of the line is not UTF-8"));
  EXPECT_THAT(error_of("{\"id\":\"a\",\"answers\":[\"x\",\"y\xc3\"]}"),
              HasSubstr("line 1: item.answers[1]: byte 27 of the line is not UTF-8"));
  EXPECT_THAT(error_of("{\"i\xff\":1}"), HasSubstr("line 1: item: byte 3 of the line"));
  EXPECT_THAT(error_of("{\"id\":\"\xff"), HasSubstr("line 1: byte 7 of the line is not UTF-8"));
  EXPECT_THAT(error_of("\xEF\xBB\xBF" + good), HasSubstr("line 1 begins with a byte order mark"));
}

}  // namespace
}  // namespace kv::model
