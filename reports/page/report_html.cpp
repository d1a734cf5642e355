#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/page/report_page.h"

namespace kv::reports {

// A line break is allowed after commas, because the spec of a generator is one long word.
std::string breakable(const std::string& text) {
  std::string out;
  for (const char c : html_escaped(text))
    out += c == ',' ? std::string(",<wbr>") : std::string(1, c);
  return out;
}

std::string description(const std::string& term, const std::string& text) {
  if (text.empty()) return "";
  return "<dt>" + term + "</dt><dd>" + breakable(text) + "</dd>\n";
}

std::string link_to(const std::string& target, const std::string& text) {
  return "<a href=\"" + html_escaped(target) + "\">" + text + "</a>";
}

std::string figure_block(const DrawnFigure& drawn, const std::string& folder) {
  const Figure& figure = drawn.figure;
  const std::string base = folder + "/" + figure.name;
  std::string out = "<h3 id=\"" + html_escaped(folder + "-" + figure.name) + "\">" +
                    html_escaped(figure.title) + "</h3>\n";
  if (drawn.svg.empty()) {
    out += "<p class=\"note\">" + html_escaped(drawn.problem) + "</p>\n";
    return out + "<p class=\"files\">" + link_to(base + ".csv", "CSV") + "</p>\n";
  }
  return out + "<figure>\n<div class=\"wide\" tabindex=\"0\">\n" +
         inline_svg(drawn.svg, folder + "-" + figure.name + "-", figure.title) +
         "</div>\n<figcaption>" + html_escaped(figure.caption) + "</figcaption>\n</figure>\n" +
         "<p class=\"files\">" + link_to(base + ".svg", "SVG") + ", " +
         link_to(base + ".png", "PNG") + ", " + link_to(base + ".csv", "CSV") + "</p>\n";
}

}  // namespace kv::reports
