#include <array>
#include <string_view>
#include <utility>

#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/page/report_page.h"

namespace kv::reports {
namespace {

void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string inline_svg(std::string_view svg, const std::string& prefix, const std::string& name) {
  const std::size_t begin = svg.find("<svg");
  if (begin == std::string_view::npos) return "";
  std::string out(svg.substr(begin));
  // Every form in which gnuplot defines an id or refers to one.
  constexpr std::array<std::string_view, 5> places = {" id=\"", " id='", "href=\"#", "href='#",
                                                      "url(#"};
  for (const std::string_view place : places) {
    replace_all(out, place, std::string(place) + html_escaped(prefix));
  }
  out.insert(4, " role=\"img\" aria-label=\"" + html_escaped(name) + "\"");
  return out + "\n";
}

}  // namespace kv::reports
