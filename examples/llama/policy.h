/* What decides the positions of a sequence. adapter.c is compiled with one of the two:
 * context_shift.c, which evicts, or self_extend.c, which makes old positions coarser. */
#ifndef KVCHECK_LLAMA_POLICY_H
#define KVCHECK_LLAMA_POLICY_H

#include "llama_memory.h"

#include "kvcheck/properties/remote/plugin.h"

/* A stream as the policy sees it; the same for all sequences of a cache. */
typedef struct {
  kvp_setup setup;
  uint64_t fed;   /* tokens of the stream */
  uint64_t steps; /* what the policy counts: tokens shifted out, or blocks divided */
} kvl_stream;

/* The contract as JSON, valid until the next call; NULL: such sizes are refused. */
const char* kvl_contract(const kvp_setup* setup);

/* Cells for one sequence. */
uint32_t kvl_room(const kvp_setup* setup);

/* Whether a chunk of so many tokens is taken, and the steps that are done before it is. */
bool kvl_takes(const kvl_stream* stream, uint64_t tokens);
uint64_t kvl_steps(const kvl_stream* stream, uint64_t tokens);

/* Does the steps from those that the stream has to `steps` in one sequence. */
void kvl_step(llama_memory_t memory, llama_seq_id id, const kvl_stream* stream, uint64_t steps);

/* The position of token `token` of the stream, which is not evicted. */
llama_pos kvl_position(const kvl_stream* stream, int64_t token);

/* Whether all but the first `length` tokens can be taken back by their positions. */
bool kvl_takes_back(const kvl_stream* stream, uint64_t length);

/* The position that is reported of a token whose cell is at `pos`. */
double kvl_reported(const kvl_stream* stream, int64_t token, llama_pos pos);

#endif
