#include "kvcheck/properties/cases/generate.h"

#include <algorithm>

#include <rapidcheck/Random.h>
#include <rapidcheck/seq/Create.h>
#include <rapidcheck/seq/Transform.h>
#include <rapidcheck/shrinkable/Create.h>

#include "kvcheck/properties/cases/drawer.h"
#include "kvcheck/properties/cases/long_streams.h"
#include "kvcheck/properties/cases/script.h"
#include "kvcheck/properties/cases/shapes.h"

namespace kv::properties {
namespace {

rc::Shrinkable<Case> tree_of(const Case& root, bool takes_sizes) {
  return rc::shrinkable::shrinkRecur(Case(root), [takes_sizes](const Case& what) {
    return rc::seq::fromContainer(simpler_cases(what, takes_sizes));
  });
}

// The sizes of the sweep: every combination once in a hundred, far apart from case to case.
void sweep_sizes(std::uint64_t index, std::uint64_t seed, Setup& setup) {
  const auto at = static_cast<std::uint32_t>((index * 37 + seed * 61) % 100);
  setup.sinks = at % 4;
  setup.recent = at / 4 % 5;
  setup.budget = setup.sinks + setup.recent + at / 20;
}

void draw_sizes(Drawer& draw, Setup& setup) {
  setup.sinks = draw.below(4);
  setup.recent = draw.below(5);
  setup.budget = setup.sinks + setup.recent + draw.below(5);
}

// One case in so many is of the requested setup: fewer where its cases are long, or of many units.
std::uint64_t period_for(const Setup& requested) {
  const std::uint64_t units =
      std::uint64_t{requested.layers} * requested.kv_heads * requested.sequences;
  const std::uint64_t rows = requested.budget * std::max<std::uint64_t>(1, units / 16);
  return rows <= 32 ? 8 : rows <= 128 ? 16 : rows <= 384 ? 48 : 100;
}

void cap_shape(std::uint32_t most, Setup& setup) {
  while (setup.layers * setup.query_heads() * setup.sequences > most) {
    std::uint32_t* const fields[] = {&setup.layers, &setup.kv_heads, &setup.group,
                                     &setup.sequences};
    std::uint32_t* largest = fields[0];
    for (std::uint32_t* field : fields) largest = *field > *largest ? field : largest;
    --*largest;
  }
}

// Layers, heads and sequences; few enough that a case remains cheap.
void draw_shape(Drawer& draw, const Wants& wants, Setup& setup) {
  setup.layers = setup.kv_heads = setup.group = setup.sequences = 1;
  const auto some = [&](bool requested) {
    return requested && !draw.chance(1, 5) ? 2 + draw.below(2) : 1;
  };
  setup.sequences = some(wants.several_sequences || wants.reorders);
  setup.layers = some(wants.several_layers);
  setup.kv_heads = some(wants.several_heads);
  setup.group = wants.several_heads && draw.chance(1, 2) ? 2 + draw.below(2) : 1;
  cap_shape(12, setup);
}

// The number of a case among those that have many layers, heads or sequences. Of the shared cases
// one in six has, if it has several: at the quick level 25 without operations, which go through all
// shapes, and as many with some. A law that compares runs has fewer cases, so one in four.
std::optional<std::uint64_t> among_many(const CaseScope& scope, std::uint64_t index) {
  const Wants& wants = scope.wants;
  if (!wants.several_layers && !wants.several_heads && !wants.several_sequences) return {};
  if (!scope.shared) return index % 4 == 1 ? std::optional(index / 4) : std::nullopt;
  if (index % 12 == 4) return index / 12;
  if (index % 12 == 5) return index / 12 + covering_shapes().size() / 2;
  return {};
}

void take_shape(const Wants& wants, std::uint64_t number, Setup& setup) {
  const SetupShape& shape = covering_shapes()[number % covering_shapes().size()];
  setup.layers = wants.several_layers ? shape.layers : 1;
  setup.kv_heads = wants.several_heads ? shape.kv_heads : 1;
  setup.group = wants.several_heads ? shape.group : 1;
  setup.sequences = wants.several_sequences || wants.reorders ? shape.sequences : 1;
}

Stream draw_stream(Drawer& draw, std::uint64_t tokens) {
  Stream stream;
  stream.kind = stream_kinds()[draw.below(static_cast<std::uint32_t>(stream_kinds().size()))];
  stream.seed = draw.below(1000);
  if (stream.kind == StreamKind::hitter || stream.kind == StreamKind::unscored) {
    stream.planted = draw.below(static_cast<std::uint32_t>(tokens) + 1);
  }
  if (stream.kind == StreamKind::behind) stream.planted = draw.below(5);
  return stream;
}

// A setup and the contract that a subject gives of it; none where no subject would.
struct Agreed {
  Setup setup;
  std::optional<Contract> contract{};
};

// Budgets of their own need the layers and heads that they differ over.
void keep_uneven(const CaseScope& scope, Setup& setup) {
  const auto requested = scope.contract(scope.requested);
  if (!requested || !requested->uneven()) return;
  setup.layers = std::max(setup.layers, scope.requested.layers);
  setup.kv_heads = std::max(setup.kv_heads, scope.requested.kv_heads);
}

// The requested setup, with more layers, heads and sequences where the case wants several and the
// subject takes any.
Agreed requested_setup(Drawer& draw, const CaseScope& scope) {
  Agreed out{scope.requested};
  if (scope.takes_sizes) {
    Setup drawn;
    draw_shape(draw, scope.wants, drawn);
    for (std::uint32_t Setup::*field :
         {&Setup::layers, &Setup::kv_heads, &Setup::group, &Setup::sequences}) {
      if (out.setup.*field == 1) out.setup.*field = drawn.*field;
    }
    const Setup& asked = scope.requested;
    cap_shape(std::max(most_units, asked.layers * asked.query_heads() * asked.sequences),
              out.setup);
  }
  out.contract = scope.contract(out.setup);
  if (!out.contract) out.contract = scope.contract(out.setup = scope.requested);
  return out;
}

// One try at sizes that the subject may refuse; the first one belongs to the sweep, and only the
// first few may be of many units.
void draw_setup(Drawer& draw, const CaseScope& scope, std::uint64_t index, int tries, Agreed& out) {
  const Length length = scope.length ? scope.length(index) : Length{};
  const bool is_long = length.tokens > 0;
  if (is_long && length.way == Length::Way::room) {
    draw_large_sizes(draw, length.tokens, out.setup);
  } else if (tries == 0) {
    sweep_sizes(index, scope.seed, out.setup);
  } else {
    draw_sizes(draw, out.setup);
  }
  const auto many = tries < 8 && !is_long ? among_many(scope, index) : std::nullopt;
  if (many) {
    take_shape(scope.wants, *many + scope.seed, out.setup);
  } else {
    draw_shape(draw, scope.wants, out.setup);
  }
  if (is_long) cap_shape(length.way == Length::Way::room || length.tokens > 600 ? 2 : 4, out.setup);
  keep_uneven(scope, out.setup);
  out.contract = scope.contract(out.setup);
  constexpr std::uint32_t much = 24;  // slack makes streams long: fewer units then
  if (out.contract && out.contract->timing == Timing::lazy && out.contract->slack > much) {
    cap_shape(4, out.setup);
    out.contract = scope.contract(out.setup);
  }
}

Case draw_case(Drawer& draw, const CaseScope& scope, std::uint64_t index) {
  const Length length = scope.length ? scope.length(index) : Length{};
  const std::uint64_t period = period_for(scope.requested);
  const bool requested = !scope.takes_sizes || (length.tokens == 0 && (index + 1) % period == 0);
  constexpr int most_tries = 32;
  Agreed agreed{scope.requested};
  for (int i = 0; i < most_tries && !requested && !agreed.contract; ++i) {
    draw_setup(draw, scope, index, i, agreed);
  }
  if (!agreed.contract) agreed = requested_setup(draw, scope);
  agreed.setup.seed = draw.chance(1, 4) ? 0 : draw.below(100000);
  Case what{agreed.setup, {}, {}};
  what.calls =
      draw_calls(draw, scope.wants, agreed.setup, agreed.contract.value_or(Contract{}), length);
  what.stream = draw_stream(draw, what.tokens());
  return what;
}

}  // namespace

struct CaseTree::Impl {
  rc::Shrinkable<Case> tree;
  Case value = tree.value();
};

CaseTree::CaseTree(const Case& root, bool takes_sizes)
    : impl_(std::make_shared<const Impl>(Impl{tree_of(root, takes_sizes)})) {}

const Case& CaseTree::value() const {
  return impl_->value;
}

void CaseTree::simpler(const std::function<bool(const CaseTree&)>& take) const {
  rc::Seq<rc::Shrinkable<Case>> shrinks = impl_->tree.shrinks();
  while (auto next = shrinks.next()) {
    if (take(CaseTree(std::make_shared<const Impl>(Impl{*next})))) return;
  }
}

CaseTree CaseSource::at(std::uint64_t index) const {
  Drawer draw(rc::Random(rc::Random::Key{scope_.seed, index, 0x6b76, 0}));
  return CaseTree(draw_case(draw, scope_, index), scope_.takes_sizes);
}

}  // namespace kv::properties
