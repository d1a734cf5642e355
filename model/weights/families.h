// The table of the model families that open, as their configurations name them. Private to
// model/weights.
#pragma once

#include <span>
#include <string_view>

#include "kvcheck/model/weights/config.h"
#include "kvcheck/model/weights/config_reader.h"

namespace kv::model {

// What a family calls its sizes in a configuration.
struct SizeNames {
  std::string_view width;
  std::string_view layers;
  std::string_view heads;
  std::string_view kv_heads;  // empty: there is no such entry, as queries share no keys
  std::string_view inner;
  std::string_view context;
};

struct Family {
  std::string_view name;  // 'model_type'
  Architecture architecture;
  SizeNames sizes;
  Norms norms;
  std::string_view epsilon;  // the entry with the epsilon of its norms
  double default_epsilon;
  std::string_view activation;  // the entry with the MLP's activation
  std::string_view default_activation;
  bool gated;
  bool tied;                                     // where 'tie_word_embeddings' is missing
  std::size_t head_dim;                          // where 'head_dim' is missing; 0: width / heads
  double theta;                                  // where 'rope_theta' is missing; 0: no rotation
  void (*rest)(ConfigReader&, ModelConfig&);     // reads what only this family has
  std::span<const std::string_view> harmless{};  // its entries that change nothing
};

// Source of every row and of the functions that read the rest: the family's configuration_*.py and
// modeling_*.py in Hugging Face transformers.
std::span<const Family> families();

// Entries that any configuration may have and that change nothing of what is computed here.
std::span<const std::string_view> harmless_entries();

}  // namespace kv::model
