// What a tensor becomes: the one place where options meet a record.
#pragma once

#include <optional>
#include <string>

#include "btf/convert.h"
#include "formats/btf_writer.h"
#include "kernels/kernel_table.h"

namespace btf {

struct ConvertTarget {
  CastJob job;
  Layout layout{};
  Dims dims;                        // logical, permuted
  std::optional<Resolved> storage;  // dense targets
  std::optional<std::string> kept;
  std::optional<std::string> objection;

  bool sparse() const { return layout == Layout::coo; }
};

Result<ConvertTarget> choose_target(const TensorInfo& source, const ConvertOptions& options);

RecordShape record_shape(const ConvertTarget& target, const ConvertOptions& options);

// Bytes of the payload behind the dims, for a sparse target with `nnz` entries; nothing if they do
// not fit 64 bits.
Checked payload_bytes(const ConvertTarget& target, std::uint64_t nnz);

}  // namespace btf
