#include "kvcheck/cli/options/memory.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <thread>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/paths.h"

namespace kv::cli {
namespace {

using namespace testing;
using test::Ran;
using test::run_shell;

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

TEST(SizeText, HasThreeDigitsAndAUnit) {
  EXPECT_EQ(size_text(0), "0 bytes");
  EXPECT_EQ(size_text(1023), "1023 bytes");
  EXPECT_EQ(size_text(1536), "1.5 KiB");
  EXPECT_EQ(size_text(200 * mib), "200 MiB");
  EXPECT_EQ(size_text(1023 * mib), "1.0 GiB");
  EXPECT_EQ(size_text(~std::uint64_t{0}), "16777216 TiB");
}

std::string refusal(const std::string& size, std::span<const MemoryNeed> needs) {
  static constexpr std::array<Option, 1> table = {memory_option};
  const std::vector<std::string> words = {"--memory", size};
  const auto arguments = Arguments::parse(table, words);
  const Result<void> fits = check_memory(*arguments, needs);
  return fits ? "fits" : fits.error().message;
}

TEST(CheckMemory, AddsAllAndNamesTheLargest) {
  const std::vector<MemoryNeed> needs = {{"a", mib}, {"b", 2 * mib}, {"c", mib}};
  EXPECT_EQ(refusal("4M", needs), "fits");
  EXPECT_EQ(refusal("4095k", needs),
            "this may need 4.0 MiB of memory, 2.0 MiB of it for b; expected at most 4.0 MiB, as "
            "--memory says");
  EXPECT_EQ(refusal("1", needs),
            "this may need 4.0 MiB of memory, 2.0 MiB of it for b; expected at most 1 bytes, as "
            "--memory says");
  const std::vector<MemoryNeed> beyond = {{"a", ~std::uint64_t{0}}, {"b", 2}};
  EXPECT_THAT(refusal("16000000T", beyond), HasSubstr("for a; expected at most"));
}

TEST(CheckMemory, RefusesWhatIsNoSize) {
  const std::vector<MemoryNeed> needs = {{"a", 1}};
  for (const char* const size :
       {"0", "M", "-1", "1.5G", "4GB", "99999999999999999999", "17000000T"}) {
    EXPECT_THAT(refusal(size, needs), HasSubstr("--memory is")) << size;
  }
}

// The most that the program used at one time, in bytes.
std::uint64_t peak_of(const std::string& arguments) {
  const std::string line = "cd '" KVCHECK_SOURCE_DIR "' && exec " KVCHECK_PROGRAM " " + arguments +
                           " --quiet >/dev/null";
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    ::_exit(127);
  }
  // The usage that wait4() returns includes this process's, from before the child's exec.
  std::uint64_t peak = 0;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    std::ifstream file("/proc/" + std::to_string(child) + "/status");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::uint64_t kib = 0;
    const bool is_program = text.starts_with("Name:\tkvcheck\n");
    const std::size_t at = text.find("VmHWM:");
    if (is_program && at != std::string::npos &&
        std::sscanf(text.c_str() + at, "VmHWM: %lu", &kib) == 1) {
      peak = std::max(peak, kib * 1024);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(status, 0) << line;
  EXPECT_GT(peak, 0U);
  return peak;
}

// What the command says that it may need.
std::uint64_t planned_by(const std::string& arguments) {
  const Ran ran = run_shell("cd '" KVCHECK_SOURCE_DIR "'; $K " + arguments + " --memory 10M");
  EXPECT_EQ(ran.status, 2) << ran.err;
  double size = 0;
  std::array<char, 4> unit{};
  const std::size_t at = ran.err.find("may need ");
  if (at == std::string::npos ||
      std::sscanf(ran.err.c_str() + at, "may need %lf %3s", &size, unit.data()) != 2) {
    ADD_FAILURE() << ran.err;
    return 0;
  }
  return static_cast<std::uint64_t>(size * std::pow(1024, std::string("KMGT").find(unit[0]) + 1));
}

// A limit that runs exceed protects nothing, and one far above them refuses what fits.
class PlannedMemory : public TestWithParam<const char*> {};

TEST_P(PlannedMemory, IsMoreThanTheRunTakesAndNotFarMore) {
  const std::string arguments = GetParam();
  const std::uint64_t planned = planned_by(arguments);
  std::uint64_t peak = peak_of(arguments);
  // On a busy machine the threads of one run may not hold their caches at the same time.
  for (int more = 0; more < 4 && planned > 3 * peak + 48 * mib; ++more) {
    peak = std::max(peak, peak_of(arguments));
  }
  EXPECT_LE(peak, planned);
  EXPECT_LE(planned, 3 * peak + 48 * mib);
}

INSTANTIATE_TEST_SUITE_P(
    Of,
    PlannedMemory,
    Values(
        "replay traces/data/tinystories-2m.qkv.safetensors --policy random --budget 64 --seeds "
        "600 --threads 2",
        "replay traces/data/tinystories-2m.qkv.safetensors --policy all --budget 64 --oracle "
        "--threads 4",
        "replay traces/data/tinystories-2m.qkv.safetensors --policy 'random;unit=model' --budget "
        "64 --seeds 200 --threads 7",
        "eval --model model/data --text model/data/held-out.txt --tokens 4000 --policy dense "
        "--policy h2o --budget 64 --threads 2",
        "eval --model model/data --text model/data/held-out.txt --tokens 3000 --policy dense "
        "--chunk 1000 --threads 1",
        "speed --model model/data --length 4000 --tokens 2 --policy dense --chunk 64"));

// A Llama of these layers, whose keys and values of 1,500 tokens are 3 MB a layer, and a text.
std::string deep_llama(std::size_t layers) {
  test::SmallModel model;
  model.config =
      R"({"model_type":"llama","hidden_size":16,"intermediate_size":16,"num_attention_heads":1,)"
      R"("head_dim":256,"max_position_embeddings":2048,"rms_norm_eps":1e-05,"vocab_size":32,)"
      R"("num_hidden_layers":)" +
      std::to_string(layers) + "}";
  model.add("model.embed_tokens.weight", {32, 16}, 1).add("lm_head.weight", {32, 16});
  model.add("model.norm.weight", {16}, 0.2F, 1);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const std::string at = "model.layers." + std::to_string(layer) + ".";
    for (const std::string name : {"input_layernorm", "post_attention_layernorm"}) {
      model.add(at + name + ".weight", {16}, 0.2F, 1);
    }
    for (const std::string name : {"q_proj", "k_proj", "v_proj"}) {
      model.add(at + "self_attn." + name + ".weight", {256, 16}, 0.1F);
    }
    model.add(at + "self_attn.o_proj.weight", {16, 256}, 0.1F);
    for (const std::string name : {"gate_proj", "up_proj", "down_proj"}) {
      model.add(at + "mlp." + name + ".weight", {16, 16});
    }
  }
  const std::string folder = model.write("deep-" + std::to_string(layers));
  std::string ids;
  for (std::size_t i = 0; i < 1500; ++i) ids += std::to_string(i * i * 7 % 31 + 1) + " ";
  test::write_into(folder, "text.ids", ids);
  return folder;
}

// Layer by layer, a recording holds the keys and values of one layer, however deep the model is;
// under a policy it holds those of all.
TEST(RecordingMemory, DoesNotGrowWithTheDepthOfTheModel) {
  const auto peak = [](std::size_t layers, const std::string& rest) {
    const std::string model = deep_llama(layers);
    return peak_of("record --model " + model + " --ids --no-begin --text " + model +
                   "/text.ids --tokens 1500 --no-losses --threads 1 -o " + model +
                   "/t.safetensors" + rest);
  };
  const std::uint64_t shallow = peak(2, "");
  EXPECT_LE(peak(16, " --queries 4/100"), shallow + 16 * mib);
  EXPECT_GE(peak(16, " --queries 4/100 --policy window --budget 1400 --chunk 64"),
            shallow + 32 * mib);
}

}  // namespace
}  // namespace kv::cli
