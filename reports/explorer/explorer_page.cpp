#include "kvcheck/reports/explorer/explorer_page.h"

#include <array>
#include <utility>

#include "kvcheck/reports/explorer/base64.h"
#include "kvcheck/reports/explorer/deflate.h"
#include "kvcheck/reports/explorer/explorer_assets.h"
#include "kvcheck/reports/numbers/escape.h"

namespace kv::reports {

Result<std::string> page_with(std::string_view title, std::string_view data) {
  const auto stream = deflated(data);
  if (!stream) return stream.error();
  const std::array<std::pair<std::string_view, std::string>, 4> parts = {
      {{"{title}", html_escaped(title)},
       {"{style}", explorer_style},
       {"{data}", base64(*stream)},
       {"{script}", explorer_script}}};
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
