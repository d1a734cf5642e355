#include "kvcheck/properties/plain/plain_selecting.h"

#include <algorithm>
#include <utility>

#include "kvcheck/properties/cases/token_inputs.h"

namespace kv::properties {

Answer<Facts> PlainSelecting::feed(const Feed& feed) {
  if (!(stream_ == feed.stream)) known_.clear();
  known_.resize(state_.groups.size());
  stream_ = feed.stream;
  reported_.assign(state_.groups.size(), {});
  Answer<Facts> answer = PlainSubject::feed(feed);
  auto* facts = std::get_if<Facts>(&answer);
  if (facts == nullptr || feed.tokens.empty()) return answer;
  const std::size_t width = page_of(feed.tokens.back());
  for (std::size_t unit = 0; unit < reported_.size(); ++unit) {
    if (reported_[unit].empty()) continue;
    UnitFacts& out = facts->units[unit];
    out.page_width = width;
    for (std::vector<double>& bounds : reported_[unit]) {
      bounds.back() = not_reported;  // its own page's
      bounds.resize(std::max(width, bounds.size()), not_reported);
      out.page_bounds.insert(out.page_bounds.end(), bounds.begin(),
                             bounds.begin() + static_cast<std::ptrdiff_t>(width));
    }
  }
  return answer;
}

bool PlainSelecting::selects(const PlainGroup& group) {
  return contract_.selects_in(place_of(first_unit(group)).layer);
}

PlainSelecting::Numbers PlainSelecting::query_of(const PlainGroup& group, Token query) {
  const InputUnit unit = input_unit(place_of(first_unit(group)), Unit::head, setup_);
  return token_inputs(stream_, {&unit, 1}, query).queries;
}

double PlainSelecting::bound(const std::vector<Numbers>& keys, const Numbers& query) {
  double sum = 0;
  for (std::size_t d = 0; d < query.size(); ++d) {
    float least = keys.front()[d];
    float greatest = least;
    for (const Numbers& key : keys) {
      least = std::min(least, key[d]);
      greatest = std::max(greatest, key[d]);
    }
    sum += static_cast<double>(std::max(query[d] * least, query[d] * greatest));
  }
  return sum;
}

std::size_t PlainSelecting::pages() {
  return contract_.top_pages.pages();
}

std::vector<std::size_t> PlainSelecting::highest(const std::vector<double>& bounds,
                                                 std::size_t count) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t page = 0; page < bounds.size(); ++page) order.emplace_back(bounds[page], page);
  std::ranges::sort(order, std::greater());
  order.resize(std::min(count, order.size()));
  std::vector<std::size_t> pages;
  for (const auto& [bound, page] : order) pages.push_back(page);
  return pages;
}

std::vector<std::size_t> PlainSelecting::select(const std::vector<double>& bounds) {
  std::vector<std::size_t> selected = highest({bounds.begin(), bounds.end() - 1}, pages() - 1);
  selected.push_back(bounds.size() - 1);
  return selected;
}

// Keys are of the sequence that the row was made for, whichever it serves now.
const PlainSelecting::Numbers& PlainSelecting::key_of(const PlainGroup& group,
                                                      const PlainRow& row) {
  std::vector<KnownKey>& known = known_[index_of(group)];
  const auto position = static_cast<std::size_t>(row.token.position);
  if (known.size() <= position) known.resize(position + 1);
  KnownKey& entry = known[position];
  Place place = place_of(first_unit(group));
  place.sequence = read_value(row.cells.front().value).place.sequence;
  if (entry.token == row.token && entry.sequence == place.sequence) return entry.key;
  const InputUnit unit = input_unit(place, Unit::head, setup_);
  entry = {row.token, place.sequence, token_inputs(stream_, {&unit, 1}, row.token).keys};
  return entry.key;
}

std::vector<double> PlainSelecting::bounds_of(const PlainGroup& group, Token query) {
  std::vector<std::vector<Numbers>> keys(page_of(query) + 1);
  for (const PlainRow& row : group.rows) {
    if (row.token.position > query.position) continue;
    keys[page_of(row.token)].push_back(key_of(group, row));
  }
  const Numbers own = query_of(group, query);
  std::vector<double> bounds;
  for (const std::vector<Numbers>& page : keys) {
    bounds.push_back(page.empty() ? -1e30 : bound(page, own));
  }
  return bounds;
}

std::vector<std::uint8_t> PlainSelecting::mask_row(const PlainGroup& group,
                                                   const std::vector<std::size_t>& returned,
                                                   std::span<const Token> chunk,
                                                   std::size_t query) {
  std::vector<std::uint8_t> mask = PlainSubject::mask_row(group, returned, chunk, query);
  if (!selects(group)) return mask;
  const std::vector<double> bounds = bounds_of(group, chunk[query]);
  const std::vector<std::size_t> selected = select(bounds);
  reported_[index_of(group)].push_back(bounds);
  for (std::size_t i = 0; i < returned.size(); ++i) {
    const std::size_t page = page_of(group.rows[returned[i]].token);
    if (std::ranges::find(selected, page) == selected.end()) mask[i] = 0;
  }
  return mask;
}

}  // namespace kv::properties
