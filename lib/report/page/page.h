// The page of every report: a head that is plain HTML, the first rows of its tables as plain HTML
// too, the report as JSON, and the viewer, a script that draws the tables and charts from the JSON
// (viewer.js, viewer.css).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/report.h"
#include "report/text/json.h"

namespace btf::report {

// Escapes text for element content and quoted attributes. Control characters, bytes that are not
// UTF-8, and marks that change the direction of text are shown as escapes.
std::string html_text(std::string_view text);

// Escapes a name or a path. Lines may break after its slashes, dots and underscores.
std::string html_name(std::string_view name);

// "1,234,567"
std::string html_count(std::uint64_t count);

// A column of a table, and the member of a row in JSON that it shows ("figures.cosine"). Columns
// without a title are not shown: charts, filters and links use them. The kind says how a value is
// shown: "text", "name", "result" (a coloured word), or a number as "number" (6 digits), "count"
// ("1,234"), "share" ("1.56%", never 0% of something) "percent" ("0.0123 %") or "times" (3 digits). The
// viewer has the same kinds, and draws "histogram" and "strip". In place of a value a row may have
// a text; a list, whose other values are shown small; or an object with a "text", a "key" to sort
// by, and what is drawn.
struct PageColumn {
  std::string_view title;
  std::string_view member;
  std::string_view kind = "text";
  std::string_view style{};  // class of its cells
};

// The rows of a table. Only as many are kept as a page can show; all are counted.
class PageTable {
 public:
  // `name` tells the table from the others of the page. The columns must outlive the table.
  PageTable(std::string_view name, std::span<const PageColumn> columns)
      : name_(name), columns_(columns) {}

  void add(const Json& row);
  std::uint64_t rows() const { return all_; }
  // Shows the same members in another way.
  void show(std::span<const PageColumn> columns) { columns_ = columns; }

 private:
  friend class Page;

  std::string plain(std::uint64_t& left) const;

  std::string name_;
  std::span<const PageColumn> columns_;
  std::string json_;                // the kept rows, each a list of values
  std::vector<Json> first_;         // the first rows
  std::uint64_t kept_ = 0;
  std::uint64_t all_ = 0;
};

// Builds a page from top to bottom. Functions that take `html` do not escape it.
class Page {
 public:
  // `name`, such as "btftool diff", is shown if the program is not known. `kind` of the result:
  // "same" (green), "trouble" (amber) or "" (red).
  Page(const PageOrigin& origin, std::string_view name);

  // The largest line: a word and what it is about; and the title of the window.
  void verdict(std::string_view word, std::string_view kind, std::string_view text,
               std::string_view title);
  void words(std::string_view text);
  void fact(std::string_view name, const std::string& html);
  void fact_text(std::string_view name, std::string_view text) { fact(name, html_text(text)); }

  // What follows is below the head.
  void heading(std::string_view text, int level = 2);
  void note(std::string_view text);
  // If `folded` is set, a long table is hidden behind that line.
  void table(const PageTable& table, std::string_view folded = {});
  // A view that only the script draws, see viewer.js: {"view": "chart", ...}.
  void view(Json view) { views(std::move(view)); }
  // A member of the JSON that views use.
  void member(const char* name, Json value) { more_[name] = std::move(value); }
  // Adds an object to a list of the JSON, such as the details of a tensor.
  void detail(const Json& object);
  std::size_t detail_bytes() const { return details_.size(); }

  // Ends the page with a line about what its numbers mean.
  std::string html(std::string_view footer);

 private:
  void views(Json view);

  std::string title_;
  std::string head_;
  std::string facts_;
  std::string plain_;
  std::uint64_t plain_left_;
  std::uint64_t rows_ = 0;
  std::string views_;
  std::string details_;
  Json more_ = Json::object();
};

// Removes members that are null, or empty lists or objects, from the objects of a report.
void trim(Json& json);

}  // namespace btf::report
