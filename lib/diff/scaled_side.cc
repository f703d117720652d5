#include "diff/scaled_side.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "btf/quantize.h"
#include "btf/try.h"
#include "btf/value.h"
#include "convert/quantize/dequantize_plan.h"
#include "convert/quantize/given_scale.h"
#include "convert/quantize/plan_rules.h"
#include "convert/quantize/reader.h"
#include "convert/quantize/scale_names.h"
#include "convert/tensor/target.h"
#include "convert/tensor/tensor.h"
#include "core/finding_table.h"
#include "kernels/scale/scaled_cast.h"

namespace btf {
namespace {

constexpr DType kNumbers = DType::float64;

std::unexpected<Error> refuse_scale(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

Result<QuantizePlan> plan_as_given(const GivenScale& given, const TensorInfo& record) {
  QuantizePlan plan;
  if (!holds_codes(record)) return plan;
  BTF_TRY(check_given_scale(given, record));
  plan.scaling = Scaling::dequantize;
  plan.cast = {.from = *record.dtype, .to = kNumbers, .policy = {}};
  take_given_scale(given, plan.scales);
  return plan;
}

Result<QuantizePlan> plan_of_file(const TensorFile& file, const TensorInfo& record,
                                  const ScaleOrigin& origin, const ScaleChoice& choice,
                                  const Execution& execution) {
  ConvertOptions options;
  options.dtype = kNumbers;
  options.execution = execution;
  options.quantization.dequantize = true;
  options.quantization.scale_blocks = choice.blocks;
  BTF_ASSIGN(const ByteSource* const source, file.elements(record.index));
  BTF_ASSIGN(const ConvertTarget target, choose_target(record, options));
  auto plan = plan_quantization(file, {*source, record, target, options}, origin);
  if (plan || plan.error().finding != FindingCode("zero-points-unread")) return plan;
  options.quantization.find_zero_point = true;
  return plan_quantization(file, {*source, record, target, options}, origin);
}

class ScaledReader final : public SlabReader {
 public:
  ScaledReader(std::unique_ptr<SlabReader> codes, const QuantizePlan& plan)
      : numbers_(dequantizing_reader(std::move(codes), nullptr, plan.cast, plan.scales, losses_)) {}

  Result<SourceSlab> read(const Box& box) override { return numbers_->read(box); }

 private:
  Losses losses_;  // of which there are none
  std::unique_ptr<SlabReader> numbers_;
};

class ScaledSide final : public DiffSide {
 public:
  ScaledSide(std::unique_ptr<DiffSide> codes, QuantizePlan plan)
      : codes_(std::move(codes)), plan_(std::move(plan)) {
    if (plan_.scales.zero_points.empty() && plan_.cast.zero_point != 0)
      plan_.scales.zero_points.assign(plan_.scales.values.size(), plan_.cast.zero_point);
  }

  DType dtype() const override { return plan_.cast.to; }
  const Dims& dims() const override { return codes_->dims(); }
  const StridedLayout* storage() const override { return codes_->storage(); }
  // The scales of a dim belong to the stored order.
  bool rearranged() const override { return codes_->rearranged() || plan_.scales.several(); }
  Grid grid() const override {
    const Scales& scales = plan_.scales;
    Grid grid{.dtype = plan_.cast.from,
              .codes = true,
              .scales = scales.values,
              .zero_points = scales.zero_points};
    if (scales.grid) grid.boxes = {dims(), scales.grid->block, scales.grid->dims};
    if (scales.axis)
      for (std::size_t d = *scales.axis + 1; d < dims().size(); ++d) grid.stride *= dims()[d];
    return grid;
  }

  Result<std::unique_ptr<SlabReader>> reader(const StridedLayout& storage) const override {
    BTF_ASSIGN(auto codes, codes_->reader(storage));
    return std::make_unique<ScaledReader>(std::move(codes), plan_);
  }

  Result<std::unique_ptr<CooSource>> entries(KeyRange range) const override {
    return codes_->entries(range);
  }

  Result<std::vector<Element>> elements(std::span<const Dims> indices) const override {
    BTF_ASSIGN(std::vector<Element> found, codes_->elements(indices));
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::size_t at = plan_.scales.grid   ? plan_.scales.grid->number(indices[i])
                             : plan_.scales.axis ? indices[i][*plan_.scales.axis]
                                                 : 0;
      ScaledCast cast = plan_.cast;
      if (!plan_.scales.zero_points.empty()) cast.zero_point = plan_.scales.zero_points[at];
      std::uint64_t number = 0;
      LossAccount losses;
      dequantize_run(cast, number::from_double(plan_.scales.values[at]),
                     reinterpret_cast<const std::byte*>(&found[i].code),
                     reinterpret_cast<std::byte*>(&number), 1, losses);
      found[i].code = number;
    }
    return found;
  }

 private:
  std::unique_ptr<DiffSide> codes_;
  QuantizePlan plan_;
};

}  // namespace

Result<FileScales> FileScales::of(const TensorFile& file, const ScaleChoice& choice,
                                  const Execution& execution) {
  FileScales scales;
  scales.choice_ = choice;
  scales.dequantize_ = choice.dequantize && !choice.given;
  if (!scales.dequantize_) return scales;
  if (file.tensor_count() > 0) {
    BTF_ASSIGN(const auto numbers, file.dequantized(0));
    scales.scales_inside_ = numbers.has_value();
  }
  BTF_ASSIGN(const FileAttributes attributes, file.attributes());
  scales.links_ = ScaleLinks::of(file, attributes);
  scales.companions_ = scales.links_.companions();
  if (!scales.links_.by_place()) return scales;
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const auto record = file.tensor(i);
    if (!record || !holds_codes(*record) || scales.companions_.contains(i)) continue;
    const auto plan = plan_of_file(file, *record, {.by_place = true}, choice, execution);
    if (plan) scales.companions_.insert(plan->consumed.begin(), plan->consumed.end());
  }
  return scales;
}

void FileScales::leave_out(const TensorFile& file, const TensorFile& other,
                           std::optional<std::vector<std::uint64_t>>& tensors) const {
  if (tensors || (companions_.empty() && links_.parts().empty())) return;
  std::set<std::string> names;
  for (std::uint64_t i = 0; i < other.tensor_count() && !links_.parts().empty(); ++i)
    if (auto name = other.name(i)) names.insert(*std::move(name));
  tensors.emplace();
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    if (companions_.contains(i)) continue;
    if (links_.parts().contains(i)) {
      const auto name = file.name(i);
      if (name && !names.contains(*name)) continue;
    }
    tensors->push_back(i);
  }
}

Result<TensorInfo> FileScales::record(const TensorFile& file, std::uint64_t index) const {
  if (dequantize_) {
    BTF_ASSIGN(std::optional<TensorInfo> numbers, file.dequantized(index));
    if (numbers) return *std::move(numbers);
  }
  return file.tensor(index);
}

Result<QuantizePlan> FileScales::plan(const TensorFile& file, const TensorInfo& record,
                                      const Execution& execution) const {
  if (choice_.given) {
    BTF_ASSIGN(QuantizePlan plan, plan_as_given(*choice_.given, record));
    used_ = used_ || plan.scaling != Scaling::none;
    return plan;
  }
  if (!dequantize_ || !holds_codes(record)) return QuantizePlan{};
  const QuantizedBy* const link = links_.find(record.index);
  if (link == nullptr && !links_.by_place()) return QuantizePlan{};
  BTF_TRY(links_.check_clear(file, record.index));
  auto plan = plan_of_file(file, record, {.link = link, .by_place = links_.by_place()}, choice_,
                           execution);
  // Not every integer is a code.
  if (!plan && link == nullptr) return QuantizePlan{};
  if (plan && plan->scales.blocks != nullptr)
    BTF_TRY(blocks_to_grid(file, record, link, execution, *plan));
  return plan;
}

Status FileScales::check_found(const TensorFile& file, const TensorInfo& codes,
                               const QuantizePlan& plan, const TensorInfo& other,
                               const QuantizePlan& other_plan) const {
  if (!dequantize_ || plan.scaling != Scaling::none || !holds_codes(codes)) return {};
  if (links_.is_part(codes)) return {};
  const bool numbers =
      other_plan.scaling != Scaling::none || (other.known() && info(*other.dtype).floating());
  // Counts and indices are wide, and are told from what stands for numbers; a format that keeps
  // scales among the codes has none for what it keeps as it is.
  const bool plain = info(*codes.dtype).bits > 8 ? undecoded_codes(codes).empty() : scales_inside_;
  if (plain && !numbers) return {};
  return refuse_scale(no_scales_text(file, codes) +
                      (undecoded_codes(codes).empty()
                           ? "; `actual_scale` and `golden_scale` give them"
                           : ""));
}

std::optional<Hint> other_axes(const QuantizePlan& actual, const QuantizePlan& golden) {
  const auto& left = actual.scales.axis;
  const auto& right = golden.scales.axis;
  if (!left || !right || left == right) return std::nullopt;
  return Hint{.cause = Cause::scale_axis,
              .evidence = "actual has a scale for each index of dim " + std::to_string(*left) +
                          ", golden for each of dim " + std::to_string(*right)};
}

Result<std::unique_ptr<DiffSide>> scaled_side(Result<std::unique_ptr<DiffSide>> side,
                                              const QuantizePlan& plan,
                                              std::span<const Edit> edits) {
  if (!side || plan.scaling == Scaling::none) return side;
  if (plan.scales.several() && !edits.empty())
    return refuse_scale("scales for each index of a dim cannot be combined with other dims");
  return std::make_unique<ScaledSide>(*std::move(side), plan);
}

}  // namespace btf
