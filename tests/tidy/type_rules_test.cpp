// Checks that each name stands for one type, over the whole tree and with planted violations.
#include "kvcheck/tests/tidy/type_rules.h"
#include "kvcheck/tests/paths.h"

namespace kv::tidy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Findings of(const std::string& one, const std::string& other) {
  return types_of_one_name({{"sim/a.cpp", one}, {"sim/b.cpp", other}});
}

TEST(Tidy, OneNameIsOneType) {
  EXPECT_THAT(types_of_one_name(read_tree(KVCHECK_SOURCE_DIR)), IsEmpty());
}

TEST(TidyRule, FindsTwoTypesOfOneName) {
  const std::string type = "namespace kv {\n\nstruct Cell {\n  int a = 0;\n};\n}\n";
  EXPECT_THAT(of(type, type), ElementsAre("sim/b.cpp:3: kv::Cell is sim/a.cpp:3 too"));
  for (const std::string other :
       {"class Cell {\n};", "class Cell final : public Other<int> {\n};",
        "template <typename T, int n>\nclass Cell {\n};", "enum class Cell { one, two };",
        "enum Cell : int { one };", "struct alignas(64) Cell {\n};",
        "struct [[nodiscard]] Cell : Other {\n};", "extern \"C\" {\nstruct Cell {\n};\n}",
        "int f() { return 1; }\nunion Cell {\n};", "int a;\nusing Cell = int;",
        "template <typename T>\nusing Cell = std::vector<T>;",
        "#define X {\\\n{\nstruct Cell {\n};"}) {
    EXPECT_THAT(of(type, "namespace kv {\n" + other + "\n}\n"),
                ElementsAre(HasSubstr("kv::Cell is sim/a.cpp:3 too")))
        << other;
  }
  EXPECT_THAT(
      of("namespace kv::tidy { struct A {}; }", "namespace kv { namespace tidy {\nclass A {};"),
      ElementsAre("sim/b.cpp:2: kv::tidy::A is sim/a.cpp:1 too"));
}

TEST(TidyRule, LeavesTypesAloneThatCannotClash) {
  const std::string type = "namespace kv {\nstruct Cell {\n  int a = 0;\n};\n}\n";
  for (const std::string other :
       {"namespace kv {\nnamespace {\nstruct Cell {\n};\n}\n}",
        "namespace kv::test {\nstruct Cell {\n};\n}",
        "namespace kv {\nstruct Row {\n  struct Cell {\n  };\n};\n}",
        "namespace kv {\nvoid f() {\n  struct Cell {\n  };\n}\n}",
        "namespace kv {\nstruct Cell;\n}", "namespace kv {\nusing other::Cell;\n}",
        "namespace kv {\nvoid f() {\n  using Cell = int;\n}\n}",
        "namespace kv {\nstruct Cell f() {\n}\n}", "namespace kv {\nstruct Cell cell = {1};\n}",
        "namespace kv {\ntemplate <>\nstruct Cell<int> {\n};\n}",
        "namespace kv {\n// struct Cell {};\n}",
        "namespace kv {\nenum { one };\nenum { two };\n}"}) {
    EXPECT_THAT(of(type, other), IsEmpty()) << other;
  }
  EXPECT_THAT(types_of_one_name({{"sim/a.h", type}, {"examples/a.cpp", type}}), IsEmpty());
}

}  // namespace
}  // namespace kv::tidy
