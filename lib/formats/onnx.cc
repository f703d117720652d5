#include "formats/onnx.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "core/numbers.h"
#include "formats/btf_reader.h"
#include "formats/onnx_model.h"
#include "formats/protobuf.h"

namespace btf {
namespace {

// Returns true if the field is unknown to the message or has the type that it should have.
bool may_be_field(const ProtoMessage& kind, std::uint64_t number, ProtoType type, bool known) {
  const auto rule = std::ranges::find(kind.rules, number, &ProtoRule::number);
  if (rule == kind.rules.end()) return !known;
  return rule->type == type || (rule->repeated && type == ProtoType::bytes);
}

// A TensorFlow tensor has its shape, a list of dims, where a model has the name of its producer,
// and integers where a model has its graph.
bool is_tensorflow(Window& window, const ProtoRange& producer, const ProtoRange& graph) {
  constexpr std::byte kDim{0x12}, kUnknownRank{0x18};
  if (producer.size() == 0)
    return !for_each_field(window, graph, onnx::kGraph, [](const ProtoField&) { return Status(); });
  const auto first = window.at(producer.begin, 1);
  return first && (**first == kDim || **first == kUnknownRank);
}

}  // namespace

Result<bool> onnx_begins(const ByteSource& source) {
  const std::uint64_t some = std::min<std::uint64_t>(source.size(), kLongestProtoHead);
  std::vector<std::byte> start(some);
  BTF_TRY(source.read_at(0, start));
  const auto head = read_proto_head(start);
  return head && (may_be_field(onnx::kTensor, head->number, head->type, true) ||
                  may_be_field(onnx::kModel, head->number, head->type, true));
}

Result<OnnxKind> onnx_kind(const ByteSource& source) {
  Window window(source, source.size());
  std::uint32_t seen = 0;  // bits of field numbers
  bool tensor = true;
  bool model = true;
  bool named = false;  // field 1 is a text, as a sequence may have, or packed dims
  ProtoRange producer, graph;
  BTF_TRY(for_each_field(window, {0, source.size()}, onnx::kAny, [&](const ProtoField& field) {
    tensor = tensor && may_be_field(onnx::kTensor, field.number, field.type, false);
    model = model && may_be_field(onnx::kModel, field.number, field.type, false);
    named = named || (field.number == 1 && field.type == ProtoType::bytes);
    if (field.number == onnx::model::kProducer) producer = field.content;
    if (field.number == onnx::model::kGraph) graph = field.content;
    if (field.number < 32) seen |= std::uint32_t{1} << field.number;
    return Status{};
  }));
  const auto has = [&](std::uint64_t number) { return (seen >> number & 1) != 0; };
  if (model && has(onnx::model::kIrVersion) && has(onnx::model::kGraph))
    return has(onnx::model::kProducer) && is_tensorflow(window, producer, graph) ? OnnxKind::other
                                                                                 : OnnxKind::model;
  using namespace onnx::tensor;
  if (!tensor || !has(kDataType)) return OnnxKind::other;
  for (const std::uint64_t number : {kName, kRaw, kDoubles, kUint64s, kExternal})
    if (has(number)) return OnnxKind::tensor;
  // A sequence has its elem_type where a tensor has its data_type, and its contents where a tensor
  // has a segment and numbers. They are told apart by what can be parsed.
  const bool values = has(kFloats) || has(kInt32s) || has(kStrings) || has(kInt64s);
  if (!values) return named || has(kSegment) ? OnnxKind::sequence : OnnxKind::tensor;
  if (read_onnx_tensor(window, {0, source.size()})) return OnnxKind::tensor;
  return has(kSegment) || read_onnx_sequence(source) ? OnnxKind::sequence : OnnxKind::tensor;
}

namespace {

namespace sequence = onnx::sequence;

class SequenceReader {
 public:
  explicit SequenceReader(const ByteSource& source) : window_(source, source.size()) {}

  Result<OnnxModel> run() {
    BTF_TRY(take({0, window_.end()}, onnx::kSequence, 0, 0));
    return std::move(model_);
  }

 private:
  // `kind` is a sequence, whose values are numbered, or an optional, which has one value.
  Status take(const ProtoRange& place, const ProtoMessage& kind, std::uint32_t scope,
              unsigned depth) {
    if (depth > onnx::kDeepestGraph)
      return malformed("onnx-graph", place.begin, "values are nested more than ",
                       onnx::kDeepestGraph, " deep at byte ", place.begin);
    const bool numbered = &kind == &onnx::kSequence;
    std::uint64_t number = 0;
    return for_each_field(window_, place, kind, [&](const ProtoField& field) -> Status {
      if (field.number == sequence::kName && depth == 0) {
        BTF_ASSIGN(std::string name, onnx_name(window_, field));
        model_.name_values(std::move(name));
      }
      if (field.number < sequence::kTensors || field.number > sequence::kOptionals) return {};
      const std::uint64_t own = numbered ? number++ : OnnxModel::kUnnumbered;
      if (field.number == sequence::kTensors || field.number == sequence::kSparseTensors)
        return add(field, scope, own);
      if (++containers_ > kMaxContainers)
        return malformed("onnx-graph", field.at, "there are more than ", kMaxContainers,
                         " sequences, maps and optionals in one another");
      const std::uint32_t inner = model_.add_scope(scope, OnnxModel::number_text(own));
      if (field.number == sequence::kMaps) return take_map(field.content, inner, depth + 1);
      return take(field.content,
                  field.number == sequence::kSequences ? onnx::kSequence : onnx::kOptional, inner,
                  depth + 1);
    });
  }

  // Skips the keys.
  Status take_map(const ProtoRange& place, std::uint32_t scope, unsigned depth) {
    return for_each_field(window_, place, onnx::kMap, [&](const ProtoField& field) -> Status {
      if (field.number != onnx::map::kValues) return {};
      return take(field.content, onnx::kSequence, scope, depth);
    });
  }

  Status add(const ProtoField& field, std::uint32_t scope, std::uint64_t own) {
    OnnxEntry entry{.place = field.content, .name = {own, own}, .scope = scope};
    entry.sparse = field.number == sequence::kSparseTensors;
    if (entry.sparse)
      BTF_TRY(read_onnx_sparse(window_, entry.place));
    else
      BTF_TRY(read_onnx_tensor(window_, entry.place));
    model_.add_value(entry);
    return {};
  }

  // Bounds the memory for their names.
  static constexpr std::uint64_t kMaxContainers = 1U << 20;

  Window window_;
  OnnxModel model_;
  std::uint64_t containers_ = 0;
};

}  // namespace

Result<OnnxModel> read_onnx_sequence(const ByteSource& source) {
  return SequenceReader(source).run();
}

namespace {

class OnnxBound final : public StreamBound {
 public:
  // There is no count of fields, but each has a length.
  Status take(const ByteSource& content, ContentExtent& extent) override {
    while (next_ < content.size()) {
      std::array<std::byte, kLongestProtoHead> start;
      const auto some =
          std::span(start).first(std::min<std::uint64_t>(start.size(), content.size() - next_));
      BTF_TRY(content.read_at(next_, some));
      const auto head = read_proto_head(some);
      if (!head) return {};
      // A tensor has at most kMaxRank dims and one type; otherwise this is not a tensor.
      if (head->number == 1 && ++dims_ > kMaxRank) return {};
      if (head->number == 2 && ++types_ > 1) return {};
      const Checked end = checked_add(next_ + head->bytes, head->length);
      if (!end) return {};
      extent.need(*end);
      next_ = *end;
    }
    return {};
  }
  std::string_view subject() const override { return "the fields of its protocol buffer"; }
  std::uint64_t needed(const ContentExtent& extent) const override { return extent.least(); }

 private:
  std::uint64_t next_ = 0;  // offset of the next field
  std::uint64_t dims_ = 0;
  std::uint64_t types_ = 0;
};

}  // namespace

// Accepts a beginning with dims, a type or a version, but not packed dims, which look like an empty
// line. The first eight bytes are larger than any BTF file's number of tensors.
Result<bool> begins_as_onnx(const ByteSource& beginning) {
  std::array<std::byte, sizeof(std::uint64_t)> start;
  if (beginning.size() < start.size()) return false;
  BTF_TRY(beginning.read_at(0, start));
  const auto first = load_little<std::uint64_t>(start.data());
  if (first <= kMaxBtfTensors || ((first & 0xff) != 0x08 && (first & 0xff) != 0x10)) return false;
  return onnx_begins(beginning);
}

std::unique_ptr<StreamBound> onnx_bound() { return std::make_unique<OnnxBound>(); }

namespace {

// Reports unknown keys of external data.
Status check_keys(Window& window, const ProtoRange& place, std::uint64_t index,
                  const FindingSink& report) {
  const auto tensor = read_onnx_tensor(window, place);
  if (!tensor || !tensor->external || tensor->external->unknown_key.empty()) return {};
  constexpr FindingCode kCode("onnx-unknown-key");
  report({kCode.severity(), kCode, index, place.begin,
          "its external_data have the unknown key '" + tensor->external->unknown_key +
              "', which is ignored"});
  return {};
}

// Values in varints are all decoded when the first one is read.
Status check_values(const TensorFile& file, const TensorInfo& info) {
  if (info.data_bytes == 0) return {};
  BTF_ASSIGN(const ByteSource* const source, file.elements(info.index));
  std::array<std::byte, 1> first;
  BTF_TRY(source->read_at(info.data_offset, first));
  if (!info.coo || info.coo->nnz == 0) return {};
  return source->read_at(info.coo->values_offset, first);
}

Status check_tensor(const TensorFile& file, std::uint64_t index, const FindingSink& report) {
  const auto info = file.tensor(index);
  if (!info) return std::unexpected(info.error());
  if (info->known()) return check_values(file, *info);
  constexpr FindingCode kCode("foreign-dtype");
  report({kCode.severity(), kCode, index, info->record_offset, info->unknown_dtype_text()});
  return {};
}

}  // namespace

Status check_onnx(const TensorFile& file, const FindingSink& report) {
  const ByteSource& source = file.source();
  Window window(source, source.size());
  BTF_ASSIGN(const OnnxKind kind, onnx_kind(source));
  std::optional<OnnxModel> model;
  if (kind == OnnxKind::model) {
    BTF_ASSIGN(model, OnnxModel::read(source));
  } else if (kind == OnnxKind::sequence) {
    BTF_ASSIGN(model, read_onnx_sequence(source));
  }
  bool damaged = false;  // has been reported
  Status unread;         // not supported, therefore not wrong; does not stop the check of others
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const OnnxEntry entry = model ? model->entries()[i] : OnnxEntry{.place = {0, source.size()}};
    if (!entry.sparse && entry.form == 0) BTF_TRY(check_keys(window, entry.place, i, report));
    const Status status = check_tensor(file, i, report);
    if (status) continue;
    const Error& error = status.error();
    damaged = damaged || !error.finding.empty();
    if (!error.finding.empty())
      report({Severity::error, error.finding, i, error.offset, error.message});
    else if (error.code != ErrorCode::unsupported && error.code != ErrorCode::io)
      return std::unexpected(file.about(i, error));
    else if (unread)
      unread = std::unexpected(file.about(i, error));
  }
  // Checks the whole message, including fields that are otherwise skipped, since other programs
  // read them.
  if (damaged) return unread;
  const Status whole = check_message(window, {0, source.size()},
                                     kind == OnnxKind::model      ? onnx::kModel
                                     : kind == OnnxKind::sequence ? onnx::kSequence
                                                                  : onnx::kTensor);
  if (whole) return unread;
  if (whole.error().finding.empty()) return whole;
  report({Severity::error, whole.error().finding, {}, whole.error().offset, whole.error().message});
  return unread;
}

namespace {

// The longest message that Google's protocol buffers can parse.
constexpr std::uint64_t kLargestMessage = INT32_MAX;

void append_tag(std::string& to, std::uint64_t field, ProtoType type) {
  append_varint(to, field << 3 | static_cast<std::uint64_t>(type));
}

// Everything before the values, as onnx writes it.
std::string onnx_header(const RecordShape& record) {
  std::string text;
  for (const std::uint64_t dim : record.dims) {
    append_tag(text, onnx::tensor::kDims, ProtoType::varint);
    append_varint(text, dim);
  }
  append_tag(text, onnx::tensor::kDataType, ProtoType::varint);
  append_varint(text, onnx_type_of(record.dtype)->number);
  if (record.named && !record.name.empty()) {
    append_tag(text, onnx::tensor::kName, ProtoType::bytes);
    append_varint(text, record.name.size());
    text += record.name;
  }
  append_tag(text, onnx::tensor::kRaw, ProtoType::bytes);
  append_varint(text, record.payload);
  return text;
}

class OnnxWriter final : public TensorWriter {
 public:
  Status announce(const RecordShape& record) override {
    const auto unsupported = [](std::string message) {
      return fail(ErrorCode::unsupported, std::move(message));
    };
    if (size_)
      return unsupported(
          "an ONNX tensor file (.pb) holds one tensor, the result has more: select one");
    const std::string dtype(info(record.dtype).name);
    if (onnx_type_of(record.dtype) == nullptr) return unsupported("ONNX has no type for " + dtype);
    if (record.layout_code != spec(Layout::linear).code())
      return unsupported(
          "an ONNX tensor is row-major: kLINEAR, or the stored array as it is (plain)");
    if (record.named && !is_utf8(record.name))
      return unsupported("its name is not UTF-8, as ONNX demands");
    size_ = checked_add(onnx_header(record).size(), record.payload);
    if (size_ && *size_ <= kLargestMessage) return {};
    return unsupported(concat("an ONNX tensor has at most ", kLargestMessage,
                              " bytes, this one would have ",
                              size_ ? std::to_string(*size_) : std::string("more than 2^64")));
  }

  Result<std::uint64_t> total_bytes() const override {
    if (!size_)
      return fail(ErrorCode::unsupported,
                  "an ONNX tensor file (.pb) holds one tensor, there is none");
    return *size_;
  }

  Status begin(ByteSink&) override { return {}; }

  Result<std::uint64_t> begin_record(ByteSink& sink, const RecordShape& record) override {
    const std::string header = onnx_header(record);
    BTF_TRY(sink.begin_piece(header.size()));
    BTF_TRY(sink.write_at(0, std::as_bytes(std::span(header))));
    BTF_TRY(sink.begin_piece(record.payload));
    return header.size();
  }

  Status end_record(ByteSink&) override { return {}; }

 private:
  Checked size_;  // size of the file, once there is a tensor
};

}  // namespace

std::unique_ptr<TensorWriter> onnx_writer(const WriteRequest&) {
  return std::make_unique<OnnxWriter>();
}

}  // namespace btf
