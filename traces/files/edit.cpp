#include "kvcheck/traces/files/edit.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/traces/files/writer.h"

namespace kv {
namespace {

std::vector<std::size_t> first_numbers(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = i;
  return numbers;
}

Result<void> check_list(std::string_view what,
                        const std::vector<std::size_t>& requested,
                        const std::vector<std::size_t>& there) {
  const std::string noun(what);
  if (requested.empty()) return usage_error("no " + noun + " is selected; expected at least one");
  for (std::size_t i = 0; i < requested.size(); ++i) {
    if (!std::ranges::binary_search(there, requested[i])) {
      return usage_error("the trace has no " + noun + " " + std::to_string(requested[i]) +
                         "; it has " + shown_shape(there));
    }
    if (i > 0 && requested[i] <= requested[i - 1]) {
      return usage_error(noun + " " + std::to_string(requested[i]) + " comes after " + noun + " " +
                         std::to_string(requested[i - 1]) + "; expected each once, in order");
    }
  }
  return {};
}

// The kv-heads of the selected query heads.
Result<std::vector<std::size_t>> groups_of(const TraceInfo& info,
                                           const std::vector<std::size_t>& heads) {
  const std::size_t group = query_heads_per_kv_head(info);
  std::vector<std::size_t> groups;
  for (std::size_t i = 0; i < heads.size(); i += group) {
    const std::size_t kv_head = kv_head_of(info, heads[i]);
    const std::size_t first = kv_head * group;
    const bool whole =
        heads[i] == first && i + group <= heads.size() && heads[i + group - 1] == first + group - 1;
    if (!whole) {
      return usage_error("heads " + std::to_string(first) + " to " +
                         std::to_string(first + group - 1) +
                         " share one kv-head; expected all of them or none");
    }
    groups.push_back(kv_head);
  }
  return groups;
}

// The heads, rows and columns of one tensor that are kept.
struct Cut {
  const std::vector<std::size_t>& heads;
  std::size_t rows;
  std::size_t columns;
};

Result<void> copy(const TensorView& from, const Cut& cut, TraceWriter& into) {
  const std::size_t row_bytes = from.shape[2] * from.bytes_per_number();
  std::vector<float> row(cut.columns);
  for (const std::size_t head : cut.heads) {
    const std::byte* bytes = from.data + head * from.shape[1] * row_bytes;
    for (std::size_t i = 0; i < cut.rows; ++i, bytes += row_bytes) {
      kernels().widen(from.number, bytes, row.size(), row.data());
      if (auto done = into.write(row); !done) return done;
    }
  }
  return {};
}

Transcript first_of(const Transcript& whole, std::size_t whole_tokens, std::size_t tokens) {
  const auto prefix = [&](const auto& values) {
    auto kept = values;
    if (kept.size() > tokens) kept.resize(tokens);
    return kept;
  };
  Transcript kept{whole.text, prefix(whole.text_ends), prefix(whole.nll)};
  if (tokens < whole_tokens) {
    // Without text_ends the text of the kept tokens is unknown, so no text is kept.
    const std::size_t end =
        kept.text_ends.empty() ? 0 : static_cast<std::size_t>(kept.text_ends.back());
    kept.text.resize(std::min(kept.text.size(), end));
  }
  return kept;
}

// The rules of the kept layers and heads.
std::vector<LayerRules> kept_rules(const TraceInfo& info,
                                   const std::vector<std::size_t>& layers,
                                   const Selection& selection) {
  std::vector<LayerRules> kept;
  for (std::size_t i = 0; i < info.rules.size(); ++i) {
    if (!std::ranges::binary_search(layers, info.layers[i])) continue;
    LayerRules& rules = kept.emplace_back(info.rules[i]);
    if (!selection.heads) continue;
    for (std::vector<float>* const table : {&rules.sinks, &rules.slopes}) {
      std::vector<float> of_heads;
      for (const std::size_t head : *selection.heads) {
        if (!table->empty()) of_heads.push_back((*table)[head]);
      }
      *table = std::move(of_heads);
    }
  }
  return kept;
}

}  // namespace

Result<TraceInfo> select(const TraceInfo& info, const Selection& selection) {
  TraceInfo kept = info;
  if (selection.layers) {
    if (auto right = check_list("layer", *selection.layers, info.layers); !right) {
      return right.error();
    }
    kept.layers = *selection.layers;
  }
  if (selection.heads) {
    const auto all = first_numbers(info.query_heads);
    if (auto right = check_list("head", *selection.heads, all); !right) return right.error();
    const auto groups = groups_of(info, *selection.heads);
    if (!groups) return groups.error();
    kept.query_heads = selection.heads->size();
    kept.kv_heads = groups.value().size();
  }
  kept.rules = kept_rules(info, kept.layers, selection);
  const auto rotates = [](const LayerRules& rules) { return rules.layout != RopeLayout::none; };
  if (!kept.rules.empty() && std::ranges::none_of(kept.rules, rotates)) {
    kept.rope = {};
    kept.rope_applied = false;
  }
  if (selection.tokens) {
    if (*selection.tokens == 0 || *selection.tokens > info.tokens) {
      return usage_error("cannot keep " + std::to_string(*selection.tokens) +
                         " tokens; expected 1 to " + std::to_string(info.tokens));
    }
    kept.tokens = *selection.tokens;
  }
  return kept;
}

Result<void> rewrite(const Trace& trace,
                     const Selection& selection,
                     Number number,
                     const std::string& path,
                     const TraceTexts& texts) {
  const TraceInfo& info = trace.info();
  Result<TraceInfo> selected = select(info, selection);
  if (!selected) return selected.error();
  TraceInfo kept = std::move(selected).value();
  kept.number = number;
  kept.model = texts.model.value_or(info.model);
  kept.source = texts.source.value_or(info.source);
  kept.licence = texts.licence.value_or(info.licence);
  const auto heads = selection.heads.value_or(first_numbers(info.query_heads));
  const auto groups = groups_of(info, heads).value();

  const auto ids = trace.token_ids();
  // The writer replaces the file in commit(), after the last read, so `path` may be the mapped
  // source.
  auto created = TraceWriter::create(
      path, kept, ids.first(std::min(ids.size(), kept.tokens)),
      first_of(texts.transcript.value_or(trace.transcript()), info.tokens, kept.tokens));
  if (!created) return created.error();
  TraceWriter writer = std::move(created).value();
  for (std::size_t i = 0; i < info.layers.size(); ++i) {
    if (!std::ranges::binary_search(kept.layers, info.layers[i])) continue;
    const Trace::Layer& layer = trace.layer(i);
    const Cut queries{heads, kept.tokens, info.head_dim};
    const Cut keys{groups, kept.tokens, info.head_dim};
    const Cut rows{heads, kept.tokens, kept.tokens};
    for (const auto& [view, cut] :
         {std::pair{&layer.attention, &rows}, std::pair{&layer.q, &queries},
          std::pair{&layer.k, &keys}, std::pair{&layer.v, &keys}}) {
      if (view->data == nullptr) continue;
      if (auto done = copy(*view, *cut, writer); !done) return done;
    }
  }
  if (Result<void> same = trace.unchanged(); !same) return same;
  return writer.commit();
}

}  // namespace kv
