// The rules about fuzz targets, over the whole tree and each with a planted violation.
#include "kvcheck/tests/tidy/parser_rules.h"

#include "kvcheck/tests/tidy/whole_tree.h"

namespace kv::tidy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

const std::vector<ParserWithoutTarget> exempt = {
    {"ArchiveMember::open", "open_trace"},
    {"ArchiveMember::open_named", "open_trace"},
    {"LateFile::open", "", "it opens a file to write to"},
    {"MappedFile::open", "", "it maps bytes and looks at none of them"},
    {"PassFile::open", "", "it reads a note of its own with a checksum, and no other bytes"},
    {"PlotNames::read", "parse_figure_names"},
    {"RecordedInput::open", "", "it reads bytes and looks at none of them"},
    {"Spool::open_named", "", "it opens a file to write to"},
    {"SweepFile::open", "open_to_read"},
    {"TensorFiles::open", "open_model"},
    {"load_plugin", "", "it runs the code of a library"},
    {"load_policies", "", "it runs the code of a library"},
    {"open_gguf", "open_model"},
    {"open_gguf_model", "open_model"},
    {"open_gguf_tokenizer", "open_tokenizer"},
    {"open_hugging_face", "open_model"},
    {"open_llama2c", "open_model"},
    {"open_source_dump", "open_dump"},
    {"open_to_write", "open_to_read"},
    {"open_tokenizer_json", "open_tokenizer"},
    {"parse_npy_count", "open_trace"},
    {"read_counts", "judge_file"},
    {"read_entry", "judge_file"},
    {"read_npy_dump", "open_trace"},
    {"read_npz_dump", "open_trace"},
    {"read_npz_steps", "open_trace"},
    {"read_query_facts", "judge_file"},
    {"read_rows", "judge_file"},
    {"read_schema", "open_trace"},
    {"read_spec_text", "parse_spec"},
    {"read_token", "read_unit"},
    {"read_transcript", "open_trace"},
    {"read_visible", "judge_file"},
};

TEST(Tidy, EveryParserIsFuzzed) {
  EXPECT_THAT(parsers_without_target(tree(), exempt), IsEmpty());
}

TEST(Tidy, EveryFuzzTargetHasACorpus) {
  EXPECT_THAT(targets_without_corpus(tree(), paths()), IsEmpty());
}

TEST(TidyRule, FindsTheParsersOfTheTree) {
  EXPECT_THAT(parsers_in(tree()),
              IsSupersetOf({"open_trace", "parse_safetensors", "parse_spec", "parse_synthetic",
                            "open_model", "parse_config", "parse_tokenizer_json", "read_run",
                            "parse_kill_matrix", "parse_loss_log", "read_contract", "read_facts",
                            "parse_case", "Arguments::parse"}));
}

TEST(TidyRule, TellsParsersFromOtherFunctions) {
  const auto parsers = [](std::string text) { return parsers_in({{"sim/a.h", std::move(text)}}); };
  EXPECT_THAT(parsers("Result<A> parse_a(std::string_view text);"), ElementsAre("parse_a"));
  EXPECT_THAT(parsers("Result<A> read_a(\n    const std::string& path,\n    int b);"),
              ElementsAre("read_a"));
  EXPECT_THAT(parsers("A read_a(const JsonAt& at);"), ElementsAre("read_a"));
  EXPECT_THAT(
      parsers("struct B {};\nclass A {\n  static Result<A> open(const std::string& x);\n};"),
      ElementsAre("A::open"));
  EXPECT_THAT(parsers("// Result<A> parse_a(std::string_view text);\n"), IsEmpty());
  EXPECT_THAT(parsers("Result<A> loaded(std::string_view text);"), IsEmpty());
  EXPECT_THAT(parsers("Result<A> load(Position query);"), IsEmpty());
  EXPECT_THAT(parsers("Result<A> read(std::string_view text);"), IsEmpty());
  EXPECT_THAT(parsers("bool read_a(std::string_view text);"), IsEmpty());
  EXPECT_THAT(parsers("inline B f() { return read_a(std::string_view(x)); }"), IsEmpty());
  EXPECT_THAT(parsers_in({{"tests/a.h", "Result<A> parse_a(std::string_view text);"}}), IsEmpty());
}

TEST(TidyRule, FindsAParserWithoutATarget) {
  const SourceFile header = {"sim/a.h", "Result<A> parse_a(std::string_view text);"};
  const SourceFile target = {"fuzz/targets/a.cpp", "bool a(Input in) { return parse_a(text); }"};
  const SourceFile comment = {"fuzz/targets/a.cpp", "// parse_a(text)\n"};
  EXPECT_THAT(parsers_without_target({header, target}, {}), IsEmpty());
  for (const std::vector<SourceFile>& files :
       {std::vector<SourceFile>{header}, {header, comment}, {header, {"sim/b.cpp", target.text}}}) {
    EXPECT_THAT(parsers_without_target(files, {}),
                ElementsAre(HasSubstr("parse_a: no fuzz target calls it")));
    EXPECT_THAT(parsers_without_target(files, {{"parse_a", "", "a reason"}}), IsEmpty());
  }
}

TEST(TidyRule, FindsAListOfExemptParsersThatIsOld) {
  const SourceFile header = {"sim/a.h", "Result<A> parse_a(std::string_view text);"};
  const SourceFile target = {"fuzz/targets/a.cpp", "bool a(Input in) { return parse_a(text); }"};
  EXPECT_THAT(parsers_without_target({header, target}, {{"parse_a", "", "a reason"}}),
              ElementsAre(HasSubstr("a fuzz target calls it")));
  EXPECT_THAT(parsers_without_target({header, target}, {{"parse_b", "parse_a"}}),
              ElementsAre(HasSubstr("no header declares such a parser")));
  EXPECT_THAT(parsers_without_target({header}, {{"parse_a", "parse_c"}}),
              ElementsAre(HasSubstr("through 'parse_c', which no target calls")));
  EXPECT_THAT(parsers_without_target({header}, {{"parse_a", ""}}).size(), 1);
}

TEST(TidyRule, FindsATargetWithoutACorpus) {
  const std::vector<SourceFile> files = {
      {"fuzz/target_table.cpp", "constexpr a = {{\n    {\"npy\", 64, npy},\n}};\n"}};
  EXPECT_THAT(targets_without_corpus(files, {"fuzz/corpus/npy/a"}), IsEmpty());
  EXPECT_THAT(targets_without_corpus(files, {"fuzz/corpus/npy"}),
              ElementsAre("fuzz/corpus/npy: has no input"));
  EXPECT_THAT(targets_without_corpus(files, {"fuzz/corpus/npy/a", "fuzz/corpus/npz/a"}),
              ElementsAre("fuzz/corpus/npz: is no target"));
}

}  // namespace
}  // namespace kv::tidy
