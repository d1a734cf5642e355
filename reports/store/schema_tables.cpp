#include "kvcheck/reports/store/schema_tables.h"

namespace kv::reports {

const char* const tables_of_4 = R"sql(
CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  version TEXT NOT NULL,
  command TEXT NOT NULL,
  status TEXT NOT NULL
);
CREATE TABLE traces (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs(id),
  ordinal INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  model TEXT NOT NULL,
  source TEXT NOT NULL,
  licence TEXT NOT NULL,
  loop TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  query_heads INTEGER NOT NULL,
  kv_heads INTEGER NOT NULL,
  head_dim INTEGER NOT NULL,
  layers TEXT NOT NULL,
  trained_context INTEGER NOT NULL,
  rope_layout TEXT NOT NULL,
  rope_dims INTEGER NOT NULL,
  rope_theta REAL,
  number TEXT NOT NULL,
  checksum TEXT NOT NULL,
  top_k INTEGER NOT NULL,
  series_width INTEGER NOT NULL,
  map_layer INTEGER NOT NULL,
  map_head INTEGER NOT NULL,
  map_side INTEGER NOT NULL,
  map_block INTEGER NOT NULL,
  map_mass BLOB NOT NULL,
  UNIQUE (run, ordinal)
);
CREATE TABLE dense (
  trace INTEGER NOT NULL REFERENCES traces(id),
  ordinal INTEGER NOT NULL,
  layer INTEGER NOT NULL,
  head INTEGER NOT NULL,
  first_mass REAL,
  sinks_mass REAL,
  recent_mass REAL,
  entropy REAL,
  PRIMARY KEY (trace, ordinal)
) WITHOUT ROWID;
CREATE TABLE cells (
  id INTEGER PRIMARY KEY,
  trace INTEGER NOT NULL REFERENCES traces(id),
  ordinal INTEGER NOT NULL,
  spec TEXT NOT NULL,
  policy TEXT NOT NULL,
  label TEXT NOT NULL,
  budget INTEGER NOT NULL,
  seed TEXT NOT NULL,
  bytes_per_row INTEGER NOT NULL,
  kept BLOB NOT NULL,
  lifetimes BLOB NOT NULL,
  UNIQUE (trace, ordinal)
);
CREATE TABLE heads (
  cell INTEGER NOT NULL REFERENCES cells(id),
  ordinal INTEGER NOT NULL,
  layer INTEGER NOT NULL,
  head INTEGER NOT NULL,
  retained_mass REAL,
  kl_to_dense REAL,
  topk_overlap REAL,
  output_error REAL,
  PRIMARY KEY (cell, ordinal)
) WITHOUT ROWID;
CREATE TABLE units (
  cell INTEGER NOT NULL REFERENCES cells(id),
  ordinal INTEGER NOT NULL,
  layer INTEGER NOT NULL,
  head INTEGER NOT NULL,
  stored_mean REAL,
  stored_peak INTEGER NOT NULL,
  visible_mean REAL,
  visible_peak INTEGER NOT NULL,
  kept_at_end INTEGER NOT NULL,
  evictions INTEGER NOT NULL,
  trims INTEGER NOT NULL,
  moved INTEGER NOT NULL,
  lifetime_mean REAL,
  PRIMARY KEY (cell, ordinal)
) WITHOUT ROWID;
CREATE TABLE series (
  cell INTEGER NOT NULL REFERENCES cells(id),
  ordinal INTEGER NOT NULL,
  first_step INTEGER NOT NULL,
  retained_mass REAL,
  kl_to_dense REAL,
  topk_overlap REAL,
  output_error REAL,
  stored REAL,
  kept REAL,
  visible REAL,
  PRIMARY KEY (cell, ordinal)
) WITHOUT ROWID;
CREATE TABLE residency (
  cell INTEGER NOT NULL REFERENCES cells(id),
  ordinal INTEGER NOT NULL,
  layer INTEGER NOT NULL,
  head INTEGER NOT NULL,
  evicted_at BLOB NOT NULL,
  PRIMARY KEY (cell, ordinal)
);
CREATE TABLE bounds (
  cell INTEGER NOT NULL REFERENCES cells(id),
  ordinal INTEGER NOT NULL,
  layer INTEGER NOT NULL,
  head INTEGER NOT NULL,
  heads INTEGER NOT NULL,
  optimum REAL,
  per_step REAL,
  greedy REAL,
  PRIMARY KEY (cell, ordinal)
) WITHOUT ROWID;
CREATE TABLE evaluations (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs(id),
  ordinal INTEGER NOT NULL,
  model TEXT NOT NULL,
  architecture TEXT NOT NULL,
  weight_bytes INTEGER NOT NULL,
  trained_context INTEGER NOT NULL,
  text TEXT NOT NULL,
  checksum TEXT NOT NULL,
  loop TEXT NOT NULL,
  storage TEXT NOT NULL,
  window INTEGER NOT NULL,
  streams INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  longest INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  series_width INTEGER NOT NULL,
  UNIQUE (run, ordinal)
);
CREATE TABLE eval_cells (
  id INTEGER PRIMARY KEY,
  evaluation INTEGER NOT NULL REFERENCES evaluations(id),
  ordinal INTEGER NOT NULL,
  spec TEXT NOT NULL,
  policy TEXT NOT NULL,
  label TEXT NOT NULL,
  budget INTEGER NOT NULL,
  seed TEXT NOT NULL,
  kv_bytes INTEGER NOT NULL,
  retained_mass REAL,
  UNIQUE (evaluation, ordinal)
);
CREATE TABLE eval_series (
  cell INTEGER NOT NULL REFERENCES eval_cells(id),
  ordinal INTEGER NOT NULL,
  first_target INTEGER NOT NULL,
  targets INTEGER NOT NULL,
  nats REAL NOT NULL,
  PRIMARY KEY (cell, ordinal)
) WITHOUT ROWID;
CREATE TABLE eval_recall (
  cell INTEGER NOT NULL REFERENCES eval_cells(id),
  ordinal INTEGER NOT NULL,
  first_distance INTEGER NOT NULL,
  last_distance INTEGER NOT NULL,
  asked INTEGER NOT NULL,
  answered INTEGER NOT NULL,
  PRIMARY KEY (cell, ordinal)
) WITHOUT ROWID;
CREATE TABLE timings (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs(id),
  ordinal INTEGER NOT NULL,
  model TEXT NOT NULL,
  weights TEXT NOT NULL,
  weight_bytes INTEGER NOT NULL,
  storage TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  UNIQUE (run, ordinal)
);
CREATE TABLE timed_cells (
  timing INTEGER NOT NULL REFERENCES timings(id),
  ordinal INTEGER NOT NULL,
  spec TEXT NOT NULL,
  policy TEXT NOT NULL,
  label TEXT NOT NULL,
  budget INTEGER NOT NULL,
  seed TEXT NOT NULL,
  length INTEGER NOT NULL,
  first_token_s REAL NOT NULL,
  token_s REAL NOT NULL,
  attention_s REAL NOT NULL,
  kv_bytes INTEGER NOT NULL,
  peak_bytes INTEGER NOT NULL,
  PRIMARY KEY (timing, ordinal)
) WITHOUT ROWID;
)sql";

// What version 5 adds. heads_after is for readers of the file; kvcheck computes the same numbers.
const char* const tables_of_5 = R"sql(
CREATE TABLE first_losses (
  cell INTEGER PRIMARY KEY REFERENCES cells(id),
  query INTEGER NOT NULL
);
CREATE TABLE marks (
  trace INTEGER PRIMARY KEY REFERENCES traces(id),
  prompt INTEGER NOT NULL,
  question INTEGER NOT NULL
);
CREATE TABLE eval_marks (
  evaluation INTEGER PRIMARY KEY REFERENCES evaluations(id),
  prompt INTEGER NOT NULL,
  question INTEGER NOT NULL
);
CREATE VIEW heads_after AS
SELECT heads.cell, heads.ordinal, heads.layer, heads.head,
  1 - (1 - retained_mass) * tokens / (tokens - query) AS retained_mass,
  kl_to_dense * tokens / (tokens - query) AS kl_to_dense,
  1 - (1 - topk_overlap) * tokens / (tokens - query) AS topk_overlap,
  output_error * tokens / (tokens - query) AS output_error
FROM heads JOIN first_losses ON first_losses.cell = heads.cell
  JOIN cells ON cells.id = heads.cell JOIN traces ON traces.id = cells.trace
WHERE query < tokens;
)sql";

// What version 6 adds.
const char* const tables_of_6 = R"sql(
CREATE TABLE sweeps (
  run INTEGER PRIMARY KEY REFERENCES runs(id),
  identity TEXT NOT NULL,
  plan TEXT NOT NULL,
  traces INTEGER NOT NULL,
  cells INTEGER NOT NULL,
  total INTEGER NOT NULL
);
CREATE TABLE summaries (
  cell INTEGER PRIMARY KEY REFERENCES cells(id),
  heads INTEGER NOT NULL,
  units INTEGER NOT NULL,
  retained_mass REAL,
  kl_to_dense REAL,
  topk_overlap REAL,
  output_error REAL,
  visible_mean REAL,
  visible_peak INTEGER NOT NULL,
  stored_mean REAL,
  stored_peak INTEGER NOT NULL,
  kept_at_end REAL,
  evictions INTEGER NOT NULL,
  trims INTEGER NOT NULL,
  moved INTEGER NOT NULL,
  lifetime_mean REAL,
  bytes_peak INTEGER NOT NULL
);
)sql";

// What version 8 adds.
const char* const tables_of_8 = R"sql(
CREATE TABLE sampled_traces (
  trace INTEGER PRIMARY KEY REFERENCES traces(id),
  design TEXT NOT NULL,
  queries BLOB NOT NULL
);
CREATE TABLE recorded_kv_heads (
  trace INTEGER PRIMARY KEY REFERENCES traces(id),
  numbers TEXT NOT NULL
);
CREATE TABLE sampled_cells (
  cell INTEGER PRIMARY KEY REFERENCES cells(id),
  decided_on_sample INTEGER NOT NULL,
  retained_mass REAL,
  kl_to_dense REAL,
  topk_overlap REAL,
  output_error REAL
);
CREATE TABLE sampled_heads (
  cell INTEGER NOT NULL REFERENCES cells(id),
  ordinal INTEGER NOT NULL,
  retained_mass REAL,
  kl_to_dense REAL,
  topk_overlap REAL,
  output_error REAL,
  PRIMARY KEY (cell, ordinal)
) WITHOUT ROWID;
)sql";

}  // namespace kv::reports
