#include "kvcheck/cli/trace/rules_text.h"

#include <map>
#include <vector>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/trace/trace_options.h"

namespace kv::cli {
namespace {

// The layers that have something, by what they have.
using Found = std::map<std::string, std::vector<std::size_t>>;

template <typename Text>
Found found_in(const TraceInfo& info, const Text& text) {
  Found found;
  for (std::size_t i = 0; i < info.rules.size(); ++i) {
    const std::string what = text(info.rules[i]);
    if (!what.empty()) found[what].push_back(info.layers[i]);
  }
  return found;
}

// "window 4096", or "window 4096 in layers 0,2" if only some have it.
void add_found(const TraceInfo& info, const Found& found, std::vector<std::string>& parts) {
  for (const auto& [what, layers] : found) {
    const bool all = layers.size() == info.layers.size();
    const std::string in = layers.size() == 1 ? " in layer " : " in layers ";
    parts.push_back(all ? what : what + in + numbers_text(layers));
  }
}

std::string with_number(std::string_view what, double value, double usual) {
  return value == usual ? "" : std::string(what) + " " + shortest(value);
}

std::string with_table(std::string_view what, const std::vector<float>& table) {
  return table.empty() ? "" : std::string(what);
}

}  // namespace

std::string_view layout_name(RopeLayout layout) {
  if (layout == RopeLayout::none) return "none";
  return layout == RopeLayout::interleaved ? "interleaved" : "half";
}

std::string rotation_text(const TraceInfo& info) {
  if (info.rope.layout == RopeLayout::none) {
    return info.kind == TraceKind::qkv ? "none" : "not stated; its effect is in the rows";
  }
  std::vector<std::string> parts = {std::string(layout_name(info.rope.layout)),
                                    std::to_string(info.rope.dims) + " dimensions"};
  if (info.rope.theta > 0) parts.push_back("theta " + shortest(info.rope.theta));
  add_found(
      info,
      found_in(info,
               [](const LayerRules& rules) {
                 return std::string(rules.frequencies.empty() ? "" : "a table of frequencies");
               }),
      parts);
  add_found(info,
            found_in(info,
                     [](const LayerRules& rules) {
                       return std::string(rules.layout == RopeLayout::none ? "none" : "");
                     }),
            parts);
  add_found(info,
            found_in(info,
                     [](const LayerRules& rules) {
                       return with_number("cos and sin times", rules.rope_scale, 1);
                     }),
            parts);
  return join(parts, ", ");
}

std::string attention_text(const TraceInfo& info) {
  std::vector<std::string> parts;
  const auto add = [&](const auto& text) { add_found(info, found_in(info, text), parts); };
  add([](const LayerRules& rules) { return with_number("scale", rules.scale, 0); });
  add([](const LayerRules& rules) { return with_number("soft cap", rules.cap, 0); });
  add([](const LayerRules& rules) {
    return rules.window == 0 ? "" : "window " + std::to_string(rules.window);
  });
  add([](const LayerRules& rules) { return with_table("learned sinks", rules.sinks); });
  add([](const LayerRules& rules) { return with_table("slopes", rules.slopes); });
  if (info.learned_sinks) parts.emplace_back("learned sinks: rows may sum to less than 1");
  return join(parts, ", ");
}

std::string rules_json(const TraceInfo& info) {
  std::vector<std::size_t> indices(info.rules.size());
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = i;
  return json_list(indices, [&](std::size_t i) {
    const LayerRules& rules = info.rules[i];
    JsonObject object;
    object.add("layer", std::uint64_t{info.layers[i]});
    object.add("rope_layout", layout_name(rules.layout));
    object.add_raw("frequencies", json_list(rules.frequencies, shortest));
    object.add("rope_scale", rules.rope_scale);
    if (rules.scale > 0) object.add("attention_scale", rules.scale);
    if (rules.cap > 0) object.add("soft_cap", rules.cap);
    if (rules.window > 0) object.add("window", std::uint64_t{rules.window});
    const auto number = [](float value) { return shortest(double{value}); };
    if (!rules.sinks.empty()) object.add_raw("sinks", json_list(rules.sinks, number));
    if (!rules.slopes.empty()) object.add_raw("slopes", json_list(rules.slopes, number));
    return object.text();
  });
}

}  // namespace kv::cli
