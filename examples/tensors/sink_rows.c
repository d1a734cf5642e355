/* A cache of tensors in C behind the C interface of kvcheck: keys and values of 64 numbers in half
 * precision, as they are in a model. It keeps the first tokens and a window of the newest. It knows
 * no token by name: kvcheck reads from its rows which they are.
 *
 *   cc -shared -fPIC -I<prefix>/include sink_rows.c -o sink_rows.so
 *   kvcheck check --plugin ./sink_rows.so
 *
 * With -DVALUES_BEHIND values are moved from one row before their keys. With -DONE_HEAD each
 * head stores the keys of head 0. */
#include <stdlib.h>
#include <string.h>

#include "kvcheck/properties/remote/plugin.h"

enum { DIM = 64, ROW = DIM * sizeof(uint16_t) };

/* One head: rows as bytes, the position of each in `order`, and what the last call returned. */
typedef struct {
  uint64_t stored;
  uint8_t *keys, *values, *visible, *returned_keys, *returned_values;
  uint64_t* order;
} head_t;

typedef struct {
  kvp_setup setup;
  uint64_t heads, fed;
  head_t* head;
} cache_t;

static const char* contract(const kvp_setup* setup) {
  const uint64_t recent = setup->recent > 0 ? setup->recent : 1;
  return setup->budget >= setup->sinks + recent ? "{\"precision\":\"f16\"}" : NULL;
}

static void empty(head_t* head) {
  free(head->keys);
  free(head->values);
  free(head->visible);
  free(head->returned_keys);
  free(head->returned_values);
  free(head->order);
  memset(head, 0, sizeof *head);
}

static int create(const kvp_setup* setup, const kvp_host* host, void** cache) {
  cache_t* made = calloc(1, sizeof *made);
  (void)host;
  made->setup = *setup;
  made->heads = (uint64_t)setup->sequences * setup->layers * setup->kv_heads;
  made->head = calloc(made->heads, sizeof *made->head);
  *cache = made;
  return KVP_OK;
}

static int reset(void* cache) {
  cache_t* mine = cache;
  for (uint64_t i = 0; i < mine->heads; ++i) empty(&mine->head[i]);
  mine->fed = 0;
  return KVP_OK;
}

static void destroy(void* cache) {
  reset(cache);
  free(((cache_t*)cache)->head);
  free(cache);
}

static void grow(head_t* head, uint64_t rows, uint64_t queries) {
  head->keys = realloc(head->keys, (rows + 1) * ROW);
  head->values = realloc(head->values, (rows + 1) * ROW);
  head->returned_keys = realloc(head->returned_keys, (rows + 1) * ROW);
  head->returned_values = realloc(head->returned_values, (rows + 1) * ROW);
  head->order = realloc(head->order, (rows + 1) * sizeof *head->order);
  head->visible = realloc(head->visible, rows * queries + 1);
}

/* The sinks remain, and the newest rows move behind them. */
static void trim(const cache_t* cache, head_t* head, uint64_t rows) {
  const uint64_t sinks = cache->setup.sinks, budget = cache->setup.budget;
  const uint64_t count = budget - sinks, from = rows - count;
#ifdef VALUES_BEHIND
  const uint64_t value_from = from - 1;
#else
  const uint64_t value_from = from;
#endif
  memmove(head->keys + sinks * ROW, head->keys + from * ROW, count * ROW);
  memmove(head->values + sinks * ROW, head->values + value_from * ROW, count * ROW);
  memmove(head->order + sinks, head->order + from, count * sizeof *head->order);
  head->stored = budget;
}

static void feed_head(
    const cache_t* cache, head_t* head, uint64_t c, const uint8_t* keys, const uint8_t* values) {
  const uint64_t sinks = cache->setup.sinks, budget = cache->setup.budget;
  const uint64_t rows = head->stored + c;
  grow(head, rows, c);
  memcpy(head->keys + head->stored * ROW, keys, c * ROW);
  memcpy(head->values + head->stored * ROW, values, c * ROW);
  for (uint64_t i = 0; i < c; ++i) head->order[head->stored + i] = cache->fed + i;
  memcpy(head->returned_keys, head->keys, rows * ROW);
  memcpy(head->returned_values, head->values, rows * ROW);
  for (uint64_t i = 0; i < c; ++i) {
    const uint64_t now = cache->fed + i; /* the position of this query */
    for (uint64_t r = 0; r < rows; ++r) {
      const uint64_t token = head->order[r];
      head->visible[i * rows + r] =
          token <= now && (token < sinks || token + (budget - sinks) > now);
    }
  }
  head->stored = rows;
  if (rows > budget) trim(cache, head, rows);
}

static int look(void* cache, kvp_unit* const* units, uint64_t count) {
  const cache_t* mine = cache;
  for (uint64_t i = 0; i < count; ++i) {
    const head_t* head = &mine->head[i];
    units[i]->stored = head->stored;
    units[i]->stored_keys = (const float*)head->keys;
    units[i]->stored_values = (const float*)head->values;
    units[i]->reported = (int64_t)head->stored;
  }
  return KVP_OK;
}

static int feed(void* cache, const kvp_feed* given, kvp_unit* const* units, uint64_t count) {
  cache_t* mine = cache;
  const uint64_t c = given->tokens;
  if (c == 0) return look(cache, units, count);
  for (uint64_t i = 0; i < count; ++i) {
    head_t* head = &mine->head[i];
#ifdef ONE_HEAD
    const uint64_t from = i - i % mine->setup.kv_heads;
#else
    const uint64_t from = i;
#endif
    const uint64_t returned = head->stored + c;
    feed_head(mine, head, c, (const uint8_t*)given->keys + from * c * ROW,
              (const uint8_t*)given->values + i * c * ROW);
    units[i]->returned = units[i]->mask_width = returned;
    units[i]->returned_keys = (const float*)head->returned_keys;
    units[i]->returned_values = (const float*)head->returned_values;
    units[i]->visible = head->visible;
  }
  mine->fed += c;
  return look(cache, units, count);
}

static const kvp_plugin plugin = {
    .size = sizeof(kvp_plugin),
    .flags = KVP_ROWS,
    .name = "sink-rows",
    .contract = contract,
    .create = create,
    .destroy = destroy,
    .feed = feed,
    .look = look,
    .reset = reset,
    .head_dim = DIM, /* values are as large as keys */
    .dtype = KVP_F16,
};

uint32_t kvp_abi_version(void) {
  return KVP_ABI_VERSION;
}

const kvp_plugin* kvp_get_plugin(void) {
  return &plugin;
}
