/* A context that is longer than the model was trained for: nothing is evicted, but of every full
 * block of WIDTH tokens GROUP neighbours get one position (seq_div), and what comes later moves
 * down behind them (seq_add). WIDTH is a multiple of GROUP.
 *
 * kvcheck's contracts have no word for such positions. What is reported is where a token would
 * stand in the stream if its cell were where self-extend puts it, and as far from there as the cell
 * is from that position. So the laws on absolute positions hold exactly if every cell is in its
 * place.
 *
 * With -DTAKES_BACK_DIVIDED tokens are taken back by position inside a divided block too, where one
 * position stands for several. */
#include <stddef.h>

#include "policy.h"

#ifndef GROUP
#define GROUP 4
#endif
#ifndef WIDTH
#define WIDTH 8
#endif

/* Positions that a divided block gives up. */
enum { GAIN = WIDTH - WIDTH / GROUP };

const char* kvl_contract(const kvp_setup* setup) {
  if (setup->sequences > 16) return NULL;
  return "{\"sinks\":0,\"recent\":0,\"budget\":0,\"visibility\":\"causal\",\"unit\":\"model\","
         "\"unordered\":true}";
}

/* The longest stream of the nightly level. */
uint32_t kvl_room(const kvp_setup* setup) {
  (void)setup;
  return 34000;
}

bool kvl_takes(const kvl_stream* stream, uint64_t tokens) {
  return stream->fed + tokens <= kvl_room(&stream->setup);
}

uint64_t kvl_steps(const kvl_stream* stream, uint64_t tokens) {
  (void)tokens;
  return stream->fed / WIDTH;
}

/* A block and all that follows it return to their places in the stream, where it is divided, and
 * what follows moves down again, by the gain of this block too. */
void kvl_step(llama_memory_t memory, llama_seq_id id, const kvl_stream* stream, uint64_t steps) {
  for (uint64_t block = stream->steps; block < steps; ++block) {
    const llama_pos begin = (llama_pos)(block * WIDTH), end = begin + WIDTH;
    const llama_pos moved = (llama_pos)(block * GAIN), last = (llama_pos)stream->fed;
    if (moved > 0) llama_memory_seq_add(memory, id, begin - moved, last - moved, moved);
    llama_memory_seq_div(memory, id, begin, end, GROUP);
    if (last > end) llama_memory_seq_add(memory, id, end, last, -(moved + GAIN));
  }
}

llama_pos kvl_position(const kvl_stream* stream, int64_t token) {
  const int64_t divided = (int64_t)stream->steps * WIDTH;
  return (llama_pos)(token < divided ? token / GROUP : token - (int64_t)stream->steps * GAIN);
}

bool kvl_takes_back(const kvl_stream* stream, uint64_t length) {
#ifdef TAKES_BACK_DIVIDED
  (void)stream;
  (void)length;
  return true;
#else
  return length >= stream->steps * WIDTH;
#endif
}

double kvl_reported(const kvl_stream* stream, int64_t token, llama_pos pos) {
  return (double)(token + pos - kvl_position(stream, token));
}
