#include "convert/quantize/scale_grid.h"

#include <algorithm>
#include <array>
#include <string>

#include "btf/try.h"
#include "convert/quantize/plan_rules.h"
#include "core/checked_math.h"

namespace btf {
namespace {

// How many indices of a dim share a scale of this dtype, as programs have it.
struct UsualBlock {
  DType scale{};
  std::uint64_t block = 0;
};

constexpr auto kUsual = std::to_array<UsualBlock>({
    {DType::float8_e8m0fnu, 32},  // OCP's MX
    {DType::float8_e4m3fn, 16},   // NVFP4
    {DType::float32, 128},        // DeepSeek
    {DType::float16, 128},
    {DType::bfloat16, 128},
});

bool fits_blocks(std::uint64_t dim, std::uint64_t scales, std::uint64_t block) {
  return block > 0 && ceil_div(dim, block) == scales;
}

Result<std::optional<std::uint64_t>> block_of(std::uint32_t d, const TensorInfo& scales,
                                              const TensorInfo& codes, const QuantizedBy& link) {
  using Found = std::optional<std::uint64_t>;
  const std::uint64_t dim = codes.dims[d];
  const std::uint64_t count = scales.dims[d];
  if (count == dim) return Found(1);
  if (link.block && link.axis && link.axis != d) return Found();
  if (count == 0 || count > dim) return Found();
  if (count == 1) return Found(dim);
  if (link.block) return fits_blocks(dim, count, *link.block) ? Found(link.block) : Found();
  for (const UsualBlock& row : kUsual)
    if (row.scale == scales.dtype && fits_blocks(dim, count, row.block)) return Found(row.block);
  // Powers of two of an e8m0 go with larger boxes, too.
  if (fits_blocks(dim, count, 128)) return Found(128);
  if (dim % count == 0) return Found(dim / count);
  const std::uint64_t least = ceil_div(dim, count);
  const std::uint64_t most = ceil_div(dim, count - 1) - 1;
  if (least > most) return Found();
  if (least == most) return Found(least);
  return refuse_scaling("the " + std::to_string(count) + " scales of dim " + std::to_string(d) +
                        " in tensor " + std::to_string(scales.index) + " may be for blocks of " +
                        std::to_string(least) + " to " + std::to_string(most) + " of its " +
                        std::to_string(dim) + " indices");
}

}  // namespace

Result<std::optional<ScaleGrid>> fit_grid(const TensorInfo& scales, const TensorInfo& codes,
                                          const QuantizedBy& link) {
  if (!info(*scales.dtype).floating() || codes.dims.empty() ||
      scales.dims.size() != codes.dims.size())
    return std::nullopt;
  ScaleGrid grid{.dims = scales.dims, .block = {}};
  for (std::uint32_t d = 0; d < codes.dims.size(); ++d) {
    BTF_ASSIGN(const std::optional<std::uint64_t> block, block_of(d, scales, codes, link));
    if (!block) return std::nullopt;
    grid.block.push_back(*block);
  }
  return grid;
}

}  // namespace btf
