#include "report/text/columns.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "report/text/text.h"

namespace btf::report {
namespace {

// With every cell as short as it may be.
std::size_t least_width(const Column& column) {
  return column.least == 0 ? column.width : std::min(column.width, column.least);
}

constexpr std::string_view kOmitted = "\u2026";

// The characters of a name, each with what combines with it.
std::vector<std::string_view> characters_of(std::string_view name) {
  std::vector<std::string_view> found;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at + 1;
    while (end < name.size() && (static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U) ++end;
    found.push_back(name.substr(at, end - at));
    at = end;
  }
  return found;
}

// Names that lose the same when they lose their middles.
class AlikeNames {
 public:
  AlikeNames(std::vector<std::string> names, std::size_t width)
      : names_(std::move(names)), width_(width) {
    for (const std::string& name : names_) characters_.push_back(characters_of(name));
    const auto& first = characters_.front();
    std::size_t shortest = first.size();
    for (const auto& name : characters_) shortest = std::min(shortest, name.size());
    const auto all_have = [&](auto same) {
      return std::ranges::all_of(characters_, same);
    };
    while (begin_ < shortest &&
           all_have([&](const auto& name) { return name[begin_] == first[begin_]; }))
      ++begin_;
    while (end_ < shortest - begin_ && all_have([&](const auto& name) {
             return name[name.size() - 1 - end_] == first[first.size() - 1 - end_];
           }))
      ++end_;
  }

  // Each by the part in which they differ, with as much around it as there is room for; by the
  // beginning of that part where it is too long itself.
  std::vector<std::string> texts() const {
    std::vector<std::string> found;
    for (const auto& name : characters_) found.push_back(text_of(name));
    return found;
  }

 private:
  std::string text_of(const std::vector<std::string_view>& name) const {
    std::size_t from = begin_;
    std::size_t to = name.size() - end_;
    std::size_t left = width_ > 2 ? width_ - 2 : 0;
    std::size_t at = from;
    while (at < to && columns_of(name[at]) <= left) left -= columns_of(name[at++]);
    to = at;
    // What is before it says more than what is behind: which layer it is of.
    while (from > 0 && columns_of(name[from - 1]) <= left) left -= columns_of(name[--from]);
    while (to < name.size() && columns_of(name[to]) <= left) left -= columns_of(name[to++]);
    std::string text(from > 0 ? kOmitted : "");
    for (std::size_t i = from; i < to; ++i) text += name[i];
    return text.append(to < name.size() ? kOmitted : "");
  }

  std::vector<std::string> names_;
  std::size_t width_;
  std::vector<std::vector<std::string_view>> characters_;
  std::size_t begin_ = 0;  // characters that all begin with
  std::size_t end_ = 0;    // and end with, of the rest
};

// By the text to which each is shortened: which names that is.
using NamesByText = std::map<std::string, std::vector<std::string>>;

}  // namespace

std::vector<std::string> short_names(const std::vector<std::string>& names, std::size_t width) {
  const std::set<std::string> distinct(names.begin(), names.end());
  NamesByText open;
  for (const std::string& name : distinct) open[without_middle(name, width)].push_back(name);
  std::map<std::string, std::string> found;
  std::set<std::string> taken;
  const auto give = [&](const std::string& name, std::string text) {
    // Nothing tells them apart in so few columns: a number does.
    const std::string whole = text;
    for (std::uint64_t number = 2; !taken.insert(text).second; ++number) {
      const std::string mark = "~" + std::to_string(number);
      text = without_end(whole, width > mark.size() ? width - mark.size() : 0) + mark;
    }
    found.emplace(name, std::move(text));
  };
  for (const std::string& name : distinct)
    if (columns_of(name) <= width) give(name, name);
  while (!open.empty()) {
    NamesByText next;
    for (auto& [text, group] : open) {
      std::erase_if(group, [&](const std::string& name) { return found.contains(name); });
      if (group.size() == 1 && !taken.contains(text)) {
        give(group.front(), text);
        continue;
      }
      if (group.empty()) continue;
      const std::vector<std::string> texts = AlikeNames(group, width).texts();
      NamesByText parts;
      for (std::size_t i = 0; i < group.size(); ++i) parts[texts[i]].push_back(group[i]);
      for (auto& [part, alike] : parts) {
        if (alike.size() == 1 || parts.size() == 1)
          for (const std::string& name : alike) give(name, part);
        else
          next[part].insert(next[part].end(), alike.begin(), alike.end());
      }
    }
    open = std::move(next);
  }
  std::vector<std::string> texts;
  texts.reserve(names.size());
  for (const std::string& name : names) texts.push_back(found.at(name));
  return texts;
}

void widen(std::span<Column> columns, std::span<const std::string> cells) {
  for (std::size_t c = 0; c < columns.size(); ++c)
    columns[c].width = std::max(columns[c].width, columns_of(cells[c]));
}

void fit(std::span<Column> columns, std::size_t room) {
  for (Column& column : columns) column.shown = column.width > 0;
  for (;;) {
    std::size_t least = 0;
    Column* next = nullptr;
    for (Column& column : columns) {
      if (!column.shown) continue;
      least += least_width(column) + (least == 0 ? 0 : kColumnGap);
      if (column.rank > 0 && (next == nullptr || column.rank > next->rank)) next = &column;
    }
    if (least > room && next != nullptr) {
      next->shown = false;
      continue;
    }
    // What is left over goes to those that were shortened, in their order.
    std::size_t left = room > least ? room - least : 0;
    for (Column& column : columns) {
      if (!column.shown) continue;
      const std::size_t short_width = least_width(column);
      const std::size_t more = std::min(left, column.width - short_width);
      column.width = short_width + more;
      left -= more;
    }
    return;
  }
}

std::string row_text(std::span<const Column> columns, std::span<const std::string> cells) {
  std::string line;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Column& column = columns[c];
    if (!column.shown) continue;
    const std::string cell = column.least > 0 ? without_middle(cells[c], column.width) : cells[c];
    line.append(line.empty() ? 0 : kColumnGap, ' ')
        .append(column.right ? fill_left(cell, column.width) : fill_right(cell, column.width));
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace btf::report
