#include "kvcheck/sim/cache/slots.h"

namespace kv {
namespace {

TEST(Slots, AreTheSameAfterSaveAndLoad) {
  Slots slots;
  slots.append_sink();
  for (int i = 0; i < 6; ++i) slots.append_tail();
  for (int i = 0; i < 3; ++i) slots.tail_to_middle();
  slots.evict_middle(1);
  slots.evict_tail();
  slots.free_evicted();
  slots.append_tail();
  slots.evict_middle(0);
  ByteWriter writer;
  slots.save(writer);
  Slots restored;
  for (int i = 0; i < 9; ++i) restored.append_tail();
  ByteReader reader(writer.bytes());
  restored.load(reader);
  ASSERT_TRUE(reader.finished()) << reader.finished().error().message;
  EXPECT_EQ(restored.used(), slots.used());
  EXPECT_EQ(restored.unfreed(), slots.unfreed());
  // The next token takes a freed row, the same one as in the original.
  for (Slots* each : {&slots, &restored}) {
    each->append_tail();
    each->free_evicted();
    each->append_tail();
    each->append_tail();
  }
  constexpr std::size_t ranks = 8;  // a sink, one of the middle, and six of the tail
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(restored.slot_of(rank), slots.slot_of(rank)) << rank;
  }
  EXPECT_EQ(restored.used(), slots.used());
}

}  // namespace
}  // namespace kv
