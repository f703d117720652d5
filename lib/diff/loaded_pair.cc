#include "diff/loaded_pair.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "btf/layout.h"
#include "btf/try.h"
#include "diff/pairs/tensor_pairs.h"
#include "elements/element_access.h"
#include "formats/io/byte_source.h"

namespace btf {
namespace {

Status check_usable(const TensorFile& file, const TensorInfo& record) {
  Status status = file.check_overlap(record);
  if (status) status = check_known(record);
  return status ? status : std::unexpected(file.about(record.index, status.error()));
}

// Blocks with scales among the codes, as a format's own type has them?
bool is_foreign(const TensorInfo& record) {
  return !record.dtype && !record.foreign_dtype.empty() && record.layout == Layout::linear;
}

// The bytes of such a tensor, a row of blocks in a row of bytes; file_side() knows it by its
// foreign dtype.
Result<TensorInfo> bytes_of(TensorInfo record) {
  std::uint64_t rows = 1;
  for (std::size_t d = 0; d + 1 < record.dims.size(); ++d) rows *= record.dims[d];
  if (record.dims.empty()) record.dims = {1};
  record.dims.back() = rows == 0 ? 0 : record.data_bytes / rows;
  record.dtype = DType::uint8;
  record.dtype_code = info(DType::uint8).code();
  BTF_ASSIGN(record.storage, resolve(Layout::linear, record.dims, DType::uint8));
  return record;
}

Result<bool> equal_bytes(const ByteSource& a, std::uint64_t a_at, const ByteSource& b,
                         std::uint64_t b_at, std::uint64_t size) {
  constexpr std::uint64_t kSome = 1U << 20;
  std::vector<std::byte> left(std::min(kSome, size));
  std::vector<std::byte> right(left.size());
  for (std::uint64_t done = 0; done < size; done += left.size()) {
    const std::uint64_t some = std::min<std::uint64_t>(left.size(), size - done);
    BTF_TRY(a.read_at(a_at + done, std::span(left).first(some)));
    BTF_TRY(b.read_at(b_at + done, std::span(right).first(some)));
    if (std::memcmp(left.data(), right.data(), some) != 0) return false;
  }
  return true;
}

void note_codes(const QuantizePlan& plan, DiffTensor& tensor) {
  if (plan.scaling == Scaling::none) return;
  tensor.codes = tensor.dtype;
  tensor.dtype = plan.cast.to;
}

}  // namespace

Result<PairLoader> PairLoader::of(const TensorFile& actual, const TensorFile& golden,
                                  const DiffOptions& options) {
  PairLoader loader(actual, golden, options);
  BTF_ASSIGN(loader.actual_scales_,
             FileScales::of(actual,
                            {options.dequantize, options.actual_scale, options.scale_blocks},
                            options.execution));
  BTF_ASSIGN(loader.golden_scales_,
             FileScales::of(golden,
                            {options.dequantize, options.golden_scale, options.scale_blocks},
                            options.execution));
  return loader;
}

Result<LoadedPair> PairLoader::load(const TensorPair& tensors) const {
  LoadedPair pair;
  pair.diff.tier = tensors.tier;
  pair.diff.note = tensors.note;
  if (tensors.actual) {
    BTF_ASSIGN(pair.a, actual_scales_.record(*actual_, *tensors.actual));
  }
  if (tensors.golden) {
    BTF_ASSIGN(pair.b, golden_scales_.record(*golden_, *tensors.golden));
  }
  if (is_foreign(pair.a) && is_foreign(pair.b)) BTF_TRY(load_blocks(pair));
  if (tensors.actual) {
    BTF_TRY(check_usable(*actual_, pair.a));
    pair.diff.actual = tensor_of(pair.a);
  }
  if (tensors.golden) {
    BTF_TRY(check_usable(*golden_, pair.b));
    pair.diff.golden = tensor_of(pair.b);
  }
  if (!tensors.actual || !tensors.golden) return pair;
  auto left = actual_scales_.plan(*actual_, pair.a, options_->execution);
  if (!left) return std::unexpected(actual_->about(pair.a.index, left.error()));
  auto right = golden_scales_.plan(*golden_, pair.b, options_->execution);
  if (!right) return std::unexpected(golden_->about(pair.b.index, right.error()));
  const Status scaled = actual_scales_.check_found(*actual_, pair.a, *left, pair.b, *right);
  if (!scaled) return std::unexpected(actual_->about(pair.a.index, scaled.error()));
  const Status golden_scaled = golden_scales_.check_found(*golden_, pair.b, *right, pair.a, *left);
  if (!golden_scaled) return std::unexpected(golden_->about(pair.b.index, golden_scaled.error()));
  pair.left = *std::move(left);
  pair.right = *std::move(right);
  note_codes(pair.left, *pair.diff.actual);
  note_codes(pair.right, *pair.diff.golden);
  return pair;
}

// Two tensors of blocks: their bytes where these are asked for, or where there is no more to say of
// equal ones; else the numbers that they stand for.
Status PairLoader::load_blocks(LoadedPair& pair) const {
  const bool like = pair.a.foreign_dtype == pair.b.foreign_dtype && pair.a.dims == pair.b.dims &&
                    pair.a.data_bytes == pair.b.data_bytes;
  bool bytes = options_->codes;
  if (!bytes) {
    BTF_ASSIGN(std::optional<TensorInfo> actual, actual_->dequantized(pair.a.index));
    BTF_ASSIGN(std::optional<TensorInfo> golden, golden_->dequantized(pair.b.index));
    if (actual && golden && actual->known() && golden->known()) {
      pair.a = *std::move(actual);
      pair.b = *std::move(golden);
      return {};
    }
    if (!like) return {};
    BTF_ASSIGN(bytes, equal_bytes(actual_->source(), pair.a.data_offset, golden_->source(),
                                  pair.b.data_offset, pair.a.data_bytes));
    if (!bytes) pair.a.foreign_reason += ", and its bytes differ; `codes` compares these";
    if (!bytes) return {};
  }
  BTF_ASSIGN(pair.a, bytes_of(std::move(pair.a)));
  BTF_ASSIGN(pair.b, bytes_of(std::move(pair.b)));
  return {};
}

Result<std::unique_ptr<DiffSide>> PairLoader::actual(const LoadedPair& pair,
                                                     std::span<const Edit> edits,
                                                     const Execution& execution) const {
  return scaled_side(file_side(*actual_, pair.a, edits, execution), pair.left, edits);
}

Result<std::unique_ptr<DiffSide>> PairLoader::golden(const LoadedPair& pair,
                                                     std::span<const Edit> edits,
                                                     const Execution& execution) const {
  return scaled_side(file_side(*golden_, pair.b, edits, execution), pair.right, edits);
}

}  // namespace btf
