#include "convert/quantize/dequantize_plan.h"

#include <string>
#include <utility>

#include "btf/layout.h"
#include "btf/try.h"
#include "convert/quantize/given_scale.h"
#include "convert/quantize/plan_rules.h"
#include "convert/quantize/scale_axis.h"
#include "convert/quantize/scale_grid.h"
#include "convert/quantize/scale_names.h"
#include "convert/quantize/stored_scales.h"
#include "core/finding_table.h"

namespace btf {
namespace {

// An error with a code of its own: numbers made with a zero point of 0 would be wrong.
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
    // The records of scales say nothing of the tensor once its dims are others.
    if (!work_.target.edits.empty())
      return refuse_scaling("dequantising and editing the dims in one go is not possible: " +
                            std::string(work_.target.edits.first_name()) + " afterwards");
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
    take_given_scale(*given_, plan_.scales);
    if (wanted_.zero_point) plan_.scales.zero_points.clear();
    if (!wanted_.find_zero_point || !plan_.scales.zero_points.empty()) return {};
    return refuse_scaling("no file has the name of its zero points");
  }

  Status no_scales() const {
    if (link_ != nullptr) return do_not_fit();
    if (by_place_) BTF_TRY(check_is_no_zero_points());
    std::string text = no_scales_text(file_, work_.record);
    if (undecoded_codes(work_.record).empty()) text += "; `quantization.scale` gives one";
    return refuse_scaling(std::move(text));
  }

  // Only scales of blocks leave something to be said.
  void read_config(const TensorInfo& scales) {
    if (has_blocks(scales, work_.record) && !link_->block && wanted_.scale_blocks.empty())
      config_ = quantization_config(file_.path());
  }

  static std::string shown(const TensorInfo& record) {
    return std::string(info(*record.dtype).name) + " " + dims_text(record.dims);
  }

  Status do_not_fit() const {
    const auto scales = file_.tensor(link_->scale);
    const std::string which = "its scales, in tensor " + std::to_string(link_->scale) +
                              (scales && scales->named ? " '" + scales->name + "'" : "");
    if (!scales || !scales->known()) return refuse_scaling(which + ", cannot be read");
    return refuse_scaling(which + ", are " + shown(*scales) + ", which do not fit its codes, " +
                          shown(work_.record));
  }

  // Refuses scales that show packed codes, or that a second scale is missing.
  Status check_pair(const TensorInfo& scales) const {
    const std::string found = "its scales, in tensor " + std::to_string(scales.index) +
                              (scales.named ? " '" + scales.name + "'" : "") + ", are " +
                              std::string(info(*scales.dtype).name);
    if (const std::string packed =
            packed_text(scales, work_.record, link_->zero_point || wanted_.zero_point,
                        config_ && config_->bits == kNibble);
        !packed.empty() && !link_->block && wanted_.scale_blocks.empty())
      return refuse_scaling(packed);
    if (!info(*scales.dtype).floating())
      return refuse_scaling(
          found + ", and scales of integers are floats" +
          (scales.dtype == DType::uint8
               ? "; if they are exponents (float8_e8m0fnu), its codes look packed, two "
                 "float4_e2m1fn to a byte, which are not decoded"
               : ""));
    if (info(*scales.dtype).bits > 8) return {};
    if (from() == DType::uint8)
      return refuse_scaling(found +
                            ", so its bytes are two float4_e2m1fn each: these are not decoded");
    const bool nvfp4 = info(from()).bits < 8 && scales.dtype == DType::float8_e4m3fn;
    if (!nvfp4 || link_->global_scale) return {};
    return refuse_scaling(found + ", which need one for the whole tensor too" +
                          (work_.record.named
                               ? ", and none is called '" + work_.record.name + "_scale_2'"
                               : ", and there is none"));
  }

  // False if the record is no block scales of this tensor.
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

  // False if the record does not hold scales of whole dims.
  Result<bool> use_values(const TensorInfo& scales) {
    BTF_ASSIGN(const ScaleFit fit, fit_scales(scales, work_.record.dims, link_));
    if (!fit.fits) return false;
    BTF_ASSIGN(plan_.scales.values, stored_.read_scales(scales));
    plan_.scales.axis = fit.axis;
    plan_.consumed = {scales.index};
    return true;
  }

  // False if the record has no scales of boxes; only a link gives these.
  Result<bool> use_grid(const TensorInfo& scales) {
    if (link_ == nullptr) return false;
    std::optional<StatedBlocks> stated;
    std::string unread;
    if (!wanted_.scale_blocks.empty())
      stated = StatedBlocks{wanted_.scale_blocks, "`scale_blocks`"};
    else if (config_)
      stated = config_->blocks;
    if (!config_) unread = "; config.json beside the file cannot be read: " + config_.error().text();
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

  // Those that go with `scales`; none go with block scales.
  Status use_zero_points(const std::optional<TensorInfo>& scales) {
    // Those of floats are 0 in ONNX, and there is no other kind.
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
      return refuse_scaling("the file names no zero points" + which +
                            " and with the dims of the scales");
    return refuse_scaling("no record of zero points," + which +
                          " and with the dims of the scales, stands behind those of the tensor");
  }

  static Status check_unread_zero_points(const std::optional<TensorInfo>& record) {
    if (!record) return {};
    return unread_zero_points("tensor " + std::to_string(record->index) +
                              " follows the scales as a record of zero points would");
  }

  // A tensor without scales may itself be the zero points of the codes before it.
  Status check_is_no_zero_points() const {
    const TensorInfo& record = work_.record;
    if (info(from()).floating() || record.index < 2) return {};
    const auto scales = file_.tensor(record.index - 1);
    const auto codes = file_.tensor(record.index - 2);
    if (!scales || !codes || scales->dtype != DType::float32 || scales->dims != record.dims ||
        codes->dtype != from())
      return {};
    return unread_zero_points("it follows the scales of tensor " + std::to_string(codes->index) +
                              " as a record of zero points would");
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
  // Floats that are wide already, and whatever is no number to scale, pass by.
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
