// Plans dequantisation: which scales fit codes, and which elements share one.
#include "convert/quantize/dequantize_plan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "btf/attributes.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/file.h"
#include "btf/layout.h"
#include "btf/try.h"
#include "convert/quantize/scale_links.h"
#include "convert/quantize/scales.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "elements/cast.h"
#include "elements/slabs.h"
#include "formats/io/byte_source.h"
#include "formats/json.h"
#include "formats/tensor_file.h"
#include "kernels/cast/cast_reference.h"

namespace btf {
namespace {

// How many indices share a scale, as stated outside the file of the tensor.
struct StatedBlocks {
  Dims sizes;      // for the last dims; a single one is for all dims
  std::string by;  // what states them
};

// The `quantization_config` in config.json in the file's folder.
struct QuantizationConfig {
  std::optional<StatedBlocks> blocks{};  // `weight_block_size`
  std::optional<std::uint64_t> bits{};   // bits of a code
};

// How many indices of a dim usually share a scale of this dtype.
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

// Group sizes along one dim that quantisers use, for codes of one byte and for two 4-bit codes
// packed in a byte.
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

// The stated block size of a dim; 0 if there is none.
std::uint64_t stated_for(std::uint32_t d, std::size_t rank,
                         const std::optional<StatedBlocks>& stated) {
  if (!stated) return 0;
  if (stated->sizes.size() == 1) return stated->sizes.front();
  const std::size_t behind = rank - d;
  return behind > stated->sizes.size() ? 1 : stated->sizes[stated->sizes.size() - behind];
}

std::string in_tensor(const TensorInfo& scales) {
  return concat("tensor ", scales.index, scales.named ? " '" + scales.name + "'" : std::string(),
                " (", info(*scales.dtype).name, " ", dims_text(scales.dims), ")");
}

std::string packed_in(std::uint32_t d, const TensorInfo& scales, const TensorInfo& codes,
                      std::uint64_t group) {
  const std::string dim = std::to_string(codes.dims[d]);
  return concat(
      "its ", info(*codes.dtype).name, " codes look packed, two ",
      info(*scales.dtype).bits == 8 ? "float4_e2m1fn" : "of 4 bits", " to a byte: the ",
      scales.dims[d], " scales of dim ", d, " in ", in_tensor(scales), " fit groups of ", group,
      " of ", 2 * codes.dims[d], " codes in its ", dim,
      " bytes; packed codes are not decoded (`scale_blocks` with a size in bytes takes each "
      "byte for a code)");
}

std::unexpected<Error> not_as_stated(std::uint32_t d, const TensorInfo& scales,
                                     const TensorInfo& codes, std::uint64_t block,
                                     const std::string& by) {
  const DTypeInfo& row = info(*codes.dtype);
  if (fits_blocks(2 * codes.dims[d], scales.dims[d], block) && row.bits == 8 && !row.floating())
    return refuse_scaling(packed_in(d, scales, codes, block));
  return refuse_scaling(concat("blocks of ", block, ", as ", by, " says, would need ",
                               ceil_div(codes.dims[d], block), " scales for the ", codes.dims[d],
                               " indices of dim ", d, "; there are ", scales.dims[d], " in ",
                               in_tensor(scales)));
}

std::unexpected<Error> several_sizes(std::uint32_t d, const TensorInfo& scales,
                                     const TensorInfo& codes, std::uint64_t least,
                                     std::uint64_t most) {
  const std::uint64_t dim = codes.dims[d];
  const std::uint64_t count = scales.dims[d];
  std::string text =
      concat("the ", count, " scales of dim ", d, " in ", in_tensor(scales),
             " may be for blocks of ", least, " to ", most, " of its ", dim, " indices");
  if (dim % count == 0) text += concat(": of ", dim / count, ", if all are full");
  if (const std::uint64_t power = std::bit_floor(most); power >= least)
    text += concat(dim % count == 0 ? "," : ": of", dim % count == 0 ? " or of " : " ", power,
                   ", if the last is shorter");
  return refuse_scaling(text +
                        "; set `scale_blocks`, or weight_block_size in a config.json next to the "
                        "file");
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
  // Some programs use power-of-two scales with larger boxes as well.
  if (fits_blocks(dim, count, 128)) return Found(128);
  // Programs choose powers of two. Another size that divides the dim is no more likely than one
  // that leaves a short last block.
  if (dim % count == 0 && std::has_single_bit(dim / count)) return Found(dim / count);
  const std::uint64_t least = ceil_div(dim, count);
  const std::uint64_t most = ceil_div(dim, count - 1) - 1;
  if (least > most) return Found();
  if (least == most) return Found(least);
  return several_sizes(d, scales, codes, least, most);
}

// A larger file is not a config.
constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 20;

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
      return json_.wrong(token.extent.offset, "weight_block_size is not a list");
    while (true) {
      BTF_ASSIGN(token, json_.next());
      if (token.kind == JsonKind::array_end) return {};
      BTF_ASSIGN(const std::uint64_t size, json_.size_of(token, "a size of weight_block_size"));
      if (size == 0 || sizes_.size() == kMaxRank)
        return json_.wrong(token.extent.offset, "weight_block_size is not a list of sizes");
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

// Both members are unset if there is no config or no entry on quantisation. An error if it cannot
// be read.
Result<QuantizationConfig> quantization_config(const std::string& path) {
  const std::string name = (std::filesystem::path(path).parent_path() / "config.json").string();
  BTF_ASSIGN(const bool there, is_regular_file(name));
  if (!there) return QuantizationConfig{};
  BTF_ASSIGN(const std::unique_ptr<ByteSource> source, open_packed_source(name));
  if (source->size() > kMaxBytes) return QuantizationConfig{};
  return ConfigReader(*source, name).run();
}

// Returns true if the scales are for blocks of indices of a dim, so that the block size matters.
bool has_blocks(const TensorInfo& scales, const TensorInfo& codes) {
  if (scales.dims.size() != codes.dims.size()) return false;
  for (std::size_t d = 0; d < codes.dims.size(); ++d)
    if (is_blocked(codes.dims[d], scales.dims[d])) return true;
  return false;
}

// Fits linked scales that have the codes' rank and in each dim at most as many entries. The block
// size is the stated one, else the link's, else the usual one for the dtype of the scales, else the
// one that the dims imply. Unset if they cannot be scales of these codes; an error if several sizes
// fit, or if a stated one does not.
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

// Explains why 8-bit codes must be two packed 4-bit codes; empty if they need not be. `four_bits`:
// the config says that codes have 4 bits.
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
  // Weights have both signs; unsigned codes need a zero point for that.
  const bool has_sign = info(*codes.dtype).kind == NumberKind::signed_integer;
  if (packed == row->packed.end() || (plain && !four_bits && (has_sign || zero_points))) return {};
  return packed_in(*blocked, scales, codes, *packed);
}

// Finds the dim that is as long as these scales.
Result<ScaleFit> only_axis(const TensorInfo& scales, const Dims& dims) {
  ScaleFit found;
  for (std::uint32_t d = 0; d < dims.size(); ++d) {
    if (dims[d] != scales.dims[0]) continue;
    if (found.axis)
      return refuse_scaling(concat(
          "the ", dims[d], " scales in tensor ", scales.index, " could belong to dim ", *found.axis,
          " or ", d,
          ": store them with dims of 1 around the dim they belong to, or give diff and layers "
          "`actual_scale.axis`"));
    found = {.fits = true, .axis = d};
  }
  return found;
}

}  // namespace

Result<ScaleFit> fit_scales(const TensorInfo& scales, const Dims& dims, const QuantizedBy* link) {
  const bool floats = info(*scales.dtype).floating();
  if (link == nullptr ? scales.dtype != DType::float32 : !floats) return ScaleFit{};
  // If there are two scales, the second is for the whole tensor.
  if (link != nullptr && link->global_scale) return ScaleFit{};
  if (link != nullptr && link->kind == ScaleOf::block) return ScaleFit{};
  const bool one_dim = link != nullptr && scales.dims.size() == 1;
  if (one_dim && !link->axis && dims.size() > 1 && scales.dims[0] != 1)
    return only_axis(scales, dims);
  if (one_dim && link->axis) {
    if (*link->axis >= dims.size() || dims[*link->axis] != scales.dims[0]) return ScaleFit{};
    return ScaleFit{.fits = true, .axis = static_cast<std::uint32_t>(*link->axis)};
  }
  const bool one = scales.dims.empty() || (link != nullptr && scales.storage->elements() == 1);
  if (one) return ScaleFit{.fits = true};
  if (scales.dims.size() != dims.size()) return ScaleFit{};
  ScaleFit found{.fits = true};
  for (std::uint32_t d = 0; d < dims.size(); ++d) {
    if (scales.dims[d] == 1) continue;
    if (found.axis || scales.dims[d] != dims[d]) return ScaleFit{};
    found.axis = d;
  }
  return found;
}

namespace {

bool is_damage(const Error& error) {
  return error.code == ErrorCode::malformed || error.code == ErrorCode::unsupported;
}

}  // namespace

std::optional<std::uint64_t> StoredScales::index_of(ScaleRole role) const {
  if (link_ != nullptr) {
    if (role == ScaleRole::scale) return link_->scale;
    return role == ScaleRole::zero_point ? link_->zero_point : link_->global_scale;
  }
  const std::uint64_t index = codes_.index + (role == ScaleRole::scale ? 1 : 2);
  return index < file_.tensor_count() ? std::optional(index) : std::nullopt;
}

Result<std::optional<TensorInfo>> StoredScales::find(ScaleRole role) const {
  const auto index = index_of(role);
  if (!index) return std::nullopt;
  auto record = file_.tensor(*index);
  Status usable;
  if (!record)
    usable = std::unexpected(record.error());
  else
    usable = file_.check_overlap(*record);
  if (!usable && !is_damage(usable.error())) return std::unexpected(usable.error());
  if (!usable || !record->known() || !record->storage) return std::nullopt;
  // Programs without a dtype for power-of-two scales store them as bytes.
  if (link_ != nullptr && role == ScaleRole::scale && record->dtype == DType::uint8 &&
      info(*codes_.dtype).floating())
    record->dtype = DType::float8_e8m0fnu;
  const LayoutSpec& layout = btf::spec(*record->layout);
  if (layout.placement != Placement::row_major || layout.pitch_bytes != 0) return std::nullopt;
  return *std::move(record);
}

Result<std::optional<TensorInfo>> StoredScales::find_zero_points(const TensorInfo& scales) const {
  BTF_ASSIGN(std::optional<TensorInfo> record, find(ScaleRole::zero_point));
  if (!record || info(*codes_.dtype).floating()) return std::nullopt;
  // NumPy and torch store zero points as wide integers. Zero points found by position alone must
  // have the exact dtype.
  const bool fits = link_ != nullptr ? record->storage->elements() == scales.storage->elements() &&
                                           is_integer(*record->dtype)
                                     : record->dims == scales.dims && record->dtype == codes_.dtype;
  return fits ? record : std::nullopt;
}

Result<std::vector<double>> StoredScales::read_scales(const TensorInfo& record) const {
  BTF_ASSIGN(std::vector<double> values, read_block_scales(record));
  if (std::ranges::find(values, 0.0) == values.end()) return values;
  return refuse_scaling(
      concat("a scale in tensor ", record.index, " is 0; scales must be positive"));
}

Result<std::vector<double>> StoredScales::read_block_scales(const TensorInfo& record) const {
  BTF_TRY(check_scale_memory(record.storage->elements(), execution_));
  std::vector<double> values;
  BTF_ASSIGN(const std::vector<Number> numbers, read_numbers(record));
  for (const Number& number : numbers) {
    values.push_back(number::to_double(number));
    if (!(values.back() >= 0) || !std::isfinite(values.back()))
      return refuse_scaling(concat("a scale in tensor ", record.index, " is ",
                                   number_text(values.back()), "; scales must be positive"));
  }
  return values;
}

Result<std::vector<std::int64_t>> StoredScales::read_zero_points(const TensorInfo& record) const {
  std::vector<std::int64_t> zero_points;
  BTF_ASSIGN(const std::vector<Number> numbers, read_numbers(record));
  for (const Number& number : numbers) {
    const double value = number::to_double(number);
    if (std::abs(value) < 0x1p63) {
      zero_points.push_back(static_cast<std::int64_t>(value));
      if (record.dtype == codes_.dtype || is_code(zero_points.back(), *codes_.dtype)) continue;
    }
    return refuse_scaling(concat("the zero point ", number_text(value), " in tensor ", record.index,
                                 " cannot be represented in ", info(*codes_.dtype).name));
  }
  return zero_points;
}

Result<std::vector<Number>> StoredScales::read_numbers(const TensorInfo& record) const {
  BTF_ASSIGN(const ByteSource* const source, file_.elements(record.index));
  const auto reader = record_reader(*source, record, *record.storage);
  BTF_ASSIGN(const SourceSlab slab, reader->read({Dims(record.dims.size(), 0), record.dims}));
  Buffer buffer;
  const SourceSlab codes = in_row_major(slab, record.dims, *record.dtype, buffer);
  std::vector<Number> numbers(record.storage->elements());
  decoder (*record.dtype)(codes.data, 1, numbers.size(), numbers.data());
  return numbers;
}

namespace {

// Has its own finding code, since assuming zero point 0 would give wrong numbers.
std::unexpected<Error> unread_zero_points(std::string message) {
  return std::unexpected(Error{
      ErrorCode::invalid_argument, std::move(message), {}, FindingCode("zero-points-unread")});
}

constexpr std::uint64_t kNibble = 4;  // bits

class DequantizePlanner {
 public:
  DequantizePlanner(const TensorFile& file, const TensorConversion& work, const ScaleOrigin& origin,
                    QuantizePlan& plan)
      : file_(file),
        work_(work),
        link_(origin.link),
        given_(origin.given),
        by_place_(origin.by_place),
        wanted_(work.options.quantization),
        stored_(file, work.record, link_, work.options.execution),
        plan_(plan) {}

  Status run() {
    // Scale records do not fit a tensor whose dims were edited.
    if (!work_.target.edits.empty())
      return refuse_scaling(
          "a tensor cannot be dequantised and have its dims edited in one conversion; run " +
          std::string(work_.target.edits.first_name()) + " on the result");
    BTF_TRY(check_dequantized_dtype(plan_.cast.to));
    BTF_TRY(check_zero_point(wanted_, from()));
    plan_.scaling = Scaling::dequantize;
    if (given_ != nullptr) return use_given();
    if (link_ == nullptr && !by_place_) return no_scales();
    BTF_ASSIGN(const std::optional<TensorInfo> scales, stored_.find(ScaleRole::scale));
    if (!scales) return no_scales();
    if (link_ != nullptr) {
      read_config(*scales);
      BTF_TRY(check_pair(*scales));
    }
    BTF_ASSIGN(const bool blocks, use_blocks(*scales));
    if (blocks) return use_zero_points({});
    BTF_ASSIGN(const bool values, use_values(*scales));
    if (values) return use_zero_points(scales);
    BTF_ASSIGN(const bool grid, use_grid(*scales));
    return grid ? use_zero_points(scales) : no_scales();
  }

 private:
  DType from() const { return plan_.cast.from; }

  Status use_given() {
    BTF_TRY(check_given_scale(*given_, work_.record));
    apply_given_scale(*given_, plan_.scales);
    if (wanted_.zero_point) plan_.scales.zero_points.clear();
    if (!wanted_.find_zero_point || !plan_.scales.zero_points.empty()) return {};
    return refuse_scaling("no file is named like its zero points");
  }

  Status no_scales() const {
    if (link_ != nullptr) return do_not_fit();
    if (by_place_) BTF_TRY(check_is_no_zero_points());
    std::string text = no_scales_text(file_, work_.record);
    if (undecoded_codes(work_.record).empty()) text += "; give one with `quantization.scale`";
    return refuse_scaling(std::move(text));
  }

  // Only block scales can be ambiguous.
  void read_config(const TensorInfo& scales) {
    if (has_blocks(scales, work_.record) && !link_->block && wanted_.scale_blocks.empty())
      config_ = quantization_config(file_.path());
  }

  static std::string shown(const TensorInfo& record) {
    return std::string(info(*record.dtype).name) + " " + dims_text(record.dims);
  }

  Status do_not_fit() const {
    const auto scales = file_.tensor(link_->scale);
    const std::string which = concat("its scales, in tensor ", link_->scale,
                                     scales && scales->named ? " '" + scales->name + "'" : "");
    if (!scales || !scales->known()) return refuse_scaling(which + ", cannot be read");
    return refuse_scaling(which + ", are " + shown(*scales) + ", which do not fit its codes, " +
                          shown(work_.record));
  }

  // Refuses scales that show that codes are packed, or that a second scale is missing.
  Status check_pair(const TensorInfo& scales) const {
    const std::string found =
        concat("its scales, in tensor ", scales.index, scales.named ? " '" + scales.name + "'" : "",
               ", are ", info(*scales.dtype).name);
    if (const std::string packed =
            packed_text(scales, work_.record, link_->zero_point || wanted_.zero_point,
                        config_ && config_->bits == kNibble);
        !packed.empty() && !link_->block && wanted_.scale_blocks.empty())
      return refuse_scaling(packed);
    if (!info(*scales.dtype).floating())
      return refuse_scaling(
          found + ", but scales of integers must be floats" +
          (scales.dtype == DType::uint8
               ? "; if they are exponents (float8_e8m0fnu), its codes look packed, two "
                 "float4_e2m1fn to a byte, which are not decoded"
               : ""));
    if (info(*scales.dtype).bits > 8) return {};
    if (from() == DType::uint8)
      return refuse_scaling(found +
                            ", so its bytes are two float4_e2m1fn each: these are not decoded");
    const bool nvfp4 = info(from()).half_byte() && scales.dtype == DType::float8_e4m3fn;
    if (!nvfp4 || link_->global_scale) return {};
    return refuse_scaling(found + ", which also need a scale for the whole tensor" +
                          (work_.record.named
                               ? ", and none is called '" + work_.record.name + "_scale_2'"
                               : ", and the file has none"));
  }

  // Returns false if the record does not hold block scales of this tensor.
  Result<bool> use_blocks(const TensorInfo& scales) {
    if (work_.record.dims.empty() || !info(from()).floating()) return false;
    const std::uint64_t stated = wanted_.scale_blocks.empty() ? 0 : wanted_.scale_blocks.back();
    for (const BlockFormatInfo& format : block_formats()) {
      if (stated != 0 && stated != format.block) continue;
      if (info(format.element).bits != info(from()).bits || *scales.dtype != format.scale ||
          scales.dims != block_scale_dims(work_.record.dims, format.block))
        continue;
      if (format.tensor_scale) {
        BTF_ASSIGN(const std::optional<TensorInfo> tensor, stored_.find(ScaleRole::global_scale));
        if (!tensor || *tensor->dtype != DType::float32 || !one_number(*tensor)) continue;
        BTF_ASSIGN(plan_.scales.values, stored_.read_scales(*tensor));
        plan_.scales.tensor_scale = static_cast<float>(plan_.scales.values.front());
        plan_.consumed = {scales.index, tensor->index};
      } else {
        plan_.consumed = {scales.index};
      }
      plan_.scales.blocks = &format;
      plan_.block_scales = scales;
      return true;
    }
    return false;
  }

  // Returns false if the record does not hold scales of the whole tensor or of one dim.
  Result<bool> use_values(const TensorInfo& scales) {
    BTF_ASSIGN(const ScaleFit fit, fit_scales(scales, work_.record.dims, link_));
    if (!fit.fits) return false;
    BTF_ASSIGN(plan_.scales.values, stored_.read_scales(scales));
    plan_.scales.axis = fit.axis;
    plan_.consumed = {scales.index};
    return true;
  }

  // Returns false if the record does not hold scales of boxes, which must be linked.
  Result<bool> use_grid(const TensorInfo& scales) {
    if (link_ == nullptr) return false;
    std::optional<StatedBlocks> stated;
    std::string unread;
    if (!wanted_.scale_blocks.empty())
      stated = StatedBlocks{wanted_.scale_blocks, "`scale_blocks`"};
    else if (config_)
      stated = config_->blocks;
    if (!config_)
      unread = "; config.json next to the file cannot be read: " + config_.error().text();
    auto grid = fit_grid(scales, work_.record, *link_, stated);
    if (!grid) return refuse_scaling(grid.error().message + unread);
    plan_.scales.grid = *std::move(grid);
    if (!plan_.scales.grid) return false;
    BTF_ASSIGN(plan_.scales.values, stored_.read_block_scales(scales));
    plan_.consumed = {scales.index};
    return link_->global_scale ? use_global_scale() : true;
  }

  Result<bool> use_global_scale() {
    BTF_ASSIGN(const std::optional<TensorInfo> tensor, stored_.find(ScaleRole::global_scale));
    if (!tensor || !info(*tensor->dtype).floating() || !one_number(*tensor)) return false;
    BTF_ASSIGN(const std::vector<double> value, stored_.read_scales(*tensor));
    for (double& scale : plan_.scales.values)
      scale = link_->global_reciprocal ? scale / value.front() : scale * value.front();
    plan_.consumed.push_back(tensor->index);
    return true;
  }

  bool one_number(const TensorInfo& tensor) const {
    return link_ == nullptr ? tensor.dims.empty() : tensor.storage->elements() == 1;
  }

  // Plans the zero points that belong to `scales`; block scales have none.
  Status use_zero_points(const std::optional<TensorInfo>& scales) {
    // In ONNX, zero points of floats are always 0.
    const bool linked =
        link_ != nullptr && link_->zero_point && !wanted_.zero_point && !info(from()).floating();
    const bool needed = wanted_.find_zero_point || linked;
    if (!needed && wanted_.zero_point) return {};
    std::optional<TensorInfo> record;
    if (scales) {
      BTF_ASSIGN(record, stored_.find_zero_points(*scales));
    }
    if (!needed) return check_unread_zero_points(record);
    if (!record) return no_zero_points();
    BTF_ASSIGN(plan_.scales.zero_points, stored_.read_zero_points(*record));
    plan_.consumed.push_back(record->index);
    return {};
  }

  Status no_zero_points() const {
    const std::string which = " of " + std::string(info(from()).name);
    if (link_ != nullptr)
      return refuse_scaling("the file links no zero points" + which +
                            " with the dims of the scales");
    return refuse_scaling("no zero points" + which +
                          " with the dims of the scales follow the scales of the tensor");
  }

  static Status check_unread_zero_points(const std::optional<TensorInfo>& record) {
    if (!record) return {};
    return unread_zero_points(
        concat("tensor ", record->index, " follows the scales as a record of zero points would"));
  }

  // A tensor without scales may itself be the zero points of codes before it.
  Status check_is_no_zero_points() const {
    const TensorInfo& record = work_.record;
    if (info(from()).floating() || record.index < 2) return {};
    const auto scales = file_.tensor(record.index - 1);
    const auto codes = file_.tensor(record.index - 2);
    if (!scales || !codes || scales->dtype != DType::float32 || scales->dims != record.dims ||
        codes->dtype != from())
      return {};
    return unread_zero_points(concat("it follows the scales of tensor ", codes->index,
                                     " as a record of zero points would"));
  }

  const TensorFile& file_;
  const TensorConversion& work_;
  const QuantizedBy* link_;
  const GivenScale* given_;
  const bool by_place_;
  const Quantization& wanted_;
  const StoredScales stored_;
  Result<QuantizationConfig> config_ = QuantizationConfig{};
  QuantizePlan& plan_;
};

}  // namespace

Status plan_dequantize(const TensorFile& file, const TensorConversion& work,
                       const ScaleOrigin& origin, QuantizePlan& plan) {
  // Wide floats and dtypes that cannot be scaled are left as they are.
  if (!can_scale(plan.cast.from)) return {};
  return DequantizePlanner(file, work, origin, plan).run();
}

Status blocks_to_grid(const TensorFile& file, const TensorInfo& codes, const QuantizedBy* link,
                      const Execution& execution, QuantizePlan& plan) {
  const TensorInfo& record = *plan.block_scales;
  const StoredScales stored(file, codes, link, execution);
  ScaleGrid grid{.dims = record.dims, .block = Dims(record.dims.size(), 1)};
  grid.block.back() = plan.scales.blocks->block;
  BTF_ASSIGN(plan.scales.values, stored.read_block_scales(record));
  for (double& scale : plan.scales.values) scale *= plan.scales.tensor_scale;
  plan.scales.grid = std::move(grid);
  plan.scales.blocks = nullptr;
  plan.block_scales.reset();
  return {};
}

}  // namespace btf
