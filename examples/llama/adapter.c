/* llama.cpp's memory as a cache under test. What it does with positions is a policy's (policy.h):
 * a context that is shifted when it is full, or one whose old positions are made coarser. Forks
 * and beams are copies of sequences (seq_cp).
 *
 *   cc -shared -fPIC -I<prefix>/include adapter.c context_shift.c stand_in.c -o llama.so
 *   kvcheck check --plugin ./llama.so
 *
 * README.md says what stands in for llama.cpp, and how the real one is put in its place. */
#include <stdlib.h>

#include "policy.h"

/* One memory for a cache and its forks. */
typedef struct {
  llama_memory_t memory;
  uint32_t caches;
  llama_seq_id next; /* a sequence that none of them has used yet */
} engine_t;

/* What a call reports of one sequence. */
typedef struct {
  kvl_cell* cells;
  int64_t *ids, *stored_ids;
  double *positions, *stored_positions, *query_positions;
  uint8_t* visible;
  uint64_t returned, stored;
} report_t;

typedef struct {
  kvl_stream stream;
  engine_t* engine;
  llama_seq_id first; /* sequence i of this cache is first + i */
  report_t* report;   /* one for each sequence */
} cache_t;

static cache_t* make(const kvp_setup* setup, engine_t* engine) {
  cache_t* made = calloc(1, sizeof *made);
  made->stream.setup = *setup;
  made->engine = engine;
  made->first = engine->next;
  made->report = calloc(setup->sequences, sizeof *made->report);
  engine->next += (llama_seq_id)setup->sequences;
  ++engine->caches;
  return made;
}

static int create(const kvp_setup* setup, const kvp_host* host, void** cache) {
  const uint32_t branches = 8; /* so many forks at a time have room */
  engine_t* engine = calloc(1, sizeof *engine);
  (void)host;
  engine->memory = kvl_create(branches * (setup->sequences + 1) * kvl_room(setup));
  if (engine->memory == NULL) return KVP_FAILED;
  *cache = make(setup, engine);
  return KVP_OK;
}

static int reset(void* cache) {
  cache_t* mine = cache;
  for (uint32_t i = 0; i < mine->stream.setup.sequences; ++i) {
    llama_memory_seq_rm(mine->engine->memory, mine->first + (llama_seq_id)i, -1, -1);
  }
  mine->stream.fed = mine->stream.steps = 0;
  return KVP_OK;
}

static void destroy(void* cache) {
  cache_t* mine = cache;
  reset(mine);
  for (uint32_t i = 0; i < mine->stream.setup.sequences; ++i) {
    report_t* report = &mine->report[i];
    free(report->cells);
    free(report->ids);
    free(report->stored_ids);
    free(report->positions);
    free(report->stored_positions);
    free(report->query_positions);
    free(report->visible);
  }
  if (--mine->engine->caches == 0) {
    kvl_destroy(mine->engine->memory);
    free(mine->engine);
  }
  free(mine->report);
  free(mine);
}

/* The cells of a sequence as rows; how many there are. Ids name a token's place in the stream. */
static uint64_t read_cells(cache_t* mine, uint32_t sequence, int64_t** ids, double** positions) {
  report_t* report = &mine->report[sequence];
  const llama_seq_id id = mine->first + (llama_seq_id)sequence;
  const uint64_t rows = kvl_cells(mine->engine->memory, id, NULL, 0);
  report->cells = realloc(report->cells, (rows + 1) * sizeof *report->cells);
  kvl_cells(mine->engine->memory, id, report->cells, rows);
  *ids = realloc(*ids, (rows + 1) * sizeof **ids);
  *positions = realloc(*positions, (rows + 1) * sizeof **positions);
  for (uint64_t row = 0; row < rows; ++row) {
    (*ids)[row] = report->cells[row].id;
    const kvl_cell* cell = &report->cells[row];
    (*positions)[row] = kvl_reported(&mine->stream, cell->id % 10000000, cell->pos);
  }
  return rows;
}

static int look(void* cache, kvp_unit* const* units, uint64_t count) {
  cache_t* mine = cache;
  const uint64_t of_sequence = count / mine->stream.setup.sequences;
  for (uint32_t i = 0; i < mine->stream.setup.sequences; ++i) {
    report_t* report = &mine->report[i];
    const llama_seq_id id = mine->first + (llama_seq_id)i;
    const llama_pos last = llama_memory_seq_pos_max(mine->engine->memory, id);
    const int64_t length =
        (int64_t)kvl_reported(&mine->stream, (int64_t)mine->stream.fed - 1, last) + 1;
    report->stored = read_cells(mine, i, &report->stored_ids, &report->stored_positions);
    for (uint64_t unit = i * of_sequence; unit < (i + 1) * of_sequence; ++unit) {
      units[unit]->stored = report->stored;
      units[unit]->stored_ids = report->stored_ids;
      units[unit]->stored_positions = report->stored_positions;
      units[unit]->reported = length;
    }
  }
  return KVP_OK;
}

/* A query sees the cells of its sequence up to its own position. */
static void attend(cache_t* mine, uint32_t sequence, uint64_t queries) {
  report_t* report = &mine->report[sequence];
  const uint64_t rows = read_cells(mine, sequence, &report->ids, &report->positions);
  report->returned = rows;
  report->visible = realloc(report->visible, rows * queries + 1);
  report->query_positions =
      realloc(report->query_positions, (queries + 1) * sizeof *report->query_positions);
  for (uint64_t query = 0; query < queries; ++query) {
    const int64_t token = (int64_t)(mine->stream.fed + query);
    const llama_pos own = kvl_position(&mine->stream, token);
    report->query_positions[query] = kvl_reported(&mine->stream, token, own);
    for (uint64_t row = 0; row < rows; ++row) {
      report->visible[query * rows + row] = report->cells[row].pos <= own;
    }
  }
}

static int feed(void* cache, const kvp_feed* given, kvp_unit* const* units, uint64_t count) {
  cache_t* mine = cache;
  const llama_memory_t memory = mine->engine->memory;
  const uint64_t c = given->tokens;
  const uint64_t of_sequence = count / mine->stream.setup.sequences;
  const kvl_stream before = mine->stream;
  if (c == 0) return look(cache, units, count);
  if (!kvl_takes(&before, c)) return KVP_REFUSED;
  mine->stream.steps = kvl_steps(&before, c);
  for (uint32_t i = 0; i < mine->stream.setup.sequences; ++i) {
    const llama_seq_id id = mine->first + (llama_seq_id)i;
    const llama_pos at = kvl_position(&mine->stream, (int64_t)before.fed);
    kvl_step(memory, id, &before, mine->stream.steps);
    if (!kvl_decode(memory, id, given->ids, c, at)) return KVP_FAILED;
    attend(mine, i, c);
    for (uint64_t unit = i * of_sequence; unit < (i + 1) * of_sequence; ++unit) {
      const report_t* report = &mine->report[i];
      units[unit]->returned = units[unit]->mask_width = report->returned;
      units[unit]->returned_ids = report->ids;
      units[unit]->returned_positions = report->positions;
      units[unit]->query_positions = report->query_positions;
      units[unit]->visible = report->visible;
    }
  }
  mine->stream.fed += c;
  return look(cache, units, count);
}

static int fork_it(void* cache, void** copy) {
  cache_t* mine = cache;
  cache_t* made = make(&mine->stream.setup, mine->engine);
  for (uint32_t i = 0; i < mine->stream.setup.sequences; ++i) {
    llama_memory_seq_cp(mine->engine->memory, mine->first + (llama_seq_id)i,
                        made->first + (llama_seq_id)i, -1, -1);
  }
  made->stream = mine->stream;
  *copy = made;
  return KVP_OK;
}

/* Tokens are taken back by their positions, as far as those tell them apart. */
static int truncate_it(void* cache, int64_t length) {
  cache_t* mine = cache;
  const uint64_t fed = mine->stream.fed;
  if (length < 0 || (uint64_t)length > fed) return KVP_REFUSED;
  if ((uint64_t)length == fed) return KVP_OK;
  if (!kvl_takes_back(&mine->stream, (uint64_t)length)) return KVP_REFUSED;
  for (uint32_t i = 0; i < mine->stream.setup.sequences; ++i) {
    llama_memory_seq_rm(mine->engine->memory, mine->first + (llama_seq_id)i,
                        kvl_position(&mine->stream, length), -1);
  }
  mine->stream.fed = (uint64_t)length;
  return KVP_OK;
}

/* Beams: all come from one of them, or each is copied aside first. */
static int reorder(void* cache, const uint32_t* from, uint64_t sequences) {
  cache_t* mine = cache;
  const llama_memory_t memory = mine->engine->memory;
  const llama_seq_id aside = mine->engine->next;
  bool one = mine->engine->caches == 1;
  if (sequences != mine->stream.setup.sequences) return KVP_REFUSED;
  for (uint64_t i = 0; i < sequences; ++i) {
    if (from[i] >= sequences) return KVP_REFUSED;
    one &= from[i] == from[0];
  }
  if (one) {
    const llama_seq_id best = mine->first + (llama_seq_id)from[0];
    llama_memory_seq_keep(memory, best);
    for (uint64_t i = 0; i < sequences; ++i) {
      const llama_seq_id id = mine->first + (llama_seq_id)i;
      if (id != best) llama_memory_seq_cp(memory, best, id, -1, -1);
    }
    return KVP_OK;
  }
  for (uint64_t i = 0; i < sequences; ++i) {
    llama_memory_seq_cp(memory, mine->first + (llama_seq_id)from[i], aside + (llama_seq_id)i, -1,
                        -1);
  }
  for (uint64_t i = 0; i < sequences; ++i) {
    const llama_seq_id id = mine->first + (llama_seq_id)i;
    llama_memory_seq_rm(memory, id, -1, -1);
    llama_memory_seq_cp(memory, aside + (llama_seq_id)i, id, -1, -1);
    llama_memory_seq_rm(memory, aside + (llama_seq_id)i, -1, -1);
  }
  return KVP_OK;
}

static const kvp_plugin plugin = {
    .size = sizeof(kvp_plugin),
    .name = "llama-memory",
    .contract = kvl_contract,
    .create = create,
    .destroy = destroy,
    .feed = feed,
    .look = look,
    .reset = reset,
    .fork = fork_it,
    .truncate = truncate_it,
    .reorder = reorder,
};

uint32_t kvp_abi_version(void) {
  return KVP_ABI_VERSION;
}

const kvp_plugin* kvp_get_plugin(void) {
  return &plugin;
}
