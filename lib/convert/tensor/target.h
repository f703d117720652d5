// The target of a tensor's conversion: only here do options meet a record.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "core/edit_chain.h"
#include "formats/interface/tensor_writer.h"
#include "kernels/cast/kernel_table.h"

namespace btf {

struct ConvertTarget {
  CastJob job;
  Layout layout{};
  EditChain edits;
  Dims dims;                        // logical, after the edits
  std::optional<StridedLayout> storage;  // dense targets
  std::optional<std::string> kept;
  std::vector<std::string> objections;

  bool sparse() const { return layout == Layout::coo; }
};

Result<ConvertTarget> choose_target(const TensorInfo& source, const ConvertOptions& options);

// The shape of the output's record; a sparse target has `nnz` entries.
Result<RecordShape> record_shape(const ConvertTarget& target, const ConvertOptions& options,
                                 std::uint64_t nnz);

}  // namespace btf
