/* What stands in for llama.cpp in the tests: cells that belong to sets of sequences, as its
 * unified memory has them, behind functions of the same names and meanings. Written for the tests;
 * nothing here is llama.cpp's code.
 *
 * With -DRM_FREES_SHARED removing a cell from one sequence removes it from all. With
 * -DADD_MOVES_SHARED a cell that other sequences hold too moves for all of them. With
 * -DADD_SPARES_ONE the last position of a range is not moved. -DDIV_SPARES_ONE and
 * -DDIV_MOVES_SHARED are the same faults of a division, and with -DDIV_ROUNDS_UP it rounds up. */
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
  uint32_t used; /* the cells from here on were never used */
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
  for (uint32_t i = 0; i < mem->used; ++i) {
    if (is_in(&mem->cells[i], seq_id, p0, p1)) leave(&mem->cells[i], seq_id);
  }
  return true;
}

void llama_memory_seq_cp(
    llama_memory_t mem, llama_seq_id src, llama_seq_id dst, llama_pos p0, llama_pos p1) {
  for (uint32_t i = 0; i < mem->used; ++i) {
    cell_t* cell = &mem->cells[i];
    if (!is_in(cell, src, p0, p1) || cell->of[dst]) continue;
    cell->of[dst] = 1;
    ++cell->owners;
  }
}

void llama_memory_seq_keep(llama_memory_t mem, llama_seq_id seq_id) {
  for (uint32_t i = 0; i < mem->used; ++i) {
    cell_t* cell = &mem->cells[i];
    const uint8_t held = cell->of[seq_id];
    memset(cell->of, 0, sizeof cell->of);
    cell->of[seq_id] = held;
    cell->owners = held;
  }
}

static cell_t* free_cell(llama_memory_t mem) {
  for (uint32_t i = 0; i < mem->used; ++i) {
    if (mem->cells[i].owners == 0) return &mem->cells[i];
  }
  return mem->used < mem->count ? &mem->cells[mem->used++] : NULL;
}

/* The cell, or one that holds the same for this sequence alone; NULL: there is none free. */
static cell_t* own_cell(llama_memory_t mem, cell_t* cell, llama_seq_id seq_id) {
  cell_t* copy;
  if (cell->owners == 1) return cell;
  copy = free_cell(mem);
  if (copy == NULL) return NULL;
  copy->id = cell->id;
  copy->pos = cell->pos;
  memset(copy->of, 0, sizeof copy->of);
  copy->of[seq_id] = 1;
  copy->owners = 1;
  cell->of[seq_id] = 0;
  --cell->owners;
  return copy;
}

/* A cell has one position. One that others hold too moves for this sequence alone, as a copy,
 * unless `shared` says that it moves for all. Positions become (pos + delta) / divisor. */
static void move_cells(llama_memory_t mem,
                       llama_seq_id seq_id,
                       llama_pos p0,
                       llama_pos p1,
                       llama_pos delta,
                       llama_pos divisor,
                       bool shared) {
  cell_t** moved = calloc(mem->used + 1, sizeof(cell_t*));
  uint32_t count = 0;
  for (uint32_t i = 0; i < mem->used; ++i) {
    if (is_in(&mem->cells[i], seq_id, p0, p1)) moved[count++] = &mem->cells[i];
  }
  for (uint32_t i = 0; i < count; ++i) {
    cell_t* cell = shared ? moved[i] : own_cell(mem, moved[i], seq_id);
    if (cell != NULL) cell->pos = (cell->pos + delta) / divisor;
  }
  free(moved);
}

void llama_memory_seq_add(
    llama_memory_t mem, llama_seq_id seq_id, llama_pos p0, llama_pos p1, llama_pos delta) {
  bool shared = false;
#ifdef ADD_SPARES_ONE
  if (p1 > 0) --p1;
#endif
#ifdef ADD_MOVES_SHARED
  shared = true;
#endif
  move_cells(mem, seq_id, p0, p1, delta, 1, shared);
}

void llama_memory_seq_div(
    llama_memory_t mem, llama_seq_id seq_id, llama_pos p0, llama_pos p1, int d) {
  llama_pos first = 0;
  bool shared = false;
#ifdef DIV_SPARES_ONE
  if (p1 > 0) --p1;
#endif
#ifdef DIV_MOVES_SHARED
  shared = true;
#endif
#ifdef DIV_ROUNDS_UP
  first = d - 1;
#endif
  move_cells(mem, seq_id, p0, p1, first, d, shared);
}

llama_pos llama_memory_seq_pos_min(llama_memory_t mem, llama_seq_id seq_id) {
  llama_pos least = -1;
  for (uint32_t i = 0; i < mem->used; ++i) {
    const cell_t* cell = &mem->cells[i];
    if (is_in(cell, seq_id, 0, -1) && (least < 0 || cell->pos < least)) least = cell->pos;
  }
  return least;
}

llama_pos llama_memory_seq_pos_max(llama_memory_t mem, llama_seq_id seq_id) {
  llama_pos most = -1;
  for (uint32_t i = 0; i < mem->used; ++i) {
    const cell_t* cell = &mem->cells[i];
    if (is_in(cell, seq_id, 0, -1) && cell->pos > most) most = cell->pos;
  }
  return most;
}

bool kvl_decode(
    llama_memory_t mem, llama_seq_id seq_id, const int64_t* ids, uint64_t count, llama_pos pos) {
  uint64_t room = mem->count - mem->used;
  for (uint32_t i = 0; i < mem->used; ++i) room += mem->cells[i].owners == 0;
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
  for (uint32_t i = 0; i < mem->used; ++i) {
    const cell_t* cell = &mem->cells[i];
    if (!is_in(cell, seq_id, 0, -1)) continue;
    if (count < most) cells[count] = (kvl_cell){cell->id, cell->pos};
    ++count;
  }
  return count;
}
