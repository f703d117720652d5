#include "convert/quantize/scale_grid.h"

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <memory>
#include <string>

#include "btf/layout.h"
#include "btf/try.h"
#include "convert/quantize/plan_rules.h"
#include "core/checked_math.h"
#include "formats/json/reader.h"
#include "formats/open_source.h"

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

// Groups of numbers that share a scale along one dim, as quantisers make them: of codes of a byte,
// and of codes of four bits, two to a byte.
struct UsualGroups {
  DType scale{};
  std::array<std::uint64_t, 6> plain{};
  std::array<std::uint64_t, 6> packed{};
};

constexpr auto kGroups = std::to_array<UsualGroups>({
    {DType::float8_e8m0fnu, {32}, {32}},
    {DType::float8_e4m3fn, {16}, {16}},
    {DType::float16, {32, 64, 128, 256}, {16, 32, 64, 128, 256}},
    {DType::bfloat16, {32, 64, 128, 256}, {16, 32, 64, 128, 256}},
    {DType::float32, {8, 16, 32, 64, 128, 256}, {16, 32, 64, 128, 256}},
});

bool fits_blocks(std::uint64_t dim, std::uint64_t scales, std::uint64_t block) {
  return block > 0 && ceil_div(dim, block) == scales;
}

bool is_blocked(std::uint64_t dim, std::uint64_t scales) { return scales > 1 && scales < dim; }

// The size of a dim's blocks; 0: nothing is stated.
std::uint64_t stated_for(std::uint32_t d, std::size_t rank,
                         const std::optional<StatedBlocks>& stated) {
  if (!stated) return 0;
  if (stated->sizes.size() == 1) return stated->sizes.front();
  const std::size_t behind = rank - d;
  return behind > stated->sizes.size() ? 1 : stated->sizes[stated->sizes.size() - behind];
}

std::string in_tensor(const TensorInfo& scales) {
  return "tensor " + std::to_string(scales.index) +
         (scales.named ? " '" + scales.name + "'" : std::string()) + " (" +
         std::string(info(*scales.dtype).name) + " " + dims_text(scales.dims) + ")";
}

std::string packed_in(std::uint32_t d, const TensorInfo& scales, const TensorInfo& codes,
                      std::uint64_t group) {
  const std::string dim = std::to_string(codes.dims[d]);
  return "its " + std::string(info(*codes.dtype).name) +
         " codes look packed, two " +
         (info(*scales.dtype).bits == 8 ? "float4_e2m1fn" : "of 4 bits") + " to a byte: the " + std::to_string(scales.dims[d]) +
         " scales of dim " + std::to_string(d) + " in " + in_tensor(scales) + " fit groups of " +
         std::to_string(group) + " of " + std::to_string(2 * codes.dims[d]) + " codes in its " +
         dim + " bytes; packed codes are not decoded (`scale_blocks` with a size in bytes takes each "
         "byte for a code)";
}

std::unexpected<Error> not_as_stated(std::uint32_t d, const TensorInfo& scales,
                                     const TensorInfo& codes, std::uint64_t block,
                                     const std::string& by) {
  const DTypeInfo& row = info(*codes.dtype);
  if (fits_blocks(2 * codes.dims[d], scales.dims[d], block) && row.bits == 8 && !row.floating())
    return refuse_scaling(packed_in(d, scales, codes, block));
  return refuse_scaling("blocks of " + std::to_string(block) + ", as " + by + " says, would need " +
                        std::to_string(ceil_div(codes.dims[d], block)) + " scales for the " +
                        std::to_string(codes.dims[d]) + " indices of dim " + std::to_string(d) +
                        "; there are " + std::to_string(scales.dims[d]) + " in " +
                        in_tensor(scales));
}

std::unexpected<Error> several_sizes(std::uint32_t d, const TensorInfo& scales,
                                     const TensorInfo& codes, std::uint64_t least,
                                     std::uint64_t most) {
  const std::uint64_t dim = codes.dims[d];
  const std::uint64_t count = scales.dims[d];
  std::string text = "the " + std::to_string(count) + " scales of dim " + std::to_string(d) +
                     " in " + in_tensor(scales) + " may be for blocks of " +
                     std::to_string(least) + " to " + std::to_string(most) + " of its " +
                     std::to_string(dim) + " indices";
  if (dim % count == 0) text += ": of " + std::to_string(dim / count) + ", if all are full";
  if (const std::uint64_t power = std::bit_floor(most); power >= least)
    text += std::string(dim % count == 0 ? "," : ": of") + (dim % count == 0 ? " or of " : " ") +
            std::to_string(power) + ", if the last is shorter";
  return refuse_scaling(text + "; `scale_blocks`, or weight_block_size in a config.json beside the "
                               "file, says which");
}

Result<std::optional<std::uint64_t>> block_of(std::uint32_t d, const TensorInfo& scales,
                                              const TensorInfo& codes, const QuantizedBy& link,
                                              const std::optional<StatedBlocks>& stated) {
  using Found = std::optional<std::uint64_t>;
  const std::uint64_t dim = codes.dims[d];
  const std::uint64_t count = scales.dims[d];
  if (count == dim) return Found(1);
  if (link.block && link.axis && link.axis != d) return Found();
  if (count == 0 || count > dim) return Found();
  if (count == 1) return Found(dim);
  if (const std::uint64_t block = stated_for(d, codes.dims.size(), stated); block > 0) {
    if (fits_blocks(dim, count, block)) return Found(block);
    return not_as_stated(d, scales, codes, block, stated->by);
  }
  if (link.block) return fits_blocks(dim, count, *link.block) ? Found(link.block) : Found();
  for (const UsualBlock& row : kUsual)
    if (row.scale == scales.dtype && fits_blocks(dim, count, row.block)) return Found(row.block);
  // Powers of two of an e8m0 go with larger boxes, too.
  if (fits_blocks(dim, count, 128)) return Found(128);
  // Programs choose powers of two; other sizes are no more likely than one that leaves a short
  // block at the end.
  if (dim % count == 0 && std::has_single_bit(dim / count)) return Found(dim / count);
  const std::uint64_t least = ceil_div(dim, count);
  const std::uint64_t most = ceil_div(dim, count - 1) - 1;
  if (least > most) return Found();
  if (least == most) return Found(least);
  return several_sizes(d, scales, codes, least, most);
}

// A config of more bytes is none.
constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;

class ConfigReader {
 public:
  ConfigReader(const ByteSource& source, const std::string& path)
      : json_(source, {0, source.size()},
              {.finding = "manifest", .whole = "the text", .python = true}),
        path_(path) {}

  Result<QuantizationConfig> run() {
    BTF_TRY(json_.expect(JsonKind::object_begin, "the text"));
    BTF_TRY(json_.members([&](const JsonToken& name) -> Status {
      if (name.text == "quantization_config") return quantization();
      return skip();
    }));
    BTF_TRY(json_.expect(JsonKind::end, "the text"));
    QuantizationConfig config{.bits = bits_};
    if (!sizes_.empty())
      config.blocks = StatedBlocks{std::move(sizes_), "weight_block_size in " + path_};
    return config;
  }

 private:
  Status skip() {
    const auto skipped = json_.skip_value();
    return skipped ? Status() : std::unexpected(skipped.error());
  }

  Status quantization() {
    BTF_ASSIGN(const JsonToken token, json_.next());
    if (token.kind != JsonKind::object_begin) return json_.skip(token);
    return json_.members([&](const JsonToken& name) -> Status {
      if (name.text == "weight_block_size") return sizes();
      return name.text == "bits" || name.text == "w_bit" ? bits() : skip();
    });
  }

  Status sizes() {
    BTF_ASSIGN(JsonToken token, json_.next());
    if (token.kind == JsonKind::null) return {};
    if (token.kind != JsonKind::array_begin)
      return json_.wrong(token.extent.offset, "weight_block_size is no list");
    while (true) {
      BTF_ASSIGN(token, json_.next());
      if (token.kind == JsonKind::array_end) return {};
      BTF_ASSIGN(const std::uint64_t size, json_.size_of(token, "a size of weight_block_size"));
      if (size == 0 || sizes_.size() == kMaxRank)
        return json_.wrong(token.extent.offset, "weight_block_size is no list of sizes");
      sizes_.push_back(size);
    }
  }

  Status bits() {
    BTF_ASSIGN(const JsonToken token, json_.next());
    if (token.kind != JsonKind::number) return json_.skip(token);
    bits_ = exact_u64(token.text);
    return {};
  }

  JsonReader json_;
  const std::string& path_;
  Dims sizes_;
  std::optional<std::uint64_t> bits_;
};

}  // namespace

Result<QuantizationConfig> quantization_config(const std::string& path) {
  const std::filesystem::path config = std::filesystem::path(path).parent_path() / "config.json";
  std::error_code failed;
  if (!std::filesystem::is_regular_file(config, failed)) return QuantizationConfig{};
  const std::string name = config.string();
  BTF_ASSIGN(const std::unique_ptr<ByteSource> source, open_packed_source(name));
  if (source->size() > kMostBytes) return QuantizationConfig{};
  return ConfigReader(*source, name).run();
}

bool has_blocks(const TensorInfo& scales, const TensorInfo& codes) {
  if (scales.dims.size() != codes.dims.size()) return false;
  for (std::size_t d = 0; d < codes.dims.size(); ++d)
    if (is_blocked(codes.dims[d], scales.dims[d])) return true;
  return false;
}

Result<std::optional<ScaleGrid>> fit_grid(const TensorInfo& scales, const TensorInfo& codes,
                                          const QuantizedBy& link,
                                          const std::optional<StatedBlocks>& stated) {
  if (!info(*scales.dtype).floating() || codes.dims.empty() ||
      scales.dims.size() != codes.dims.size())
    return std::nullopt;
  ScaleGrid grid{.dims = scales.dims, .block = {}};
  for (std::uint32_t d = 0; d < codes.dims.size(); ++d) {
    BTF_ASSIGN(const std::optional<std::uint64_t> block, block_of(d, scales, codes, link, stated));
    if (!block) return std::nullopt;
    grid.block.push_back(*block);
  }
  return grid;
}

std::string packed_text(const TensorInfo& scales, const TensorInfo& codes, bool zero_points,
                        bool four_bits) {
  const auto row = std::ranges::find(kGroups, *scales.dtype, &UsualGroups::scale);
  if (row == kGroups.end() || codes.dims.size() < 2 || scales.dims.size() != codes.dims.size() ||
      info(*codes.dtype).bits != 8 || info(*codes.dtype).floating())
    return {};
  std::optional<std::uint32_t> blocked;
  for (std::uint32_t d = 0; d < codes.dims.size(); ++d) {
    if (!is_blocked(codes.dims[d], scales.dims[d])) continue;
    if (blocked) return {};
    blocked = d;
  }
  if (!blocked) return {};
  const std::uint64_t dim = codes.dims[*blocked];
  const auto fitting = [&](const auto& groups, std::uint64_t numbers) {
    return std::ranges::find_if(groups, [&](std::uint64_t group) {
      return fits_blocks(numbers, scales.dims[*blocked], group);
    });
  };
  const auto packed = fitting(row->packed, 2 * dim);
  const bool plain = fitting(row->plain, dim) != row->plain.end();
  // Numbers of weights have both signs, which codes without a sign show by a zero point.
  const bool has_sign = info(*codes.dtype).kind == NumberKind::signed_integer;
  if (packed == row->packed.end() || (plain && !four_bits && (has_sign || zero_points))) return {};
  return packed_in(*blocked, scales, codes, *packed);
}

}  // namespace btf
