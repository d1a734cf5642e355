/* A cache in C behind the C interface of kvcheck. It keeps the first tokens and a window of the
 * newest. It stores keys and values, so kvcheck can see which token each row belongs to.
 *
 *   cc -shared -fPIC -I<prefix>/include sink_window.c -o sink_window.so
 *   kvcheck check --plugin ./sink_window.so
 *
 * With -DBROKEN, values are stored one row off their keys after the first eviction. */
#include <stdlib.h>
#include <string.h>

#include "kvcheck/properties/remote/plugin.h"

/* One head of one layer of one sequence. The rows of a call follow the rows stored before it. */
typedef struct {
  uint64_t stored, returned, queries;
  float *keys, *values;
  uint64_t* order; /* for each row, the position of its token */
  uint8_t* visible;
  float *returned_keys, *returned_values;
} head_t;

typedef struct {
  kvp_setup setup;
  uint64_t heads, fed;
  head_t* head;
} cache_t;

static const char* contract(const kvp_setup* setup) {
  const uint64_t recent = setup->recent > 0 ? setup->recent : 1;
  return setup->budget >= setup->sinks + recent ? "{}" : NULL; /* "{}": the strictest reading */
}

static int create(const kvp_setup* setup, const kvp_host* host, void** cache) {
  cache_t* made = calloc(1, sizeof *made);
  (void)host; /* this cache draws no random numbers */
  made->setup = *setup;
  made->heads = (uint64_t)setup->sequences * setup->layers * setup->kv_heads;
  made->head = calloc(made->heads, sizeof *made->head);
  *cache = made;
  return KVP_OK;
}

static void free_head(head_t* head) {
  free(head->keys);
  free(head->values);
  free(head->order);
  free(head->visible);
  free(head->returned_keys);
  free(head->returned_values);
  memset(head, 0, sizeof *head);
}

static void destroy(void* cache) {
  cache_t* mine = cache;
  for (uint64_t i = 0; i < mine->heads; ++i) free_head(&mine->head[i]);
  free(mine->head);
  free(mine);
}

/* Appends c rows, records what each query sees, and keeps the sinks and the newest rows. */
static void feed_head(
    const cache_t* cache, head_t* head, uint64_t c, const float* keys, const float* values) {
  const uint64_t sinks = cache->setup.sinks, budget = cache->setup.budget;
  const uint64_t rows = head->stored + c;
  head->returned = rows;
  head->queries = c;
  head->returned_keys = realloc(head->returned_keys, (rows + 1) * KVP_KEY_SIZE * sizeof(float));
  head->returned_values =
      realloc(head->returned_values, (rows + 1) * KVP_VALUE_SIZE * sizeof(float));
  head->keys = realloc(head->keys, (rows + 1) * KVP_KEY_SIZE * sizeof(float));
  head->values = realloc(head->values, (rows + 1) * KVP_VALUE_SIZE * sizeof(float));
  head->order = realloc(head->order, (rows + 1) * sizeof(uint64_t));
  head->visible = realloc(head->visible, rows * c + 1);
  if (c > 0) {
    memcpy(head->keys + head->stored * KVP_KEY_SIZE, keys, c * KVP_KEY_SIZE * sizeof(float));
    memcpy(head->values + head->stored * KVP_VALUE_SIZE, values,
           c * KVP_VALUE_SIZE * sizeof(float));
  }
  for (uint64_t i = 0; i < c; ++i) head->order[head->stored + i] = cache->fed + i;
  memcpy(head->returned_keys, head->keys, rows * KVP_KEY_SIZE * sizeof(float));
  memcpy(head->returned_values, head->values, rows * KVP_VALUE_SIZE * sizeof(float));

  for (uint64_t i = 0; i < c; ++i) {
    const uint64_t now = cache->fed + i; /* the position of this query */
    for (uint64_t r = 0; r < rows; ++r) {
      const uint64_t token = head->order[r];
      head->visible[i * rows + r] =
          token <= now && (token < sinks || token + (budget - sinks) > now);
    }
  }

  head->stored = rows < budget ? rows : budget;
  if (rows > budget) {
    const uint64_t to = sinks, from = rows - (budget - sinks), count = budget - sinks;
    uint64_t value_from = from;
#ifdef BROKEN
    value_from = from - 1;
#endif
    memmove(head->keys + to * KVP_KEY_SIZE, head->keys + from * KVP_KEY_SIZE,
            count * KVP_KEY_SIZE * sizeof(float));
    memmove(head->values + to * KVP_VALUE_SIZE, head->values + value_from * KVP_VALUE_SIZE,
            count * KVP_VALUE_SIZE * sizeof(float));
    memmove(head->order + to, head->order + from, count * sizeof(uint64_t));
  }
}

static int look(void* cache, kvp_unit* const* units, uint64_t count) {
  cache_t* mine = cache;
  for (uint64_t i = 0; i < count; ++i) {
    const head_t* head = &mine->head[i];
    units[i]->stored = head->stored;
    units[i]->stored_keys = head->keys;
    units[i]->stored_values = head->values;
    units[i]->reported = (int64_t)head->stored;
  }
  return KVP_OK;
}

static int feed(void* cache, const kvp_feed* given, kvp_unit* const* units, uint64_t count) {
  cache_t* mine = cache;
  const uint64_t c = given->tokens;
  for (uint64_t i = 0; i < count; ++i) {
    head_t* head = &mine->head[i];
    feed_head(mine, head, c, given->keys + i * c * KVP_KEY_SIZE,
              given->values + i * c * KVP_VALUE_SIZE);
    units[i]->returned = head->returned;
    units[i]->returned_keys = head->returned_keys;
    units[i]->returned_values = head->returned_values;
    units[i]->mask_width = head->returned;
    units[i]->visible = head->visible;
  }
  mine->fed += c;
  return look(cache, units, count);
}

static int reset(void* cache) {
  cache_t* mine = cache;
  for (uint64_t i = 0; i < mine->heads; ++i) free_head(&mine->head[i]);
  mine->fed = 0;
  return KVP_OK;
}

static const kvp_plugin plugin = {
    .size = sizeof(kvp_plugin),
    .flags = KVP_ROWS,
    .name = "sink-window",
    .contract = contract,
    .create = create,
    .destroy = destroy,
    .feed = feed,
    .look = look,
    .reset = reset,
};

uint32_t kvp_abi_version(void) {
  return KVP_ABI_VERSION;
}

const kvp_plugin* kvp_get_plugin(void) {
  return &plugin;
}
