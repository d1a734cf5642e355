#include <array>
#include <boost/json.hpp>
#include <cmath>

#include "kvcheck/base/text/text.h"
#include "kvcheck/model/weights/parse_detail.h"

namespace kv::model {
namespace {

namespace json = boost::json;
using Kind = RopeScaling::Kind;

// Two exports of Phi-3 call longrope by the names that it had first.
Kind kind_of(ConfigReader& reader, const std::string& word, bool phi3) {
  constexpr std::array<std::string_view, 7> words = {"default", "linear",   "llama3", "dynamic",
                                                     "yarn",    "longrope", "su"};
  constexpr std::array<Kind, 7> kinds = {Kind::none, Kind::linear,   Kind::llama3,  Kind::dynamic,
                                         Kind::yarn, Kind::longrope, Kind::longrope};
  if (phi3 && word == "yarn") return Kind::longrope;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) return kinds[i];
  }
  reader.keep("has an " + unknown_word("type of rotation", word, words));
  return Kind::none;
}

// The length of the first training's texts.
double first_context(ConfigReader& inner, ConfigReader& outer, const ModelConfig& config) {
  constexpr std::string_view name = "original_max_position_embeddings";
  // transformers assumes this number for Phi-3, and the trained context for others.
  const std::size_t otherwise =
      config.architecture == Architecture::phi3 ? std::size_t{4096} : config.context;
  const std::size_t outside = outer.count(name, otherwise);
  const std::size_t given = inner.count(name, outside);
  if (outer.find(name) != nullptr && given != outside) {
    inner.keep("has " + std::string(name) + " twice, as " + std::to_string(outside) + " and " +
               std::to_string(given) + "; expected one number");
  }
  if (given < 2) inner.keep("has '" + std::string(name) + "' below 2; expected a text's length");
  return static_cast<double>(given);
}

// All numbers have to be there: a checkpoint that leaves one out was trained with one that we
// cannot know.
void read_llama3(ConfigReader& inner, RopeScaling& scaling) {
  scaling.low_frequency = inner.real("low_freq_factor", 0);
  scaling.high_frequency = inner.real("high_freq_factor", 0);
  scaling.first_context = static_cast<double>(inner.count("original_max_position_embeddings"));
  if (!(scaling.high_frequency > scaling.low_frequency && scaling.low_frequency > 0)) {
    inner.keep("has a rotation whose low_freq_factor is not between 0 and its high_freq_factor");
  }
}

void read_dynamic(ConfigReader& inner, const ModelConfig& config, RopeScaling& scaling) {
  scaling.first_context = static_cast<double>(config.context);
  inner.require("original_max_position_embeddings", static_cast<std::int64_t>(config.context));
  if (config.rope.dims <= 2) {
    inner.keep("has a dynamic rotation of 2 dimensions; expected more");
  }
}

void read_yarn(ConfigReader& inner,
               ConfigReader& outer,
               const ModelConfig& config,
               RopeScaling& scaling) {
  scaling.first_context = first_context(inner, outer, config);
  scaling.fast = inner.factor("beta_fast", 32);
  scaling.slow = inner.factor("beta_slow", 1);
  scaling.whole_pairs = inner.flag("truncate", true);
  inner.ignore(std::array<std::string_view, 1>{"finetuned"});
  const auto stretch = [&](double share) {
    return scaling.factor <= 1 ? 1.0 : 0.1 * share * std::log(scaling.factor) + 1;
  };
  // As in transformers, 0 is as good as missing.
  const auto scale = [&](std::string_view name) {
    const json::value* value = inner.find(name);
    const bool zero = value != nullptr && (*value == 0 || *value == 0.0);
    return zero ? 0 : inner.factor(name, 0);
  };
  const double of_main = scale("mscale");
  const double of_all = scale("mscale_all_dim");
  const bool both = of_main > 0 && of_all > 0;
  scaling.attention_factor =
      inner.factor("attention_factor", both ? stretch(of_main) / stretch(of_all) : stretch(1));
  if (config.rope.theta <= 1) inner.keep("has a base of at most 1; expected more, for yarn");
}

void read_longrope(ConfigReader& inner,
                   ConfigReader& outer,
                   const ModelConfig& config,
                   RopeScaling& scaling) {
  scaling.first_context = first_context(inner, outer, config);
  scaling.short_factors = inner.reals("short_factor");
  scaling.long_factors = inner.reals("long_factor");
  const std::size_t pairs = config.rope.dims / 2;
  for (const auto* factors : {&scaling.short_factors, &scaling.long_factors}) {
    if (factors->size() == pairs && pairs > 0) continue;
    inner.keep("has a longrope with " + std::to_string(factors->size()) +
               " factors in a list; expected two lists of one for each of the " +
               std::to_string(pairs) + " pairs");
  }
  // The ratio of the contexts is what the source uses where the first one is given.
  const double ratio = static_cast<double>(config.context) / scaling.first_context;
  scaling.factor = ratio > 1 ? ratio : inner.factor("factor", 1);
  inner.ignore(std::array<std::string_view, 1>{"factor"});
  const double grown =
      scaling.factor <= 1
          ? 1.0
          : std::sqrt(1 + std::log(scaling.factor) / std::log(scaling.first_context));
  scaling.attention_factor = inner.factor("attention_factor", grown);
}

// A number that stands in the object and outside it has to be the same.
void require_same(ConfigReader& inner,
                  std::string_view name,
                  ConfigReader& outer,
                  std::string_view name_outside) {
  const json::value* inside = inner.find(name);
  // Only then is the one outside asked for: alone, it is of use to the families that read it.
  const json::value* outside = inside == nullptr ? nullptr : outer.find(name_outside);
  if (outside == nullptr) return;
  const double number = inner.real(name, 0);
  if (number == outer.real(name_outside, 0)) return;
  inner.keep_wrong(name, *inside,
                   "the value of '" + std::string(name_outside) + "', " +
                       shortest(outer.real(name_outside, 0)) + ", beside it");
}

// One object of settings. `base`: what the base of its rotation is called outside of it.
RopeScaling read_scaling(ConfigReader& inner,
                         ConfigReader& outer,
                         ModelConfig& config,
                         std::string_view base = "rope_theta") {
  RopeScaling scaling;
  // Older exports call it "type"; some write both.
  inner.require_equal("rope_type", "type");
  const std::string word = inner.word("rope_type", inner.word("type", "default"));
  scaling.kind = kind_of(inner, word, config.architecture == Architecture::phi3);
  require_same(inner, "rope_theta", outer, base);
  require_same(inner, "partial_rotary_factor", outer, "partial_rotary_factor");
  if (config.architecture == Architecture::gpt_neox) {
    // What that family called the two before they were in one object.
    require_same(inner, "rope_theta", outer, "rotary_emb_base");
    require_same(inner, "partial_rotary_factor", outer, "rotary_pct");
  }
  config.rope.theta = inner.real("rope_theta", config.rope.theta);
  const double share = inner.real("partial_rotary_factor", 0);
  if (share > 0) config.rope.dims = rotating_dims(inner, share, config);
  if (scaling.kind != Kind::none && scaling.kind != Kind::longrope) {
    scaling.factor = inner.factor("factor", 0);
    if (scaling.factor <= 0) inner.keep("has a rotation without a 'factor'");
  }
  if (scaling.kind == Kind::llama3) read_llama3(inner, scaling);
  if (scaling.kind == Kind::dynamic) read_dynamic(inner, config, scaling);
  if (scaling.kind == Kind::yarn) read_yarn(inner, outer, config, scaling);
  if (scaling.kind == Kind::longrope) read_longrope(inner, outer, config, scaling);
  return scaling;
}

// Settings by kind of layer, as newer exports of Gemma 3 have them.
void read_by_kind(const json::object& kinds, ConfigReader& reader, ModelConfig& config) {
  ConfigReader both(kinds, "rope_parameters.");
  const auto read = [&](std::string_view name, std::string_view base) -> RopeScaling {
    const json::value* value = both.find(name);
    if (value == nullptr || !value->is_object()) {
      both.keep("has no object 'rope_parameters." + std::string(name) + "'");
      return {};
    }
    ConfigReader inner(value->get_object(), "rope_parameters." + std::string(name) + ".");
    RopeScaling scaling = read_scaling(inner, reader, config, base);
    inner.finish("a rotation of its kind");
    both.keep(inner.problem());
    return scaling;
  };
  const Rope before = config.rope;
  config.rope.theta = config.local_rope.theta;
  if (read("sliding_attention", "rope_local_base_freq").kind != Kind::none) {
    both.keep("has a scaled rotation in layers with a window; expected 'default' there");
  }
  config.local_rope = config.rope;
  config.rope = before;
  config.scaling = read("full_attention", "rope_theta");
  if (config.rope.dims != config.local_rope.dims) {
    both.keep("has rotations of " + std::to_string(config.local_rope.dims) + " and of " +
              std::to_string(config.rope.dims) +
              " dimensions in its 'rope_parameters'; expected the same in all layers");
  }
  both.finish("the rotations of its layers");
  reader.keep(both.problem());
}

}  // namespace

std::size_t rotating_dims(ConfigReader& reader, double share, const ModelConfig& config) {
  if (share > 1) {
    reader.keep("rotates " + shortest(share) + " of each head; expected a share of at most 1");
    return 0;
  }
  return static_cast<std::size_t>(share * static_cast<double>(config.head_dim));
}

void read_rope(ConfigReader& reader, ModelConfig& config) {
  config.rope.theta = reader.real("rope_theta", config.rope.theta);
  // Newer configurations have the base beside the scaling, in one object.
  reader.require_equal("rope_parameters", "rope_scaling");
  const bool newer = reader.find("rope_parameters") != nullptr;
  const std::string name = newer ? "rope_parameters" : "rope_scaling";
  const json::value* value = reader.find(name);
  if (value == nullptr) return;
  if (!value->is_object()) return reader.keep_wrong(name, *value, "an object");
  const json::object& object = value->get_object();
  const bool by_kind = config.local_rope.layout != RopeLayout::none;
  if (by_kind && object.contains("full_attention")) return read_by_kind(object, reader, config);
  ConfigReader inner(object, name + ".");
  config.scaling = read_scaling(inner, reader, config);
  inner.finish("a rotation of its kind");
  reader.keep(inner.problem());
}

}  // namespace kv::model
