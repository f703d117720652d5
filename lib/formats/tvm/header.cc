#include "formats/tvm/header.h"

#include <algorithm>
#include <array>
#include <limits>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "core/little_endian.h"

namespace btf {
namespace {

using dlpack::DLDataType;

constexpr std::uint64_t kTvmWord = 8;
constexpr std::uint64_t kTvmMostSigned = std::numeric_limits<std::int64_t>::max();

// TVM's type names by code.
struct TvmKind {
  dlpack::DLDataTypeCode code = 0;
  std::string_view name;
  bool with_bits = true;  // their number stands behind it
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

// A bool in TVM before it had DLPack's.
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

// Checks the fixed fields before the dims; returns the number of dims.
Result<std::uint64_t> tvm_rank(Window& window, std::uint64_t offset) {
  BTF_ASSIGN(const std::byte* const header, window.at(offset, kTvmTensorHeader));
  const auto magic = load_little<std::uint64_t>(header);
  if (magic != kTvmTensorMagic)
    return bad_header(offset, "a tensor's header should begin with " + hex(kTvmTensorMagic) +
                                  ", this one begins with " + hex(magic));
  const std::int32_t device = signed_at(header + 16);
  if (device != dlpack::kDLCPU)
    return bad_header(offset + 16, "the data are on a device of type " + std::to_string(device) +
                                       ", expected the CPU, which is 1");
  const std::int32_t ndim = signed_at(header + 24);
  if (ndim < 0) return bad_header(offset + 24, "the tensor has " + std::to_string(ndim) + " dims");
  if (static_cast<std::uint32_t>(ndim) > kMaxRank)
    return malformed("rank-too-large", offset + 24,
                     "the tensor has " + std::to_string(ndim) + " dims; at most " +
                         std::to_string(kMaxRank) + " are read");
  return static_cast<std::uint64_t>(ndim);
}

// Vectors count their lanes in some files and not in others: TVM itself does not.
Status check_bytes(const TvmTensor& tensor, std::uint64_t offset) {
  const std::uint64_t width = ceil_div(tensor.type.bits, 8);
  const Checked elements = element_count(tensor.dims);
  const Checked bytes = checked_mul(elements, width);
  if (!elements || !bytes || *bytes > kTvmMostSigned)
    return malformed("size-overflow", offset, "the product of the dims, or the size, is too large");
  if (tensor.bytes == *bytes || checked_mul(bytes, tensor.type.lanes) == tensor.bytes) return {};
  return malformed("tvm-size", offset,
                   "the header says " + std::to_string(tensor.bytes) + " bytes of data, " +
                       std::to_string(*elements) + " elements of " + tvm_type_name(tensor.type) +
                       " take " + std::to_string(*bytes));
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
    name = "code " + std::to_string(type.code) + " of " + std::to_string(type.bits) + " bits";
  return type.lanes == 1 ? name : name + "x" + std::to_string(type.lanes);
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
      return bad_header(dims_at + d * kTvmWord, "dim " + std::to_string(d) + " is " +
                                                    std::to_string(static_cast<std::int64_t>(dim)));
    tensor.dims.push_back(dim);
  }
  tensor.bytes = load_little<std::uint64_t>(dims + rank * kTvmWord);
  if (tensor.bytes > kTvmMostSigned)
    return bad_header(dims_at + rank * kTvmWord,
                      "the tensor has " + std::to_string(static_cast<std::int64_t>(tensor.bytes)) +
                          " bytes of data");
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
  if (count_ > kMostTvmTensors)
    return bad_header(16, "the file says that it has " + std::to_string(count_) +
                              " names; at most " + std::to_string(kMostTvmTensors) + " are read");
  next_name(kTvmFileHeader);
  return {};
}

Status TvmWalk::take_name(Window& window) {
  BTF_ASSIGN(const std::uint64_t length, word_at(window, at_));
  if (length > kLongestTvmName)
    return bad_header(at_, "name " + std::to_string(names_.size()) + " has " +
                               std::to_string(length) + " bytes; at most " +
                               std::to_string(kLongestTvmName) + " are read");
  names_.push_back({at_ + kTvmWord, length});
  next_name(at_ + kTvmWord + length);
  return {};
}

Status TvmWalk::take_count(Window& window) {
  BTF_ASSIGN(const std::uint64_t count, word_at(window, at_));
  if (count != count_)
    return bad_header(at_,
                      std::to_string(count_) + " names for " + std::to_string(count) + " tensors");
  next_tensor(at_ + kTvmWord);
  return {};
}

Error TvmWalk::in_tensor(const Error& error) const {
  return error.within("tensor " + std::to_string(tensors_.size()) + " of the file");
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
      return "name " + std::to_string(names_.size()) + " of " + std::to_string(count_);
    case Stage::count:
      return "the number of tensors";
    case Stage::tensor:
    case Stage::dims:
      return "the header of tensor " + std::to_string(tensors_.size()) + " of " +
             std::to_string(count_);
    case Stage::finished:
      break;
  }
  return "the data of the last tensor";
}

}  // namespace btf
