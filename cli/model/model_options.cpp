#include "kvcheck/cli/model/model_options.h"

#include <algorithm>
#include <array>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/base/threads/machine.h"
#include "kvcheck/cli/model/repeated_prompts.h"
#include "kvcheck/cli/replay/sweep.h"
#include "kvcheck/model/tokenizer/number_tokenizer.h"
#include "kvcheck/sim/replay/serves.h"
#include "kvcheck/sim/spec/spec_names.h"

namespace kv::cli {
namespace {

constexpr std::uint64_t max_u32 = 0xffffffff;

// The index of an option's value among its valid words.
Result<std::size_t> name_of(const Arguments& arguments,
                            const std::string& option,
                            std::span<const std::string_view> all) {
  const std::string given = arguments.value(option);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == given) return i;
  }
  return usage_error(unknown_word("--" + option, given, all));
}

}  // namespace

Result<model::LanguageModel> opened_weights(const Arguments& arguments) {
  constexpr std::array<std::string_view, 4> formats = {"as-is", "f32", "int8", "nf4"};
  const auto format = name_of(arguments, "weights", formats);
  if (!format) return format.error();
  const std::string path = arguments.value("model");
  if (path.empty()) return usage_error("no --model is given");
  Result<model::LanguageModel> model = model::open_model(path);
  if (!model) return model;
  if (auto stored =
          model::store_weights(*model, static_cast<model::WeightFormat>(*format), {.path = path});
      !stored) {
    return Error{stored.error().kind, path + ": " + stored.error().message};
  }
  return model;
}

Result<OpenedModel> opened_model(const Arguments& arguments) {
  Result<model::LanguageModel> model = opened_weights(arguments);
  if (!model) return model.error();
  OpenedModel opened{.model = *std::move(model),
                     .tokenizer = {},
                     .path = arguments.value("model"),
                     .numbers = arguments.given("ids")};
  if (opened.numbers) {
    if (!arguments.value("tokenizer").empty()) {
      return usage_error(
          "--ids opens no tokenizer, and --tokenizer names one; expected one of both");
    }
    opened.tokenizer = model::number_tokenizer(opened.model.config.vocabulary);
    return opened;
  }
  auto tokenizer = model::open_tokenizer(opened.path, arguments.value("tokenizer"),
                                         opened.model.config.vocabulary);
  if (!tokenizer) return tokenizer.error();
  opened.tokenizer = *std::move(tokenizer);
  const std::size_t tokens = opened.tokenizer->plain_vocabulary();
  // A model often has some more rows than its tokenizer has tokens, but never fewer.
  if (tokens > opened.model.config.vocabulary) {
    return malformed("the tokenizer has " + std::to_string(tokens) + " tokens and the model " +
                     std::to_string(opened.model.config.vocabulary) +
                     "; expected at most as many as the model");
  }
  return opened;
}

std::string architecture_text(const Arguments& arguments, const model::ModelConfig& config) {
  // Qwen2 and llama2.c have had the name of their layers' arithmetic since the first results files.
  const bool llama = config.name == "qwen2" || config.name == "llama2.c";
  std::string text = llama ? "llama" : config.name;
  if (!config.note.empty()) text += "; " + config.note;
  if (arguments.value("weights") != "as-is") {
    text += "; layers' weights as " + arguments.value("weights");
  }
  return text;
}

std::vector<std::string> storage_notes(const Arguments& arguments,
                                       const KvFormat& storage,
                                       std::span<const Cell> cells) {
  std::vector<std::string> notes;
  for (const std::string& word : arguments.values("policy")) {
    const std::string_view name = name_in(word);
    const Preset* preset = name.starts_with('@') ? find_preset(name.substr(1)) : nullptr;
    if (preset == nullptr || preset->storage.empty()) continue;
    const Result<Spec> spec = parse_spec(word);
    const std::string stored = (spec && spec->storage ? *spec->storage : storage).text();
    if (preset->storage == stored) continue;
    notes.push_back(word + " was published with --storage " + std::string(preset->storage) +
                    "; keys and values are stored as " + stored);
  }
  for (const Cell& cell : cells) {
    const KvFormat format = cell.spec.storage.value_or(storage);
    if (format.recent == 0 || !cell.spec.bounded() || format.recent < cell.spec.budget) continue;
    notes.push_back((cell.spec.storage ? "storage=" : "--storage ") + format.text() +
                    " keeps the newest " + std::to_string(format.recent) +
                    " tokens exact, which of a budget of " + std::to_string(cell.spec.budget) +
                    " may be nearly all; expected a smaller recent=");
    break;
  }
  return notes;
}

Result<Outputs> outputs_of(const Arguments& arguments, const std::string& input) {
  for (const std::string_view name : {"output", "json", "csv", "markdown"}) {
    if (arguments.given(name) && arguments.value(name).empty()) {
      return usage_error("--" + std::string(name) + " needs the name of a file");
    }
  }
  Outputs outputs{.results = arguments.value("output"),
                  .json = arguments.value("json"),
                  .csv = arguments.value("csv"),
                  .markdown = arguments.value("markdown")};
  const std::array<std::string, 2> inputs = {input, arguments.value("model")};
  if (auto fine = check_outputs(outputs, inputs); !fine) return fine.error();
  return outputs;
}

Result<std::size_t> threads_of(const Arguments& arguments) {
  const auto threads = arguments.count("threads", 1, 1024);
  if (!threads) return threads.error();
  return threads->has_value() ? static_cast<std::size_t>(**threads) : machine_threads();
}

Result<std::shared_ptr<Team>> team_of(const Arguments& arguments) {
  const auto threads = threads_of(arguments);
  if (!threads) return threads.error();
  return std::make_shared<Team>(*threads);
}

std::optional<model::TokenId> begin_token(const Arguments& arguments, const OpenedModel& opened) {
  if (arguments.given("no-begin")) return std::nullopt;
  return opened.model.config.begin_token;
}

std::shared_ptr<const std::vector<TokenClass>> token_classes_for(const OpenedModel& opened,
                                                                 std::span<const Cell> cells) {
  const auto asks = [](const Cell& cell) { return needs_of(cell.spec).token_classes; };
  // Numbers are no words; the decoder says what it lacks.
  if (opened.numbers || std::ranges::none_of(cells, asks)) return nullptr;
  return std::make_shared<const std::vector<TokenClass>>(model::token_classes(*opened.tokenizer));
}

void add_words(const OpenedModel& opened,
               std::span<const Cell> cells,
               model::DecoderOptions& options) {
  options.token_classes = token_classes_for(opened, cells);
  options.repeat_request = repeat_request_for(opened, cells);
}

Result<Number> storage_number(const Arguments& arguments) {
  constexpr std::array<std::string_view, 3> names = {"f32", "f16", "bf16"};
  const auto number = name_of(arguments, "storage", names);
  if (!number) return number.error();
  return static_cast<Number>(*number);
}

Result<model::DecoderOptions> decoder_options(const Arguments& arguments) {
  constexpr std::array<std::string_view, 3> keys = {"rotated", "raw", "rotated-f16"};
  const Result<KvFormat> storage = parse_kv_format(arguments.value("storage"));
  if (!storage) return storage.error();
  const auto key = name_of(arguments, "keys", keys);
  if (!key) return key.error();
  model::DecoderOptions options;
  options.storage = *storage;
  options.keys = static_cast<model::KeyStorage>(*key);
  return options;
}

std::string storage_text(const Arguments& arguments, const model::DecoderOptions& options) {
  const bool usual = options.keys == model::KeyStorage::rotated;
  return options.storage.text() + (usual ? "" : ", keys " + arguments.value("keys"));
}

Result<std::string> text_of_file(const Arguments& arguments, std::string_view option) {
  const std::string path = arguments.value(option);
  if (path.empty()) return usage_error("no --" + std::string(option) + " is given");
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  return std::string(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
}

Result<std::vector<Cell>> model_cells(const Arguments& arguments,
                                      std::vector<std::string> otherwise) {
  Sweep sweep;
  sweep.policies = arguments.values("policy");
  if (sweep.policies.empty()) sweep.policies = std::move(otherwise);
  const auto budgets = arguments.counts("budget", 1, max_u32);
  if (!budgets) return budgets.error();
  for (const std::uint64_t budget : *budgets) {
    sweep.budgets.push_back(static_cast<std::uint32_t>(budget));
  }
  const auto chunk = arguments.count("chunk", 1, 65536);
  if (!chunk) return chunk.error();
  sweep.chunk = static_cast<std::uint32_t>(chunk->value_or(0));
  const auto seed = arguments.count("seed", 0, ~std::uint64_t{0});
  if (!seed) return seed.error();
  sweep.seeds = {seed->value_or(1)};
  const auto planned = plan_cells(sweep);
  if (!planned) return planned.error();
  std::vector<Cell> cells;
  for (const PlannedCell& cell : *planned) {
    if (!is_without_prompt(cell)) cells.push_back(cell.cell);
  }
  const auto bounded = [](const Cell& cell) { return cell.spec.bounded(); };
  if (!sweep.budgets.empty() && std::ranges::none_of(cells, bounded)) {
    return usage_error("--budget has nothing to bound: " + join(sweep.policies, " and ") +
                       (sweep.policies.size() == 1 ? " evicts" : " evict") +
                       " nothing; expected a --policy that does");
  }
  return cells;
}

Result<Cell> model_cell(const Arguments& arguments) {
  const auto budgets = arguments.counts("budget", 1, max_u32);
  if (!budgets) return budgets.error();
  if (budgets->size() > 1) return usage_error("several budgets are given; expected one");
  const auto cells = model_cells(arguments, {});
  if (!cells) return cells.error();
  if (cells->size() != 1) return usage_error("--policy all is several policies; expected one");
  return cells->front();
}

}  // namespace kv::cli
