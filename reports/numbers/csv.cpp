#include "kvcheck/reports/numbers/csv.h"

namespace kv::reports {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    // RFC 4180 doubles a quote inside a quoted field.
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string csv_line(std::span<const std::string> fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != fields.data()) line += ',';
    line += csv_field(field);
  }
  return line + "\n";
}

}  // namespace kv::reports
