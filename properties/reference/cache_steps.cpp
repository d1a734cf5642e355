#include "kvcheck/properties/reference/cache_steps.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "kvcheck/properties/reference/rules_detail.h"

namespace kv::properties {

// Units that share a budget advance in step: none decides before all have released.
void CacheSteps::use(const Spec& spec) {
  spec_ = std::make_shared<const Spec>(spec);
}

void CacheSteps::feed_units(std::span<CacheUnit> units, std::span<const Token> tokens) {
  is_prompt_ = units.front().fed < spec().phases.first_trim;
  for (CacheUnit& unit : units) make_room(unit, tokens.size());
  if (shares_budget()) deal(units);
  for (CacheUnit& unit : units) {
    if (shares_budget() && trims_first()) free_rows(unit);
    append(unit, tokens);
    begin_attention(unit);
  }
  for (std::size_t query = 0; query < tokens.size(); ++query) {
    for (CacheUnit& unit : units) before_query(unit, tokens[query]);
    if (shares_budget()) deal(units);
    for (CacheUnit& unit : units) attend(unit, tokens, query);
  }
  const bool may_trim = is_prompt_ ? units.front().fed >= spec().phases.first_trim : !grows();
  trims_ = !trims_first() && may_trim && is_over_budget(units);
  for (CacheUnit& unit : units) after_chunk(unit);
  if (!shares_budget() || !trims_) return;
  deal(units);
  for (CacheUnit& unit : units) free_rows(unit);
}

void CacheSteps::make_room(CacheUnit& unit, std::size_t chunk) {
  if (!trims_first()) return;
  if (spec().visibility == Visibility::causal) release(unit, unit.fed + chunk);
  free_rows(unit);
}

void CacheSteps::append(CacheUnit& unit, std::span<const Token> tokens) {
  for (const Token token : tokens) {
    unit.rows.push_back(make_row(unit, token));
    ++unit.fed;
  }
}

StoredRow CacheSteps::make_row(CacheUnit& unit, Token token) {
  StoredRow row{.token = token};
  if (selects(unit)) row.key = inputs_of(unit, token).keys;
  return row;
}

void CacheSteps::before_query(CacheUnit& unit, Token query) {
  if (spec().visibility != Visibility::window) return;
  release(unit, static_cast<std::uint64_t>(query.position) + 1);
}

bool CacheSteps::may_see(const CacheUnit&, const StoredRow& row, Token query) {
  return !row.evicted && row.token.position <= query.position;
}

void CacheSteps::observe(CacheUnit& unit, const Rows& visible, std::span<const float> mass) {
  Attention paid{.visible = {}, .mass = {mass.begin(), mass.end()}};
  for (std::size_t i = 0; i < visible.size(); ++i) {
    StoredRow& row = unit.rows[visible[i]];
    row.gathered += static_cast<double>(mass[i]);
    row.queries += 1;
    row.last = mass[i];
    paid.visible.push_back(static_cast<Position>(row.token.position));
  }
  rule_for(unit).observe(paid, draws_for(unit));
}

namespace {

std::size_t slack_of(const Spec& spec) {
  if (spec.phases.then == Phases::Then::every) return spec.phases.period - 1;
  return spec.timing == Timing::lazy ? spec.slack : 0;
}

}  // namespace

// Rows that are masked for good count against no budget.
bool CacheSteps::is_over_budget(std::span<const CacheUnit> units) {
  std::size_t stored = 0;
  for (const CacheUnit& unit : units) {
    stored += unit.rows.size();
    stored -= static_cast<std::size_t>(std::ranges::count(unit.rows, true, &StoredRow::masked));
  }
  const std::size_t slack = is_prompt_ ? 0 : slack_of(spec());
  return spec().bounded() && stored > units.size() * (spec().budget + slack);
}

void CacheSteps::after_chunk(CacheUnit& unit) {
  if (!trims_) return;
  release(unit, unit.fed);
  free_rows(unit);
}

std::size_t CacheSteps::sure() const {
  return capacity() * spec().budgets.alpha / 1000;
}

bool CacheSteps::selects(const CacheUnit& /*unit*/) {
  return spec().selects();
}

std::size_t CacheSteps::pages() {
  return spec().top_pages.pages();
}

std::size_t CacheSteps::page_of(Token token) const {
  return static_cast<std::size_t>(token.position) / spec().top_pages.page;
}

std::size_t CacheSteps::capacity() const {
  return spec().middle();
}

bool CacheSteps::shares_budget() const {
  return spec().budgets.shared();
}

StoredRow* CacheSteps::find(CacheUnit& unit, std::uint64_t position) {
  const auto found = std::ranges::find_if(unit.rows, [position](const StoredRow& row) {
    return row.token.position == static_cast<std::int32_t>(position);
  });
  return found == unit.rows.end() ? nullptr : &*found;
}

void CacheSteps::evict(CacheUnit& unit, StoredRow& row) {
  row.evicted = true;
  row.masked = rule_for(unit).masks(static_cast<Position>(row.token.position));
}

void CacheSteps::release(CacheUnit& unit, std::uint64_t end) {
  if (!spec().bounded()) return;
  unit.newcomers = 0;
  while (unit.released < unit.fed && unit.released + spec().recent < end) {
    const std::uint64_t position = unit.released++;
    if (position < spec().sinks) continue;
    ++unit.entered;
    ++unit.newcomers;
    StoredRow* const row = find(unit, position);
    if (row == nullptr) continue;
    if (capacity() == 0) evict(unit, *row);
    if (!rule_for(unit).in_bulk()) settle(unit);
  }
  settle(unit);
}

Choice CacheSteps::choice_of(CacheUnit& unit) {
  Choice choice{.middle = {},
                .capacity = capacity(),
                .entered = unit.entered,
                .newcomers = unit.newcomers,
                .rows = {},
                .notes = &unit.notes};
  for (StoredRow& row : unit.rows) {
    const auto position = static_cast<std::uint64_t>(row.token.position);
    if (row.evicted || position < spec().sinks || position >= unit.released) continue;
    choice.middle.push_back(static_cast<Position>(position));
    choice.rows.push_back(&row);
  }
  return choice;
}

void CacheSteps::settle(CacheUnit& unit) {
  while (capacity() > 0 && !shares_budget()) {
    const Choice choice = choice_of(unit);
    if (choice.rows.size() <= choice.capacity) return;
    for (const std::size_t victim : victims(unit, choice)) evict(unit, *choice.rows[victim]);
  }
}

CacheSteps::Rows CacheSteps::victims(CacheUnit& unit, const Choice& choice) {
  const std::vector<Position> kept = rule_for(unit).keep(choice, draws_for(unit));
  Rows out;
  for (std::size_t i = 0; i < choice.middle.size(); ++i) {
    if (!std::ranges::binary_search(kept, choice.middle[i])) out.push_back(i);
  }
  return out;
}

void CacheSteps::free_rows(CacheUnit& unit) {
  const auto is_freed = [](const StoredRow& row) { return row.evicted && !row.masked; };
  const auto gap = std::ranges::find_if(unit.rows, is_freed);
  const auto kept = static_cast<std::size_t>(gap - unit.rows.begin());
  std::erase_if(unit.rows, is_freed);
  unit.moved += unit.rows.size() - kept;
}

namespace {

// Whether rounding might exchange those before `at` with those behind it.
template <typename Contenders>
bool is_close_at(const Contenders& sorted, std::size_t at) {
  if (at == 0 || at >= sorted.size()) return false;
  const double margin = sorted[at].score - sorted[at - 1].score;
  return margin > 0 && margin < rounding * std::abs(sorted[at].score);
}

}  // namespace

std::vector<CacheSteps::Contender> CacheSteps::middle_of(CacheUnit& unit, std::size_t head) {
  const Choice choice = choice_of(unit);
  const std::vector<double> score = scores(unit, head);
  std::vector<Contender> middle;
  for (std::size_t i = 0; i < score.size(); ++i) {
    middle.push_back({score[i], choice.middle[i], head, choice.rows[i]});
  }
  std::ranges::stable_sort(middle, {}, &Contender::score);
  return middle;
}

std::size_t CacheSteps::surplus(std::span<CacheUnit> units) {
  std::size_t held = 0;
  for (CacheUnit& unit : units) held += choice_of(unit).rows.size();
  return held - std::min(held, units.size() * capacity());
}

// All but what each unit is sure of stands in one row, the lowest score first, then the older, then
// the later head's; from its low end as many are evicted as are too many.
void CacheSteps::deal(std::span<CacheUnit> units) {
  const std::size_t evicted = surplus(units);
  if (evicted == 0) return;
  std::vector<Contender> at_stake;
  for (std::size_t head = 0; head < units.size(); ++head) {
    const std::vector<Contender> middle = middle_of(units[head], head);
    const std::size_t count = middle.size() - std::min(middle.size(), sure());
    doubtful_ |= is_close_at(middle, count);
    at_stake.insert(at_stake.end(), middle.begin(),
                    middle.begin() + static_cast<std::ptrdiff_t>(count));
  }
  std::ranges::sort(at_stake, [](const Contender& a, const Contender& b) {
    if (a.score != b.score) return a.score < b.score;
    return a.position != b.position ? a.position < b.position : a.head > b.head;
  });
  doubtful_ |= is_close_at(at_stake, evicted);
  for (std::size_t i = 0; i < evicted; ++i) {
    CacheUnit& unit = units[at_stake[i].head];
    evict(unit, *at_stake[i].row);
    rule_for(unit).forget(at_stake[i].position);
  }
}

CacheSteps::Numbers CacheSteps::query_of(const CacheUnit& unit, Token query) {
  return inputs_of(unit, query).queries;
}

double CacheSteps::bound(const std::vector<Numbers>& keys, const Numbers& query) {
  double sum = 0;
  for (std::size_t d = 0; d < query.size(); ++d) {
    std::vector<double> products;
    for (const Numbers& key : keys) {
      products.push_back(static_cast<double>(query[d]) * static_cast<double>(key[d]));
    }
    sum += std::ranges::max(products);
  }
  return sum;
}

CacheSteps::Rows CacheSteps::select(const std::vector<double>& bounds) {
  Rows selected = highest({bounds.begin(), bounds.end() - 1}, pages() - 1);
  selected.push_back(bounds.size() - 1);
  return selected;
}

std::vector<double> CacheSteps::bounds_of(const CacheUnit& unit, Token query) {
  std::vector<std::vector<Numbers>> keys(page_of(query) + 1);
  for (const StoredRow& row : unit.rows) {
    if (row.token.position <= query.position) keys[page_of(row.token)].push_back(row.key);
  }
  const Numbers own = query_of(unit, query);
  std::vector<double> bounds;
  for (const std::vector<Numbers>& page : keys) {
    bounds.push_back(page.empty() ? -1e30 : bound(page, own));
  }
  return bounds;
}

CacheSteps::Rows CacheSteps::highest(const std::vector<double>& bounds, std::size_t count) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t page = 0; page < bounds.size(); ++page) order.emplace_back(bounds[page], page);
  std::ranges::sort(order, std::greater());
  order.resize(std::min(count, order.size()));
  Rows pages;
  for (const auto& [bound, page] : order) pages.push_back(page);
  return pages;
}

}  // namespace kv::properties
