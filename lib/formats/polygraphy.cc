// Reads and writes JSON of Polygraphy:
//
//   {"lst":[["RUNNER",[{"outputs":{"NAME":LAZY,..},..},..]],..],"polygraphy_class":"RunResults"}
//   [{"NAME":ARRAY,..},..]                                             inputs
//   LAZY  = {"values":ARRAY,"polygraphy_class":"LazyArray"}            or LazyNumpyArray
//   ARRAY = {"array":"base64 of a .npy","polygraphy_class":"ndarray"}
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/error.h"
#include "btf/try.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "formats/decoded_cache.h"
#include "formats/format.h"
#include "formats/io/byte_source.h"
#include "formats/json.h"
#include "formats/npy.h"
#include "formats/npy_writer.h"
#include "formats/readers.h"

namespace btf {
namespace {

constexpr FindingCode kPolygraphyFinding("polygraphy-json");

struct PolygraphyArray {
  std::string name;       // RUNNER/ITERATION/NAME, without parts that are equal for all
  JsonExtent text;        // base64, without the quotes
  bool escaped = false;   // the text has escapes
  std::string foreign{};  // an unsupported class: "Tensor"
};

// The key of an object's class. Before 0.30 a marker only said that it is an array.
constexpr std::string_view kClass = "polygraphy_class";
constexpr std::string_view kOldMark = "__polygraphy_encoded_ndarray";

// The members of a class that contain arrays.
struct ClassRow {
  std::string_view name;
  std::string_view member;
  bool array = false;  // the member is the text of an array
  bool read = true;    // false: its arrays are listed but cannot be read
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

// An array with the names on the path to it, outermost last.
struct NamedArray {
  std::vector<std::string> path;
  PolygraphyArray array;
};

struct Text {
  JsonExtent extent;
  bool escaped = false;
};

// A member of an object with its name, or an item of a list with its number.
struct Part {
  std::string name;
  std::optional<Text> text;       // set if it is a string
  std::vector<NamedArray> found;  // arrays in it
  bool named = false;             // a list of a name and its value
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
    std::set<std::string> others;  // members without an array
    BTF_TRY(reader_.members([&](const JsonToken& name) -> Status {
      if (!name.complete)
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
      for (NamedArray& found : part.found) found.array.foreign = row->name;
    return part;
  }

  static NamedArray array_of(const Part& member, const ClassRow& row) {
    NamedArray found;
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

  static void append(Part& from, const std::string& name, std::vector<NamedArray>& to) {
    for (NamedArray& found : from.found) {
      found.path.push_back(name);
      to.push_back(std::move(found));
    }
  }

  // Runner and iteration are only part of names if there are several.
  static std::vector<PolygraphyArray> named(std::vector<NamedArray> all) {
    std::size_t longest = 0;
    for (const NamedArray& found : all) longest = std::max(longest, found.path.size());
    std::vector<bool> said(longest, true);
    for (std::size_t level = 1; level < longest; ++level) {
      std::set<std::string_view> names;
      for (const NamedArray& found : all)
        names.insert(level < found.path.size() ? std::string_view(found.path[level]) : "");
      said[level] = names.size() > 1;
    }
    std::vector<PolygraphyArray> arrays;
    for (NamedArray& found : all) {
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

Result<std::vector<PolygraphyArray>> read_polygraphy_arrays(const ByteSource& source) {
  return ArrayFinder(source).run();
}

// The decoded text of an array: a .npy, or an archive of which the first array is used.
struct Content {
  std::unique_ptr<ByteSource> bytes;
  std::unique_ptr<TensorReader> reader;
};

class PolygraphyReader final : public TensorReader {
 public:
  PolygraphyReader(const ByteSource& source, std::vector<PolygraphyArray> arrays,
                   const OpenOptions& options)
      : source_(source), arrays_(std::move(arrays)), overrides_(options) {}

  Status check_told() const {
    return overrides_.check(arrays_.size(), [&](std::uint64_t index) -> Status {
      BTF_TRY(open_text(arrays_[index], overrides_.of_all()));
      return {};
    });
  }

  std::uint64_t tensor_count() const override { return arrays_.size(); }
  bool overlap_is_settled() const override { return true; }
  Result<std::optional<std::string>> name(std::uint64_t index) const override {
    return arrays_[index].name;
  }
  std::optional<std::uint64_t> record_offset(std::uint64_t index) const override {
    return arrays_[index].text.offset;
  }

  // Sizes and dtypes are those of the decoded bytes, not of the text.
  Result<TensorInfo> tensor(std::uint64_t index) const override {
    const PolygraphyArray& array = arrays_[index];
    if (!array.foreign.empty()) return foreign(index);
    BTF_ASSIGN(const Content content, open(index));
    BTF_ASSIGN(TensorInfo info, content.reader->tensor(0));
    info.index = index;
    info.record_offset = array.text.offset;
    return info;
  }

  Result<const ByteSource*> elements(std::uint64_t index) const override {
    const PolygraphyArray& array = arrays_[index];
    if (!array.foreign.empty()) return fail(ErrorCode::unsupported, why_foreign(array));
    auto known = contents_.find(index);
    if (known == contents_.end()) {
      BTF_ASSIGN(Content content, open(index));
      known = contents_.emplace(index, std::move(content)).first;
    }
    BTF_ASSIGN(const ByteSource* const own, known->second.reader->elements(0));
    return own != nullptr ? own : known->second.bytes.get();
  }

 private:
  Result<Content> open(std::uint64_t index) const {
    const PolygraphyArray& array = arrays_[index];
    const TensorSpec* const named = overrides_.of(array.name);
    auto content = open_text(array, named != nullptr ? std::optional(*named) : overrides_.of_all());
    // A spec for all arrays is used where it fits.
    if (!content && named == nullptr && overrides_.of_all())
      content = open_text(array, std::nullopt);
    if (content) return content;
    return std::unexpected(
        content.error().within("array '" + json_shown(arrays_[index].name) + "'"));
  }

  Result<Content> open_text(const PolygraphyArray& array,
                            const std::optional<TensorSpec>& spec) const {
    if (array.escaped)
      return malformed(kPolygraphyFinding, array.text.offset,
                       "its text has escapes and is not base64; Polygraphy wrote arrays so before "
                       "0.30: load and save it again");
    Content content;
    BTF_ASSIGN(content.bytes,
               base64_source(source_, array.text.offset, array.text.length, kPolygraphyFinding));
    const OpenOptions inner{.spec = spec};
    const OpenRequest request{"", inner};
    BTF_ASSIGN(const bool archive, recognizes_npz(*content.bytes, request));
    BTF_ASSIGN(content.reader,
               archive ? open_npz(*content.bytes, request) : open_npy(*content.bytes, request));
    if (content.reader->tensor_count() > 0) return content;
    return malformed(kPolygraphyFinding, array.text.offset, "its archive holds no array");
  }

  static std::string why_foreign(const PolygraphyArray& array) {
    return array.foreign == "Tensor" ? "it is a tensor of torch, which is not read from such a file"
                                     : "it is bytes of a vectorised binding (" + array.foreign +
                                           "), whose layout is unknown";
  }

  TensorInfo foreign(std::uint64_t index) const {
    const PolygraphyArray& array = arrays_[index];
    TensorInfo info;
    info.index = index;
    info.foreign_dtype = array.foreign;
    info.foreign_reason = why_foreign(array);
    info.layout = Layout::linear;
    info.layout_code = spec(Layout::linear).code();
    info.record_offset = array.text.offset;
    info.data_offset = array.text.offset;
    info.data_bytes = array.text.length;
    return info;
  }

  const ByteSource& source_;
  std::vector<PolygraphyArray> arrays_;
  DtypeOverrides overrides_;
  mutable std::map<std::uint64_t, Content> contents_;  // of arrays that are used
};

}  // namespace

Result<bool> recognizes_polygraphy(const ByteSource& source, const OpenRequest&) {
  BTF_ASSIGN(const bool json, begins_as_json(source));
  if (!json) return false;
  // Polygraphy writes the marker last: after the first array, or at the very end.
  const auto marked = [](std::string_view text) {
    return text.contains("\"polygraphy_class\"") ||
           text.contains("\"__polygraphy_encoded_ndarray\"");
  };
  constexpr std::uint64_t kStart = 64U << 10;
  std::string text(std::min(kStart, source.size()), '\0');
  BTF_TRY(source.read_at(0, std::as_writable_bytes(std::span(text))));
  if (marked(text)) return true;
  BTF_TRY(source.read_at(source.size() - text.size(), std::as_writable_bytes(std::span(text))));
  return marked(text);
}

Result<std::unique_ptr<TensorReader>> open_polygraphy(const ByteSource& source,
                                                      const OpenRequest& request) {
  const std::optional<TensorSpec>& spec = request.options.spec;
  if (spec && spec->storage)
    return fail(ErrorCode::invalid_argument,
                "is JSON of Polygraphy and describes itself; a spec may give the dtype "
                "only");
  BTF_ASSIGN(std::vector<PolygraphyArray> arrays, read_polygraphy_arrays(source));
  auto reader = std::make_unique<PolygraphyReader>(source, std::move(arrays), request.options);
  BTF_TRY(reader->check_told());
  return reader;
}

Status check_polygraphy(const TensorFile& file, const FindingSink& report) {
  BTF_TRY(check_tensors(file, "foreign-dtype", report));
  return check_elements(file, report);
}

namespace {

// The text around arrays, as Python's json writes it with an indent of 4. '@' is replaced by the
// name.
struct Frame {
  std::string_view before;
  std::string_view before_array;
  std::string_view behind_array;
  std::string_view between;
  std::string_view behind;
};

constexpr Frame kOutputs{
    R"({
    "lst": [
        [
            "btftool",
            [
                {
                    "outputs": {)",
    R"(
                        @: {
                            "values": {
                                "array": ")",
    R"(",
                                "polygraphy_class": "ndarray"
                            },
                            "polygraphy_class": "LazyNumpyArray"
                        })",
    ",",
    R"(
                    },
                    "runtime": null,
                    "runner_name": "btftool",
                    "polygraphy_class": "IterationResult"
                }
            ]
        ]
    ],
    "polygraphy_class": "RunResults"
})"};

constexpr Frame kInputs{
    R"([
    {)",
    R"(
        @: {
            "array": ")",
    R"(",
            "polygraphy_class": "ndarray"
        })",
    ",",
    R"(
    }
])"};

class PolygraphyWriter final : public TensorWriter {
 public:
  PolygraphyWriter(const Frame& frame, bool as_uint) : frame_(frame), as_uint_(as_uint) {}

  Status announce(const RecordShape& record) override {
    BTF_TRY(check_npy_record(record));
    if (info(record.dtype).npy.empty() && !as_uint_)
      return fail(ErrorCode::unsupported,
                  "JSON of Polygraphy cannot hold " + std::string(info(record.dtype).name) +
                      ", which NumPy lacks; `dtype` float32 works, `as_uint` keeps the bits");
    const std::string& name = record.name;
    const auto quoted = json_quoted(name);
    if (!quoted)
      return fail(ErrorCode::unsupported,
                  "the name '" + json_shown(name) + "' is not UTF-8, as JSON demands");
    if (!names_.insert(name).second)
      return fail(ErrorCode::unsupported, "two tensors have the name '" + json_shown(name) +
                                              "', of which JSON can hold one");
    const Checked bytes = checked_add(npy_header_text(record, as_uint_).size(), data_bytes(record));
    if (!bytes || *bytes > kMaxBytes) return too_large();
    const std::string before = before_array(*quoted, names_.size() == 1);
    total_ = checked_add(total_, before.size() + base64_chars(*bytes) + frame_.behind_array.size());
    return {};
  }

  Result<std::uint64_t> total_bytes() const override {
    const Checked total = checked_add(total_, frame_.before.size() + frame_.behind.size());
    if (!total) return too_large();
    return *total;
  }

  std::uint64_t data_bytes(const RecordShape& record) const override {
    return npy_data_bytes(record);
  }

  Status begin(ByteSink& sink) override { return put(sink, frame_.before); }

  Result<std::uint64_t> begin_record(ByteSink& sink, const RecordShape& record) override {
    BTF_TRY(put(sink, before_array(*json_quoted(record.name), written_ == 0)));
    ++written_;
    const std::string header = npy_header_text(record, as_uint_);
    bytes_ = header.size() + data_bytes(record);
    text_.emplace(sink, offset_);
    BTF_TRY(text_->write_at(0, std::as_bytes(std::span(header))));
    spread_ = info(record.dtype).half_byte()
                  ? spread_sink(*text_, header.size(), data_bytes(record))
                  : nullptr;
    return header.size();
  }

  ByteSink* elements() override { return spread_ ? spread_.get() : &*text_; }

  Status end_record(ByteSink& sink) override {
    BTF_TRY(text_->commit());
    offset_ += base64_chars(bytes_);
    return put(sink, frame_.behind_array);
  }

  Status end(ByteSink& sink) override { return put(sink, frame_.behind); }

 private:
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 60;

  static std::unexpected<Error> too_large() {
    return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
  }

  std::string before_array(const std::string& quoted, bool first) const {
    std::string text(first ? "" : frame_.between);
    text += frame_.before_array;
    text.replace(text.find('@'), 1, quoted);
    return text;
  }

  Status put(ByteSink& sink, std::string_view text) {
    BTF_TRY(sink.begin_piece(text.size()));
    BTF_TRY(sink.write_at(offset_, std::as_bytes(std::span(text))));
    offset_ += text.size();
    return {};
  }

  const Frame& frame_;
  bool as_uint_;
  std::set<std::string> names_;
  Checked total_ = 0;
  std::uint64_t written_ = 0;  // number of records
  std::uint64_t offset_ = 0;   // of the next byte
  std::uint64_t bytes_ = 0;    // size of the current .npy
  std::optional<Base64Sink> text_;
  std::unique_ptr<ByteSink> spread_;  // for 4-bit codes with one byte each
};

}  // namespace

std::unique_ptr<TensorWriter> polygraphy_outputs_writer(const WriteRequest& request) {
  return std::make_unique<PolygraphyWriter>(kOutputs, request.as_uint);
}

std::unique_ptr<TensorWriter> polygraphy_inputs_writer(const WriteRequest& request) {
  return std::make_unique<PolygraphyWriter>(kInputs, request.as_uint);
}

}  // namespace btf
