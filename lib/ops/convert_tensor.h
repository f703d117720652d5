// One tensor from a source to a sink.
#pragma once

#include <cstdint>

#include "btf/convert.h"
#include "formats/byte_sink.h"
#include "formats/byte_source.h"
#include "ops/convert_target.h"

namespace btf {

struct TensorConversion {
  const ByteSource& source;
  const TensorInfo& record;
  const ConvertTarget& target;
  const ConvertOptions& options;
};

// Entries that the result will have; sparse targets.
Result<std::uint64_t> count_entries(const TensorConversion& work);

// Writes the payload of a dense target.
Result<LossAccount> write_dense(const TensorConversion& work, ByteSink& sink, std::uint64_t offset);

// Writes the payload of a sparse target, which must have `nnz` entries.
Result<LossAccount> write_coo(const TensorConversion& work, ByteSink& sink, std::uint64_t offset,
                              std::uint64_t nnz);

}  // namespace btf
