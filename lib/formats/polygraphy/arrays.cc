#include "formats/polygraphy/arrays.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "btf/try.h"
#include "formats/json/json_string.h"
#include "formats/json/reader.h"

namespace btf {
namespace {

// The key of an object's class. Before 0.30 a mark said only that it is an array.
constexpr std::string_view kClass = "polygraphy_class";
constexpr std::string_view kOldMark = "__polygraphy_encoded_ndarray";

// The members of a class in which arrays are.
struct ClassRow {
  std::string_view name;
  std::string_view member;
  bool array = false;  // the member is the text of an array
  bool read = true;    // else its arrays are listed, and not read
};

// clang-format off
constexpr auto kClasses = std::to_array<ClassRow>({
    {"RunResults",      "lst"},
    {"IterationResult", "outputs"},
    {"LazyArray",       "values"},
    {"LazyNumpyArray",  "values"},
    {"ndarray",         "array",  true},
    {"Tensor",          "tensor", true, false},
    {"FormattedArray",  "array",  false, false},
});
// clang-format on

// An array and the names on the way to it, the outermost last.
struct Found {
  std::vector<std::string> path;
  PolygraphyArray array;
};

struct Text {
  JsonExtent extent;
  bool escaped = false;
};

// A member of an object, by its name; or an item of a list, by its number.
struct Part {
  std::string name;
  std::optional<Text> text;  // it is a string
  std::vector<Found> found;  // what is in it
  bool named = false;        // a list of a name and what has it
};

class ArrayFinder {
 public:
  explicit ArrayFinder(const ByteSource& source)
      : source_(source),
        reader_(source, {0, source.size()},
                {.finding = kPolygraphyFinding, .whole = "the text", .python = true}) {}

  Result<std::vector<PolygraphyArray>> run() {
    BTF_ASSIGN(const JsonToken token, reader_.next());
    BTF_ASSIGN(Part whole, take(token));
    BTF_TRY(reader_.next());
    return named(std::move(whole.found));
  }

 private:
  Result<Part> take(const JsonToken& token) {
    if (token.kind == JsonKind::object_begin) return take_object(token.extent.offset);
    if (token.kind == JsonKind::array_begin) return take_list();
    Part part;
    if (token.kind == JsonKind::string) part.text = Text{token.extent, token.escaped};
    return part;
  }

  Result<Part> take_object(std::uint64_t at) {
    std::vector<Part> members;
    std::string class_name;
    std::set<std::string> others;  // members in which there is no array
    BTF_TRY(reader_.members([&](const JsonToken& name) -> Status {
      if (!name.kept)
        return reader_.wrong(name.extent.offset, "a name is too long to be that of a tensor");
      std::string member(name.text);
      BTF_ASSIGN(const JsonToken value, reader_.next());
      if (member == kClass && value.kind == JsonKind::string) class_name = value.text;
      if (member == kOldMark) class_name = "ndarray";
      BTF_ASSIGN(Part part, take(value));
      part.name = std::move(member);
      const bool of_class =
          std::ranges::find(kClasses, part.name, &ClassRow::member) != kClasses.end();
      if ((of_class && part.text) || !part.found.empty())
        members.push_back(std::move(part));
      else if (of_class)
        others.insert(std::move(part.name));
      return {};
    }));
    Part part;
    if (class_name.empty()) {
      for (Part& member : members) append(member, member.name, part.found);
      return part;
    }
    const auto* const row = std::ranges::find(kClasses, class_name, &ClassRow::name);
    if (row == kClasses.end())
      return reader_.wrong(at, "there is an object of the class '" + json_shown(class_name) +
                                   "', which is not a class of arrays");
    const auto held = std::ranges::find(members, row->member, &Part::name);
    if (held == members.end() && !row->array && others.contains(std::string(row->member)))
      return part;
    if (held == members.end() || (row->array && !held->text))
      return reader_.wrong(at, "an object of the class '" + class_name + "' has no '" +
                                   std::string(row->member) + "'" +
                                   (row->array ? " that is a string" : ""));
    if (row->array) {
      part.found.push_back(array_of(*held, *row));
      return part;
    }
    part.found = std::move(held->found);
    if (!row->read)
      for (Found& found : part.found) found.array.foreign = row->name;
    return part;
  }

  static Found array_of(const Part& member, const ClassRow& row) {
    Found found;
    found.array.text = member.text->extent;
    found.array.escaped = member.text->escaped;
    if (!row.read) found.array.foreign = row.name;
    return found;
  }

  // A name and its array, or any other list.
  Result<Part> take_list() {
    Part part;
    std::vector<Part> items;
    std::uint64_t count = 0;
    for (;; ++count) {
      BTF_ASSIGN(const JsonToken token, reader_.next());
      if (token.kind == JsonKind::array_end) break;
      BTF_ASSIGN(Part item, take(token));
      item.name = std::to_string(count);
      if ((item.text && count == 0) || !item.found.empty()) items.push_back(std::move(item));
    }
    part.named = count == 2 && items.size() == 2 && items[0].text && !items[1].text;
    if (part.named) {
      BTF_ASSIGN(const std::string name, json_string_at(source_, items[0].text->extent));
      append(items[1], name, part.found);
      return part;
    }
    for (Part& item : items) {
      if (item.named)
        std::ranges::move(item.found, std::back_inserter(part.found));
      else
        append(item, item.name, part.found);
    }
    return part;
  }

  static void append(Part& from, const std::string& name, std::vector<Found>& to) {
    for (Found& found : from.found) {
      found.path.push_back(name);
      to.push_back(std::move(found));
    }
  }

  // Runner and iteration are said only where there are several.
  static std::vector<PolygraphyArray> named(std::vector<Found> all) {
    std::size_t longest = 0;
    for (const Found& found : all) longest = std::max(longest, found.path.size());
    std::vector<bool> said(longest, true);
    for (std::size_t level = 1; level < longest; ++level) {
      std::set<std::string_view> names;
      for (const Found& found : all)
        names.insert(level < found.path.size() ? std::string_view(found.path[level]) : "");
      said[level] = names.size() > 1;
    }
    std::vector<PolygraphyArray> arrays;
    for (Found& found : all) {
      for (std::size_t level = found.path.size(); level-- > 0;)
        if (said[level])
          found.array.name += (found.array.name.empty() ? "" : "/") + found.path[level];
      arrays.push_back(std::move(found.array));
    }
    return arrays;
  }

  const ByteSource& source_;
  JsonReader reader_;
};

}  // namespace

Result<std::vector<PolygraphyArray>> read_polygraphy_arrays(const ByteSource& source) {
  return ArrayFinder(source).run();
}

}  // namespace btf
