#include "convert/tensor/target.h"

#include <algorithm>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/strided.h"
#include "elements/element_access.h"
#include "formats/btf/writer.h"

namespace btf {
namespace {

// With its bytes shuffled or not, as is wanted and as can be.
Layout shuffled_or_not(Layout layout, const ConvertOptions& options, DType dtype) {
  const LayoutSpec& row = spec(layout);
  const bool wanted = options.shuffle.value_or(row.shuffled()) && !options.plain;
  if (wanted && row.dense() && can_shuffle(dtype)) return Layout::shuffled;
  return row.shuffled() ? Layout::linear : layout;
}

// The dtype of a tensor if the options give none.
DType quantized_dtype(const Quantization& quantization, DType source) {
  if (quantization.dequantize) return can_scale(source) ? DType::float32 : source;
  return quantization.block ? info(*quantization.block).element : source;
}

}  // namespace

Result<ConvertTarget> choose_target(const TensorInfo& source, const ConvertOptions& options) {
  BTF_TRY(check_known(source));
  ConvertTarget target;
  target.job = {*source.dtype,
                options.dtype.value_or(quantized_dtype(options.quantization, *source.dtype)),
                options.policy};
  BTF_TRY(check_policy(target.job.from, target.job.to, options.policy));
  BTF_ASSIGN(target.edits, EditChain::make(source.dims, options.edits));
  target.dims = target.edits.empty() ? source.dims : target.edits.steps().back().to;
  target.layout = shuffled_or_not(options.layout.value_or(*source.layout), options, target.job.to);
  if (options.spec) {
    if (options.spec->storage->dims != target.dims)
      return fail(ErrorCode::refused, "the spec of the output says " +
                                          dims_text(options.spec->storage->dims) +
                                          ", the tensor has " + dims_text(target.dims));
    if (options.spec->strided) {
      BTF_ASSIGN(target.storage, with_padding(*options.spec->storage, target.job.to));
      return target;
    }
  }
  if (target.sparse()) return target;

  auto resolved = resolve(target.layout, target.dims, target.job.to);
  if (!resolved && options.where_possible && options.layout) {
    target.kept = resolved.error().message;
    target.layout = shuffled_or_not(*source.layout, options, target.job.to);
    if (target.sparse()) return target;
    resolved = resolve(target.layout, target.dims, target.job.to);
  }
  if (!resolved) {
    // A result size beyond 64 bits is not an error in the file.
    const Error& error = resolved.error();
    if (error.code == ErrorCode::malformed) return fail(ErrorCode::no_space, error.message);
    return std::unexpected(error);
  }
  target.storage = *std::move(resolved);
  for (auto objection : {tensorrt_objection(target.layout, target.job.to),
                         tensorrt_objection(target.layout, target.dims)})
    if (objection) target.objections.push_back(*std::move(objection));
  return target;
}

Result<RecordShape> record_shape(const ConvertTarget& target, const ConvertOptions& options,
                                 std::uint64_t nnz) {
  const unsigned bits = info(target.job.to).bits;
  RecordShape record{.dtype = target.job.to,
                     .layout_code = spec(target.layout).code(),
                     .dims = target.dims,
                     .payload = 0};
  Checked payload;
  if (target.sparse()) {
    record.layout_code = options.coo_code.value_or(kCooCodeSpec);
    payload = coo_payload_bytes(nnz, target.dims.size(), bits);
  } else {
    payload = stream_bytes(target.storage->storage_elements, bits);
    if (options.plain) {
      record.layout_code = spec(Layout::linear).code();
      record.dims = target.storage->storage_shape();
    }
  }
  if (!payload) return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
  record.payload = *payload;
  return record;
}

}  // namespace btf
