// Scales of boxes: which elements share one.
#pragma once

#include <optional>
#include <string>

#include "btf/attributes.h"
#include "btf/error.h"
#include "btf/file.h"
#include "convert/quantize/scales.h"

namespace btf {

// How many indices share a scale, as something else than the file of the tensor says it.
struct StatedBlocks {
  Dims sizes;      // of the last dims; a single one is of all dims
  std::string by;  // what says so
};

// What the `quantization_config` in the config.json of the file's folder says.
struct QuantizationConfig {
  std::optional<StatedBlocks> blocks{};  // `weight_block_size`
  std::optional<std::uint64_t> bits{};   // of a code
};

// Without a config, or where it says nothing of quantisation, both are nothing. An error: it cannot
// be read.
Result<QuantizationConfig> quantization_config(const std::string& path);

// Are there scales for blocks of indices of a dim, so that the blocks' size matters?
bool has_blocks(const TensorInfo& scales, const TensorInfo& codes);

// Scales that `link` names and that have as many dims as the codes, in each of which they are as
// many as the indices or fewer. How many indices share one: what is stated, what the link says,
// else the usual number of that kind of scales if it fits, else what the dims leave. Nothing: they
// are no scales of these codes. An error where several numbers fit, or a stated one does not.
Result<std::optional<ScaleGrid>> fit_grid(const TensorInfo& scales, const TensorInfo& codes,
                                          const QuantizedBy& link,
                                          const std::optional<StatedBlocks>& stated);

// Why codes of 8 bits must be two of 4 bits each; empty where they need not. `four_bits`: something
// says that codes have so many.
std::string packed_text(const TensorInfo& scales, const TensorInfo& codes, bool zero_points,
                        bool four_bits);

}  // namespace btf
