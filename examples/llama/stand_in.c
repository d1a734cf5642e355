/* What stands in for llama.cpp in the tests: cells that belong to sets of sequences, as its
 * unified memory has them, behind functions of the same names and meanings. Written for the tests;
 * nothing here is llama.cpp's code.
 *
 * With -DRM_FREES_SHARED removing a cell from one sequence removes it from all. With
 * -DADD_MOVES_SHARED a cell that other sequences hold too moves for all of them. With
 * -DADD_SPARES_ONE the last position of a range is not moved. */
#include <stdlib.h>
#include <string.h>

#include "llama_memory.h"

enum { SEQUENCES = 1024 };

typedef struct {
  int64_t id;
  llama_pos pos;
  uint32_t owners; /* sequences that hold it; 0: free */
  uint8_t of[SEQUENCES];
} cell_t;

struct llama_memory_i {
  uint32_t count;
  cell_t* cells;
};

llama_memory_t kvl_create(uint32_t cells) {
  llama_memory_t made = calloc(1, sizeof *made);
  made->count = cells;
  made->cells = calloc(cells, sizeof *made->cells);
  return made;
}

void kvl_destroy(llama_memory_t mem) {
  free(mem->cells);
  free(mem);
}

static bool is_in(const cell_t* cell, llama_seq_id seq_id, llama_pos p0, llama_pos p1) {
  return cell->owners > 0 && cell->of[seq_id] && cell->pos >= p0 && (p1 < 0 || cell->pos < p1);
}

static void leave(cell_t* cell, llama_seq_id seq_id) {
#ifdef RM_FREES_SHARED
  (void)seq_id;
  memset(cell->of, 0, sizeof cell->of);
  cell->owners = 0;
#else
  cell->of[seq_id] = 0;
  --cell->owners;
#endif
}

bool llama_memory_seq_rm(llama_memory_t mem, llama_seq_id seq_id, llama_pos p0, llama_pos p1) {
  for (uint32_t i = 0; i < mem->count; ++i) {
    if (is_in(&mem->cells[i], seq_id, p0, p1)) leave(&mem->cells[i], seq_id);
  }
  return true;
}

void llama_memory_seq_cp(
    llama_memory_t mem, llama_seq_id src, llama_seq_id dst, llama_pos p0, llama_pos p1) {
  for (uint32_t i = 0; i < mem->count; ++i) {
    cell_t* cell = &mem->cells[i];
    if (!is_in(cell, src, p0, p1) || cell->of[dst]) continue;
    cell->of[dst] = 1;
    ++cell->owners;
  }
}

void llama_memory_seq_keep(llama_memory_t mem, llama_seq_id seq_id) {
  for (uint32_t i = 0; i < mem->count; ++i) {
    cell_t* cell = &mem->cells[i];
    const uint8_t held = cell->of[seq_id];
    memset(cell->of, 0, sizeof cell->of);
    cell->of[seq_id] = held;
    cell->owners = held;
  }
}

static cell_t* free_cell(llama_memory_t mem) {
  for (uint32_t i = 0; i < mem->count; ++i) {
    if (mem->cells[i].owners == 0) return &mem->cells[i];
  }
  return NULL;
}

/* A cell has one position. One that others hold too moves for this sequence alone, as a copy. */
void llama_memory_seq_add(
    llama_memory_t mem, llama_seq_id seq_id, llama_pos p0, llama_pos p1, llama_pos delta) {
#ifdef ADD_SPARES_ONE
  if (p1 > 0) --p1;
#endif
  cell_t** moved = calloc(mem->count, sizeof(cell_t*));
  uint32_t count = 0;
  for (uint32_t i = 0; i < mem->count; ++i) {
    if (is_in(&mem->cells[i], seq_id, p0, p1)) moved[count++] = &mem->cells[i];
  }
  for (uint32_t i = 0; i < count; ++i) {
    cell_t* cell = moved[i];
#ifndef ADD_MOVES_SHARED
    if (cell->owners > 1) {
      cell_t* copy = free_cell(mem);
      if (copy == NULL) continue;
      copy->id = cell->id;
      copy->pos = cell->pos;
      memset(copy->of, 0, sizeof copy->of);
      copy->of[seq_id] = 1;
      copy->owners = 1;
      cell->of[seq_id] = 0;
      --cell->owners;
      cell = copy;
    }
#endif
    cell->pos += delta;
  }
  free(moved);
}

llama_pos llama_memory_seq_pos_min(llama_memory_t mem, llama_seq_id seq_id) {
  llama_pos least = -1;
  for (uint32_t i = 0; i < mem->count; ++i) {
    const cell_t* cell = &mem->cells[i];
    if (is_in(cell, seq_id, 0, -1) && (least < 0 || cell->pos < least)) least = cell->pos;
  }
  return least;
}

llama_pos llama_memory_seq_pos_max(llama_memory_t mem, llama_seq_id seq_id) {
  llama_pos most = -1;
  for (uint32_t i = 0; i < mem->count; ++i) {
    const cell_t* cell = &mem->cells[i];
    if (is_in(cell, seq_id, 0, -1) && cell->pos > most) most = cell->pos;
  }
  return most;
}

bool kvl_decode(
    llama_memory_t mem, llama_seq_id seq_id, const int64_t* ids, uint64_t count, llama_pos pos) {
  uint64_t room = 0;
  for (uint32_t i = 0; i < mem->count; ++i) room += mem->cells[i].owners == 0;
  if (room < count) return false;
  for (uint64_t i = 0; i < count; ++i) {
    cell_t* cell = free_cell(mem);
    cell->id = ids[i];
    cell->pos = pos + (llama_pos)i;
    cell->of[seq_id] = 1;
    cell->owners = 1;
  }
  return true;
}

uint64_t kvl_cells(llama_memory_t mem, llama_seq_id seq_id, kvl_cell* cells, uint64_t most) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < mem->count; ++i) {
    const cell_t* cell = &mem->cells[i];
    if (!is_in(cell, seq_id, 0, -1)) continue;
    if (count < most) cells[count] = (kvl_cell){cell->id, cell->pos};
    ++count;
  }
  return count;
}
