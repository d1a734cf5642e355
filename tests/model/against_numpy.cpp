#include "kvcheck/tests/model/against_numpy.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv::model {
namespace {

// Records which tokens each query saw.
class Witness final : public AttentionObserver {
 public:
  void on_row(std::size_t layer,
              std::size_t head,
              Position query,
              const Visible& visible,
              std::span<const float> mass) override {
    EXPECT_EQ(mass.size(), visible.size());
    lines_ += std::to_string(layer) + " " + std::to_string(head) + " " + std::to_string(query);
    for (Position p = visible.sinks.first; p < visible.sinks.last; ++p) add(p);
    for (const Position p : visible.middle) add(p);
    for (Position p = visible.recent.first; p < visible.recent.last; ++p) add(p);
    lines_ += "\n";
  }

  [[nodiscard]] const std::string& lines() const { return lines_; }

 private:
  void add(Position p) { lines_ += " " + std::to_string(p); }

  std::string lines_;
};

std::vector<TokenId> some_tokens(std::size_t count) {
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < count; ++i)
    tokens.push_back(static_cast<TokenId>(i * i * 7 % 31 + 1));
  return tokens;
}

// Runs one case and writes down what the reference needs; gives the folder.
std::string write_case(const LanguageModel& model, const NumpyCase& requested, std::size_t index) {
  const Spec spec = parse_spec(requested.spec).value();
  Witness witness;
  DecoderOptions options = requested.options;
  options.observer = &witness;
  options.length = requested.tokens;
  Decoder decoder = Decoder::create(model, spec, options).value();
  const std::vector<TokenId> tokens = some_tokens(requested.tokens);
  std::string text;
  std::string logits;
  for (const TokenId token : tokens) text += std::to_string(token) + " ";
  for (std::size_t at = 0; at < tokens.size(); at += spec.chunk) {
    const std::size_t size = std::min<std::size_t>(spec.chunk, tokens.size() - at);
    EXPECT_TRUE(decoder.feed(std::span(tokens).subspan(at, size)));
    const auto bytes = std::as_bytes(decoder.logits());
    logits.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  std::string folder = test::fresh_folder("forward-" + std::to_string(index));
  test::write_into(folder, "tokens.txt", text);
  test::write_into(folder, "visible.txt", witness.lines());
  test::write_into(folder, "positions.txt", are_ranks(spec.positions) ? "in-cache" : "absolute");
  test::write_into(folder, "logits.bin", logits);
  return folder;
}

}  // namespace

bool agrees(const test::SmallModel& small, const std::vector<NumpyCase>& cases, bool report_lies) {
  const std::string folder = small.write("forward-model");
  return agrees(folder, open_model(folder).value(), cases, report_lies);
}

bool agrees(const std::string& folder,
            const LanguageModel& model,
            const std::vector<NumpyCase>& cases,
            bool report_lies) {
  std::string command = test::python_with_numpy() +
                        " " KVCHECK_SOURCE_DIR "/tests/model/reference_model.py " + folder;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string written = write_case(model, cases[i], i);
    if (report_lies) test::write_into(written, "positions.txt", "absolute");
    command += " " + written + " " + std::to_string(cases[i].bound);
  }
  if (report_lies) command += " 2>/dev/null";
  return std::system(command.c_str()) == 0;
}

bool run_python(const std::string& script, const std::string& arguments) {
  const std::string command =
      test::python_with_numpy() + " " KVCHECK_SOURCE_DIR "/tests/model/" + script + " " + arguments;
  return std::system(command.c_str()) == 0;
}

void NumpyTest::SetUp() {
  if (test::python_with_numpy().empty()) GTEST_SKIP() << "no python3 with numpy on this machine";
}

}  // namespace kv::model
