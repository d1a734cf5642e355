/* A plugin by ids that keeps everything, refuses and misbehaves as -D says. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "kvcheck/properties/remote/plugin.h"

static int64_t ids[4096];
static uint8_t visible[4096 * 64];
static uint64_t held;
static const kvp_host* draws;
static uint64_t last_draw;

static const char* contract(const kvp_setup* setup) {
#ifdef MISSPELT
  return "{\"budget\":0,\"randm\":true}";
#endif
  return setup->layers > 1 ? NULL : "{\"budget\":0,\"random\":true}";
}

static int create(const kvp_setup* setup, const kvp_host* host, void** cache) {
  (void)setup;
  draws = host;
  held = 0;
  *cache = ids;
  return KVP_OK;
}

static void destroy(void* cache) {
  (void)cache;
}

static int look(void* cache, kvp_unit* const* units, uint64_t count) {
  (void)cache;
  for (uint64_t i = 0; i < count; ++i) {
    units[i]->stored = held;
    units[i]->stored_ids = ids;
    units[i]->moved = (int64_t)last_draw;
  }
  return KVP_OK;
}

static int feed(void* cache, const kvp_feed* given, kvp_unit* const* units, uint64_t count) {
#ifdef CRASH
  if (given->position > 0) *(volatile int*)0 = 1;
#endif
#ifdef HANG
  for (volatile int forever = 1; forever;) continue;
#endif
#ifdef FAIL
  return KVP_FAILED;
#endif
  for (uint64_t i = 0; i < given->tokens; ++i) ids[held + i] = given->ids[i];
  const uint64_t rows = held + given->tokens;
  for (uint64_t i = 0; i < given->tokens; ++i) {
    for (uint64_t r = 0; r < rows; ++r) visible[i * rows + r] = r <= held + i;
  }
  held = rows;
  last_draw = draws->below(draws->context, 0, 1000, (uint32_t)given->position, 3);
  for (uint64_t i = 0; i < count; ++i) {
    units[i]->returned = rows;
    units[i]->returned_ids = ids;
    units[i]->mask_width = rows;
    units[i]->visible = visible;
  }
  return look(cache, units, count);
}

static int truncate_it(void* cache, int64_t length) {
  (void)cache;
  if (length < 0 || (uint64_t)length > held) return KVP_REFUSED;
  held = (uint64_t)length;
  return KVP_OK;
}

static const char* why(void* cache) {
  (void)cache;
  return "because";
}

static const kvp_plugin plugin = {
#ifdef OLDER_HEADER
    .size = offsetof(kvp_plugin, head_dim),
    .head_dim = 15,
#else
    .size = sizeof(kvp_plugin),
#endif
#ifdef OLDER_HEADER
    .flags = KVP_ROWS,
#elif defined HEAD_DIM
    .flags = KVP_ROWS,
    .head_dim = HEAD_DIM,
    .dtype = DTYPE,
#else
    .flags = KVP_DRAWS,
#endif
    .name = "wrong",
    .contract = contract,
    .create = create,
    .destroy = destroy,
#ifndef NO_FEED
    .feed = feed,
#endif
    .look = look,
    .truncate = truncate_it,
    .why = why,
};

uint32_t kvp_abi_version(void) {
#ifdef OTHER_VERSION
  return 99;
#else
  return KVP_ABI_VERSION;
#endif
}

const kvp_plugin* kvp_get_plugin(void) {
  return &plugin;
}
