#include "kvcheck/properties/battery/verdict_bytes.h"

#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "kvcheck/base/check.h"

namespace kv::properties {
namespace {

// One order of the fields for both ways.
template <typename Visit>
void each_field(StatisticalVerdict& verdict, Visit visit) {
  visit(verdict.ran);
  visit(verdict.why_not);
  visit(verdict.cannot);
  visit(verdict.broken);
  visit(verdict.sentence);
  visit(verdict.smallest);
}

template <typename Visit>
void each_field(Statistic& statistic, Visit visit) {
  visit(statistic.name);
  visit(statistic.what);
  visit(statistic.where);
  visit(statistic.value);
  visit(statistic.freedom);
  visit(statistic.p);
  visit(statistic.level);
  visit(statistic.effect);
  visit(statistic.effect_low);
  visit(statistic.effect_high);
  visit(statistic.detectable);
  visit(statistic.rejected);
}

template <typename Visit>
void each_field(Call& call, Visit visit) {
  visit(call.kind);
  visit(call.branch);
  visit(call.amount);
  visit(call.variant);
  visit(call.from);
}

template <typename Visit>
void each_field(Case& what, Visit visit) {
  visit(what.setup);
  visit(what.stream);
  visit(what.calls);
}

template <typename Visit>
void each_field(UnitFacts& unit, Visit visit) {
  visit(unit.returned);
  visit(unit.mask_width);
  visit(unit.visible);
  visit(unit.listed);
  visit(unit.query_positions);
  visit(unit.key_positions);
  visit(unit.weights);
  visit(unit.page_bounds);
  visit(unit.page_width);
  visit(unit.stored);
  visit(unit.reported);
  visit(unit.moved);
  visit(unit.bytes);
}

template <typename Visit>
void each_field(Event& event, Visit visit) {
  visit(event.call);
  visit(event.refused);
  visit(event.why);
  visit(event.fed);
  visit(event.branch);
  visit(event.facts.units);
  visit(event.branches);
}

template <typename Visit>
void each_field(History& history, Visit visit) {
  visit(history.what);
  visit(history.events);
  visit(history.coverage);
  visit(history.failure);
  visit(history.died);
}

// The history of a finding has become that of its result.
template <typename Visit>
void each_field(Finding& finding, Visit visit) {
  visit(finding.expected);
  visit(finding.seen);
  visit(finding.event);
  visit(finding.unit);
  visit(finding.query);
  visit(finding.should_see);
  visit(finding.failed);
}

template <typename Visit>
void each_field(LawResult& result, Visit visit) {
  visit(result.shrinks);
  visit(result.shrinks_cut);
  visit(result.coverage);
  visit(result.finding);
  visit(result.smallest);
  visit(result.history);
  visit(result.legal_if);
  visit(result.reproduce);
}

struct Writer {
  std::string& bytes;

  template <typename Value>
  void operator()(Value& value) {
    if constexpr (std::is_trivially_copyable_v<Value>) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
    } else {
      each_field(value, *this);
    }
  }

  void operator()(std::string& text) {
    std::size_t size = text.size();
    (*this)(size);
    bytes += text;
  }

  template <typename Value>
  void operator()(std::vector<Value>& values) {
    std::size_t size = values.size();
    (*this)(size);
    for (Value& value : values) (*this)(value);
  }

  template <typename Value>
  void operator()(std::optional<Value>& value) {
    bool there = value.has_value();
    (*this)(there);
    if (there) (*this)(*value);
  }
};

struct Reader {
  std::string_view& bytes;

  std::string_view take(std::size_t size) {
    KV_CHECK(bytes.size() >= size);
    const std::string_view taken = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return taken;
  }

  template <typename Value>
  void operator()(Value& value) {
    if constexpr (std::is_trivially_copyable_v<Value>) {
      std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
    } else {
      each_field(value, *this);
    }
  }

  void operator()(std::string& text) {
    std::size_t size = 0;
    (*this)(size);
    text = take(size);
  }

  template <typename Value>
  void operator()(std::vector<Value>& values) {
    std::size_t size = 0;
    (*this)(size);
    KV_CHECK(size <= bytes.size());  // no value has less than a byte
    values.resize(size);
    for (Value& value : values) (*this)(value);
  }

  template <typename Value>
  void operator()(std::optional<Value>& value) {
    bool there = false;
    (*this)(there);
    if (there) (*this)(value.emplace());
  }
};

}  // namespace

std::string bytes_of(const StatisticalVerdict& verdict) {
  std::string bytes;
  Writer write{bytes};
  StatisticalVerdict copy = verdict;
  each_field(copy, write);
  write(copy.statistics);
  return bytes;
}

StatisticalVerdict verdict_of(std::string_view bytes) {
  StatisticalVerdict verdict;
  Reader read{bytes};
  each_field(verdict, read);
  read(verdict.statistics);
  KV_CHECK(bytes.empty());
  return verdict;
}

std::string bytes_of(const LawResult& result) {
  std::string bytes;
  LawResult copy = result;
  each_field(copy, Writer{bytes});
  return bytes;
}

void read_result(std::string_view& bytes, LawResult& result) {
  each_field(result, Reader{bytes});
}

}  // namespace kv::properties
