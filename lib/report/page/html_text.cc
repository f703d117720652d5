#include "report/page/html_text.h"

#include <fmt/format.h>

#include <cmath>

#include "report/text/characters.h"
#include "report/text/text.h"

namespace btf::report {

std::string html_text(std::string_view text) {
  std::string html;
  while (!text.empty()) {
    const std::string next = take_visible(text);
    if (next == "&")
      html += "&amp;";
    else if (next == "<")
      html += "&lt;";
    else if (next == ">")
      html += "&gt;";
    else if (next == "\"")
      html += "&quot;";
    else if (next == "'")
      html += "&#39;";
    else
      html += next;
  }
  return html;
}

std::string html_name(std::string_view name) {
  constexpr std::string_view kMarks = "/._";
  const std::string text = html_text(name);
  std::string html = "<bdi>";
  for (std::size_t i = 0; i < text.size(); ++i) {
    html += text[i];
    const bool last = i + 1 == text.size() || kMarks.contains(text[i + 1]);
    if (kMarks.contains(text[i]) && !last) html += "<wbr>";
  }
  return html + "</bdi>";
}

std::string html_count(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string html_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  return short_number(value);
}

std::string html_figure(std::string_view name, std::string_view label, double value,
                        const std::string& text) {
  const std::string key = std::isnan(value)   ? "-1"
                          : std::isinf(value) ? (value > 0 ? "1e309" : "-1e309")
                                              : fmt::format("{:.9g}", value);
  return fmt::format("<td class=\"n {}\" data-l=\"{}\" data-v=\"{}\">{}", name, label, key, text);
}

}  // namespace btf::report
