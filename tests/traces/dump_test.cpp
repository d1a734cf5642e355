#include "kvcheck/traces/files/dump.h"
#include "kvcheck/base/kernels/kernels.h"

#include <sys/resource.h>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/tests/traces/files.h"
#include "kvcheck/traces/verify.h"

namespace kv {
namespace {

using namespace testing;
using test::bytes_of;
using test::error_of;
using test::halves;
using test::npy;
using test::zip;

// Two layers, one head, two tokens.
const std::vector<float> rows{1, 0, 0.25F, 0.75F, 1, 0, 0.5F, 0.5F};
const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 2, 2), }";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string with_shape(std::string_view shape, std::size_t numbers = 8) {
  return npy(replaced(dictionary, "(2, 1, 2, 2)", shape), std::string(numbers * 4, '\0'));
}

Trace opened(const std::string& bytes) {
  return open_trace(test::temporary_file("dump", bytes)).value();
}

std::vector<float> numbers(const TensorView& view) {
  std::vector<float> values(view.numbers());
  kernels().widen(view.number, view.data, values.size(), values.data());
  return values;
}

std::string doubles(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) {
    const double wide{value};
    bytes.append(reinterpret_cast<const char*>(&wide), sizeof wide);
  }
  return bytes;
}

TEST(Npy, ReadsLayersHeadsQueriesKeys) {
  for (const char major : {'\1', '\2', '\3'}) {
    const Trace trace = opened(npy(dictionary + "\n", bytes_of(rows), major));
    EXPECT_EQ(trace.info().kind, TraceKind::attention);
    EXPECT_EQ(trace.info().tokens, 2U);
    EXPECT_EQ(trace.info().query_heads, 1U);
    EXPECT_EQ(trace.info().head_dim, 0U);
    EXPECT_THAT(trace.info().layers, ElementsAre(0, 1));
    EXPECT_THAT(numbers(trace.layer(0).attention), ElementsAre(1, 0, 0.25F, 0.75F));
    EXPECT_THAT(numbers(trace.layer(1).attention), ElementsAre(1, 0, 0.5F, 0.5F));
    EXPECT_TRUE(verify(trace));
  }
}

TEST(Npy, ReadsOneLayer) {
  const Trace trace = opened(with_shape("(2, 2, 2)"));
  EXPECT_THAT(trace.info().layers, ElementsAre(0));
  EXPECT_EQ(trace.info().query_heads, 2U);
}

TEST(Npy, ReadsHalvesInPlaceAndRoundsDoubles) {
  const Trace half = opened(npy(replaced(dictionary, "f4", "f2"), halves(rows)));
  EXPECT_EQ(half.info().number, Number::f16);
  EXPECT_THAT(numbers(half.layer(1).attention), ElementsAre(1, 0, 0.5F, 0.5F));
  const Trace wide = opened(npy(replaced(dictionary, "f4", "f8"), doubles(rows)));
  EXPECT_EQ(wide.info().number, Number::f32);
  EXPECT_THAT(numbers(wide.layer(0).attention), ElementsAre(1, 0, 0.25F, 0.75F));
}

TEST(Npy, RefusesOtherTypesAndOrders) {
  const auto refusal = [](std::string_view from, std::string_view to) {
    return error_of(npy(replaced(dictionary, from, to), bytes_of(rows)));
  };
  EXPECT_THAT(refusal("<f4", ">f4"), HasSubstr("dtype '>f4'; expected '<f2', '<f4' or '<f8'; big"));
  EXPECT_THAT(refusal("<f4", "<i4"), HasSubstr("dtype '<i4'"));
  EXPECT_THAT(refusal("False", "True"), HasSubstr("Fortran order; expected C order"));
}

TEST(Npy, RefusesMalformedHeaders) {
  for (const std::string header :
       {"", "{", "{}", "[]", "{'descr': '<f4'}", "{'descr': '<f4', 'descr': '<f4'}", "{'descr: 1",
        "{'shape': (2, -1)}", "{'shape': (1.5,)}", "{'shape': (99999999999999999999,)}",
        "{'fortran_order': Maybe}", "{'extra': True}", "{'shape': (1 2)}"}) {
    EXPECT_THAT(error_of(npy(header, "")), HasSubstr("expected a dictionary of")) << header;
  }
  EXPECT_THAT(error_of(npy(replaced(dictionary, "{", "{'descr': '<f4', "), bytes_of(rows))),
              HasSubstr("expected a dictionary of"));
  EXPECT_THAT(error_of(npy(dictionary + "x", bytes_of(rows))), HasSubstr("expected a dictionary"));
  EXPECT_THAT(error_of(npy(dictionary, "", 4)), HasSubstr(".npy version 4; expected 1, 2 or 3"));
  EXPECT_THAT(error_of("\x93NUMPY\x01"), HasSubstr("cut off in its first 10 bytes"));
  EXPECT_THAT(error_of(std::string("\x93NUMPY\x01\0\x09\0{}", 12)), HasSubstr("announces 9 bytes"));
  EXPECT_THAT(error_of(std::string("\x93NUMPY\x02\0\xff\xff\xff\xff{}", 14)),
              HasSubstr("announces 4294967295 bytes; expected at most 65536"));
}

TEST(Npy, RefusesShapesThatAreNotAttention) {
  EXPECT_EQ(error_of(with_shape("(2, 2, 2)")), "opened");
  EXPECT_THAT(error_of(with_shape("(2, 4)")), HasSubstr("[2, 4]; expected [layers, heads, qu"));
  EXPECT_THAT(error_of(with_shape("()", 1)), HasSubstr("shape []; expected"));
  EXPECT_THAT(error_of(with_shape("(1, 1, 2, 2, 2)")), HasSubstr("without a batch axis"));
  EXPECT_THAT(error_of(with_shape("(2, 1, 4)")), HasSubstr("as many queries as keys"));
  EXPECT_THAT(error_of(with_shape("(5, 0, 0)", 0)), HasSubstr("expected 1 to 2147483647 tokens"));
  EXPECT_THAT(error_of(with_shape("(0, 2, 2)", 0)), HasSubstr("1 to 65535 layers and heads"));
  EXPECT_THAT(error_of(with_shape("(65536, 1, 1)", 65536)), HasSubstr("1 to 65535 layers"));
}

TEST(Npy, RefusesSizesThatDoNotFit) {
  EXPECT_THAT(error_of(with_shape("(2, 1, 2, 2)", 7)),
              HasSubstr("28 bytes of numbers; expected 32"));
  EXPECT_THAT(error_of(with_shape("(2, 1, 2, 2)", 9)),
              HasSubstr("36 bytes of numbers; expected 32"));
  EXPECT_THAT(error_of(with_shape("(4294967296, 4294967296, 2)")), HasSubstr("does not fit in 64"));
  EXPECT_THAT(error_of(with_shape("(4611686018427387904,)")), HasSubstr("does not fit in 64"));
  EXPECT_THAT(error_of(with_shape("(4611686018427387903,)")), HasSubstr("does not fit in 64"));
}

class Npz : public TestWithParam<bool> {
 protected:
  [[nodiscard]] std::string archive(std::vector<test::Member> members) const {
    for (test::Member& member : members) member.deflate = GetParam();
    return zip(members);
  }
};

TEST_P(Npz, ReadsTheOnlyMemberOrTheOneNamedAttention) {
  const std::string array = npy(dictionary, bytes_of(rows));
  for (const auto& bytes : {archive({{"anything.npy", array}}),
                            archive({{"ids.npy", "x"}, {"attention.npy", array}})}) {
    const Trace trace = opened(bytes);
    EXPECT_THAT(numbers(trace.layer(1).attention), ElementsAre(1, 0, 0.5F, 0.5F));
    EXPECT_TRUE(verify(trace));
  }
}

TEST_P(Npz, ReadsArraysLongerThanItsBuffer) {
  constexpr std::size_t n = 200;
  std::vector<float> many(n * n);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i % 251);
  const std::string shape = replaced(dictionary, "(2, 1, 2, 2)", "(1, 200, 200)");
  const Trace trace = opened(archive({{"a.npy", npy(shape, bytes_of(many))}}));
  EXPECT_EQ(numbers(trace.layer(0).attention), many);
  const Trace wide = opened(archive({{"a.npy", npy(replaced(shape, "f4", "f8"), doubles(many))}}));
  EXPECT_EQ(numbers(wide.layer(0).attention), many);
}

TEST_P(Npz, RefusesToGuessAmongMembers) {
  const std::string array = npy(dictionary, bytes_of(rows));
  EXPECT_THAT(error_of(archive({{"a.npy", array}, {"b.npy", array}})),
              HasSubstr("2 members ('a.npy', 'b.npy'); expected one named 'attention'"));
}

TEST_P(Npz, RefusesMembersOfAnotherLengthThanTheirHeaderImplies) {
  EXPECT_THAT(error_of(archive({{"a.npy", npy(dictionary, std::string(31, '\0'))}})),
              HasSubstr("expected " + std::to_string(10 + dictionary.size() + 32)));
  EXPECT_THAT(error_of(archive({{"a.npy", npy(dictionary, std::string(1 << 20, '\0'))}})),
              HasSubstr("'a.npy' has 10486"));
  EXPECT_THAT(error_of(archive({{"a.npy", "PK nothing of the kind"}})),
              HasSubstr("does not begin like .npy"));
}

TEST_P(Npz, RefusesDamage) {
  const std::string good = archive({{"a.npy", npy(dictionary, bytes_of(rows))}});
  std::string damaged = good;
  damaged[good.find("PK\1\2") - 3] ^= 1;  // in the last of the numbers
  EXPECT_THAT(error_of(damaged), AnyOf(HasSubstr("damaged"), HasSubstr("cannot be read")));
  EXPECT_THAT(error_of(good.substr(0, good.size() / 2)), HasSubstr("archive cannot be read"));
}

// Writes `value` over both declarations of the member's full size.
std::string claiming(std::string bytes, std::uint32_t value) {
  const auto put = [&](std::size_t at) {
    for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(value >> 8 * i & 0xff);
  };
  put(bytes.find("PK\3\4") + 22);
  put(bytes.find("PK\1\2") + 24);
  return bytes;
}

TEST_P(Npz, RefusesBombsBeforeMakingRoomForThem) {
  const std::string good = archive({{"a.npy", npy(dictionary, bytes_of(rows))}});
  EXPECT_THAT(error_of(claiming(good, 0xfffffff0U)),
              AnyOf(HasSubstr("which cannot be"), HasSubstr("cannot be read")));
  EXPECT_THAT(error_of(claiming(good, 400)), Not(Eq("opened")));
}

// The most memory that this process ever held, in bytes.
std::size_t peak_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

// 4 MiB of noise, which deflate cannot shorten, declared as 2 GiB: no more than 1032 for one.
TEST(NpzMemory, IsTakenForNumbersAndNotForClaims) {
  const std::string shape = replaced(dictionary, "(2, 1, 2, 2)", "(8192, 256, 256)");
  std::string noise(4 << 20, '\0');
  const Rng rng(1);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    noise[i] = static_cast<char>(rng.bits(static_cast<Position>(i)));
  }
  const std::string array = npy(shape, noise);
  const std::uint32_t claim = 0x80000000U + static_cast<std::uint32_t>(array.size() - noise.size());
  const std::string bytes = claiming(zip({{"a.npy", array, true}}), claim);
  const std::size_t before = peak_memory();
  EXPECT_THAT(error_of(bytes),
              AnyOf(HasSubstr("ends after 4194304 bytes of numbers"), HasSubstr("is damaged")));
  EXPECT_LT(peak_memory() - before, std::size_t{256} << 20);
}

INSTANTIATE_TEST_SUITE_P(Methods, Npz, Bool(), [](const auto& method) {
  return method.param ? "Deflated" : "Stored";
});

}  // namespace
}  // namespace kv
