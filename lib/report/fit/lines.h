// A text of lines that fit the columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "report/text/text.h"

namespace btf::report {

class FitLines {
 public:
  explicit FitLines(std::size_t columns) : columns_(columns) {}

  std::size_t columns() const { return columns_; }
  bool empty() const { return text_.empty(); }
  std::string take() { return std::move(text_); }

  void put(std::string_view line) { text_.append(line).append("\n"); }
  // Whole lines.
  void add(std::string_view text) { text_ += text; }
  // Text that does not fit goes on behind two more blanks.
  void lines(const std::string& text, std::size_t indent) {
    for (const std::string& line : wrapped(std::string(indent, ' ') + text, columns_, indent + 2))
      put(line);
  }

 private:
  std::string text_;
  std::size_t columns_;
};

}  // namespace btf::report
