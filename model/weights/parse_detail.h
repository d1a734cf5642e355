// Parts of a configuration that several families read. Private to model/weights.
#pragma once

#include <boost/json/fwd.hpp>
#include <functional>
#include <string_view>

#include "kvcheck/model/weights/config.h"
#include "kvcheck/model/weights/config_reader.h"

namespace kv::model {

// A configuration from the entries of a config.json. Errors name the entry.
Result<ModelConfig> config_of(const boost::json::object& entries);

// The leading dimensions of a head that rotate, as a share of all.
std::size_t rotating_dims(ConfigReader& reader, double share, const ModelConfig& config);

// The rotation: 'rope_theta', and 'rope_scaling' or 'rope_parameters'. `config.rope` holds the
// family's own base and dimensions.
void read_rope(ConfigReader& reader, ModelConfig& config);

// As many settings as there are layers; none if that is more than any model has, which is an error.
std::vector<LayerSettings>& layer_settings(ConfigReader& reader, ModelConfig& config);

// Windows by layer: of the layers that 'layer_types' calls sliding or, without that entry, of those
// for which `slides` is true. `window` may be 0 if no layer slides. `pattern` is the entry behind
// `slides`, if it has one of its own: an error if it is there and contradicts 'layer_types'.
void read_windows(ConfigReader& reader,
                  ModelConfig& config,
                  std::size_t window,
                  const std::function<bool(std::size_t layer)>& slides,
                  std::string_view pattern = "");

// 'layer_types' of a family without windows, as newer exports have it: an error if a layer has one.
void refuse_windows(ConfigReader& reader, const ModelConfig& config);

}  // namespace kv::model
