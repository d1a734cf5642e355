#include "kvcheck/model/run/text_streams.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace kv::model {
namespace {

std::string_view stripped(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> pieces_of(std::string_view text, std::string_view separator) {
  if (separator.empty()) return {text};
  std::vector<std::string_view> pieces;
  for (bool more = true; more;) {
    const std::size_t end = text.find(separator);
    more = end != std::string_view::npos;
    const std::string_view piece = stripped(text.substr(0, end));
    if (!piece.empty()) pieces.push_back(piece);
    if (more) text.remove_prefix(end + separator.size());
  }
  return pieces;
}

// Lines with their ends.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return lines;
}

// Where the lines of a text end among its tokens, which are those of the whole text: most
// tokenizers make others of each line alone, as by a blank that they put before a text. Lines that
// are the same alone end where they do. Otherwise a line ends behind the token that holds its end.
Result<std::vector<std::size_t>> line_ends(std::string_view text,
                                           const Tokenizer& tokenizer,
                                           std::span<const TokenId> tokens,
                                           std::size_t needed) {
  std::vector<std::size_t> ends;
  std::size_t at = 0;
  for (const std::string_view line : lines_of(text)) {
    const Result<std::vector<TokenId>> alone = tokenizer.encode(line);
    if (!alone) return alone.error();
    const auto rest = tokens.subspan(at);
    if (alone->size() > rest.size() || !std::ranges::equal(*alone, rest.first(alone->size()))) {
      at = tokens.size() + 1;  // another token
      break;
    }
    at += alone->size();
    ends.push_back(at);
    if (at >= needed) return ends;
  }
  if (at == tokens.size()) return ends;
  ends.clear();
  std::optional<TokenId> previous;
  for (std::size_t i = 0; i < tokens.size(); previous = tokens[i++]) {
    const bool last = i + 1 == tokens.size();
    if (last || tokenizer.piece(previous, tokens[i]).find('\n') != std::string::npos) {
      ends.push_back(i + 1);
    }
  }
  return ends;
}

// Tokens of one text, as streams or windows.
class StreamMaker {
 public:
  explicit StreamMaker(const TextOptions& options)
      : options_(options), left_(options.tokens == 0 ? ~std::size_t{0} : options.tokens) {}

  [[nodiscard]] bool full() const { return left_ == 0; }

  [[nodiscard]] std::size_t left() const { return left_; }

  // A stream of its own, or the next part of the last one.
  void add(std::vector<TokenId> tokens) {
    const bool marked = streams_.empty() || options_.each || options_.mark;
    if (options_.begin && marked) tokens.insert(tokens.begin(), *options_.begin);
    if (tokens.size() > left_) tokens.resize(left_);
    left_ -= tokens.size();
    if (streams_.empty() || options_.each) streams_.emplace_back();
    streams_.back().insert(streams_.back().end(), tokens.begin(), tokens.end());
  }

  // A line of the text, which begins a window where it does not fit into the last one.
  void add_line(std::span<const TokenId> tokens) {
    while (!tokens.empty() && !full()) {
      if (streams_.empty() || streams_.back().size() + tokens.size() > options_.window) open();
      std::vector<TokenId>& window = streams_.back();
      // Only a line that is longer than a window is cut, or the last one by the limit on tokens.
      const std::size_t size = std::min({tokens.size(), options_.window - window.size(), left_});
      window.insert(window.end(), tokens.begin(),
                    tokens.begin() + static_cast<std::ptrdiff_t>(size));
      left_ -= size;
      tokens = tokens.subspan(size);
    }
  }

  // The next line begins a window.
  void open() {
    streams_.emplace_back();
    if (!options_.begin || full()) return;
    streams_.back().push_back(*options_.begin);
    --left_;
  }

  std::vector<std::vector<TokenId>> done() && {
    // A stream of one token has no target.
    std::erase_if(streams_, [](const std::vector<TokenId>& stream) { return stream.size() < 2; });
    return std::move(streams_);
  }

 private:
  const TextOptions& options_;
  std::size_t left_;
  std::vector<std::vector<TokenId>> streams_;
};

}  // namespace

Result<std::vector<std::vector<TokenId>>> streams_of(std::string_view text,
                                                     const Tokenizer& tokenizer,
                                                     const TextOptions& options) {
  if (stripped(text).empty()) return malformed("the text is empty; expected something to predict");
  StreamMaker maker(options);
  for (const std::string_view piece : pieces_of(text, options.separator)) {
    if (maker.full()) break;
    Result<std::vector<TokenId>> tokens = tokenizer.encode(piece);
    if (!tokens) return tokens.error();
    if (options.window == 0) {
      maker.add(*std::move(tokens));
      continue;
    }
    if (options.each || options.mark) maker.open();
    const auto ends = line_ends(piece, tokenizer, *tokens, maker.left());
    if (!ends) return ends.error();
    std::size_t begin = 0;
    for (const std::size_t end : *ends) {
      maker.add_line(std::span(*tokens).subspan(begin, end - begin));
      begin = end;
    }
  }
  std::vector<std::vector<TokenId>> streams = std::move(maker).done();
  if (!streams.empty()) return streams;
  return malformed("the text has no two tokens; expected one to predict from another");
}

}  // namespace kv::model
