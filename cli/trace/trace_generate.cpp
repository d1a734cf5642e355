#include "kvcheck/cli/trace/trace_generate.h"

#include <array>
#include <ostream>
#include <vector>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/options/output_file.h"
#include "kvcheck/cli/options/terminal.h"
#include "kvcheck/traces/files/save.h"
#include "kvcheck/traces/synthetic/synthetic.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 13> table = {{
    {.name = "tokens", .value = "N", .help = "tokens of the stream, 1 to 65536 [1024]"},
    {.name = "layers", .value = "N", .help = "layers [1]"},
    {.name = "heads", .value = "N", .help = "query heads of a layer [4]"},
    {.name = "kv-heads", .value = "N", .help = "key/value heads, a divisor of heads [heads]"},
    {.name = "head-dim", .value = "N", .help = "channels of a query, key or value [32]"},
    {.name = "seed", .value = "N", .help = "the seed of all random numbers [1]"},
    {.name = "kind",
     .value = "KIND",
     .help = "attention: rows; qkv: queries, keys and values [attention]"},
    {.name = "dtype", .value = "TYPE", .help = "f32, or f16 for attention [f32]"},
    {.name = "rope",
     .value = "LAYOUT",
     .help = "how the dimensions that carry noise rotate: none, half, interleaved [none]"},
    {.name = "output", .letter = 'o', .value = "FILE", .help = "write the trace file there"},
    {.name = "planted",
     .value = "FILE",
     .help = "write what was planted there, as JSON lines; - is standard output"},
    {.name = "list",
     .letter = 'l',
     .help = "list all generators with their fields, and make no trace"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Makes a synthetic trace that says what it planted.\n"
    "\n"
    "Usage:  kvcheck trace generate NAME[:FIELD=VALUE,...] -o FILE [OPTIONS]\n"
    "        kvcheck trace generate --list\n"
    "\n"
    "NAME is one of sink-recency, zipf, drift, needle, topics, uniform, one-hot and ties; --list\n"
    "shows what each of them plants, and its fields. An option such as --tokens 512 is the same\n"
    "as the field tokens=512. The same arguments give the same bytes.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck trace generate zipf --tokens 2048 -o zipf.safetensors\n"
    "  kvcheck trace generate needle:position=100,ask_at=900,mass=0.8 --kind qkv -o n.safetensors\n"
    "  kvcheck trace generate drift:hitters=8,period=128 --seed 7 -o d.safetensors --planted -\n"
    "  kvcheck trace generate --list\n";

std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  if (out.size() < width) out.resize(width, ' ');
  return out;
}

std::string field_line(std::string_view name,
                       std::string_view default_value,
                       const std::string& values,
                       std::string_view meaning) {
  return "    " + padded(std::string(name) + "=" + std::string(default_value), 17) + " " + values +
         " " + std::string(meaning) + "\n";
}

std::string generator_list() {
  std::string out;
  for (const SyntheticEntry& entry : synthetic_registry()) {
    out += std::string(entry.name) + ": " + std::string(entry.summary) + "\n";
    out += "  plants " + std::string(entry.plants) + "\n";
    for (const SyntheticParameter& own : entry.parameters) {
      out += field_line(own.name, shortest(own.default_value),
                        padded(shortest(own.minimum) + " to " + shortest(own.maximum), 12),
                        own.meaning);
    }
    out += "\n";
  }
  out += "Every generator also takes\n";
  for (const SyntheticField& field : synthetic_fields()) {
    out += field_line(field.name, field.default_value, padded(field.values, 23), field.meaning);
  }
  return out;
}

// The operand with the options added as fields.
Result<SyntheticSpec> spec_of(const Arguments& arguments) {
  std::string text = arguments.operands()[0];
  bool first = text.find(':') == std::string::npos || text.back() == ':';
  for (const SyntheticField& field : synthetic_fields()) {
    std::string option(field.name);
    for (char& c : option) c = c == '_' ? '-' : c;
    if (!arguments.given(option)) continue;
    const std::string value = arguments.value(option);
    if (value.find(',') != std::string::npos) {
      return usage_error("--" + option + " is '" + value + "'; expected one value");
    }
    text += first && text.back() != ':' ? ":" : first ? "" : ",";
    text += std::string(field.name) + "=" + value;
    first = false;
  }
  return parse_synthetic(text);
}

std::string plant_line(std::size_t layer, std::size_t kv_head, const Plant& plant) {
  std::string queries;
  for (const Run& run : plant.queries) {
    queries += (queries.empty() ? "[" : ",[") + std::to_string(run.first) + "," +
               std::to_string(run.last) + "]";
  }
  std::string keys;
  for (const PlantedKey& key : plant.keys) {
    keys += (keys.empty() ? "[" : ",[") + std::to_string(key.position) + "," + shortest(key.share) +
            "]";
  }
  return JsonObject()
             .add("layer", std::uint64_t{layer})
             .add("kv_head", std::uint64_t{kv_head})
             .add("what", plant.what)
             .add("mass", plant.mass)
             .add_raw("queries", "[" + queries + "]")
             .add_raw("keys", "[" + keys + "]")
             .text() +
         "\n";
}

std::string planted_lines(const SyntheticSpec& spec) {
  std::string out;
  for (std::size_t layer = 0; layer < spec.layers; ++layer) {
    for (std::size_t kv_head = 0; kv_head < spec.kv_heads; ++kv_head) {
      for (const Plant& plant : planted(spec, layer, kv_head).plants) {
        out += plant_line(layer, kv_head, plant);
      }
    }
  }
  return out;
}

Result<void> check_outputs(const Arguments& arguments) {
  if (!arguments.given("output") && !arguments.given("planted")) {
    return usage_error("nothing to write; expected -o FILE for the trace or --planted FILE");
  }
  if (arguments.value("output") != "-") return {};
  return usage_error("a trace cannot be written to standard output; expected -o FILE");
}

Result<void> run(std::span<const std::string> given, Streams& streams) {
  const auto arguments = Arguments::parse(table, given);
  if (!arguments) return arguments.error();
  if (arguments->given("list")) {
    if (auto none = arguments->expect_operands("a generator", 0, 0); !none) return none;
    streams.out << folded(generator_list(), streams.columns);
    return {};
  }
  if (auto one = arguments->expect_operands("a generator", 1, 1); !one) return one;
  const auto spec = spec_of(*arguments);
  if (!spec) return spec.error();
  if (auto outputs = check_outputs(*arguments); !outputs) return outputs;

  if (arguments->given("output")) {
    const std::string path = arguments->value("output");
    if (auto fits = check_synthetic_bytes(*spec); !fits) return fits;
    if (auto saved = save_trace(make_synthetic(*spec), path); !saved) return saved;
    streams.err << "wrote " << path << ": " << spec->canonical() << "\n";
  }
  if (!arguments->given("planted")) return {};
  if (arguments->value("planted") != "-") {
    return write_output(arguments->value("planted"), planted_lines(*spec));
  }
  streams.out << planted_lines(*spec);
  return {};
}

}  // namespace

constinit const Command trace_generate_command = {
    .name = "generate",
    .summary = "make a synthetic trace that says what it planted",
    .help = help,
    .run = done_unless_error<run>,
    .options = table,
};

}  // namespace kv::cli
