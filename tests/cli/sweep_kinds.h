// Plans of evaluations and of tasks, and what they are about.
#pragma once

#include <fstream>
#include <string>

#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/tests/cli/killed_run.h"
#include "kvcheck/tests/cli/table_dump.h"

namespace kv::test {

// A folder with three texts of the bundled model's language and two task files.
class SweepKinds : public testing::Test {
 protected:
  SweepKinds() {
    std::ifstream whole(a_text());
    for (std::size_t i = 0; i < 3; ++i) {
      std::ofstream part(folder_ / ("text-" + std::to_string(i)));
      std::string line;
      for (std::size_t lines = 0; lines < 14 && std::getline(whole, line); ++lines) {
        part << line << "\n";
      }
    }
    for (const std::string seed : {"1", "2"}) {
      const Ran made =
          run({"tasks", "story-fact", "--tokenizer", a_model() + "/tokenizer.json", "--items", "4",
               "--length", "60", "--seed", seed, "-o", folder_ / ("items-" + seed)});
      EXPECT_EQ(made.status, 0) << made.err;
    }
  }

  // A plan of evaluations with these fields after the texts and policies.
  [[nodiscard]] std::string evaluations(const std::string& more,
                                        const std::string& detail = "summary") const {
    return written(R"({"eval": {"model": ")" + a_model() + R"(", "texts": [)" +
                   listed({"text-0", "text-1", "text-2"}) +
                   R"(], "policies": ["dense", "h2o", "random"], "budgets": [16, 32])" + more +
                   R"(}, "detail": ")" + detail + "\"}");
  }

  [[nodiscard]] std::string tasks(const std::string& more) const {
    return written(R"({"tasks": {"model": ")" + a_model() + R"(", "files": [)" +
                   listed({"items-1", "items-2"}) +
                   R"(], "policies": ["dense", "random"], "budgets": [24])" + more + "}}");
  }

  [[nodiscard]] std::string listed(const Words& names) const {
    std::string list;
    for (const std::string& name : names) {
      list += (list.empty() ? "\"" : ", \"") + (folder_ / name) + "\"";
    }
    return list;
  }

  [[nodiscard]] std::string written(const std::string& plan) const {
    const std::string path = folder_ / "plan.json";
    std::ofstream(path) << plan;
    return path;
  }

  [[nodiscard]] std::string swept(const std::string& plan,
                                  const std::string& name,
                                  const Words& more = {}) const {
    const Ran ran = run(with({"sweep", plan, "-o", folder_ / name}, more));
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.out;
  }

  void sweep(const std::string& plan, const std::string& name, const Words& more = {}) const {
    static_cast<void>(swept(plan, name, more));
  }

  [[nodiscard]] std::string dump(const std::string& name) const {
    return table_dump(folder_ / name);
  }

  [[nodiscard]] reports::StoredRun read(const std::string& name) const {
    return reports::read_run(folder_ / name).value();
  }

  void tamper(const std::string& name, const char* sql) const {
    auto database = reports::Database::open(folder_ / name).value();
    ASSERT_TRUE(database.execute(sql));
  }

  TemporaryFolder folder_;
};

}  // namespace kv::test
