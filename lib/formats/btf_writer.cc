// Writes BTF files with their name table and attributes.
#include "formats/btf_writer.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/layout.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/names.h"
#include "core/numbers.h"
#include "formats/btf_reader.h"
#include "formats/io/output.h"
#include "formats/json.h"

namespace btf {
namespace {

class NameWriter {
 public:
  // Adds the name of the next tensor; empty if it has none.
  Status add(const std::string& name);
  void set_attributes(std::string json) { attributes_ = std::move(json); }

  // The size of the table; 0 if there is nothing to write, unset if it would be too large.
  Checked bytes() const;
  Status write(ByteSink& sink, std::uint64_t offset) const;

 private:
  std::vector<std::uint32_t> ends_;
  std::string names_;
  std::string attributes_;
};

using wire::kNameEnd;
using wire::kWord;

Status NameWriter::add(const std::string& name) {
  if (name.size() > wire::kLongestName)
    return fail(ErrorCode::unsupported, "its name has ", name.size(),
                " bytes, names in BTF have at most ", wire::kLongestName);
  if (!is_utf8(name) || name.find('\0') != name.npos)
    return fail(ErrorCode::unsupported, "its name '" + name +
                                            "' is not UTF-8 without zero bytes, as names in BTF "
                                            "are");
  if (names_.size() + name.size() > wire::kMaxNameBytes)
    return fail(ErrorCode::unsupported, "the names have more than ", wire::kMaxNameBytes, " bytes");
  names_ += name;
  ends_.push_back(static_cast<std::uint32_t>(names_.size()));
  return {};
}

Checked NameWriter::bytes() const {
  if (names_.empty() && attributes_.empty()) return 0;
  return wire::name_table_bytes(ends_.size(), names_.size(), attributes_.size());
}

Status NameWriter::write(ByteSink& sink, std::uint64_t offset) const {
  const Checked length = bytes();
  if (!length || *length == 0) return {};
  std::vector<std::byte> table(*length);
  std::byte* at = table.data();
  const auto put = [&](const void* bytes, std::size_t size) {
    if (size > 0) std::memcpy(at, bytes, size);
    at += size;
  };
  const auto put_u64 = [&](std::uint64_t value) {
    wire::store_u64(at, value);
    at += kWord;
  };
  put(wire::kNamesBegin.data(), wire::kNamesBegin.size());
  store_little(at, wire::kNamesVersion);
  store_little(at + kNameEnd, std::uint32_t{0});  // flags
  at += 2 * kNameEnd;
  put_u64(ends_.size());
  put_u64(names_.size());
  put_u64(attributes_.size());
  put_u64(0);
  for (const std::uint32_t end : ends_) {
    store_little(at, end);
    at += kNameEnd;
  }
  put(names_.data(), names_.size());
  put(attributes_.data(), attributes_.size());
  at = table.data() + *length - wire::kNamesFooter;
  put_u64(*length);
  put_u64(XXH64(table.data(), *length - 2 * kWord, 0));
  put(wire::kNamesEnd.data(), wire::kNamesEnd.size());
  BTF_TRY(sink.begin_piece(table.size()));
  return sink.write_at(offset, table);
}

constexpr std::string_view kSchema = "btf/attributes/1";
constexpr unsigned kMaxDepth = 16;

constexpr auto kScaleOf = std::to_array<Named<ScaleOf>>({
    {ScaleOf::tensor, "tensor"},
    {ScaleOf::channel, "channel"},
    {ScaleOf::block, "block"},
});

class Parser {
 public:
  Parser(const ByteSource& source, JsonExtent extent, std::uint64_t tensors)
      : json_(source, extent,
              {.finding = "names-attributes", .whole = "the attributes", .keep = extent.length}),
        end_(extent.end()),
        tensors_(tensors) {}

  Result<FileAttributes> run() {
    BTF_TRY(json_.expect(JsonKind::object_begin, "the text"));
    BTF_TRY(json_.members([&](const JsonToken& name) { return file_member(name); }));
    BTF_TRY(json_.expect(JsonKind::end, "the text"));
    BTF_TRY(check_links());
    return std::move(file_);
  }

 private:
  Status file_member(const JsonToken& token) {
    BTF_ASSIGN(const std::string name, text_of(token));
    if (name == "schema") {
      BTF_ASSIGN(const std::string schema, string("schema"));
      if (schema == kSchema) return {};
      return json_.wrong(token.extent.offset, "the schema is '" + json_shown(schema) + "', " +
                                                  std::string(kSchema) + " was expected");
    }
    if (name == "producer") return take_string("producer", file_.producer);
    if (name == "metadata")
      return object("metadata", [&](const std::string& key) {
        return take_string("a value of metadata", file_.metadata[key]);
      });
    if (name == "tensors")
      return object("tensors", [&](const std::string& key) { return tensor(key); });
    return other(name, file_.others, 1);
  }

  Status tensor(const std::string& key) {
    const auto index = exact_u64(key);
    if (!index || *index >= tensors_)
      return json_.wrong(
          end_, concat("'", json_shown(key), "' is the index of no tensor, there are ", tensors_));
    TensorAttributes& tensor = file_.tensors[*index];
    return object("a tensor's", [&](const std::string& name) -> Status {
      if (name == "order") return take_number("order", tensor.order);
      if (name == "role") return take_string("role", tensor.role);
      if (name == "dtype_in_source") return take_string("dtype_in_source", tensor.dtype_in_source);
      if (name == "of") return take_string("of", tensor.of);
      if (name == "quantized") return quantized(tensor.quantized.emplace());
      return other(name, tensor.others, 3);
    });
  }

  Status quantized(QuantizedBy& by) {
    bool scaled = false;
    BTF_TRY(object("quantized", [&](const std::string& name) -> Status {
      if (name == "kind") return kind(by.kind);
      if (name == "axis") return take_number("axis", by.axis);
      if (name == "block") return take_number("block", by.block);
      if (name == "global_scale") return take_index("global_scale", by.global_scale);
      if (name == "zero_point") return take_index("zero_point", by.zero_point);
      if (name == "global_reciprocal") {
        BTF_ASSIGN(const JsonToken value, json_.expect(JsonKind::boolean, "global_reciprocal"));
        by.global_reciprocal = value.text == "true";
        return {};
      }
      if (name != "scale") return other(name, by.others, 4);
      std::optional<std::uint64_t> scale;
      BTF_TRY(take_index("scale", scale));
      by.scale = *scale;
      scaled = true;
      return {};
    }));
    return scaled ? Status() : json_.wrong(end_, "quantized has no scale");
  }

  Status kind(ScaleOf& target) {
    BTF_ASSIGN(const std::string text, string("kind"));
    const auto row = std::ranges::find(kScaleOf, text, &Named<ScaleOf>::name);
    if (row == kScaleOf.end())
      return json_.wrong(end_, "the kind of scales is '" + json_shown(text) +
                                   "', tensor, channel or block was expected");
    target = row->value;
    return {};
  }

  Result<std::string> text_of(const JsonToken& token) const {
    if (token.complete) return std::string(token.text);
    return json_.wrong(token.extent.offset, "a string is too long");
  }

  Result<std::string> string(std::string_view what) {
    BTF_ASSIGN(const JsonToken token, json_.expect(JsonKind::string, what));
    return text_of(token);
  }

  Status take_string(std::string_view what, std::string& target) {
    BTF_ASSIGN(target, string(what));
    return {};
  }

  Status take_number(std::string_view what, std::optional<std::uint64_t>& target) {
    BTF_ASSIGN(target, json_.expect_size(what));
    return {};
  }

  Status take_index(std::string_view what, std::optional<std::uint64_t>& target) {
    BTF_TRY(take_number(what, target));
    if (*target < tensors_) return {};
    return json_.wrong(end_, concat(what, " is tensor ", *target, ", there are ", tensors_));
  }

  template <typename Take>
  Status object(std::string_view what, const Take& take) {
    BTF_TRY(json_.expect(JsonKind::object_begin, what));
    return json_.members([&](const JsonToken& token) -> Status {
      BTF_ASSIGN(const std::string name, text_of(token));
      return take(name);
    });
  }

  Status other(const std::string& name, OtherAttributes& others, unsigned depth) {
    BTF_ASSIGN(const JsonToken first, json_.next());
    BTF_ASSIGN(others[name], canonical_json(json_, first, kMaxDepth - depth));
    return {};
  }

  // From the codes to their scales no way leads back.
  Status check_links() const {
    enum class Mark : std::uint8_t { open, done };
    std::map<std::uint64_t, Mark> marks;
    for (const auto& [start, unused] : file_.tensors) {
      std::vector<std::uint64_t> way{start};
      while (!way.empty()) {
        const std::uint64_t at = way.back();
        const auto [mark, fresh] = marks.emplace(at, Mark::open);
        if (!fresh) {
          mark->second = Mark::done;
          way.pop_back();
          continue;
        }
        for (const std::uint64_t to : links_of(at)) {
          const auto seen = marks.find(to);
          if (seen != marks.end() && seen->second == Mark::open)
            return json_.wrong(end_, concat("the links of tensor ", to, " lead back to it"));
          if (seen == marks.end()) way.push_back(to);
        }
      }
    }
    return {};
  }

  std::vector<std::uint64_t> links_of(std::uint64_t index) const {
    const auto tensor = file_.tensors.find(index);
    if (tensor == file_.tensors.end() || !tensor->second.quantized) return {};
    const QuantizedBy& by = *tensor->second.quantized;
    std::vector<std::uint64_t> links{by.scale};
    for (const auto& link : {by.global_scale, by.zero_point})
      if (link) links.push_back(*link);
    return links;
  }

  JsonReader json_;
  std::uint64_t end_;
  std::uint64_t tensors_;
  FileAttributes file_;
};

JsonObject object_of(const OtherAttributes& others) {
  JsonObject object;
  for (const auto& [name, text] : others) object.json(name, text);
  return object;
}

std::string text_of(const QuantizedBy& by) {
  JsonObject object = object_of(by.others);
  object.number("scale", by.scale);
  object.text("kind", std::ranges::find(kScaleOf, by.kind, &Named<ScaleOf>::value)->name);
  if (by.axis) object.number("axis", *by.axis);
  if (by.block) object.number("block", *by.block);
  if (by.global_scale) object.number("global_scale", *by.global_scale);
  if (by.global_reciprocal) object.json("global_reciprocal", "true");
  if (by.zero_point) object.number("zero_point", *by.zero_point);
  return object.take();
}

JsonObject object_of(const TensorAttributes& tensor) {
  JsonObject object = object_of(tensor.others);
  if (tensor.order) object.number("order", *tensor.order);
  if (!tensor.role.empty()) object.text("role", tensor.role);
  if (!tensor.dtype_in_source.empty()) object.text("dtype_in_source", tensor.dtype_in_source);
  if (!tensor.of.empty()) object.text("of", tensor.of);
  if (tensor.quantized) object.json("quantized", text_of(*tensor.quantized));
  return object;
}

}  // namespace

std::span<const Named<ScaleOf>> scale_of_names() { return kScaleOf; }

Result<FileAttributes> read_attributes(const ByteSource& source, JsonExtent extent,
                                       std::uint64_t tensors) {
  return Parser(source, extent, tensors).run();
}

std::string attributes_text(const FileAttributes& attributes) {
  JsonObject file = object_of(attributes.others);
  if (!attributes.producer.empty()) file.text("producer", attributes.producer);
  JsonObject metadata;
  for (const auto& [key, value] : attributes.metadata) metadata.text(key, value);
  if (!metadata.empty()) file.json("metadata", metadata.take());
  JsonObject tensors;
  for (const auto& [index, tensor] : attributes.tensors)
    if (const JsonObject object = object_of(tensor); !object.empty())
      tensors.json(std::to_string(index), object.take());
  if (!tensors.empty()) file.json("tensors", tensors.take());
  if (file.empty()) return {};
  file.text("schema", kSchema);
  return file.take();
}

namespace {

std::unexpected<Error> too_large() {
  return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
}

class BtfWriter final : public TensorWriter {
 public:
  Status announce(const RecordShape& record) override {
    const Checked bytes = round_up(
        checked_add(record.payload, wire::kRecordHeader + record.dims.size() * kWord), kWord);
    if (!bytes) return too_large();
    BTF_TRY(names_.add(record.named ? record.name : std::string()));
    records_.push_back(*bytes);
    return {};
  }

  void describe(const FileAttributes& attributes) override {
    names_.set_attributes(attributes_text(attributes));
  }

  Result<std::uint64_t> total_bytes() const override {
    Checked total = table_bytes();
    for (const std::uint64_t record : records_) total = checked_add(total, record);
    if (!total) return too_large();
    const Checked names = names_.bytes();
    if (!names)
      return fail(ErrorCode::unsupported, "the names of ", records_.size(),
                  " tensors are too long for one file");
    total = checked_add(total, names);
    if (!total) return too_large();
    return *total;
  }

  Status begin(ByteSink& sink) override {
    std::vector<std::byte> table(table_bytes());
    wire::store_u64(table.data(), records_.size());
    offset_ = table.size();
    std::uint64_t offset = offset_;
    for (std::size_t i = 0; i < records_.size(); ++i) {
      wire::store_u64(table.data() + (i + 1) * kWord, offset);
      offset += records_[i];
    }
    BTF_TRY(sink.begin_piece(table.size()));
    return sink.write_at(0, table);
  }

  Result<std::uint64_t> begin_record(ByteSink& sink, const RecordShape& record) override {
    std::vector<std::byte> header(wire::kRecordHeader + record.dims.size() * kWord);
    wire::store_u64(header.data(), record.dims.size());
    header[wire::kDTypeAt] = std::byte{info(record.dtype).code()};
    header[wire::kLayoutAt] = std::byte{record.layout_code};
    for (std::size_t d = 0; d < record.dims.size(); ++d)
      wire::store_u64(header.data() + wire::kRecordHeader + d * kWord, record.dims[d]);
    BTF_TRY(sink.begin_piece(header.size()));
    BTF_TRY(sink.write_at(offset_, header));
    // The parts of a sparse payload are pieces of their own, as who writes them tells.
    if (find_layout(record.layout_code)->dense()) BTF_TRY(sink.begin_piece(record.payload));
    payload_end_ = offset_ + header.size() + record.payload;
    return offset_ + header.size();
  }

  Status end_record(ByteSink& sink) override {
    constexpr std::array<std::byte, kWord> kZeros{};
    offset_ += records_[written_++];
    if (offset_ == payload_end_) return {};
    return sink.write_at(payload_end_, std::span(kZeros).first(offset_ - payload_end_));
  }

  Status end(ByteSink& sink) override { return names_.write(sink, offset_); }

 private:
  std::uint64_t table_bytes() const { return (records_.size() + 1) * kWord; }

  std::vector<std::uint64_t> records_;  // bytes of each, with its padding
  std::size_t written_ = 0;             // of them
  NameWriter names_;
  std::uint64_t offset_ = 0;  // where the next one begins
  std::uint64_t payload_end_ = 0;
};

}  // namespace

Checked coo_payload_bytes(std::uint64_t nnz, std::size_t rank, unsigned bits) {
  const Checked indices = checked_mul(nnz, rank * kWord);
  return checked_add(checked_add(indices, stream_bytes(nnz, bits)), 3 * kWord);
}

std::unique_ptr<TensorWriter> btf_writer() { return std::make_unique<BtfWriter>(); }

}  // namespace btf
