#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "btf/dtype.h"
#include "btf/read.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "core/little_endian.h"
#include "elements/parallel.h"
#include "formats/io/byte_source.h"

namespace btf {
namespace {

constexpr std::uint64_t kPieceBytes = 4U << 20;  // between two looks for a cancellation

Status read_blocks(const ByteSource& source, std::uint64_t offset, std::span<std::byte> out,
                   const Execution& execution) {
  for (std::uint64_t at = 0; at < out.size(); at += kPieceBytes) {
    BTF_TRY(check_cancelled(execution));
    const std::uint64_t bytes = std::min<std::uint64_t>(kPieceBytes, out.size() - at);
    BTF_TRY(source.read_at(offset + at, out.subspan(at, bytes)));
    if (execution.progress) execution.progress(bytes);
  }
  return {};
}

Status check_indices(const TensorInfo& tensor, std::span<std::uint64_t> indices) {
  const Dims& dims = tensor.dims;
  std::size_t d = 0;
  for (std::size_t i = 0; i < indices.size(); ++i, d = d + 1 == dims.size() ? 0 : d + 1) {
    // As the file has its bytes.
    indices[i] = load_little<std::uint64_t>(reinterpret_cast<const std::byte*>(&indices[i]));
    if (indices[i] < dims[d]) continue;
    const std::uint64_t at = tensor.coo->indices_offset + i * sizeof(indices[i]);
    return malformed("coo-index-out-of-range", at,
                     "COO entry " + std::to_string(i / dims.size()) + " has index " +
                         std::to_string(indices[i]) + " in dim " + std::to_string(d) +
                         " of size " + std::to_string(dims[d]));
  }
  return {};
}

Status read_parts(const TensorFile& file, const TensorInfo& tensor,
                  std::span<std::uint64_t> indices, std::span<std::byte> values,
                  const Execution& execution) {
  if (!tensor.coo || !tensor.dtype)
    return fail(ErrorCode::invalid_argument, "the tensor is not sparse");
  const auto index_count = checked_mul(tensor.coo->nnz, std::uint64_t{tensor.dims.size()});
  const auto value_bytes = stream_bytes(tensor.coo->nnz, info(*tensor.dtype).bits);
  if (index_count != indices.size() || value_bytes != values.size())
    return fail(ErrorCode::invalid_argument, "the memory is not of the size of the entries");
  BTF_TRY(file.check_overlap(tensor));
  BTF_ASSIGN(const ByteSource* const source, file.elements(tensor.index));
  BTF_TRY(read_blocks(*source, tensor.coo->indices_offset, std::as_writable_bytes(indices),
                      execution));
  BTF_TRY(check_indices(tensor, indices));
  BTF_TRY(read_blocks(*source, tensor.coo->values_offset, values, execution));
  return file.check_unchanged();
}

}  // namespace

Status read_coo(const TensorFile& file, const TensorInfo& tensor,
                std::span<std::uint64_t> indices, std::span<std::byte> values,
                const Execution& execution) {
  const Status status = read_parts(file, tensor, indices, values, execution);
  if (!status) return std::unexpected(file.about(tensor.index, status.error()));
  return {};
}

}  // namespace btf
