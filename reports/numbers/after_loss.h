// The means of a replay over the queries from the first loss on.
//
// A replay's means over all queries contain queries before anything was evicted, at which every
// policy retains everything. The share of such queries grows with the budget and shrinks with the
// stream, so these means cannot be compared between budgets or between streams of other lengths.
// From the first loss on (sim/cache/visible_limits.h), every query of every head of a cell counts,
// heads that lose nothing of their own included.
//
// Before the first loss, retained mass and overlap are exactly 1 and the other losses exactly 0, so
// the mean over the queries after it follows from the mean over all.
#pragma once

#include <cstddef>

#include "kvcheck/base/position.h"
#include "kvcheck/sim/cache/visible_limits.h"
#include "kvcheck/sim/replay/closed_loop.h"
#include "kvcheck/sim/replay/metrics.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::reports {

class AfterLoss {
 public:
  // Of a stream that has no query.
  AfterLoss() = default;

  AfterLoss(const Spec& spec, const TraceInfo& trace);

  // The first query that counts; the stream's length if nothing is ever lost.
  [[nodiscard]] Position first() const { return loss_.query; }

  // Whether any query counts. If none does, every mean is NaN.
  [[nodiscard]] bool any() const { return loss_.query < tokens_; }

  // Half the width of an interval of such a mean, from that of the mean over all queries.
  [[nodiscard]] HeadMetrics half_widths(const HeadMetrics& of_all) const;

  // Over the queries that count: the mean of a share that is 1 where nothing was lost, of a loss
  // that is 0 there, of all metrics of a head, of visible rows and of stored rows, each from its
  // mean over all queries.
  [[nodiscard]] double share(double mean) const;
  [[nodiscard]] double loss(double mean) const;
  [[nodiscard]] HeadMetrics of(const HeadMetrics& means) const;
  [[nodiscard]] double visible(double mean) const;
  [[nodiscard]] double stored(double mean) const;

 private:
  [[nodiscard]] double without(double mean, double sum_before) const;

  std::size_t tokens_ = 0;
  FirstLoss loss_;
  // Of the queries that metrics are means over, how many there are, and how many before the loss.
  // Those of a trace that records some queries, which do not stand for the others, are fewer.
  double measured_ = 0;
  double measured_before_ = 0;
};

// Where the targets after the first loss begin in the streams of an evaluation, which keeps sums
// over its streams only.
struct FirstTarget {
  Position target = 0;
  // It is that of every stream that loses something. Otherwise `target` is a mean over all streams,
  // in which one that loses nothing has its length, and no stream need begin there.
  bool of_each = true;
};

// The first target after the first loss. Whether it is that of each stream is not known if a stream
// ends within the same point of the series, and not said if the budget is a share of a prompt.
FirstTarget first_target(const ClosedLoopResult& text, const ClosedLoopCell& cell);

}  // namespace kv::reports
