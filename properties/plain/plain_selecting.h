// A plain cache whose queries choose pages, written the obvious way: nothing is kept but the rows,
// and every bound is made anew from the keys that the page's tokens bring.
//
// Its mutants are in mutants/choices.cpp: every step is virtual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kvcheck/properties/plain/plain_subject.h"

namespace kv::properties {

class PlainSelecting : public PlainSubject {
 public:
  using PlainSubject::PlainSubject;

  static PlainOptions options() {
    return {.policy = PlainPolicy::keep_all,
            .visibility = Visibility::top_pages,
            .top_pages = {.attended = 64, .page = 16, .dense_layers = 1},
            .unit = Unit::head};
  }

  Answer<Facts> feed(const Feed& feed) override;

 protected:
  using Numbers = std::vector<float>;

  // Whether the group's queries choose.
  virtual bool selects(const PlainGroup& group);

  // The numbers that a query chooses by.
  virtual Numbers query_of(const PlainGroup& group, Token query);

  // The most that the query times one of these keys may be, from their least and greatest numbers.
  virtual double bound(const std::vector<Numbers>& keys, const Numbers& query);

  // The pages attended to: bounds[i] is that of page i, the last one the query's own.
  virtual std::vector<std::size_t> select(const std::vector<double>& bounds);

  // How many pages a query attends to.
  virtual std::size_t pages();

  std::vector<std::uint8_t> mask_row(const PlainGroup& group,
                                     const std::vector<std::size_t>& returned,
                                     std::span<const Token> chunk,
                                     std::size_t query) override;

  // The `count` first of these pages by bound; of equals the newer.
  static std::vector<std::size_t> highest(const std::vector<double>& bounds, std::size_t count);

  [[nodiscard]] std::size_t page_of(Token token) const {
    return static_cast<std::size_t>(token.position) / contract_.top_pages.page;
  }

  Stream stream_;  // of the call under way

 private:
  // The key that a row's token brought, remembered since rows are asked for again and again.
  struct KnownKey {
    Token token{-1, 0};
    std::uint32_t sequence = 0;
    Numbers key{};
  };

  const Numbers& key_of(const PlainGroup& group, const PlainRow& row);
  [[nodiscard]] std::vector<double> bounds_of(const PlainGroup& group, Token query);

  std::vector<std::vector<std::vector<double>>> reported_;  // [group][query of the call][page]
  std::vector<std::vector<KnownKey>> known_;                // [group][position]
};

}  // namespace kv::properties
