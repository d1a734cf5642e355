// Checks what the compiler put into the libraries. Only the kernels' own objects contain AVX
// instructions, so that the rest runs on every 64-bit x86 machine, and these objects define nothing
// that the linker could use elsewhere. In the objects of Highway, which hold code of several
// targets, only the functions for AVX2 contain them.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>

#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/tidy/source_tree.h"

namespace kv::tidy {
namespace {

struct ClosePipe {
  void operator()(std::FILE* pipe) const { ::pclose(pipe); }
};

// The standard output of a shell command.
std::string output_of(const std::string& command) {
  const std::unique_ptr<std::FILE, ClosePipe> pipe(::popen(command.c_str(), "r"));
  std::string out;
  std::array<char, 65536> block{};
  while (const std::size_t n = std::fread(block.data(), 1, block.size(), pipe.get())) {
    out.append(block.data(), n);
  }
  return out;
}

std::vector<std::string> archives() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(KVCHECK_BINARY_DIR)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("libkvcheck_") && name.ends_with(".a")) found.push_back(entry.path());
  }
  return found;
}

bool may_hold_avx(std::string_view object, std::string_view function) {
  if (object.ends_with("_highway.cpp.o")) return function.find("6N_AVX2") != std::string_view::npos;
  return object.ends_with("_avx512.cpp.o");
}

// The AVX instructions of a disassembly by object file. Their names begin with v, and no others do.
struct Counts {
  std::size_t in_kernels = 0;
  std::vector<std::string> elsewhere;
};

Counts count_avx(std::string_view disassembly) {
  Counts counts;
  std::string_view object;
  std::string_view function;
  for (const std::string_view line : lines_of(disassembly)) {
    if (line.find(":     file format") != std::string_view::npos) {
      object = line.substr(0, line.find(':'));
    }
    if (line.ends_with(">:")) function = line;
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos || line.substr(tab + 1, 1) != "v") continue;
    if (may_hold_avx(object, function)) {
      ++counts.in_kernels;
    } else {
      counts.elsewhere.push_back(std::string(object) + ": " + std::string(function));
    }
  }
  return counts;
}

TEST(TidyObjects, BaselineCodeHoldsNoAvx) {
  if (output_of("command -v objdump").empty()) GTEST_SKIP() << "objdump is not installed";
  std::size_t in_kernels = 0;
  ASSERT_GE(archives().size(), 6U);
  for (const std::string& archive : archives()) {
    const Counts counts = count_avx(output_of("objdump -d --no-show-raw-insn '" + archive + "'"));
    EXPECT_THAT(counts.elsewhere, testing::IsEmpty()) << archive;
    in_kernels += counts.in_kernels;
  }
  EXPECT_GT(in_kernels, 100U) << "the count finds nothing even where AVX-512 is meant to be";
}

void expect_nothing_lent(const std::string& archive) {
  const std::string symbols =
      output_of("nm --defined-only '" + std::string(KVCHECK_BINARY_DIR) + archive + "'");
  std::string_view object;
  std::vector<std::string> lent;
  std::vector<std::string> offered;
  for (const std::string_view line : lines_of(symbols)) {
    if (line.ends_with(".o:")) object = line;
    const bool kernels = object.ends_with("_avx512.cpp.o:") || object.ends_with("_highway.cpp.o:");
    if (!kernels || line.size() < 19) continue;
    const char kind = line[17];
    if (std::string_view("WwVvu").find(kind) != std::string_view::npos) lent.emplace_back(line);
    if (std::string_view("TDRB").find(kind) != std::string_view::npos) offered.emplace_back(line);
  }
  EXPECT_THAT(lent, testing::IsEmpty()) << archive;
  EXPECT_THAT(offered, testing::Not(testing::IsEmpty())) << archive;
  EXPECT_THAT(offered, testing::Each(testing::AnyOf(
                           testing::HasSubstr("avx512"), testing::HasSubstr("_highway_"),
                           testing::HasSubstr("6N_AVX2"), testing::HasSubstr("6N_SSE4"))))
      << archive << ": expected only the kernels' table and what it is made of";
}

TEST(TidyObjects, TheAvxObjectsLendNothingToTheLinker) {
  if (output_of("command -v nm").empty()) GTEST_SKIP() << "nm is not installed";
  for (const char* archive :
       {"/base/kernels/libkvcheck_base_kernels.a", "/base/random/libkvcheck_base_random.a",
        "/model/kernels/libkvcheck_model_kernels.a",
        "/model/rotation/libkvcheck_model_rotation.a"}) {
    expect_nothing_lent(archive);
  }
}

std::string kernels_of(std::string_view room, std::string_view symbol) {
  return output_of("objdump -d --no-show-raw-insn '" + std::string(KVCHECK_BINARY_DIR) +
                   std::string(room) + "' | grep -e '" + std::string(symbol) + "'");
}

// The first product of a complex multiplication is rounded before the second one is added, so its
// operands may not be exchanged (model/rotation/rotate_kernels_fp16_avx512.cpp). g++ exchanges
// those of the intrinsic to read one from memory, which an instruction of our own never does.
TEST(TidyObjects, TheComplexMultiplicationReadsRegistersAlone) {
  if (output_of("command -v objdump").empty()) GTEST_SKIP() << "objdump is not installed";
  const std::string found = kernels_of("/model/rotation/libkvcheck_model_rotation.a", "fmulcph");
  EXPECT_THAT(found, testing::HasSubstr("vfmulcph %zmm"));
  EXPECT_THAT(found, testing::Not(testing::HasSubstr("(")));
}

// An instruction as objdump prints it: "vpmovdw %zmm1,(%rdx,%rax,2){%k1}" has the operands "%zmm1"
// and "(%rdx,%rax,2)", without the mask.
struct Instruction {
  std::string_view text;
  std::string_view name;
  std::vector<std::string_view> operands;
};

Instruction instruction_in(std::string_view text) {
  Instruction found{.text = text, .name = text.substr(0, text.find(' ')), .operands = {}};
  text.remove_prefix(std::min(text.find_first_not_of(' ', found.name.size()), text.size()));
  while (!text.empty()) {
    const std::size_t parenthesis = text.find('(') < text.find(',') ? text.find(')') : 0;
    const std::size_t end = std::min(text.find(',', parenthesis), text.size());
    const std::string_view operand = text.substr(0, end);
    found.operands.push_back(operand.substr(0, operand.find_first_of("{ ")));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

std::vector<Instruction> instructions_in(std::string_view disassembly) {
  std::vector<Instruction> found;
  for (const std::string_view line : lines_of(disassembly)) {
    const std::size_t tab = line.find('\t');
    if (tab != std::string_view::npos) found.push_back(instruction_in(line.substr(tab + 1)));
  }
  return found;
}

// Whether the first source of the complex multiplication at `i` is the pair: put together from
// other registers, or loaded from where the product is stored. An angle is only ever loaded.
bool has_the_pair_first(const std::vector<Instruction>& code, std::size_t i) {
  const auto is_memory = [](std::string_view operand) { return operand.ends_with(')'); };
  // objdump prints the second source, then the first one, then the product.
  const std::string_view first = code[i].operands.at(1);
  const std::string_view product = code[i].operands.at(2);
  const auto makes_it = [&](const Instruction& one) {
    return !one.operands.empty() && one.operands.back() == first;
  };
  const auto stores_it = [&](const Instruction& one) {
    return one.operands.size() == 2 && one.operands[0] == product && is_memory(one.operands[1]);
  };
  const auto at = code.begin() + static_cast<std::ptrdiff_t>(i);
  const auto made = std::find_if(std::reverse_iterator(at), code.rend(), makes_it);
  const auto stored = std::find_if(at, code.end(), stores_it);
  if (made == code.rend() || stored == code.end()) return false;
  return !is_memory(made->operands[0]) || made->operands[0] == stored->operands[1];
}

std::vector<std::string_view> exchanged_operands(std::string_view disassembly) {
  const std::vector<Instruction> code = instructions_in(disassembly);
  std::vector<std::string_view> found;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i].name == "vfmulcph" && !has_the_pair_first(code, i)) found.push_back(code[i].text);
  }
  return found;
}

TEST(TidyObjects, TheComplexMultiplicationHasThePairFirst) {
  if (output_of("command -v objdump").empty()) GTEST_SKIP() << "objdump is not installed";
#ifndef __OPTIMIZE__
  GTEST_SKIP() << "not optimised: operands are copied to the stack and back";
#endif
  const std::string code = kernels_of("/model/rotation/libkvcheck_model_rotation.a", "zmm");
  EXPECT_THAT(code, testing::HasSubstr("vfmulcph"));
  EXPECT_THAT(exchanged_operands(code), testing::IsEmpty());
}

TEST(TidyObjects, FindsExchangedOperands) {
  const std::string half =
      "  1:\tvpord  %zmm1,%zmm0,%zmm0\n  2:\tvfmulcph %zmm2,%zmm0,%zmm1\n"
      "  3:\tvpmovdw %zmm1,(%rdx){%k1}\n";
  const std::string neighbours =
      "  1:\tvmovdqu32 (%rsi,%rax,4),%zmm1{%k1}{z}\n  2:\tvmovdqu32 (%r11,%rax,4),%zmm2{%k1}{z}\n"
      "  3:\tvfmulcph %zmm1,%zmm2,%zmm3\n  4:\tvmovdqu32 %zmm3,(%r11,%rax,4){%k1}\n";
  EXPECT_THAT(exchanged_operands(half + neighbours), testing::IsEmpty());
  const auto with = [](std::string text, std::string_view right, std::string_view wrong) {
    return text.replace(text.find(right), right.size(), wrong);
  };
  const auto expect_found = [](const std::string& code, std::string_view instruction) {
    EXPECT_THAT(exchanged_operands(code), testing::ElementsAre(instruction)) << code;
  };
  expect_found(with(neighbours, "%zmm1,%zmm2,%zmm3", "%zmm2,%zmm1,%zmm3"),
               "vfmulcph %zmm2,%zmm1,%zmm3");
  expect_found(with(neighbours, "%zmm1,%zmm2,%zmm3", "(%r11,%rax,4),%zmm1,%zmm3"),
               "vfmulcph (%r11,%rax,4),%zmm1,%zmm3");
  const std::string exchanged = with(half, "%zmm2,%zmm0", "%zmm0,%zmm2");
  expect_found(exchanged, "vfmulcph %zmm0,%zmm2,%zmm1");
  expect_found("  0:\tvmovdqu32 (%r9),%zmm2{%k1}{z}\n" + exchanged, "vfmulcph %zmm0,%zmm2,%zmm1");
}

TEST(TidyObjects, CountsAvxByObject) {
  const Counts counts = count_avx(
      "a.cpp.o:     file format elf64-x86-64\n\n0000 <f>:\n   0:\tvaddps %ymm0,%ymm1,%ymm1\n"
      "   4:\taddps %xmm0,%xmm1\nk_avx512.cpp.o:     file format elf64-x86-64\n\n0000 <g>:\n"
      "   0:\tvaddps %zmm0,%zmm1,%zmm1\n"
      "k_highway.cpp.o:     file format elf64-x86-64\n\n0000 <_ZN2kv6N_AVX21gEv>:\n"
      "   0:\tvaddps %ymm0,%ymm1,%ymm1\n   4:\tvaddps %ymm0,%ymm1,%ymm1\n"
      "0000 <_ZN2kv6N_SSE41gEv>:\n   0:\tvaddps %ymm0,%ymm1,%ymm1\n");
  EXPECT_THAT(counts.elsewhere, testing::ElementsAre("a.cpp.o: 0000 <f>:",
                                                     "k_highway.cpp.o: 0000 <_ZN2kv6N_SSE41gEv>:"));
  EXPECT_EQ(counts.in_kernels, 3U);
}

}  // namespace
}  // namespace kv::tidy
