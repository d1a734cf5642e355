/* The C interface of kvcheck: a cache in a shared library.
 *
 * A plugin exports kvp_abi_version and kvp_get_plugin. kvcheck loads it in a child process, so that
 * a crash or a call that never returns is a finding. ABI.md explains every part and has an example.
 *
 * Every struct begins with its size in bytes, as its maker knows it: a field that lies
 * beyond that size is not there. All calls come from one thread. Pointers that are handed over stay
 * valid until the next call on the same cache.
 */
#ifndef KVCHECK_PLUGIN_H
#define KVCHECK_PLUGIN_H

#include <stdint.h>

/* NOLINTBEGIN(readability-identifier-naming): names as C writes them */

#ifdef __cplusplus
extern "C" {
#endif

#define KVP_ABI_VERSION 1u

/* What a call answers. After KVP_REFUSED nothing has changed; after KVP_FAILED the cache is only
 * destroyed. why() may tell more of both. */
enum { KVP_OK = 0, KVP_REFUSED = 1, KVP_FAILED = 2 };

/* Flags of a plugin. */
enum {
  KVP_DRAWS = 1u,       /* its chance comes from the host alone */
  KVP_LOGITS = 2u,      /* wants kvp_feed.logits */
  KVP_ROWS = 4u,        /* holds keys and values: tells rows, not ids */
  KVP_INTERLEAVED = 8u, /* rotary pairs are (2i, 2i + 1), not (i, i + KVP_KEY_SIZE / 2) */
  KVP_RAW_KEYS = 16u    /* wants keys that are not rotated yet (position 0) */
};

/* Floats of one row, unless the plugin names its own sizes. Rows are tags: hand them back as they
 * are, or rotated. */
#define KVP_KEY_SIZE 24u
#define KVP_VALUE_SIZE 12u

/* Types of the numbers of rows. */
enum { KVP_F32 = 0, KVP_F16 = 1, KVP_BF16 = 2 };

typedef struct kvp_setup {
  uint64_t size;
  uint64_t seed;
  uint32_t layers, kv_heads, group, sequences; /* group: query heads per kv-head */
  uint32_t sinks, recent, budget;              /* requested; the contract says what is used */
} kvp_setup;

/* Random numbers of the host. `unit` is the unit's index; `position` is the token on whose behalf
 * the plugin draws, and `index` counts its draws for that token. */
typedef struct kvp_host {
  uint64_t size;
  void* context;
  uint64_t (*below)(void* context,
                    uint32_t unit,
                    uint64_t bound,
                    uint32_t position,
                    uint32_t index); /* 0 ... bound - 1 */
  double (*uniform)(void* context, uint32_t unit, uint32_t position, uint32_t index); /* (0, 1) */
} kvp_host;

/* Tokens of one call, the same for every sequence. */
typedef struct kvp_feed {
  uint64_t size;
  uint64_t tokens;      /* may be 0 */
  uint64_t position;    /* of the first in the stream */
  const int64_t* ids;   /* [tokens]; an id names one token, and says nothing else */
  const float* keys;    /* [sequences][layers][kv_heads][tokens][KVP_KEY_SIZE]; KVP_ROWS only */
  const float* values;  /* [sequences][layers][kv_heads][tokens][KVP_VALUE_SIZE]; KVP_ROWS only */
  const float* logits;  /* [sequences][layers][query_heads][tokens][logit_width]; KVP_LOGITS only */
  uint64_t logit_width; /* position + tokens: one logit per token of the stream; those behind the
                           query are -infinity */
} kvp_feed;

/* What a call did with one unit: sequence, layer and head, the head fastest. The host has set all
 * but size to nothing (0, NULL, and -1 for the counts). Rows are in slot order. */
typedef struct kvp_unit {
  uint64_t size;

  /* The rows given to attention; after a feed only. Ids, or with KVP_ROWS keys and values. */
  uint64_t returned;
  const int64_t* returned_ids;
  const float* returned_keys;
  const float* returned_values;
  const double* returned_positions; /* rotary; NULL: not reported, or read from the keys */

  /* visible[query * mask_width + row]: whether the query may attend to that returned row. */
  uint64_t mask_width;
  const uint8_t* visible;
  const double* query_positions; /* [tokens], rotary; NULL: not reported */
  const float* weights;          /* [tokens][returned], attention's weights; NULL: not reported */

  /* The rows stored when the call is over. */
  uint64_t stored;
  const int64_t* stored_ids;
  const float* stored_keys;
  const float* stored_values;
  const double* stored_positions;

  int64_t reported; /* what the cache says its length is */
  int64_t moved;    /* rows copied so far within buffers */
  int64_t bytes;    /* what the cache says it occupies */
} kvp_unit;

/* A NULL among the functions below `look` means: refused. */
typedef struct kvp_plugin {
  uint64_t size;
  uint32_t flags;
  const char* name;

  /* The contract for these sizes as JSON ("{}": the strictest), or NULL: they are refused. */
  const char* (*contract)(const kvp_setup* setup);

  /* The host outlives the cache. */
  int (*create)(const kvp_setup* setup, const kvp_host* host, void** cache);
  void (*destroy)(void* cache);

  /* units: pointers to one kvp_unit per unit. look changes nothing. */
  int (*feed)(void* cache, const kvp_feed* feed, kvp_unit* const* units, uint64_t count);
  int (*look)(void* cache, kvp_unit* const* units, uint64_t count);

  int (*reset)(void* cache);
  int (*fork)(void* cache, void** copy);
  int (*truncate)(void* cache, int64_t length);
  int (*reorder)(void* cache, const uint32_t* from, uint64_t sequences);
  int (*shift)(void* cache, int64_t begin, int64_t delta);
  int (*snapshot)(void* cache, const uint8_t** bytes, uint64_t* count);
  int (*restore)(void* cache, const uint8_t* bytes, uint64_t count);

  /* Words for the last KVP_REFUSED or KVP_FAILED; cache is NULL after a failed create. */
  const char* (*why)(void* cache);

  /* With KVP_ROWS, what the plugin's rows are: numbers in a key (even, at least 16; 0:
   * KVP_KEY_SIZE and KVP_VALUE_SIZE floats), in a value (0: as many), and their type. All pointers
   * to keys and values then point to numbers of that type. */
  uint32_t head_dim, value_dim, dtype;
} kvp_plugin;

uint32_t kvp_abi_version(void); /* KVP_ABI_VERSION, as the plugin was compiled */
const kvp_plugin* kvp_get_plugin(void);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(readability-identifier-naming) */

#endif
