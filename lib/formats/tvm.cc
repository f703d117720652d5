#include "formats/tvm.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "core/numbers.h"
#include "formats/format.h"
#include "formats/io/byte_source.h"
#include "formats/json.h"
#include "formats/npy_writer.h"

namespace btf {
namespace {

using dlpack::DLDataType;

constexpr std::uint64_t kTvmWord = 8;
constexpr std::uint64_t kTvmMostSigned = std::numeric_limits<std::int64_t>::max();

// TVM's type names by code.
struct TvmKind {
  dlpack::DLDataTypeCode code = 0;
  std::string_view name;
  bool with_bits = true;  // the name is followed by the number of bits
};

constexpr auto kTvmKinds = std::to_array<TvmKind>({
    {dlpack::kDLInt, "int"},
    {dlpack::kDLUInt, "uint"},
    {dlpack::kDLFloat, "float"},
    {dlpack::kDLOpaqueHandle, "handle"},
    {dlpack::kDLBfloat, "bfloat"},
    {dlpack::kDLComplex, "complex"},
    {dlpack::kDLBool, "bool"},
    {dlpack::kDLFloat6_e2m3fn, "float6_e2m3fn", false},
    {dlpack::kDLFloat6_e3m2fn, "float6_e3m2fn", false},
});

// TVM's bool before it adopted DLPack's.
constexpr DLDataType kTvmBool{dlpack::kDLUInt, 1, 1};

std::string hex(std::uint64_t value) {
  std::string text = "0x0000000000000000";
  for (std::size_t i = text.size(); value != 0; value >>= 4)
    text[--i] = "0123456789abcdef"[value & 15];
  return text;
}

std::int32_t signed_at(const std::byte* from) {
  return static_cast<std::int32_t>(load_little<std::uint32_t>(from));
}

Result<std::uint64_t> word_at(Window& window, std::uint64_t offset) {
  BTF_ASSIGN(const std::byte* const word, window.at(offset, kTvmWord));
  return load_little<std::uint64_t>(word);
}

std::unexpected<Error> bad_header(std::uint64_t offset, const std::string& what) {
  return malformed("tvm-header", offset, what);
}

// Checks the fixed fields before the dims and returns the number of dims.
Result<std::uint64_t> tvm_rank(Window& window, std::uint64_t offset) {
  BTF_ASSIGN(const std::byte* const header, window.at(offset, kTvmTensorHeader));
  const auto magic = load_little<std::uint64_t>(header);
  if (magic != kTvmTensorMagic)
    return bad_header(offset, "a tensor's header should begin with " + hex(kTvmTensorMagic) +
                                  ", this one begins with " + hex(magic));
  const std::int32_t device = signed_at(header + 16);
  if (device != dlpack::kDLCPU)
    return bad_header(offset + 16, concat("the data are on a device of type ", device,
                                          ", expected the CPU, which is 1"));
  const std::int32_t ndim = signed_at(header + 24);
  if (ndim < 0) return bad_header(offset + 24, concat("the tensor has ", ndim, " dims"));
  if (static_cast<std::uint32_t>(ndim) > kMaxRank)
    return malformed("rank-too-large", offset + 24, "the tensor has ", ndim, " dims; at most ",
                     kMaxRank, " are read");
  return static_cast<std::uint64_t>(ndim);
}

// In some files the size of vectors includes their lanes, in others, as in those of TVM itself, it
// does not.
Status check_bytes(const TvmTensor& tensor, std::uint64_t offset) {
  const std::uint64_t width = ceil_div(tensor.type.bits, 8);
  const Checked elements = element_count(tensor.dims);
  const Checked bytes = checked_mul(elements, width);
  if (!elements || !bytes || *bytes > kTvmMostSigned)
    return malformed("size-overflow", offset, "the product of the dims, or the size, is too large");
  if (tensor.bytes == *bytes || checked_mul(bytes, tensor.type.lanes) == tensor.bytes) return {};
  return malformed("tvm-size", offset, "the header says ", tensor.bytes, " bytes of data, ",
                   *elements, " elements of ", tvm_type_name(tensor.type), " take ", *bytes);
}

}  // namespace

const DTypeInfo* tvm_dtype(const DLDataType& type) {
  if (type.lanes != 1) return nullptr;
  if (type.code == kTvmBool.code && type.bits == kTvmBool.bits) return &info(DType::boolean);
  for (const DTypeInfo& row : dtypes())
    if (row.dlpack == type.code && row.bits == type.bits) return &row;
  return nullptr;
}

std::string tvm_type_name(const DLDataType& type) {
  const DTypeInfo* const row = tvm_dtype({type.code, type.bits, 1});
  const auto* const kind = std::ranges::find(kTvmKinds, type.code, &TvmKind::code);
  std::string name;
  if (row != nullptr)
    name = row->name;
  else if (kind != kTvmKinds.end())
    name = std::string(kind->name) + (kind->with_bits ? std::to_string(type.bits) : "");
  else
    name = concat("code ", type.code, " of ", type.bits, " bits");
  return type.lanes == 1 ? name : concat(name, "x", type.lanes);
}

Result<TvmTensor> read_tvm_tensor(Window& window, std::uint64_t offset) {
  BTF_ASSIGN(const std::uint64_t rank, tvm_rank(window, offset));
  BTF_ASSIGN(const std::byte* const header, window.at(offset, kTvmTensorHeader));
  TvmTensor tensor;
  tensor.type = {load_little<std::uint8_t>(header + 28), load_little<std::uint8_t>(header + 29),
                 load_little<std::uint16_t>(header + 30)};
  const std::uint64_t dims_at = offset + kTvmTensorHeader;
  tensor.data_offset = dims_at + (rank + 1) * kTvmWord;
  BTF_ASSIGN(const std::byte* const dims, window.at(dims_at, (rank + 1) * kTvmWord));
  for (std::uint64_t d = 0; d < rank; ++d) {
    const auto dim = load_little<std::uint64_t>(dims + d * kTvmWord);
    if (dim > kTvmMostSigned)
      return bad_header(dims_at + d * kTvmWord,
                        concat("dim ", d, " is ", static_cast<std::int64_t>(dim)));
    tensor.dims.push_back(dim);
  }
  tensor.bytes = load_little<std::uint64_t>(dims + rank * kTvmWord);
  if (tensor.bytes > kTvmMostSigned)
    return bad_header(
        dims_at + rank * kTvmWord,
        concat("the tensor has ", static_cast<std::int64_t>(tensor.bytes), " bytes of data"));
  BTF_TRY(check_bytes(tensor, offset));
  return tensor;
}

void TvmWalk::expect(Stage stage, std::uint64_t at, std::uint64_t bytes) {
  stage_ = stage;
  at_ = at;
  needs_ = at + bytes;
}

void TvmWalk::next_name(std::uint64_t at) {
  expect(names_.size() < count_ ? Stage::name : Stage::count, at, kTvmWord);
}

void TvmWalk::next_tensor(std::uint64_t at) {
  const bool last = tensors_.size() == count_;
  expect(last ? Stage::finished : Stage::tensor, at, last ? 0 : kTvmTensorHeader);
}

Status TvmWalk::begin_file(Window& window) {
  BTF_ASSIGN(const std::byte* const header, window.at(0, kTvmFileHeader));
  const auto magic = load_little<std::uint64_t>(header);
  if (magic != kTvmMagic)
    return bad_header(
        0, "the file should begin with " + hex(kTvmMagic) + " and begins with " + hex(magic));
  count_ = load_little<std::uint64_t>(header + 16);
  if (count_ > kMaxTvmTensors)
    return bad_header(16, concat("the file says that it has ", count_, " names; at most ",
                                 kMaxTvmTensors, " are read"));
  next_name(kTvmFileHeader);
  return {};
}

Status TvmWalk::take_name(Window& window) {
  BTF_ASSIGN(const std::uint64_t length, word_at(window, at_));
  if (length > kLongestTvmName)
    return bad_header(at_, concat("name ", names_.size(), " has ", length, " bytes; at most ",
                                  kLongestTvmName, " are read"));
  names_.push_back({at_ + kTvmWord, length});
  next_name(at_ + kTvmWord + length);
  return {};
}

Status TvmWalk::take_count(Window& window) {
  BTF_ASSIGN(const std::uint64_t count, word_at(window, at_));
  if (count != count_) return bad_header(at_, concat(count_, " names for ", count, " tensors"));
  next_tensor(at_ + kTvmWord);
  return {};
}

Error TvmWalk::in_tensor(const Error& error) const {
  return error.within(concat("tensor ", tensors_.size(), " of the file"));
}

Status TvmWalk::begin_tensor(Window& window) {
  const auto rank = tvm_rank(window, at_);
  if (!rank) return std::unexpected(in_tensor(rank.error()));
  expect(Stage::dims, at_, kTvmTensorHeader + (*rank + 1) * kTvmWord);
  return {};
}

Status TvmWalk::take_tensor(Window& window) {
  const auto tensor = read_tvm_tensor(window, at_);
  if (!tensor) return std::unexpected(in_tensor(tensor.error()));
  const Checked end = checked_add(tensor->data_offset, tensor->bytes);
  if (!end || *end > kTvmMostSigned)
    return malformed("size-overflow", at_, "the end of the data does not fit 63 bits");
  tensors_.push_back(at_);
  next_tensor(*end);
  return {};
}

Status TvmWalk::step(Window& window) {
  switch (stage_) {
    case Stage::file:
      return begin_file(window);
    case Stage::name:
      return take_name(window);
    case Stage::count:
      return take_count(window);
    case Stage::tensor:
      return begin_tensor(window);
    case Stage::dims:
      return take_tensor(window);
    case Stage::finished:
      break;
  }
  return {};
}

std::string TvmWalk::next() const {
  switch (stage_) {
    case Stage::file:
      return "the header";
    case Stage::name:
      return concat("name ", names_.size(), " of ", count_);
    case Stage::count:
      return "the number of tensors";
    case Stage::tensor:
    case Stage::dims:
      return concat("the header of tensor ", tensors_.size(), " of ", count_);
    case Stage::finished:
      break;
  }
  return "the data of the last tensor";
}

namespace {

class TvmBound final : public StreamBound {
 public:
  Status take(const ByteSource& content, ContentExtent& extent) override {
    Window window(content, content.size());
    for (;;) {
      extent.need(walk_.needs());
      if (walk_.finished() || extent.beyond_room() > 0 || walk_.needs() > content.size()) return {};
      const Status step = walk_.step(window);
      if (!step && step.error().finding.empty()) return step;
      if (!step) return {};
    }
  }
  std::string_view subject() const override { return "the last header of TVM's parameters"; }
  std::uint64_t needed(const ContentExtent& extent) const override { return extent.least(); }
  std::uint64_t least(const ContentExtent& extent, const ByteSource&,
                      std::uint64_t frames) const override {
    return frames > 1 ? extent.least() : 0;
  }

 private:
  TvmWalk walk_;
};

}  // namespace

std::unique_ptr<StreamBound> tvm_bound() { return std::make_unique<TvmBound>(); }

namespace {

// The separator that the debug executor puts between an operator's name, its number and the
// output's number.
constexpr std::string_view kOrderMark = "____topo-index:";
constexpr std::string_view kOutputMark = "____output-num:";

// Removes and returns the number at the beginning of the text.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// "NAME____topo-index:N____output-num:M" is the result of operator number N.
std::optional<std::uint64_t> order_in(std::string_view name) {
  const std::size_t mark = name.rfind(kOrderMark);
  if (mark == name.npos) return std::nullopt;
  name.remove_prefix(mark + kOrderMark.size());
  const auto order = take_number(name);
  if (!order || !name.starts_with(kOutputMark)) return std::nullopt;
  name.remove_prefix(kOutputMark.size());
  if (!take_number(name) || !name.empty()) return std::nullopt;
  return order;
}

class TvmReader final : public TensorReader {
 public:
  TvmReader(const ByteSource& source, TvmWalk walk) : source_(source), walk_(std::move(walk)) {}

  std::uint64_t tensor_count() const override { return walk_.tensors().size(); }
  // They follow one another.
  bool overlap_is_settled() const override { return true; }
  std::optional<std::uint64_t> record_offset(std::uint64_t index) const override {
    return walk_.tensors()[index];
  }
  Result<std::optional<std::string>> name(std::uint64_t index) const override {
    return name_at(source_, walk_.names()[index]);
  }

  Result<FileAttributes> attributes() const override {
    FileAttributes attributes;
    for (std::uint64_t i = 0; i < tensor_count(); ++i) {
      BTF_ASSIGN(const std::string name, name_at(source_, walk_.names()[i]));
      if (const auto order = order_in(name)) attributes.tensors[i].order = order;
    }
    return attributes;
  }

  Result<TensorInfo> tensor(std::uint64_t index) const override {
    Window window(source_, source_.size());
    BTF_ASSIGN(TvmTensor tensor, read_tvm_tensor(window, walk_.tensors()[index]));
    TensorInfo info;
    info.index = index;
    info.record_offset = walk_.tensors()[index];
    info.data_offset = tensor.data_offset;
    info.data_bytes = tensor.bytes;
    info.dims = std::move(tensor.dims);
    info.layout = Layout::linear;
    info.layout_code = spec(Layout::linear).code();
    const DTypeInfo* const dtype = tvm_dtype(tensor.type);
    if (dtype == nullptr) {
      info.foreign_dtype = tvm_type_name(tensor.type);
      return info;
    }
    info.dtype = dtype->dtype;
    info.dtype_code = dtype->code();
    info.unpacked = dtype->half_byte();
    BTF_ASSIGN(info.storage, resolve(Layout::linear, info.dims, dtype->dtype));
    return info;
  }

  Result<const ByteSource*> elements(std::uint64_t index) const override {
    const auto known = packed_.find(index);
    if (known != packed_.end()) return known->second.get();
    BTF_ASSIGN(const TensorInfo info, tensor(index));
    if (!info.unpacked) return nullptr;
    auto packed = packed_source(source_, info.data_offset, info.data_bytes, *info.dtype);
    return packed_.emplace(index, std::move(packed)).first->second.get();
  }

 private:
  const ByteSource& source_;
  TvmWalk walk_;
  mutable std::map<std::uint64_t, std::unique_ptr<ByteSource>> packed_;  // for 4-bit types
};

Status check_end(const ByteSource& source, std::uint64_t end) {
  if (source.size() == end && !source.more_follows()) return {};
  const std::uint64_t more = source.size() - end;
  return malformed("bytes-after-data", end, source.more_follows() ? "more than " : "", more,
                   more == 1 ? " byte follows" : " bytes follow",
                   " after the last tensor, which ends at byte ", end);
}

}  // namespace

Result<bool> recognizes_tvm(const ByteSource& source, const OpenRequest&) {
  std::array<std::byte, sizeof(kTvmMagic)> start;
  if (source.size() < start.size()) return false;
  BTF_TRY(source.read_at(0, start));
  return load_little<std::uint64_t>(start.data()) == kTvmMagic;
}

Result<std::unique_ptr<TensorReader>> open_tvm(const ByteSource& source,
                                               const OpenRequest& request) {
  if (request.options.spec)
    return fail(
        ErrorCode::invalid_argument,
        "is a file of TVM's parameters and describes its tensors itself; no spec applies to "
        "it");
  Window window(source, source.size());
  TvmWalk walk;
  while (walk.needs() <= source.size() && !walk.finished()) BTF_TRY(walk.step(window));
  if (walk.needs() > source.size())
    return malformed("data-past-end", source.size(), "the file is cut off: has ", source.size(),
                     " bytes, and ", walk.next(), " ends at byte ", walk.needs());
  BTF_TRY(check_end(source, walk.needs()));
  BTF_ASSIGN(const auto same, find_same_names(source, walk.names()));
  if (same)
    return malformed("tvm-names", walk.names()[same->second].at, "tensors ", same->first, " and ",
                     same->second, " have the same name");
  return std::make_unique<TvmReader>(source, std::move(walk));
}

// All other errors prevent the file from being opened.
Status check_tvm(const TensorFile& file, const FindingSink& report) {
  return check_tensors(file, "foreign-dtype", report);
}

namespace {

std::unexpected<Error> unsupported(std::string message) {
  return fail(ErrorCode::unsupported, std::move(message));
}

class TvmBytes {
 public:
  template <typename Unsigned>
  void put(Unsigned value) {
    bytes_.resize(bytes_.size() + sizeof(Unsigned));
    store_little(bytes_.data() + bytes_.size() - sizeof(Unsigned), value);
  }
  void put(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::span<const std::byte> all() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class TvmWriter final : public TensorWriter {
 public:
  Status announce(const RecordShape& record) override {
    if (info(record.dtype).half_byte())
      return unsupported(
          std::string(info(record.dtype).name) +
          " is not written: in such a file an element takes a byte, and TVM 0.27 reads beyond the "
          "end of a buffer of half the size; `dtype` int8 and the like are safe");
    if (record.layout_code != spec(Layout::linear).code())
      return unsupported(
          "a file of TVM's parameters holds row-major tensors: kLINEAR, or the stored array as it "
          "is (plain)");
    std::string name = record.name;
    if (name.empty() && !record.named) name = concat("tensor_", names_.size());
    if (!is_utf8(name))
      return unsupported("the name '" + json_shown(name) + "' is not UTF-8, as TVM demands");
    if (name.size() > kLongestTvmName)
      return unsupported(
          concat("a name of ", name.size(), " bytes; at most ", kLongestTvmName, " are written"));
    if (!known_.insert(name).second)
      return unsupported("two tensors have the name '" + json_shown(name) +
                         "', of which a file of TVM's parameters can hold one");
    if (names_.size() == kMaxTvmTensors)
      return unsupported(concat("a file of TVM's parameters is written with at most ",
                                kMaxTvmTensors, " tensors"));
    head_ = checked_add(head_, sizeof(std::uint64_t) + name.size());
    total_ = checked_add(total_, header(record).all().size());
    total_ = checked_add(total_, record.payload);
    names_.push_back(std::move(name));
    return {};
  }

  Result<std::uint64_t> total_bytes() const override {
    const Checked total = checked_add(head_, total_);
    if (!total) return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
    return *total;
  }

  Status begin(ByteSink& sink) override {
    TvmBytes head;
    head.put(kTvmMagic);
    head.put(std::uint64_t{0});
    head.put(std::uint64_t{names_.size()});
    for (const std::string& name : names_) {
      head.put(std::uint64_t{name.size()});
      head.put(std::string_view(name));
    }
    head.put(std::uint64_t{names_.size()});
    return write(sink, head);
  }

  Result<std::uint64_t> begin_record(ByteSink& sink, const RecordShape& record) override {
    BTF_TRY(write(sink, header(record)));
    BTF_TRY(sink.begin_piece(record.payload));
    return std::exchange(offset_, offset_ + record.payload);
  }

  Status end_record(ByteSink&) override { return {}; }

 private:
  TvmBytes header(const RecordShape& record) const {
    const DTypeInfo& type = info(record.dtype);
    TvmBytes bytes;
    bytes.put(kTvmTensorMagic);
    bytes.put(std::uint64_t{0});
    bytes.put(static_cast<std::uint32_t>(dlpack::kDLCPU));
    bytes.put(std::uint32_t{0});
    bytes.put(static_cast<std::uint32_t>(record.dims.size()));
    bytes.put(type.dlpack);
    bytes.put(type.bits);
    bytes.put(std::uint16_t{1});  // lane
    for (const std::uint64_t dim : record.dims) bytes.put(dim);
    bytes.put(record.payload);
    return bytes;
  }

  Status write(ByteSink& sink, const TvmBytes& bytes) {
    BTF_TRY(sink.begin_piece(bytes.all().size()));
    return sink.write_at(std::exchange(offset_, offset_ + bytes.all().size()), bytes.all());
  }

  std::vector<std::string> names_;
  std::set<std::string> known_;
  Checked head_ = kTvmFileHeader + sizeof(std::uint64_t);
  Checked total_ = std::uint64_t{0};  // of the tensors
  std::uint64_t offset_ = 0;
};

}  // namespace

std::unique_ptr<TensorWriter> tvm_writer(const WriteRequest&) {
  return std::make_unique<TvmWriter>();
}

}  // namespace btf
