#include "diff/loaded_pair.h"

#include <utility>

#include "btf/try.h"
#include "diff/pairs/tensor_pairs.h"
#include "elements/element_access.h"

namespace btf {
namespace {

Result<TensorInfo> load_record(const TensorFile& file, const FileScales& scales,
                               std::uint64_t index) {
  BTF_ASSIGN(TensorInfo record, scales.record(file, index));
  Status status = file.check_overlap(record);
  if (status) status = check_known(record);
  if (!status) return std::unexpected(file.about(index, status.error()));
  return record;
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
             FileScales::of(actual, options.dequantize, options.actual_scale, options.execution));
  BTF_ASSIGN(loader.golden_scales_,
             FileScales::of(golden, options.dequantize, options.golden_scale, options.execution));
  return loader;
}

Result<LoadedPair> PairLoader::load(const TensorPair& tensors) const {
  LoadedPair pair;
  pair.diff.tier = tensors.tier;
  pair.diff.note = tensors.note;
  if (tensors.actual) {
    BTF_ASSIGN(pair.a, load_record(*actual_, actual_scales_, *tensors.actual));
    pair.diff.actual = tensor_of(pair.a);
  }
  if (tensors.golden) {
    BTF_ASSIGN(pair.b, load_record(*golden_, golden_scales_, *tensors.golden));
    pair.diff.golden = tensor_of(pair.b);
  }
  if (!tensors.actual || !tensors.golden) return pair;
  auto left = actual_scales_.plan(*actual_, pair.a, options_->execution);
  if (!left) return std::unexpected(actual_->about(pair.a.index, left.error()));
  auto right = golden_scales_.plan(*golden_, pair.b, options_->execution);
  if (!right) return std::unexpected(golden_->about(pair.b.index, right.error()));
  const Status scaled = actual_scales_.check_found(pair.a, *left, pair.b, *right);
  if (!scaled) return std::unexpected(actual_->about(pair.a.index, scaled.error()));
  const Status golden_scaled = golden_scales_.check_found(pair.b, *right, pair.a, *left);
  if (!golden_scaled) return std::unexpected(golden_->about(pair.b.index, golden_scaled.error()));
  pair.left = *std::move(left);
  pair.right = *std::move(right);
  note_codes(pair.left, *pair.diff.actual);
  note_codes(pair.right, *pair.diff.golden);
  return pair;
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
