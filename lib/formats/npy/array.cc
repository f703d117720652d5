#include "formats/npy/array.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "btf/convert.h"
#include "btf/try.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "formats/io/swapped_source.h"
#include "formats/npy/nibble_bytes.h"

namespace btf {
namespace {

// The stored array of Fortran's order has the dims the other way round.
Result<StridedLayout> resolve_order(const Dims& shape, bool fortran_order, DType dtype) {
  if (!fortran_order) return resolve(Layout::linear, shape, dtype);
  const Dims reversed(shape.rbegin(), shape.rend());
  BTF_ASSIGN(const StridedLayout stored, resolve(Layout::linear, reversed, dtype));
  std::vector<std::uint32_t> order(shape.size());
  for (std::uint32_t d = 0; d < order.size(); ++d)
    order[d] = static_cast<std::uint32_t>(order.size()) - 1 - d;
  return permuted(stored, order);
}

std::unexpected<Error> unsupported(const std::string& descr, const std::string& why) {
  return fail(ErrorCode::unsupported, "dtype '" + descr + "' " + why);
}

// A spec may give the dtype of void and of unsigned integers.
Result<NpyType> told_type(const std::string& descr, bool big_endian, std::uint64_t width,
                          DType dtype) {
  const DTypeInfo& row = info(dtype);
  if (row.buffer_bytes() != width)
    return fail(ErrorCode::invalid_argument, "elements of dtype '" + descr + "' have " +
                                                 std::to_string(width) + " bytes, those of " +
                                                 std::string(row.name) + " have " +
                                                 std::to_string(row.buffer_bytes()));
  return NpyType{dtype, big_endian, row.bits < 8};
}

// The elements of a type that says only how wide they are.
Result<NpyType> nameless(const std::string& descr, std::uint64_t width, std::string_view kinds,
                         const std::optional<TensorSpec>& spec) {
  if (!spec)
    return unsupported(descr, "does not say what its bytes mean: " + std::string(kinds) +
                                  "; `spec` TYPE says which, such as " +
                                  (width == 2 ? "bf16" : "fp8"));
  return told_type(descr, false, width, spec->dtype);
}

Result<NpyType> parse_void(const std::string& descr, char order, std::string_view digits,
                           const std::optional<TensorSpec>& spec) {
  const auto width = parse_number<std::uint64_t>(digits);
  const bool stands = std::ranges::any_of(
      dtypes(), [&](const DTypeInfo& row) { return row.buffer_bytes() == width; });
  if (order == '>' || !stands) return unsupported(descr, "is bytes that match no dtype");
  return nameless(descr, *width, "bfloat16, float8 and the 4-bit types are stored so", spec);
}

// ml_dtypes calls only float8_e5m2 so, but what it is nobody wrote down.
Result<NpyType> parse_small_float(const std::string& descr, const std::optional<TensorSpec>& spec) {
  if (spec && !info(spec->dtype).floating())
    return fail(ErrorCode::invalid_argument, "the file says a float of one byte, the spec says " +
                                                 std::string(info(spec->dtype).name));
  return nameless(descr, 1, "float8_e5m2 of ml_dtypes is stored so", spec);
}

// Types of NumPy and of ml_dtypes that no dtype stands for, and the way out.
struct UnreadType {
  std::string_view descr;
  std::string_view why;
};

constexpr std::string_view kSmallIntegers =
    "is an integer of fewer than four bits, which no dtype of btftool stands for; np.save of "
    "x.astype(np.int8) makes one that does";
constexpr std::string_view kSmallFloats =
    "is a float of six bits, which no dtype of btftool stands for; np.save of x.astype(np.float16) "
    "makes one that does, and keeps every value";
constexpr std::string_view kComplex =
    "is complex numbers, which no dtype of btftool stands for; np.savez(OUT, re=x.real, im=x.imag) "
    "makes arrays that it reads";
constexpr auto kUnread = std::to_array<UnreadType>({
    {"int1", kSmallIntegers},
    {"int2", kSmallIntegers},
    {"uint1", kSmallIntegers},
    {"uint2", kSmallIntegers},
    {"float6_e2m3fn", kSmallFloats},
    {"float6_e3m2fn", kSmallFloats},
    {"c8", kComplex},
    {"c16", kComplex},
    {"c32", kComplex},
});

}  // namespace

Result<NpyType> npy_type(const std::string& descr, const std::optional<TensorSpec>& spec) {
  if (descr.starts_with('['))
    return fail(ErrorCode::unsupported, "the array has a structured dtype, which is not a number");
  const char order = descr.empty() ? '\0' : descr.front();
  const bool ordered = order == '<' || order == '>' || order == '|' || order == '=';
  const std::string_view type = std::string_view(descr).substr(ordered ? 1 : 0);
  for (const DTypeInfo& row : dtypes()) {
    const bool by_name = !ordered && row.name == type;
    const bool by_code = !row.npy.empty() && row.npy == type;
    if (!by_name && !by_code) continue;
    const bool big_endian = order == '>' && row.bits > 8;
    if (!spec || spec->dtype == row.dtype) return NpyType{row.dtype, big_endian, row.bits < 8};
    if (by_code && row.kind == NumberKind::unsigned_integer && info(spec->dtype).npy.empty())
      return told_type(descr, big_endian, row.bits / 8, spec->dtype);
    return fail(ErrorCode::invalid_argument, "the file says " + std::string(row.name) +
                                                 ", the spec says " +
                                                 std::string(info(spec->dtype).name));
  }
  if (type.starts_with('O')) return unsupported(descr, "is Python objects, which are never loaded");
  if (type == "f1") return parse_small_float(descr, spec);
  // The package bfloat16 of GreenWaves; NumPy itself refuses it.
  if (type == "g2") {
    if (spec && spec->dtype != DType::bfloat16)
      return fail(ErrorCode::invalid_argument,
                  "the file says bfloat16 ('" + descr + "'), the spec says " +
                      std::string(info(spec->dtype).name));
    return NpyType{DType::bfloat16, order == '>', false};
  }
  for (const UnreadType& row : kUnread)
    if (row.descr == type) return unsupported(descr, std::string(row.why));
  if (type.starts_with('V')) return parse_void(descr, order, type.substr(1), spec);
  return unsupported(descr, "is not supported");
}

Result<TensorInfo> npy_tensor(const ByteSource& source, const NpyPlace& place,
                              const NpyHeader& header, const NpyType& type) {
  TensorInfo info;
  info.dtype = type.dtype;
  info.dtype_code = btf::info(type.dtype).code();
  info.layout = Layout::linear;
  info.layout_code = btf::spec(Layout::linear).code();
  info.dims = header.shape;
  auto storage = resolve_order(header.shape, header.fortran_order, type.dtype);
  if (!storage) {
    Error error = std::move(storage).error();
    return malformed("npy-shape", place.begin, std::move(error.message));
  }
  info.storage = *std::move(storage);
  info.data_offset = header.data_offset;
  info.unpacked = type.spread;
  info.data_bytes =
      type.spread ? info.storage->elements() : storage_bytes(*info.storage, type.dtype);
  const std::uint64_t found = place.end - header.data_offset;
  if (found == info.data_bytes) return info;
  const std::string needs = "the shape needs " + std::to_string(info.data_bytes) +
                            " bytes of data, the " + std::string(place.holder) + " has ";
  if (found < info.data_bytes)
    return malformed("data-past-end", header.data_offset, needs + std::to_string(found) + " left");
  return malformed("bytes-after-data", info.end(),
                   needs + (source.more_follows() ? "more than " : "") + std::to_string(found));
}

std::unique_ptr<ByteSource> npy_elements(const ByteSource& source, const TensorInfo& tensor,
                                         const NpyType& type) {
  if (type.spread) return packed_source(source, tensor.data_offset, tensor.data_bytes, type.dtype);
  if (type.big_endian)
    return swapped_source(source, tensor.data_offset, info(type.dtype).buffer_bytes());
  return nullptr;
}

}  // namespace btf
