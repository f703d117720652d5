#include "convert/quantize/plan.h"

#include <cmath>
#include <string>
#include <vector>

#include "btf/try.h"
#include "btf/value.h"
#include "convert/quantize/affine_fit.h"
#include "convert/quantize/dequantize_plan.h"
#include "convert/quantize/plan_rules.h"

namespace btf {
namespace {

std::string name_of(DType dtype) { return std::string(info(dtype).name); }

Result<ScaleRecord> scale_record(DType dtype, const Dims& dims, ScaleKind kind,
                                 std::string_view ending) {
  BTF_ASSIGN(StridedLayout storage, resolve(Layout::linear, dims, dtype));
  return ScaleRecord{dtype, std::move(storage), kind, ending};
}

class Planner {
 public:
  Planner(const TensorFile& file, const TensorConversion& work, const ScaleOrigin& origin)
      : file_(file), work_(work), origin_(origin), wanted_(work.options.quantization) {}

  Result<QuantizePlan> plan() {
    if (!wanted_.active()) return std::move(plan_);
    if (work_.target.sparse() || work_.record.coo)
      return refuse_scaling("scales go with dense tensors; convert to a dense layout first");
    plan_.cast = {work_.target.job.from, work_.target.job.to, work_.options.policy,
                  wanted_.zero_point.value_or(0)};
    if (wanted_.dequantize) {
      BTF_TRY(plan_dequantize(file_, work_, origin_, plan_));
    } else if (wanted_.block) {
      BTF_TRY(plan_blocks());
    } else if (wanted_.automatic) {
      BTF_TRY(plan_automatic());
    } else {
      BTF_TRY(plan_given());
    }
    if (plan_.scaling != Scaling::none) BTF_TRY(check_scaled_policy(plan_.cast));
    return std::move(plan_);
  }

 private:
  DType from() const { return plan_.cast.from; }
  DType to() const { return plan_.cast.to; }

  Status plan_given() {
    const double scale = *wanted_.scale;
    if (!(scale > 0) || !std::isfinite(scale))
      return refuse_scaling("a scale of " + number_text(scale) + ": scales are positive numbers");
    plan_.scales.values = {scale};
    if (can_scale(to())) {
      plan_.scaling = Scaling::quantize;
      return check_zero_point(wanted_, to());
    }
    plan_.scaling = Scaling::dequantize;
    if (!can_scale(from()))
      return refuse_scaling("a scale does not apply from " + name_of(from()) + " to " +
                            name_of(to()) +
                            ": one of them must be an integer or a float of 8 bits or less");
    BTF_TRY(check_dequantized_dtype(to()));
    return check_zero_point(wanted_, from());
  }

  Result<std::vector<double>> largest(std::optional<std::uint32_t> axis) const {
    return largest_magnitudes(work_.source, work_.record, work_.target.edits, axis,
                              work_.options.execution);
  }

  // Floats have a sign and no zero point, and with signed integers zero is the middle unless a zero
  // point says else.
  bool symmetric() const {
    return info(to()).floating() || (info(to()).kind == NumberKind::signed_integer &&
                                     !wanted_.find_zero_point && plan_.cast.zero_point == 0);
  }

  Status find_symmetric() {
    BTF_ASSIGN(const std::vector<double> magnitudes, largest(wanted_.axis));
    plan_.scales.values.clear();
    for (const double magnitude : magnitudes)
      plan_.scales.values.push_back(symmetric_scale(magnitude, to()));
    return {};
  }

  Status find_affine() {
    BTF_ASSIGN(const std::vector<ValueRange> ranges,
               value_ranges(work_.source, work_.record, work_.target.edits, wanted_.axis,
                            work_.options.execution));
    plan_.scales.values.clear();
    for (std::uint64_t i = 0; i < ranges.size(); ++i) {
      const auto fit = fit_affine(ranges[i], plan_.cast, wanted_.find_zero_point);
      if (!fit && wanted_.axis)
        return std::unexpected(fit.error().within("index " + std::to_string(i) + " of dim " +
                                                  std::to_string(*wanted_.axis)));
      if (!fit) return std::unexpected(fit.error());
      plan_.scales.values.push_back(fit->scale);
      if (wanted_.find_zero_point) plan_.scales.zero_points.push_back(fit->zero_point);
    }
    return {};
  }

  Status plan_automatic() {
    plan_.scaling = Scaling::quantize;
    BTF_TRY(check_quantized_dtype(to()));
    BTF_TRY(check_zero_point(wanted_, to()));
    const Dims& dims = work_.target.dims;
    if (wanted_.axis && *wanted_.axis >= dims.size())
      return refuse_scaling("there is no dim " + std::to_string(*wanted_.axis) +
                            " for the scales, the tensor has rank " + std::to_string(dims.size()));
    if (wanted_.axis) BTF_TRY(check_scale_memory(dims[*wanted_.axis], work_.options.execution));
    plan_.scales.axis = wanted_.axis;
    BTF_TRY(symmetric() ? find_symmetric() : find_affine());
    // A shape that broadcasts against the data.
    Dims shape;
    if (wanted_.axis) shape.assign(dims.size(), 1);
    if (wanted_.axis) shape[*wanted_.axis] = dims[*wanted_.axis];
    BTF_ASSIGN(ScaleRecord record,
               scale_record(DType::float32, shape, ScaleKind::values, "_scale"));
    plan_.written.push_back(std::move(record));
    if (!wanted_.find_zero_point) return {};
    BTF_ASSIGN(ScaleRecord zeros, scale_record(to(), shape, ScaleKind::zero_points, "_zero_point"));
    plan_.written.push_back(std::move(zeros));
    return {};
  }

  Status plan_blocks() {
    plan_.scaling = Scaling::quantize;
    const BlockFormatInfo& format = info(*wanted_.block);
    const DTypeInfo& element = info(to());
    if (!can_scale(to()) || !element.floating() || element.bits != info(format.element).bits)
      return refuse_scaling(std::string(format.name) + " has elements of " +
                            name_of(format.element) + ", not of " + name_of(to()));
    const Dims& dims = work_.target.dims;
    if (dims.empty())
      return refuse_scaling("blocks need a dim to run along, the tensor has rank 0");
    plan_.scales.blocks = &format;
    BTF_ASSIGN(ScaleRecord blocks, scale_record(format.scale, block_scale_dims(dims, format.block),
                                                ScaleKind::blocks, "_scale"));
    plan_.written.push_back(std::move(blocks));
    if (!format.tensor_scale) return {};
    BTF_ASSIGN(const std::vector<double> magnitudes, largest({}));
    plan_.scales.tensor_scale = nvfp4_tensor_scale(magnitudes.front());
    plan_.scales.values = {plan_.scales.tensor_scale};
    BTF_ASSIGN(ScaleRecord tensor, scale_record(DType::float32, {}, ScaleKind::values, "_scale_2"));
    plan_.written.push_back(std::move(tensor));
    return {};
  }

  const TensorFile& file_;
  const TensorConversion& work_;
  const ScaleOrigin& origin_;
  const Quantization& wanted_;
  QuantizePlan plan_;
};

}  // namespace

Result<QuantizePlan> plan_quantization(const TensorFile& file, const TensorConversion& work,
                                       const ScaleOrigin& origin) {
  return Planner(file, work, origin).plan();
}

}  // namespace btf
