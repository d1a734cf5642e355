#include "kvcheck/traces/files/edit.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include "kvcheck/base/kernels/kernels.h"
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

// The model's numbers of the kv-heads that are kept; none where they are the first ones.
std::vector<std::size_t> kept_numbers(const TraceInfo& info,
                                      const std::vector<std::size_t>& groups) {
  std::vector<std::size_t> numbers;
  for (const std::size_t group : groups) {
    numbers.push_back(info.kv_head_numbers.empty() ? group : info.kv_head_numbers[group]);
  }
  return numbers == first_numbers(numbers.size()) ? std::vector<std::size_t>() : numbers;
}

// The heads, rows and columns of one tensor that are kept.
struct Cut {
  const std::vector<std::size_t>& heads;
  const std::vector<std::size_t>& rows;
  std::size_t columns;
};

Result<void> copy(const TensorView& from, const Cut& cut, TraceWriter& into) {
  const std::size_t row_bytes = from.shape[2] * from.bytes_per_number();
  std::vector<float> row(cut.columns);
  for (const std::size_t head : cut.heads) {
    for (const std::size_t at : cut.rows) {
      const std::byte* bytes = from.data + (head * from.shape[1] + at) * row_bytes;
      kernels().widen(from.number, bytes, row.size(), row.data());
      if (auto done = into.write(row); !done) return done;
    }
  }
  return {};
}

// The rows that the kept queries have in the trace. Of a trace of some queries, these are its
// first.
std::vector<std::size_t> rows_of_queries(const TraceInfo& info, const TraceInfo& kept) {
  if (!info.queries.empty() || kept.queries.empty()) return first_numbers(recorded_queries(kept));
  return {kept.queries.begin(), kept.queries.end()};
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
    kept.kv_head_numbers = kept_numbers(info, *groups);
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
    kept.marks.prompt = std::min(info.marks.prompt, kept.tokens);
    kept.marks.question = std::min(info.marks.question, kept.tokens - kept.marks.prompt);
    if (kept.query_design) cut_spans(*kept.query_design, kept.tokens);
    std::erase_if(kept.queries, [&](Position query) { return query >= kept.tokens; });
    if (kept.queries.empty() && !info.queries.empty()) {
      return usage_error("the first " + std::to_string(kept.tokens) +
                         " tokens have no recorded query; expected more than the " +
                         std::to_string(info.queries.front()) + " before the first");
    }
  }
  if (selection.queries) {
    if (!info.queries.empty()) {
      return usage_error("the trace records " + std::to_string(info.queries.size()) +
                         " queries of its own; expected all queries, to select from");
    }
    auto drawn = draw_queries(*selection.queries, kept.tokens, selection.query_seed, kept.marks);
    if (!drawn) return drawn.error();
    kept.queries = std::move(drawn->queries);
    kept.query_design = std::move(drawn->design);
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
  const std::vector<std::size_t> of_queries = rows_of_queries(info, kept);
  const std::vector<std::size_t> of_tokens = first_numbers(kept.tokens);
  for (std::size_t i = 0; i < info.layers.size(); ++i) {
    if (!std::ranges::binary_search(kept.layers, info.layers[i])) continue;
    const Trace::Layer& layer = trace.layer(i);
    const Cut queries{heads, of_queries, info.head_dim};
    const Cut keys{groups, of_tokens, info.head_dim};
    const Cut rows{heads, of_queries, kept.tokens};
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
