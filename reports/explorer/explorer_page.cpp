#include "kvcheck/reports/explorer/explorer_page.h"

#include <array>
#include <string>
#include <utility>

#include "kvcheck/reports/explorer/base64.h"
#include "kvcheck/reports/explorer/deflate.h"
#include "kvcheck/reports/explorer/explorer_assets.h"
#include "kvcheck/reports/numbers/escape.h"

namespace kv::reports {
namespace {

// A script of a type that no browser runs: its text is data, and is not laid out.
Result<std::string> element_of(const std::string& id, std::string_view bytes) {
  const auto stream = deflated(bytes);
  if (!stream) return stream.error();
  return "<script type=\"application/octet-stream\" id=\"" + id + "\">" + base64(*stream) +
         "</script>\n";
}

}  // namespace

Result<std::string> page_with(std::string_view title, const ExplorerData& data) {
  const auto index = element_of("index", data.index);
  if (!index) return index.error();
  // The parts of the first view are before the script, which draws while the others are read.
  std::array<std::string, 2> elements = {*index, ""};
  for (std::size_t i = 0; i < data.parts.size(); ++i) {
    const auto element = element_of("part-" + std::to_string(i), data.parts[i].bytes);
    if (!element) return element.error();
    elements[data.parts[i].opened ? 0 : 1] += *element;
  }
  const std::string escaped = html_escaped(title);
  const std::array<std::pair<std::string_view, std::string_view>, 5> parts = {
      {{"{title}", escaped},
       {"{style}", explorer_style},
       {"{first}", elements[0]},
       {"{script}", explorer_script},
       {"{rest}", elements[1]}}};
  // Each mark occurs once and in this order. What was inserted is not searched: it may hold marks.
  const std::string_view page = explorer_html;
  std::string out;
  std::size_t from = 0;
  for (const auto& [mark, text] : parts) {
    const std::size_t at = page.find(mark, from);
    out.append(page.substr(from, at - from)).append(text);
    from = at + mark.size();
  }
  return out.append(page.substr(from));
}

}  // namespace kv::reports
