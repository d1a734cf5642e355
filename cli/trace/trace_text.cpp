#include "kvcheck/cli/trace/trace_text.h"

#include <string_view>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/trace/rules_text.h"
#include "kvcheck/cli/trace/trace_options.h"
#include "kvcheck/traces/files/writer.h"
#include "kvcheck/traces/metadata.h"

namespace kv::cli {
namespace {

std::string_view kind_name(TraceKind kind) {
  return kind == TraceKind::attention ? "attention" : "qkv";
}

std::string kind_text(const TraceInfo& info) {
  if (info.kind == TraceKind::attention) return "attention: rows of probabilities";
  return std::string("qkv: queries and keys ") + (info.rope_applied ? "after" : "before") +
         " rotation, values";
}

std::string layers_text(const TraceInfo& info) {
  const std::string of = info.model_layers == 0 ? "" : " of " + std::to_string(info.model_layers);
  return std::to_string(info.layers.size()) + of + ": " + numbers_text(info.layers);
}

std::string transcript(const Trace& trace) {
  std::vector<std::string> parts;
  if (!trace.token_ids().empty()) parts.emplace_back("token ids");
  const std::size_t bytes = trace.transcript().text.size();
  if (bytes > 0) parts.push_back("text of " + std::to_string(bytes) + " bytes");
  if (!trace.transcript().text_ends.empty()) parts.emplace_back("where each token's text ends");
  if (!trace.transcript().nll.empty()) parts.emplace_back("each token's nll");
  return parts.empty() ? "none" : join(parts, ", ");
}

std::string heads(const TraceInfo& info) {
  std::string text = std::to_string(info.query_heads) + " query heads on " +
                     std::to_string(info.kv_heads) + " kv-heads";
  if (info.head_dim > 0) text += ", " + std::to_string(info.head_dim) + " dimensions each";
  if (!info.kv_head_numbers.empty()) {
    text += "; in the model kv-heads " + numbers_text(info.kv_head_numbers);
  }
  return text;
}

std::string queries(const TraceInfo& info) {
  if (info.queries.empty()) return "";
  const std::string how = info.query_design ? ", selected as " + text_of(*info.query_design)
                                            : ", selected in a way that is not stated";
  return std::to_string(info.queries.size()) + " of them are recorded" + how;
}

// Free text from a file must not control the terminal.
std::string on_one_line(std::string_view text) {
  const std::string quoted = json_string(text);
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace

std::string describe_trace(const Trace& trace) {
  const TraceInfo& info = trace.info();
  std::string text = on_one_line(info.name) + "\n";
  const auto line = [&](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    text += "  " + std::string(name) + std::string(12 - name.size(), ' ') + value + "\n";
  };
  const std::uint64_t bytes = trace_numbers(info) * (info.number == Number::f32 ? 4 : 2);
  line("kind", kind_text(info));
  line("loop", on_one_line(info.loop));
  line("model", on_one_line(info.model));
  line("source", on_one_line(info.source));
  line("licence", on_one_line(info.licence));
  line("tokens", std::to_string(info.tokens));
  line("queries", queries(info));
  line("prompt", info.marks.known() ? std::to_string(info.marks.prompt) + " tokens" : "");
  line("question",
       info.marks.question > 0 ? std::to_string(info.marks.question) + " tokens after it" : "");
  line("trained on",
       info.trained_context == 0 ? "" : std::to_string(info.trained_context) + " tokens at most");
  line("layers", layers_text(info));
  line("heads", heads(info));
  line("rotation", rotation_text(info));
  line("attention", attention_text(info));
  line("numbers",
       std::string(number_name(info.number)) + ", " + std::to_string(bytes) + " bytes of layers");
  line("transcript", transcript(trace));
  line("checksum", hexadecimal(info.checksum));
  return text;
}

std::string trace_json(const Trace& trace) {
  const TraceInfo& info = trace.info();
  JsonObject object;
  object.add("name", info.name).add("kind", kind_name(info.kind)).add("loop", info.loop);
  object.add("model", info.model).add("source", info.source).add("licence", info.licence);
  const auto count = [&](std::string_view name, std::size_t value) {
    object.add(name, std::uint64_t{value});
  };
  count("tokens", info.tokens);
  object.add_raw("layers", shown_shape(info.layers));
  count("query_heads", info.query_heads);
  count("kv_heads", info.kv_heads);
  count("head_dim", info.head_dim);
  count("trained_context", info.trained_context);
  if (!info.kv_head_numbers.empty()) {
    object.add_raw("kv_head_numbers", shown_shape(info.kv_head_numbers));
  }
  if (!info.queries.empty()) {
    count("queries", info.queries.size());
    if (info.query_design) object.add("query_design", text_of(*info.query_design));
  }
  if (info.marks.known()) {
    count("prompt_tokens", info.marks.prompt);
    count("question_tokens", info.marks.question);
  }
  object.add("rope_layout", layout_name(info.rope.layout));
  if (info.rope.layout != RopeLayout::none) {
    count("rope_dims", info.rope.dims);
    if (info.rope.theta > 0) object.add("rope_theta", info.rope.theta);
  }
  if (needs_version_2(info)) {
    count("model_layers", info.model_layers);
    object.add("rope_applied", info.rope_applied).add("learned_sinks", info.learned_sinks);
    object.add_raw("rules", rules_json(info));
  }
  object.add("number", number_name(info.number));
  count("token_ids", trace.token_ids().size());
  count("text_bytes", trace.transcript().text.size());
  object.add("checksum", hexadecimal(info.checksum));
  return object.text();
}

std::string describe_verified(const Trace& trace, const VerifyResult& report) {
  std::string text =
      on_one_line(trace.info().name) + ": valid; " + std::to_string(report.numbers) + " numbers";
  if (report.rows > 0) {
    text += ", " + std::to_string(report.rows) + " rows that sum to " +
            (trace.info().learned_sinks ? "at most 1" : "1") + ", the worst within " +
            shown(static_cast<float>(report.worst_row)) + " (" +
            shown(static_cast<float>(report.worst_tolerance)) + " allowed)";
  } else {
    text += " from " + shown(report.smallest) + " to " + shown(report.largest) + ", all finite";
  }
  return text;
}

std::string verified_json(const Trace& trace, const VerifyResult& report) {
  JsonObject object;
  object.add("name", trace.info().name).add("good", true);
  object.add("numbers", report.numbers).add("rows", report.rows);
  if (report.rows > 0) {
    object.add("worst_row", report.worst_row).add("worst_tolerance", report.worst_tolerance);
  }
  object.add("smallest", double{report.smallest}).add("largest", double{report.largest});
  return object.text();
}

}  // namespace kv::cli
