#include "kvcheck/properties/battery/verdict_bytes.h"

#include <cstring>

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

struct Writer {
  std::string& bytes;

  template <typename Number>
  void operator()(const Number& number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }

  void operator()(const std::string& text) {
    (*this)(text.size());
    bytes += text;
  }
};

struct Reader {
  std::string_view& bytes;

  template <typename Number>
  void operator()(Number& number) {
    KV_CHECK(bytes.size() >= sizeof(number));
    std::memcpy(&number, bytes.data(), sizeof(number));
    bytes.remove_prefix(sizeof(number));
  }

  void operator()(std::string& text) {
    std::size_t size = 0;
    (*this)(size);
    KV_CHECK(bytes.size() >= size);
    text = bytes.substr(0, size);
    bytes.remove_prefix(size);
  }
};

}  // namespace

std::string bytes_of(const StatisticalVerdict& verdict) {
  std::string bytes;
  Writer write{bytes};
  StatisticalVerdict copy = verdict;
  each_field(copy, write);
  write(copy.statistics.size());
  for (Statistic& statistic : copy.statistics) each_field(statistic, write);
  return bytes;
}

StatisticalVerdict verdict_of(std::string_view bytes) {
  StatisticalVerdict verdict;
  Reader read{bytes};
  each_field(verdict, read);
  std::size_t count = 0;
  read(count);
  for (std::size_t i = 0; i < count; ++i) each_field(verdict.statistics.emplace_back(), read);
  KV_CHECK(bytes.empty());
  return verdict;
}

}  // namespace kv::properties
