#include "kvcheck/properties/statistics/tail.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <charconv>
#include <cmath>
#include <numbers>

#include "kvcheck/base/check.h"

namespace kv::properties {
namespace {

namespace math = boost::math;

// The most digits that `format` gives a value.
std::string digits(double value, std::chars_format format, int precision) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format, precision);
  return {text.data(), end.ptr};
}

}  // namespace

double chi_square_tail(double x, double freedom) {
  KV_CHECK(freedom > 0);
  return x <= 0 ? 1.0 : math::gamma_q(freedom / 2, x / 2);
}

double normal_tail(double z) {
  return std::erfc(std::abs(z) / std::numbers::sqrt2);
}

double binomial_tail(std::uint64_t hits, std::uint64_t trials, double share) {
  if (trials == 0) return 1;
  if (share <= 0) return hits == 0 ? 1 : 0;
  if (share >= 1) return hits == trials ? 1 : 0;
  const math::binomial law(static_cast<double>(trials), share);
  const double below = math::cdf(law, static_cast<double>(hits));
  const double above =
      hits == 0 ? 1 : math::cdf(math::complement(law, static_cast<double>(hits) - 1));
  return std::min(1.0, 2 * std::min(below, above));
}

double noncentrality(double freedom, double level, double power) {
  KV_CHECK(level > 0 && level < 1 && power > level && power < 1);
  if (freedom <= 0) {
    const math::normal law;
    const double root =
        math::quantile(math::complement(law, level / 2)) + math::quantile(law, power);
    return root * root;
  }
  const double critical = math::quantile(math::complement(math::chi_squared(freedom), level));
  const auto rejects = [&](double lambda) {
    return math::cdf(math::complement(math::non_central_chi_squared(freedom, lambda), critical));
  };
  // Bisection, since no closed form exists; 24 halvings are more digits than are printed.
  double low = 0;
  double high = 16;
  while (rejects(high) < power) high *= 2;
  for (int i = 0; i < 24; ++i) {
    const double middle = (low + high) / 2;
    (rejects(middle) < power ? low : high) = middle;
  }
  return high;
}

Bounds exact_bounds(std::uint64_t hits, std::uint64_t trials, double error) {
  if (trials == 0) return {};
  const auto n = static_cast<double>(trials);
  const auto h = static_cast<double>(hits);
  return {math::binomial::find_lower_bound_on_p(n, h, error / 2),
          math::binomial::find_upper_bound_on_p(n, h, error / 2)};
}

std::string bounds_text(const Bounds& bounds) {
  return percent_text(bounds.low) + " to " + percent_text(bounds.high);
}

// Below 1e-300 a tail is a statement about doubles, not about the subject.
std::string p_text(double p) {
  if (p < 1e-300) return "p < 1e-300";
  return "p = " + digits(p, p < 1e-3 ? std::chars_format::scientific : std::chars_format::general,
                         p < 1e-3 ? 1 : 2);
}

std::string number_text(double value) {
  return digits(value, std::chars_format::general, 3);
}

std::string percent_text(double share) {
  return number_text(100 * share) + " %";
}

}  // namespace kv::properties
