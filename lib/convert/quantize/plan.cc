#include "convert/quantize/plan.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "btf/try.h"
#include "btf/value.h"
#include "convert/quantize/affine_fit.h"
#include "convert/quantize/reader.h"
#include "core/checked_math.h"
#include "elements/row_major.h"
#include "elements/stored_elements.h"
#include "kernels/cast/cast_reference.h"

namespace btf {
namespace {

std::unexpected<Error> refuse(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

std::string name_of(DType dtype) { return std::string(info(dtype).name); }

// Of the type that the zero points are codes of.
Status check_zero_points(const Quantization& wanted, DType codes) {
  const std::int64_t zero = wanted.zero_point.value_or(0);
  if (zero == 0 && !wanted.find_zero_point) return {};
  const DTypeInfo& row = info(codes);
  if (row.floating())
    return refuse("a zero point means nothing for " + name_of(codes) + ": only integers have one");
  // A double holds what is found, and a width of 32 bits times any float32.
  if (wanted.find_zero_point && row.bits > 32)
    return refuse("a zero point is found for integers of up to 32 bits, not for " + name_of(codes));
  const bool has_sign = row.kind == NumberKind::signed_integer;
  const auto largest = static_cast<std::int64_t>(
      std::min<std::uint64_t>(largest_code(codes), std::numeric_limits<std::int64_t>::max()));
  const std::int64_t least = has_sign ? -largest - 1 : 0;
  if (zero < least || zero > largest)
    return refuse("the zero point " + std::to_string(zero) + " is beyond " + name_of(codes));
  return {};
}

Result<ScaleRecord> scale_record(DType dtype, const Dims& dims, ScaleKind kind,
                                 std::string_view ending) {
  BTF_ASSIGN(StridedLayout storage, resolve(Layout::linear, dims, dtype));
  return ScaleRecord{dtype, std::move(storage), kind, ending};
}

class Planner {
 public:
  Planner(const TensorFile& file, const TensorConversion& work, const QuantizedBy* link)
      : file_(file), work_(work), link_(link), wanted_(work.options.quantization) {}

  Result<QuantizePlan> plan() {
    if (!wanted_.active()) return std::move(plan_);
    if (work_.target.sparse() || work_.record.coo)
      return refuse("scales go with dense tensors; convert to a dense layout first");
    plan_.cast = {work_.target.job.from, work_.target.job.to, work_.options.policy,
                  wanted_.zero_point.value_or(0)};
    if (wanted_.dequantize) {
      BTF_TRY(plan_dequantize());
    } else if (wanted_.block) {
      BTF_TRY(plan_blocks());
    } else if (wanted_.automatic) {
      BTF_TRY(plan_automatic());
    } else {
      BTF_TRY(plan_given());
    }
    if (plan_.scaling != Scaling::none) BTF_TRY(check_scaled_policy());
    return std::move(plan_);
  }

 private:
  DType from() const { return plan_.cast.from; }
  DType to() const { return plan_.cast.to; }

  // A cast that cannot lose anything takes any policy; with a scale it can.
  Status check_scaled_policy() const {
    const CastPolicy& policy = plan_.cast.policy;
    const DTypeInfo& target = info(to());
    if (policy.overflow == Overflow::wrap)
      return refuse("overflow wrap means nothing with a scale: codes are clamped");
    if (policy.overflow == Overflow::ieee &&
        (!target.floating() || target.fp.specials == FloatSpecials::none))
      return refuse("overflow ieee means nothing for " + name_of(to()) +
                    ": it has no Inf and no NaN");
    if (target.floating() && policy.rounding != Rounding::by_table &&
        policy.rounding != Rounding::nearest)
      return refuse("a rounding other than to nearest means nothing for " + name_of(to()) +
                    ": with a scale it applies to integers");
    return {};
  }

  Status plan_given() {
    const double scale = *wanted_.scale;
    if (!(scale > 0) || !std::isfinite(scale))
      return refuse("a scale of " + number_text(scale) + ": scales are positive numbers");
    plan_.scales.values = {scale};
    if (can_scale(to())) {
      plan_.scaling = Scaling::quantize;
      return check_zero_points(wanted_, to());
    }
    plan_.scaling = Scaling::dequantize;
    if (!can_scale(from()))
      return refuse("a scale means nothing from " + name_of(from()) + " to " + name_of(to()) +
                    ": one of them must be an integer or a float of 8 bits or less");
    BTF_TRY(require_large_target());
    return check_zero_points(wanted_, from());
  }

  Status require_large_target() const {
    const DTypeInfo& row = info(to());
    if (row.floating() && row.bits > 8) return {};
    return refuse("dequantising gives float16, bfloat16, float32 or float64, not " + name_of(to()));
  }

  Status require_small_target() const {
    if (can_scale(to())) return {};
    return refuse("a scale for " + name_of(to()) +
                  " cannot be chosen: quantising needs an integer or a float of 8 bits or less");
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
    BTF_TRY(require_small_target());
    BTF_TRY(check_zero_points(wanted_, to()));
    const Dims& dims = work_.target.dims;
    if (wanted_.axis && *wanted_.axis >= dims.size())
      return refuse("there is no dim " + std::to_string(*wanted_.axis) +
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
      return refuse(std::string(format.name) + " has elements of " + name_of(format.element) +
                    ", not of " + name_of(to()));
    const Dims& dims = work_.target.dims;
    if (dims.empty()) return refuse("blocks need a dim to run along, the tensor has rank 0");
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

  static bool is_damage(const Error& error) {
    return error.code == ErrorCode::malformed || error.code == ErrorCode::unsupported;
  }

  enum class Companion : std::uint8_t { scale, global_scale, zero_point };

  // Where the file says that it is, or where it stands behind the data of a file that says nothing.
  std::optional<std::uint64_t> place_of(Companion companion) const {
    if (link_ != nullptr) {
      if (companion == Companion::scale) return link_->scale;
      return companion == Companion::zero_point ? link_->zero_point : link_->global_scale;
    }
    const std::uint64_t index = work_.record.index + (companion == Companion::scale ? 1 : 2);
    return index < file_.tensor_count() ? std::optional(index) : std::nullopt;
  }

  // Nothing if there is none that can be used. What the system refuses to read may well be one.
  Result<std::optional<TensorInfo>> find(Companion companion) const {
    const auto index = place_of(companion);
    if (!index) return std::nullopt;
    auto record = file_.tensor(*index);
    Status usable;
    if (!record)
      usable = std::unexpected(record.error());
    else
      usable = file_.check_overlap(*record);
    if (!usable && !is_damage(usable.error())) return std::unexpected(usable.error());
    if (!usable || !record->known() || !record->storage) return std::nullopt;
    const LayoutSpec& layout = btf::spec(*record->layout);
    if (layout.placement != Placement::row_major || layout.pitch_bytes != 0) return std::nullopt;
    return *std::move(record);
  }

  Status plan_dequantize() {
    // Floats that are wide already, and whatever is no number to scale, pass by.
    if (!can_scale(from())) return {};
    // The records of scales say nothing of the tensor once its dims are others.
    if (!work_.target.edits.empty())
      return refuse("dequantising and editing the dims in one go is not possible: " +
                    std::string(work_.target.edits.first_name()) + " afterwards");
    BTF_TRY(require_large_target());
    BTF_TRY(check_zero_points(wanted_, from()));
    BTF_ASSIGN(const std::optional<TensorInfo> scales, find(Companion::scale));
    plan_.scaling = Scaling::dequantize;
    bool found = false;
    if (scales) {
      BTF_ASSIGN(found, use_blocks(*scales));
      if (!found) {
        BTF_ASSIGN(found, use_values(*scales));
      }
    }
    const bool linked = link_ != nullptr && link_->zero_point && !wanted_.zero_point;
    if (found && (wanted_.find_zero_point || linked)) return use_zero_points();
    if (found) return wanted_.zero_point ? Status{} : check_unread_zero_points();
    if (link_ != nullptr)
      return refuse("the file says that tensor " + std::to_string(link_->scale) +
                    " has its scales, which does not fit by its dtype or dims");
    BTF_TRY(check_is_no_zero_points());
    return refuse("no record of scales stands behind the tensor");
  }

  Result<bool> use_blocks(const TensorInfo& scales) {
    if (work_.record.dims.empty() || !info(from()).floating()) return false;
    for (const BlockFormatInfo& format : block_formats()) {
      if (info(format.element).bits != info(from()).bits || *scales.dtype != format.scale ||
          scales.dims != block_scale_dims(work_.record.dims, format.block))
        continue;
      plan_.consumed = {scales.index};
      if (format.tensor_scale) {
        BTF_ASSIGN(const std::optional<TensorInfo> tensor, find(Companion::global_scale));
        if (!tensor || *tensor->dtype != DType::float32 || !tensor->dims.empty()) continue;
        BTF_ASSIGN(const std::vector<double> value, read_values(*tensor));
        plan_.scales.tensor_scale = static_cast<float>(value.front());
        plan_.scales.values = value;
        plan_.consumed.push_back(tensor->index);
      }
      plan_.scales.blocks = &format;
      plan_.block_scales = scales;
      return true;
    }
    return false;
  }

  // float32 of rank 0, or with the data's rank and all dims 1 but one.
  Result<bool> use_values(const TensorInfo& scales) {
    if (*scales.dtype != DType::float32) return false;
    const Dims& dims = work_.record.dims;
    std::optional<std::uint32_t> axis;
    if (!scales.dims.empty()) {
      if (scales.dims.size() != dims.size()) return false;
      for (std::uint32_t d = 0; d < dims.size(); ++d) {
        if (scales.dims[d] == 1) continue;
        if (axis || scales.dims[d] != dims[d]) return false;
        axis = d;
      }
    }
    BTF_ASSIGN(plan_.scales.values, read_values(scales));
    plan_.scales.axis = axis;
    plan_.consumed = {scales.index};
    return true;
  }

  // The record of zero points behind that of the scales: of the codes' dtype, and with the dims of
  // the scales.
  Result<std::optional<TensorInfo>> zero_points_behind() const {
    BTF_ASSIGN(std::optional<TensorInfo> record, find(Companion::zero_point));
    const auto scales = file_.tensor(plan_.consumed.front());
    if (!record || !scales || plan_.scales.blocks != nullptr || info(from()).floating() ||
        *record->dtype != from() || record->dims != scales->dims)
      return std::nullopt;
    return record;
  }

  static std::unexpected<Error> unread_zero_points(std::string message) {
    return std::unexpected(Error{
        ErrorCode::invalid_argument, std::move(message), {}, FindingCode("zero-points-unread")});
  }

  // Numbers made with a zero point of 0 would be wrong.
  Status check_unread_zero_points() const {
    BTF_ASSIGN(const std::optional<TensorInfo> record, zero_points_behind());
    if (!record) return {};
    return unread_zero_points("tensor " + std::to_string(record->index) +
                              " stands behind the scales as a record of zero points does");
  }

  // Of a tensor without scales: those that it stands behind may be its own zero points'.
  Status check_is_no_zero_points() const {
    const TensorInfo& record = work_.record;
    if (info(from()).floating() || record.index < 2) return {};
    const auto scales = file_.tensor(record.index - 1);
    const auto codes = file_.tensor(record.index - 2);
    if (!scales || !codes || scales->dtype != DType::float32 || scales->dims != record.dims ||
        codes->dtype != from())
      return {};
    return unread_zero_points("it stands behind the scales of tensor " +
                              std::to_string(codes->index) + " as a record of zero points does");
  }

  Status use_zero_points() {
    BTF_ASSIGN(const std::optional<TensorInfo> record, zero_points_behind());
    if (!record)
      return refuse(link_ != nullptr
                        ? "the file names no zero points of " + name_of(from()) +
                              " and with the dims of the scales"
                        : "no record of zero points, of " + name_of(from()) +
                              " and with the dims of the scales, stands behind those of the "
                              "tensor");
    BTF_ASSIGN(const ByteSource* const source, file_.elements(record->index));
    const auto reader = record_reader(*source, *record, *record->storage);
    BTF_ASSIGN(const SourceSlab slab, reader->read({Dims(record->dims.size(), 0), record->dims}));
    Buffer buffer;
    const SourceSlab codes = in_row_major(slab, record->dims, from(), buffer);
    std::vector<Number> numbers(plan_.scales.values.size());
    decoder(from())(codes.data, 1, numbers.size(), numbers.data());
    for (const Number& number : numbers)
      plan_.scales.zero_points.push_back(static_cast<std::int64_t>(number::to_double(number)));
    plan_.consumed.push_back(record->index);
    return {};
  }

  Result<std::vector<double>> read_values(const TensorInfo& record) const {
    BTF_TRY(check_scale_memory(record.storage->elements(), work_.options.execution));
    std::vector<float> values(record.storage->elements());
    BTF_ASSIGN(const ByteSource* const source, file_.elements(record.index));
    BTF_TRY(StoredElements(*source, record)
                .read(0, values.size(), std::as_writable_bytes(std::span(values)).data()));
    for (const float value : values)
      if (!(value > 0) || !std::isfinite(value))
        return refuse("a scale in tensor " + std::to_string(record.index) + " is " +
                      number_text(value) + ": scales are positive numbers");
    return std::vector<double>(values.begin(), values.end());
  }

  const TensorFile& file_;
  const TensorConversion& work_;
  const QuantizedBy* link_;
  const Quantization& wanted_;
  QuantizePlan plan_;
};

// The block scales in the arrangement of the elements, so that boxes of theirs stand for boxes that
// the elements can be read in.
StridedLayout as_stored_by(const ElementSource& elements, const StridedLayout& scales) {
  StridedLayout storage = elements.storage;
  storage.dims = scales.dims;
  const std::uint64_t last = scales.dims.size() - 1;
  for (StorageAxis& axis : storage.axes) {
    if (axis.dim != last) continue;
    if (axis.part == AxisPart::whole) axis.extent = scales.dims[last];
    if (axis.part == AxisPart::blocks)
      axis.extent = ceil_div(scales.dims[last], storage.split->lanes);
  }
  return storage;
}

}  // namespace

Result<QuantizePlan> plan_quantization(const TensorFile& file, const TensorConversion& work,
                                       const QuantizedBy* link) {
  return Planner(file, work, link).plan();
}

ElementSource scaled_elements(const TensorConversion& work, const QuantizePlan& plan,
                              const ByteSource* block_scales) {
  ElementSource elements = record_elements(work);
  if (plan.scaling == Scaling::none) return elements;
  elements.dtype = plan.cast.to;
  elements.accounted = true;
  if (plan.scales.blocks != nullptr) elements.last_granule = plan.scales.blocks->block;
  elements.open = [&plan, block_scales,
                   open = elements.open](Losses& losses) -> Result<std::unique_ptr<SlabReader>> {
    BTF_ASSIGN(auto source, open(losses));
    if (plan.scaling == Scaling::quantize)
      return quantizing_reader(std::move(source), plan.cast, plan.scales, losses);
    std::unique_ptr<SlabReader> blocks;
    if (plan.block_scales)
      blocks = record_reader(*block_scales, *plan.block_scales, *plan.block_scales->storage);
    return dequantizing_reader(std::move(source), std::move(blocks), plan.cast, plan.scales,
                               losses);
  };
  return elements;
}

namespace {

// The codes of scales, or of zero points, each in buffer_bytes().
std::vector<std::byte> scale_codes(const QuantizePlan& plan, const ScaleRecord& record) {
  std::vector<Number> numbers;
  if (record.kind == ScaleKind::zero_points)
    std::ranges::transform(plan.scales.zero_points, std::back_inserter(numbers),
                           number::from_integer);
  else
    std::ranges::transform(plan.scales.values, std::back_inserter(numbers), number::from_double);
  std::vector<std::byte> codes(numbers.size() * info(record.dtype).buffer_bytes());
  LossAccount ignored;
  encoder(record.dtype)(numbers.data(), numbers.size(), codes.data(), 1, CastPolicy{}, ignored);
  return codes;
}

}  // namespace

ElementSource scale_elements(const TensorConversion& work, const QuantizePlan& plan,
                             const ScaleRecord& record) {
  const bool blocks = record.kind == ScaleKind::blocks;
  ElementSource elements;
  elements.storage = blocks ? as_stored_by(record_elements(work), record.storage) : record.storage;
  elements.stored = elements.dtype = record.dtype;
  // A box of block scales stands for a box of elements that is larger by far.
  if (blocks) {
    elements.slab_bytes /= plan.scales.blocks->block * info(plan.cast.from).buffer_bytes();
    elements.bytes = work.record.data_bytes;
  }
  elements.open = [&work, &plan, &record,
                   blocks](Losses& losses) -> Result<std::unique_ptr<SlabReader>> {
    if (blocks) {
      BTF_ASSIGN(auto source, record_elements(work).open(losses));
      return block_scale_reader(std::move(source), plan.cast, work.target.dims, plan.scales);
    }
    return value_reader(scale_codes(plan, record), record.dtype, record.storage);
  };
  return elements;
}

}  // namespace btf
