/* A context of fixed size that is shifted when it is full. The first tokens remain; of those behind
 * them the oldest are removed (seq_rm), and the others move down (seq_add). A chunk makes its room
 * before it is stored. */
#include "policy.h"

#include <stdio.h>

/* Sinks and a window are the whole budget. */
const char* kvl_contract(const kvp_setup* setup) {
  static char text[512];
  if (setup->budget <= setup->sinks || setup->sequences > 16) return NULL;
  snprintf(text, sizeof text,
           "{\"recent\":%u,\"timing\":\"trim-then-attend\",\"visibility\":\"causal\","
           "\"positions\":\"shifted\",\"unit\":\"model\",\"unordered\":true,\"longest_chunk\":%u}",
           setup->budget - setup->sinks, setup->budget - setup->sinks);
  return text;
}

uint32_t kvl_room(const kvp_setup* setup) {
  return setup->budget;
}

bool kvl_takes(const kvl_stream* stream, uint64_t tokens) {
  return tokens <= stream->setup.budget - stream->setup.sinks;
}

uint64_t kvl_steps(const kvl_stream* stream, uint64_t tokens) {
  const uint64_t all = stream->fed + tokens, budget = stream->setup.budget;
  return all > budget + stream->steps ? all - budget : stream->steps;
}

void kvl_step(llama_memory_t memory, llama_seq_id id, const kvl_stream* stream, uint64_t steps) {
  const llama_pos over = (llama_pos)(steps - stream->steps);
  const llama_pos keep = (llama_pos)stream->setup.sinks, gap = keep + over;
  if (over == 0) return;
  llama_memory_seq_rm(memory, id, keep, gap);
  llama_memory_seq_add(memory, id, gap, kvl_position(stream, (int64_t)stream->fed), -over);
}

llama_pos kvl_position(const kvl_stream* stream, int64_t token) {
  return (llama_pos)(token - (int64_t)stream->steps);
}

/* What was shifted out cannot come back. */
bool kvl_takes_back(const kvl_stream* stream, uint64_t length) {
  (void)length;
  return stream->steps == 0;
}

double kvl_reported(const kvl_stream* stream, int64_t token, llama_pos pos) {
  (void)stream;
  (void)token;
  return pos;
}
