// Text that becomes part of an HTML page.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace btf::report {

// For element content and quoted attributes. What is not a printable character shows as an escape:
// control characters, bytes that are not UTF-8, and marks that change the direction of text.
std::string html_text(std::string_view text);

// A name or a path, which may break behind its slashes, dots and underscores.
std::string html_name(std::string_view name);

// "1,234,567"
std::string html_count(std::uint64_t count);

// Six digits, "1.23457e-05"; the exact ones are in the tables of elements.
std::string html_number(double value);

// A cell of a table. `name`: class and, where a row is a block, the label. By `value` the column is
// sorted; `text` is HTML.
std::string html_figure(std::string_view name, std::string_view label, double value,
                        const std::string& text);

}  // namespace btf::report
