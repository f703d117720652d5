#include "report/fit/table.h"

#include <fmt/format.h>

#include "report/page/html_text.h"
#include "report/page/page.h"

namespace btf::report {
namespace {

constexpr std::size_t kMostOpen = 20;

}  // namespace

std::string html_folded(std::size_t count, std::string_view what, const std::string& table) {
  return fmt::format("<details{}><summary>{} {}</summary>\n{}</details>\n",
                     count <= kMostOpen ? " open" : "", html_count(count), what, table);
}

std::string html_table(std::string_view head, const std::string& rows, std::size_t all,
                       std::string_view kind) {
  const std::string cut =
      all > kMostRows
          ? fmt::format("<p class=note>{} more are not listed.</p>\n", html_count(all - kMostRows))
          : "";
  return fmt::format(
      "<table class=\"summary sortable{}\">\n<thead><tr>{}</thead>\n<tbody>\n{}</tbody>\n"
      "</table>\n{}",
      kind, head, rows, cut);
}

}  // namespace btf::report
