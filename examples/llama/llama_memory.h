/* The functions of llama.cpp that adapter.c calls, as its public header has them, and what the
 * adapter needs beside them. A program that has llama.cpp defines KVL_LLAMA_H as its header. */
#ifndef KVCHECK_LLAMA_MEMORY_H
#define KVCHECK_LLAMA_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#ifdef KVL_LLAMA_H
#include KVL_LLAMA_H
#else
typedef struct llama_memory_i* llama_memory_t;
typedef int32_t llama_pos;
typedef int32_t llama_seq_id;

/* Positions [p0, p1) of a sequence; a negative p0 is 0, and a negative p1 is the end. */
bool llama_memory_seq_rm(llama_memory_t mem, llama_seq_id seq_id, llama_pos p0, llama_pos p1);
void llama_memory_seq_cp(
    llama_memory_t mem, llama_seq_id src, llama_seq_id dst, llama_pos p0, llama_pos p1);
void llama_memory_seq_keep(llama_memory_t mem, llama_seq_id seq_id);
void llama_memory_seq_add(
    llama_memory_t mem, llama_seq_id seq_id, llama_pos p0, llama_pos p1, llama_pos delta);
void llama_memory_seq_div(
    llama_memory_t mem, llama_seq_id seq_id, llama_pos p0, llama_pos p1, int d);
llama_pos llama_memory_seq_pos_min(llama_memory_t mem, llama_seq_id seq_id);
llama_pos llama_memory_seq_pos_max(llama_memory_t mem, llama_seq_id seq_id);
#endif

/* What that header has no words for: which token a cell holds. An engine of one's own answers it
 * from the ids that it decoded, or from what its kernels read. */
typedef struct {
  int64_t id;    /* as it was given to kvl_decode */
  llama_pos pos; /* the rotary position of its key */
} kvl_cell;

/* A memory with so many cells, shared by all sequences; NULL: there can be none. */
llama_memory_t kvl_create(uint32_t cells);
void kvl_destroy(llama_memory_t mem);

/* Puts tokens into cells of their own at positions pos, pos + 1, ... of the sequence. False: there
 * are not enough cells, and nothing has changed. */
bool kvl_decode(
    llama_memory_t mem, llama_seq_id seq_id, const int64_t* ids, uint64_t count, llama_pos pos);

/* The cells of the sequence in slot order, at most `most` of them; how many there are. */
uint64_t kvl_cells(llama_memory_t mem, llama_seq_id seq_id, kvl_cell* cells, uint64_t most);

#endif
