// Pages freed too early, too late, or the wrong ones.
#include "kvcheck/properties/mutants/choices.h"
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

class PageWrong : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.page = 4}; }

 protected:
  // The page of a row behind the sinks.
  [[nodiscard]] std::int64_t page_of(std::int64_t position) const {
    return (position - static_cast<std::int64_t>(contract_.sinks)) / options_.page;
  }
};

class CeilsAndFloors final : public PageWrong {
  using PageWrong::PageWrong;

  void free_rows(PlainGroup& group) override {
    const std::int64_t pages = (contract_.recent + options_.page - 1) / options_.page;
    const std::int64_t last = page_of(static_cast<std::int64_t>(group.fed) - 1);
    drop(group, [&](const PlainRow& row) {
      return !is_sink(row) && page_of(row.token.position) <= last - pages;
    });
  }
};

class LargerThanWindow final : public PageWrong {
  using PageWrong::PageWrong;

  void free_rows(PlainGroup& group) override {
    if (options_.page <= contract_.recent) return PageWrong::free_rows(group);
    const std::int64_t current = page_of(static_cast<std::int64_t>(group.fed));
    drop(group, [&](const PlainRow& row) {
      return !is_sink(row) && page_of(row.token.position) < current;
    });
  }
};

class FirstPageLeaves final : public PageWrong {
  using PageWrong::PageWrong;

  void free_rows(PlainGroup& group) override {
    const std::size_t before = group.rows.size();
    PageWrong::free_rows(group);
    if (group.rows.size() == before) return;
    drop(group, [&](const PlainRow& row) { return is_sink(row); });
  }
};

class FreedWithItsFirst final : public PageWrong {
  using PageWrong::PageWrong;

  void free_rows(PlainGroup& group) override {
    std::vector<std::int64_t> leaving;
    for (const PlainRow& row : group.rows) {
      if (row.gone) leaving.push_back(page_of(row.token.position));
    }
    drop(group, [&](const PlainRow& row) {
      const std::int64_t page = page_of(row.token.position);
      return !is_sink(row) && std::ranges::find(leaving, page) != leaving.end();
    });
  }
};

class NeverFreed final : public PageWrong {
  using PageWrong::PageWrong;

  // The test for an empty page also asks that it be the first one.
  void free_rows(PlainGroup& group) override {
    if (group.fed < 3 * std::size_t{contract_.budget}) PageWrong::free_rows(group);
  }
};

class LastPageHidden final : public PageWrong {
  using PageWrong::PageWrong;

  // A page counts once it is full, so the one being filled is seen by its own call only.
  bool may_see(const PlainGroup& group, const PlainRow& row, Token query) override {
    const bool own_call = row.token.position >= static_cast<std::int64_t>(chunk_begin());
    const bool full = page_of(row.token.position) < page_of(query.position);
    return PageWrong::may_see(group, row, query) && (is_sink(row) || own_call || full);
  }
};

// Declares pages, which excuses much, and frees row by row.
class FreesRowByRow final : public PageWrong {
  using PageWrong::PageWrong;

  void free_rows(PlainGroup& group) override {
    drop(group, [](const PlainRow& row) { return row.gone; });
  }
};

}  // namespace

std::vector<Mutant> page_mutants() {
  std::vector<Mutant> all = {
      mutant<CeilsAndFloors>("pages-kept-by-ceil-read-by-floor",
                             "a page that still holds part of the window is freed",
                             "kekzl/imp pull request 967"),
      mutant<LargerThanWindow>("page-larger-than-the-window",
                               "the frontier reaches the page being filled: all others go",
                               "sglang pull request 22470"),
      mutant<FirstPageLeaves>("pinned-page-leaves",
                              "what may be evicted begins one page early: the sinks go",
                              "made, after paged StreamingLLM"),
      mutant<FreedWithItsFirst>("page-freed-with-its-first-row",
                                "a page goes as soon as one of its rows does", "made"),
      mutant<FreesRowByRow>("page-declared-rows-freed",
                            "pages are declared, but rows are freed one by one", "made"),
      mutant<NeverFreed>("pages-leak", "far down the stream pages are not freed any more", "made"),
      mutant<LastPageHidden>("unfilled-page-hidden",
                             "rows of a page that is not full are hidden from later calls", "made"),
  };
  for (const Mutant& selected : choice_mutants()) all.push_back(selected);
  return all;
}

}  // namespace kv::properties
