#include "report/page/page.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <new>
#include <utility>

#include "btf/try.h"
#include "report/page/viewer.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

constexpr std::uint64_t kPlainRows = 100;  // of all tables together, in HTML
constexpr std::uint64_t kMaxRows = 100000;  // of a table, in JSON
constexpr std::uint64_t kMaxOpen = 20;      // longer tables can be folded away
constexpr std::size_t kMaxReadable = 128U << 10;  // bytes of JSON that are not compressed

// The text with all that is invisible as escapes, and bytes that are not UTF-8 too.
void make_visible(Json& json) {
  if (auto* const text = json.get_ptr<Json::string_t*>(); text != nullptr)
    *text = printable(*text);
  else if (json.is_structured())
    for (Json& item : json) make_visible(item);
}

// JSON that can stand in a script element: nothing in it ends the element or begins a comment.
std::string script_json(Json json) {
  make_visible(json);
  std::string text;
  for (const char c : dump(json)) {
    if (c == '<' || c == '>' || c == '&')
      text += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      text += c;
  }
  return text;
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < bytes.size() ? static_cast<std::uint8_t>(bytes[i]) : 0;
  };
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t three = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
    for (const unsigned shift : {18U, 12U, 6U, 0U}) text += kDigits[three >> shift & 63U];
  }
  for (std::size_t i = bytes.size() % 3; i != 0 && i < 3; ++i) text[text.size() - 3 + i] = '=';
  return text;
}

// As browsers inflate it with DecompressionStream("deflate").
std::string deflated(std::string_view text) {
  std::string packed(compressBound(text.size()), '\0');
  uLongf size = packed.size();
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(text.data()), text.size(), 6) != Z_OK)
    throw std::bad_alloc();  // the only error with a buffer of that size
  packed.resize(size);
  return packed;
}

// The value of a path of members such as "figures.cosine"; null if there is none.
Json member_of(const Json& row, std::string_view path) {
  const Json* at = &row;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const auto found = at->is_object() ? at->find(std::string(path.substr(0, dot))) : at->end();
    if (found == at->end()) return {};
    at = &*found;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return *at;
}

std::string decimals(double value, std::string_view unit) {
  return fmt::format("{:.3g}{}", value, unit);
}

struct Kind {
  std::string_view name;
  std::string (*show)(double value);
};

constexpr auto kKinds = std::to_array<Kind>({
    {"number",
     [](double value) {
       if (std::isnan(value)) return std::string("NaN");
       if (std::isinf(value)) return std::string(value > 0 ? "∞" : "−∞");
       return short_number(value);
     }},
    {"count", [](double value) { return html_count(static_cast<std::uint64_t>(value)); }},
    {"share",
     [](double value) {
       if (value > 0 && value < 1e-5) return std::string("<0.001%");
       return decimals(value < 1 ? std::min(100 * value, 99.9) : 100 * value, "%");
     }},
    {"percent", [](double value) { return decimals(100 * value, " %"); }},
    {"times", [](double value) { return decimals(value, ""); }},
});

const Kind* kind_of(const PageColumn& column) {
  const auto* const found = std::ranges::find(kKinds, column.kind, &Kind::name);
  return found == kKinds.end() ? nullptr : found;
}

std::string plain_value(const PageColumn& column, const Json& value, bool first = true) {
  if (value.is_object()) return plain_value(column, value.value("text", Json()), first);
  if (value.is_array()) {
    std::string html;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value[i].is_null()) continue;
      const std::string shown = plain_value(column, value[i], i == 0);
      html += i > 0                    ? " <small>" + shown + "</small>"
              : column.style == "why" ? "<b>" + shown + "</b>"
                                      : shown;
    }
    return html;
  }
  const Kind* const kind = kind_of(column);
  if (value.is_null()) return kind != nullptr ? "–" : "";
  if (const auto* const text = value.get_ptr<const Json::string_t*>(); text != nullptr) {
    for (const double special : {std::nan(""), HUGE_VAL, -HUGE_VAL})
      if (kind != nullptr && json_number(special) == *text) return html_text(kind->show(special));
    if (column.kind == "name" && first) return html_name(*text);
    if (column.kind == "result" && first)
      return fmt::format("<span class=\"result {0}\">{0}</span>", html_text(*text));
    return html_text(*text);
  }
  const double number = value.get<double>();
  return kind != nullptr && first ? html_text(kind->show(number)) : html_text(dump(value));
}

std::string class_of(const PageColumn& column) {
  const bool number = kind_of(column) != nullptr;
  return std::string(number ? "n" : "") + (number && !column.style.empty() ? " " : "") +
         std::string(column.style);
}

std::string attributes_of(const PageColumn& column) {
  const std::string name = class_of(column);
  return name.empty() ? "" : fmt::format(" class=\"{}\"", name);
}

// "2026-11-27 21:00 UTC"
std::string date_text(std::int64_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count());
}

std::string script_hash() {
  std::string bytes;
  for (std::size_t i = 0; i < kViewerHash.size(); i += 2) {
    int byte = 0;
    std::from_chars(kViewerHash.data() + i, kViewerHash.data() + i + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return "sha256-" + base64(bytes);
}

}  // namespace

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

void trim(Json& json) {
  if (json.is_array())
    for (Json& item : json) trim(item);
  if (!json.is_object()) return;
  for (auto at = json.begin(); at != json.end();) {
    trim(*at);
    if (at->is_null() || (at->is_structured() && at->empty()))
      at = json.erase(at);
    else
      ++at;
  }
}

void PageTable::add(const Json& row) {
  if (++all_ > kMaxRows) return;
  ++kept_;
  Json values = Json::array();
  for (const PageColumn& column : columns_) values.push_back(member_of(row, column.member));
  if (first_.size() < kPlainRows) first_.push_back(values);
  while (!values.empty() && values.back().is_null()) values.erase(values.size() - 1);
  json_ += (json_.empty() ? "\n" : ",\n") + script_json(std::move(values));
}

std::string PageTable::plain(std::uint64_t& left) const {
  const std::uint64_t rows = std::min<std::uint64_t>(left, first_.size());
  left -= rows;
  std::string html = "<table class=rows>\n<thead><tr>";
  for (const PageColumn& column : columns_)
    if (!column.title.empty())
      html += "<th" + attributes_of(column) + ">" + html_text(column.title);
  html += "</thead>\n<tbody>\n";
  for (std::uint64_t row = 0; row < rows; ++row) {
    html += "<tr>";
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (!columns_[i].title.empty())
        html +=
            fmt::format("<td{} data-l=\"{}\">{}", attributes_of(columns_[i]),
                        html_text(columns_[i].title), plain_value(columns_[i], first_[row][i]));
    html += "\n";
  }
  html += "</tbody>\n</table>\n";
  if (rows < all_)
    html += fmt::format("<p class=note>The first {} of {} rows.</p>\n", html_count(rows),
                        html_count(all_));
  return html;
}

Page::Page(const PageOrigin& origin, std::string_view name) : plain_left_(kPlainRows) {
  std::string line = html_text(origin.program.empty() ? name : origin.program);
  if (!origin.command.empty()) line += " · <code>" + html_text(origin.command) + "</code>";
  if (origin.newest_input) line += " · inputs of " + date_text(*origin.newest_input);
  head_ = "<p class=tool>" + line + "</p>\n";
}

void Page::verdict(std::string_view word, std::string_view kind, std::string_view text,
                   std::string_view title) {
  title_ = html_text(title);
  head_ += "<h1>";
  if (!word.empty())
    head_ += fmt::format("<span class=\"result{}{}\">{}</span> ", kind.empty() ? "" : " ", kind,
                         html_text(word));
  head_ += "<span class=subject>" + html_text(text) + "</span></h1>\n";
}

void Page::words(std::string_view text) {
  head_ += "<p class=words>" + html_text(text) + "</p>\n";
}

void Page::fact(std::string_view name, const std::string& html) {
  facts_ += fmt::format("<div><dt>{}<dd>{}</div>\n", name, html);
}

void Page::heading(std::string_view text, int level) {
  plain_ += fmt::format("<h{0}>{1}</h{0}>\n", level, html_text(text));
  views({{"view", "heading"}, {"level", level}, {"text", text}});
}

void Page::note(std::string_view text) {
  plain_ += "<p class=note>" + html_text(text) + "</p>\n";
  views({{"view", "note"}, {"text", text}});
}

void Page::table(const PageTable& table, std::string_view folded) {
  const bool open = folded.empty() || table.rows() <= kMaxOpen;
  if (!folded.empty())
    plain_ += fmt::format("<details{}><summary>{}</summary>\n", open ? " open" : "",
                          html_text(folded));
  plain_ += table.plain(plain_left_);
  if (!folded.empty()) plain_ += "</details>\n";
  rows_ += table.rows();
  Json columns = Json::array();
  for (const PageColumn& column : table.columns_)
    columns.push_back({column.title, column.member, column.kind, class_of(column)});
  Json view{{"view", "table"}, {"name", table.name_}, {"all", table.all_}, {"open", open}};
  if (!folded.empty()) view["folded"] = folded;
  view["columns"] = std::move(columns);
  std::string text = script_json(std::move(view));
  text.back() = ',';
  views_ += (views_.empty() ? "\n" : ",\n") + text + "\"rows\":[" + table.json_ + "]}";
}

void Page::views(Json view) {
  views_ += (views_.empty() ? "\n" : ",\n") + script_json(std::move(view));
}

void Page::detail(const Json& object) {
  details_ += (details_.empty() ? "\n" : ",\n") + script_json(object);
}

std::string Page::html(std::string_view footer) {
  std::string json = script_json(std::exchange(more_, Json::object()));
  json.back() = json == "{}" ? ' ' : ',';
  json += "\"views\":[" + std::exchange(views_, {}) + "\n],\"details\":[" +
          std::exchange(details_, {}) + "\n]}";
  const bool readable = json.size() <= kMaxReadable;
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
      "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=color-scheme content=\"light dark\">\n"
      "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src '{}'\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n<header id=top>\n{}",
      script_hash(), title_, kViewerStyle, head_);
  if (!facts_.empty()) page += "<dl class=facts>\n" + facts_ + "</dl>\n";
  page += "</header>\n<div id=plain>\n" + plain_;
  page += fmt::format(
      "<p class=note>{}Charts, pictures, sorting and filters need scripts, which are blocked here. "
      "Save this page and open the file to see them.</p>\n</div>\n",
      rows_ > kPlainRows ? fmt::format("These are the first {} of {} rows. ", kPlainRows,
                                       html_count(rows_))
                         : "");
  page += fmt::format("<footer>{}</footer>\n<script type=\"application/json\" id=report{}>", footer,
                      readable ? "" : " data-packed");
  page += readable ? json : base64(deflated(json));
  page += fmt::format("</script>\n<script>{}</script>\n</main>\n</body>\n</html>\n", kViewerScript);
  return page;
}

}  // namespace btf::report

namespace btf {

void PageOrigin::add(const FileState& input) {
  newest_input =
      std::max(newest_input.value_or(0), input.modified_ns / std::int64_t{1'000'000'000});
}

Status PageOrigin::add_inputs(const TensorSet& set) {
  for (std::uint64_t i = 0; i < set.member_count(); ++i) {
    if (set.path(i) == "-") continue;
    BTF_ASSIGN(const std::optional<FileState> file, set.state(i));
    if (file) add(*file);
  }
  return {};
}

void PageOrigin::take_date(std::string_view seconds) {
  constexpr std::int64_t kMax = 253402300799;  // the end of the year 9999
  std::int64_t date = 0;
  const char* const end = seconds.data() + seconds.size();
  const auto [stop, error] = std::from_chars(seconds.data(), end, date);
  if (!seconds.empty() && error == std::errc() && stop == end && date >= 0 && date <= kMax)
    newest_input = date;
}

}  // namespace btf
