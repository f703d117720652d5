#include "diff/loaded_pair.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/layout.h"
#include "btf/quantize.h"
#include "btf/try.h"
#include "convert/quantize/dequantize_plan.h"
#include "convert/quantize/scale_links.h"
#include "convert/quantize/scaled_reader.h"
#include "convert/tensor/target.h"
#include "core/finding_table.h"
#include "core/layout.h"
#include "core/numbers.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/hints/hints.h"
#include "diff/hints/models/reordering.h"
#include "diff/hints/searches/searches.h"
#include "diff/score/collectors.h"
#include "diff/score/compare_walk.h"
#include "diff/sides/rows.h"
#include "diff/sides/tensor_pairs.h"
#include "elements/elements.h"
#include "formats/io/byte_source.h"
#include "kernels/compare/compare_runs.h"
#include "kernels/scale/scale.h"

namespace btf {
namespace {

constexpr std::size_t kMaxRank = 8;     // of dims whose orders are tried
constexpr std::size_t kMaxOrders = 64;  // orders that are tried on a sample
constexpr std::size_t kMaxPasses = 3;   // passes over whole tensors, for orders
constexpr std::uint64_t kSample = 64;   // elements

Reshape reshape_to(const Dims& dims) {
  Reshape shape;
  for (const std::uint64_t dim : dims) shape.dims.push_back(static_cast<std::int64_t>(dim));
  return shape;
}

Dims squeezed(const Dims& dims) {
  Dims kept = dims;
  std::erase(kept, std::uint64_t{1});
  return kept;
}

// The tensors are open, so their number of elements does not overflow.
std::uint64_t elements_of(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::uint64_t{1}, std::multiplies{});
}

bool may_be_reshaped(const Dims& from, const Dims& to) {
  return elements_of(from) == elements_of(to) &&
         std::ranges::all_of(to, [](std::uint64_t dim) { return dim <= INT64_MAX; });
}

using Order = std::vector<std::uint32_t>;

// The distinct orders of dims that turn `from` into `to`, ignoring dims of 1 if the ranks differ.
// The position of a dim of 1 makes no difference to any element.
std::vector<Order> orders_between(const Dims& from, const Dims& to) {
  std::vector<Order> orders;
  if (from.size() > kMaxRank || to.size() > kMaxRank) return orders;
  const bool same_rank = from.size() == to.size();
  const Dims wanted = squeezed(to);
  Order order(from.size());
  std::iota(order.begin(), order.end(), 0U);
  std::vector<Order> known;
  do {
    bool fits = true;
    Order moved;
    for (std::size_t d = 0; d < order.size(); ++d) {
      if (same_rank) fits = fits && from[order[d]] == to[d];
      if (from[order[d]] == 1) continue;
      fits = fits && moved.size() < wanted.size() && from[order[d]] == wanted[moved.size()];
      moved.push_back(order[d]);
    }
    if (!fits || moved.size() != wanted.size()) continue;
    // In their own order it is only a squeeze.
    if (!same_rank && std::ranges::is_sorted(moved)) continue;
    if (std::ranges::find(known, moved) != known.end()) continue;
    known.push_back(std::move(moved));
    orders.push_back(order);
  } while (orders.size() < kMaxOrders && std::ranges::next_permutation(order).found);
  return orders;
}

std::string order_text(const Order& order) {
  std::string text;
  for (const std::uint32_t dim : order) text += (text.empty() ? "" : ",") + std::to_string(dim);
  return text;
}

// Places spread over a tensor, ascending.
std::vector<Dims> sample_places(const Dims& dims) {
  const std::uint64_t count = elements_of(dims);
  const std::uint64_t step = std::max<std::uint64_t>(1, count / kSample);
  std::vector<Dims> places;
  // Avoids the same position in every row.
  for (std::uint64_t i = 0; i < count && places.size() < kSample; i += step)
    places.push_back(index_of(dims, std::min(count - 1, i + i / step * 7 % step)));
  return places;
}

// A way in which actual may be golden with other dims.
struct Candidate {
  Cause cause = Cause::shape;
  std::string words;                     // "equal after permute 0,3,1,2"
  std::vector<Edit> edits{};             // of actual, after those of the options
  std::optional<StridedLayout> array{};  // or its stored array with this layout
};

class ShapeSearch {
 public:
  ShapeSearch(const MakeSide& actual, const MakeSide& golden, const ShapeEdits& edits,
              const Tolerance& asked, const TensorDiff& diff, const Execution& execution)
      : make_actual_(actual),
        edits_(edits),
        diff_(diff),
        asked_(asked),
        execution_{.jobs = execution.jobs,
                   .memory = execution.memory,
                   .cancel = execution.cancel,
                   .progress = {}},
        make_golden_(golden) {}

  Result<std::vector<Hint>> run() {
    BTF_ASSIGN(actual_, make_actual_(edits_.actual));
    BTF_ASSIGN(golden_, make_golden_(edits_.golden));
    const Dims& from = diff_.actual->dims;
    const Dims& to = diff_.golden->dims;
    const bool as_many = elements_of(from) == elements_of(to);
    if (!as_many) {
      BTF_ASSIGN(std::vector<Hint> found, padding());
      if (!found.empty()) return found;
    } else if (!may_be_reshaped(from, to)) {
      return {};
    }
    if (elements_of(to) == 0) return {};
    places_ = sample_places(to);
    BTF_ASSIGN(sample_, golden_->elements(places_));
    if (as_many) add_edits(from, to);
    if (!as_many) add_layouts(to);
    BTF_ASSIGN(std::vector<Hint> found, try_all());
    if (!found.empty() || !as_many) return found;
    return hints_with_golden_dims();
  }

 private:
  void add_edits(const Dims& from, const Dims& to) {
    const Edit reshape = reshape_to(to);
    const bool only_ones = squeezed(from) == squeezed(to);
    const std::string after(kEqualAfter);
    candidates_.push_back(
        {.words = after + (only_ones ? "squeeze" : "reshape"), .edits = {reshape}});
    for (Order& order : orders_between(from, to)) {
      std::string words = after + "permute " + order_text(order);
      Dims moved;
      for (const std::uint32_t dim : order) moved.push_back(from[dim]);
      std::vector<Edit> edits{Permute{std::move(order)}};
      if (moved != to) {
        words += " and squeeze";
        edits.push_back(reshape);
      }
      candidates_.push_back({.words = std::move(words), .edits = std::move(edits)});
    }
  }

  // Tries layouts for a device buffer that was read as a plain array of its size, including
  // padding.
  void add_layouts(const Dims& to) {
    const StridedLayout* own = actual_->storage();
    if (own == nullptr || actual_->has_no_stored_array()) return;
    for (const LayoutSpec& row : layouts()) {
      if (!row.dense() || row.shuffled()) continue;
      auto array = resolve(row.layout, to, actual_->dtype());
      if (!array || array->storage_elements != own->storage_elements) continue;
      candidates_.push_back({.cause = Cause::layout,
                             .words = "actual's array is golden's in " + std::string(row.name),
                             .array = *std::move(array)});
    }
  }

  Result<std::vector<Hint>> padding() const {
    return find_padding(*actual_, *golden_, judge_of_sides(*actual_, *golden_), execution_);
  }

  static std::vector<Hint> said(const Candidate& candidate, const std::string& more = {}) {
    return {{.cause = candidate.cause, .evidence = candidate.words + more}};
  }

  Result<std::unique_ptr<DiffSide>> side_of(const Candidate& candidate) const {
    if (candidate.array) return std::make_unique<hints::ViewedSide>(*actual_, *candidate.array);
    std::vector<Edit> edits = edits_.actual;
    edits.insert(edits.end(), candidate.edits.begin(), candidate.edits.end());
    return make_actual_(edits);
  }

  Judge judge_of_sides(const DiffSide& actual, const DiffSide& golden) const {
    return judge_of(effective(asked_, actual.grid(), golden.grid()), actual, golden);
  }

  Result<std::vector<long double>> sample_of(const Candidate& candidate) const {
    std::vector<std::uint64_t> numbers;
    std::vector<long double> values;
    if (candidate.array) {
      for (const Dims& place : places_) numbers.push_back(linear_key(golden_->dims(), place));
      BTF_ASSIGN(hints::Lookup lookup, hints::Lookup::open(*actual_, *candidate.array));
      return lookup.values(numbers);
    }
    BTF_ASSIGN(const auto side, side_of(candidate));
    BTF_ASSIGN(const std::vector<Element> found, side->elements(places_));
    for (const Element& element : found)
      values.push_back(widen_code<long double>(side->dtype(), element.code));
    return values;
  }

  // Tries exact matches first, in order; among those with noise, prefers the simplest that leaves
  // the least.
  Result<std::vector<Hint>> try_all() const {
    const Judge judge = judge_of_sides(*actual_, *golden_);
    std::vector<long double> golden;
    for (const Element& element : sample_)
      golden.push_back(widen_code<long double>(golden_->dtype(), element.code));
    struct Likely {
      const Candidate* candidate = nullptr;
      double left = 0;
    };
    std::vector<Likely> likely;
    std::size_t passes = 0;
    for (const Candidate& candidate : candidates_) {
      BTF_ASSIGN(const std::vector<long double> actual, sample_of(candidate));
      bool agree = passes < kMaxPasses;
      for (std::size_t i = 0; agree && i < actual.size(); ++i)
        agree = accepts(actual[i], golden[i], judge, linear_key(golden_->dims(), places_[i]));
      if (agree) {
        BTF_ASSIGN(const bool all, equal(candidate));
        if (all) return said(candidate);
        passes += candidate.cause == Cause::shape && candidate.edits.size() == 1 &&
                          std::holds_alternative<Reshape>(candidate.edits.front())
                      ? 0
                      : 1;
      }
      if (const auto left = hints::noise_share(actual, golden))
        likely.push_back({&candidate, *left});
    }
    if (golden_->storage() == nullptr || golden_->has_no_stored_array() ||
        actual_->storage() == nullptr)
      return {};
    // Candidates that leave nearly as much are equally good.
    constexpr double kAsGood = 1.5;
    for (std::size_t walks = 0; walks < kMaxPasses && !likely.empty(); ++walks) {
      const double least = std::ranges::min(likely, {}, &Likely::left).left;
      const auto plainest = std::ranges::find_if(
          likely, [&](const Likely& one) { return one.left <= kAsGood * least; });
      BTF_ASSIGN(const auto side, side_of(*plainest->candidate));
      BTF_ASSIGN(const auto found,
                 hints::find_noisy_match(*side, *golden_, static_cast<double>(candidates_.size()),
                                         execution_));
      if (found) return said(*plainest->candidate, found->text);
      likely.erase(plainest);
    }
    return {};
  }

  Result<bool> equal(const Candidate& candidate) const {
    BTF_ASSIGN(const auto side, side_of(candidate));
    BTF_ASSIGN(const CompareScore score,
               score_pairs(*side, *golden_, judge_of_sides(*side, *golden_), execution_));
    return score.mismatched == 0;
  }

  // Element by element with the dims of golden, for which all causes are searched.
  Result<std::vector<Hint>> hints_with_golden_dims() const {
    const Candidate reshaped{.words = {}, .edits = {reshape_to(golden_->dims())}};
    BTF_ASSIGN(const auto side, side_of(reshaped));
    if (side->has_no_stored_array() || golden_->has_no_stored_array()) return {};
    const Judge judge = judge_of_sides(*side, *golden_);
    BTF_ASSIGN(const CompareScore score, score_pairs(*side, *golden_, judge, execution_));
    if (score.mismatched == 0) return {};
    MismatchCollector mismatches(0, kHintSample);
    PairCollector* const collectors[] = {&mismatches};
    BTF_TRY(collect(PairRows(*side, *golden_, execution_), judge, collectors));
    const std::vector<std::uint64_t> numbers = mismatches.sample();
    BTF_ASSIGN(std::vector<Hint> found, find_hints({.actual = *side,
                                                    .golden = *golden_,
                                                    .judge = judge,
                                                    .mismatched = score.mismatched,
                                                    .sample = numbers,
                                                    .execution = execution_}));
    for (Hint& hint : found) hint.evidence = std::string(kGivenGoldensDims) + hint.evidence;
    return found;
  }

  const MakeSide& make_actual_;
  const ShapeEdits& edits_;
  const TensorDiff& diff_;
  const Tolerance& asked_;
  Execution execution_;
  const MakeSide& make_golden_;
  std::unique_ptr<DiffSide> actual_;
  std::unique_ptr<DiffSide> golden_;
  std::vector<Candidate> candidates_;
  std::vector<Dims> places_;
  std::vector<Element> sample_;
};

}  // namespace

Result<ShapeEdits> shape_edits(const Dims& actual, const Dims& golden, const DiffOptions& options) {
  ShapeEdits edits;
  if (options.permute && options.permute->order.size() == actual.size())
    edits.actual.push_back(*options.permute);
  if (options.squeeze) {
    edits.actual.push_back(Squeeze{});
    edits.golden.push_back(Squeeze{});
  }
  if (!options.reshape_actual) return edits;
  BTF_ASSIGN(const Dims from, edited_dims(actual, edits.actual));
  BTF_ASSIGN(const Dims to, edited_dims(golden, edits.golden));
  if (from != to && may_be_reshaped(from, to)) edits.actual.push_back(reshape_to(to));
  return edits;
}

Result<std::vector<Hint>> find_shape_hints(const MakeSide& actual, const MakeSide& golden,
                                           const ShapeEdits& edits, const Tolerance& asked,
                                           const TensorDiff& diff, const Execution& execution) {
  return ShapeSearch(actual, golden, edits, asked, diff, execution).run();
}

namespace {

constexpr DType kDequantized = DType::float64;

std::unexpected<Error> refuse_scale(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

Result<QuantizePlan> plan_of_option(const GivenScale& given, const TensorInfo& record) {
  QuantizePlan plan;
  if (!holds_codes(record)) return plan;
  BTF_TRY(check_given_scale(given, record));
  plan.scaling = Scaling::dequantize;
  plan.cast = {.from = *record.dtype, .to = kDequantized, .policy = {}};
  apply_given_scale(given, plan.scales);
  return plan;
}

Result<QuantizePlan> plan_of_file(const TensorFile& file, const TensorInfo& record,
                                  const ScaleOrigin& origin, const ScaleChoice& choice,
                                  const Execution& execution) {
  ConvertOptions options;
  options.dtype = kDequantized;
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
  Losses losses_;  // no losses occur
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
  // Scales per index of a dim belong to the stored order.
  bool has_no_stored_array() const override {
    return codes_->has_no_stored_array() || plan_.scales.several();
  }
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
    BTF_ASSIGN(QuantizePlan plan, plan_of_option(*choice_.given, record));
    used_ = used_ || plan.scaling != Scaling::none;
    return plan;
  }
  if (!dequantize_ || !holds_codes(record)) return QuantizePlan{};
  const QuantizedBy* const link = links_.find(record.index);
  if (link == nullptr && !links_.by_place()) return QuantizePlan{};
  BTF_TRY(links_.check_clear(file, record.index));
  auto plan =
      plan_of_file(file, record, {.link = link, .by_place = links_.by_place()}, choice_, execution);
  // Not every integer tensor is a tensor of codes.
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
  // Counts and indices have many bits, by which they are distinguished from codes. A format with
  // scales among the codes has none for tensors that it stores unchanged.
  const bool plain = info(*codes.dtype).bits > 8 ? undecoded_codes(codes).empty() : scales_inside_;
  if (plain && !numbers) return {};
  return refuse_scale(
      no_scales_text(file, codes) +
      (undecoded_codes(codes).empty() ? "; `actual_scale` and `golden_scale` give them" : ""));
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

namespace {

Status check_usable(const TensorFile& file, const TensorInfo& record) {
  Status status = file.check_overlap(record);
  if (status) status = check_known(record);
  return status ? status : std::unexpected(file.about(record.index, status.error()));
}

// Whether it has blocks with scales among the codes, as types of a format do.
bool is_foreign(const TensorInfo& record) {
  return !record.dtype && !record.foreign_dtype.empty() && record.layout == Layout::linear;
}

// The bytes of such a tensor, one row of blocks per row of bytes; file_side() recognises it by its
// foreign dtype.
Result<TensorInfo> bytes_of(TensorInfo record) {
  std::uint64_t rows = 1;
  for (std::size_t d = 0; d + 1 < record.dims.size(); ++d) rows *= record.dims[d];
  if (record.dims.empty()) record.dims = {1};
  record.dims.back() = rows == 0 ? 0 : record.data_bytes / rows;
  record.dtype = DType::uint8;
  record.dtype_code = info(DType::uint8).code();
  BTF_ASSIGN(record.storage, resolve(Layout::linear, record.dims, DType::uint8));
  return record;
}

// Whether the stored bytes of two tensors of one size are equal.
Result<bool> equal_bytes(const TensorFile& actual, const TensorInfo& a, const TensorFile& golden,
                         const TensorInfo& b) {
  constexpr std::uint64_t kSome = 1U << 20;
  BTF_ASSIGN(const ByteSource* const left, actual.stored(a.index));
  BTF_ASSIGN(const ByteSource* const right, golden.stored(b.index));
  std::vector<std::byte> left_bytes(std::min(kSome, a.data_bytes));
  std::vector<std::byte> right_bytes(left_bytes.size());
  for (std::uint64_t done = 0; done < a.data_bytes; done += left_bytes.size()) {
    const std::uint64_t some = std::min<std::uint64_t>(left_bytes.size(), a.data_bytes - done);
    const auto one = left->read_at(a.data_offset + done, std::span(left_bytes).first(some));
    if (!one) return std::unexpected(actual.about(a.index, one.error()));
    const auto other = right->read_at(b.data_offset + done, std::span(right_bytes).first(some));
    if (!other) return std::unexpected(golden.about(b.index, other.error()));
    if (std::memcmp(left_bytes.data(), right_bytes.data(), some) != 0) return false;
  }
  return true;
}

void note_codes(const QuantizePlan& plan, DiffTensor& tensor) {
  if (plan.scaling == Scaling::none) return;
  tensor.codes = tensor.dtype;
  tensor.dtype = plan.cast.to;
}

}  // namespace

Result<PairLoader> PairLoader::of(const TensorFile& actual, const TensorFile& golden,
                                  const DiffOptions& options) {
  PairLoader loader(actual, golden, options);
  BTF_ASSIGN(
      loader.actual_scales_,
      FileScales::of(actual, {options.dequantize, options.actual_scale, options.scale_blocks},
                     options.execution));
  BTF_ASSIGN(
      loader.golden_scales_,
      FileScales::of(golden, {options.dequantize, options.golden_scale, options.scale_blocks},
                     options.execution));
  return loader;
}

Result<LoadedPair> PairLoader::load(const TensorPair& tensors) const {
  LoadedPair pair;
  pair.diff.tier = tensors.tier;
  pair.diff.note = tensors.note;
  if (tensors.actual) {
    BTF_ASSIGN(pair.a, actual_scales_.record(*actual_, *tensors.actual));
  }
  if (tensors.golden) {
    BTF_ASSIGN(pair.b, golden_scales_.record(*golden_, *tensors.golden));
  }
  if (is_foreign(pair.a) && is_foreign(pair.b)) BTF_TRY(load_blocks(pair));
  if (tensors.actual) {
    BTF_TRY(check_usable(*actual_, pair.a));
    pair.diff.actual = tensor_of(pair.a);
  }
  if (tensors.golden) {
    BTF_TRY(check_usable(*golden_, pair.b));
    pair.diff.golden = tensor_of(pair.b);
  }
  if (!tensors.actual || !tensors.golden) return pair;
  auto left = actual_scales_.plan(*actual_, pair.a, options_->execution);
  if (!left) return std::unexpected(actual_->about(pair.a.index, left.error()));
  auto right = golden_scales_.plan(*golden_, pair.b, options_->execution);
  if (!right) return std::unexpected(golden_->about(pair.b.index, right.error()));
  const Status scaled = actual_scales_.check_found(*actual_, pair.a, *left, pair.b, *right);
  if (!scaled) return std::unexpected(actual_->about(pair.a.index, scaled.error()));
  const Status golden_scaled = golden_scales_.check_found(*golden_, pair.b, *right, pair.a, *left);
  if (!golden_scaled) return std::unexpected(golden_->about(pair.b.index, golden_scaled.error()));
  pair.left = *std::move(left);
  pair.right = *std::move(right);
  note_codes(pair.left, *pair.diff.actual);
  note_codes(pair.right, *pair.diff.golden);
  return pair;
}

// Two tensors of blocks are compared by their bytes if the options ask for it or the bytes are
// equal; otherwise by their numbers.
Status PairLoader::load_blocks(LoadedPair& pair) const {
  const bool like = pair.a.foreign_dtype == pair.b.foreign_dtype && pair.a.dims == pair.b.dims &&
                    pair.a.data_bytes == pair.b.data_bytes;
  bool bytes = options_->codes;
  if (!bytes) {
    BTF_ASSIGN(std::optional<TensorInfo> actual, actual_->dequantized(pair.a.index));
    BTF_ASSIGN(std::optional<TensorInfo> golden, golden_->dequantized(pair.b.index));
    if (actual && golden && actual->known() && golden->known()) {
      pair.a = *std::move(actual);
      pair.b = *std::move(golden);
      return {};
    }
    if (!like) return {};
    BTF_ASSIGN(bytes, equal_bytes(*actual_, pair.a, *golden_, pair.b));
    if (!bytes) pair.a.foreign_reason += ", and its bytes differ; `codes` compares these";
    if (!bytes) return {};
  }
  BTF_ASSIGN(pair.a, bytes_of(std::move(pair.a)));
  BTF_ASSIGN(pair.b, bytes_of(std::move(pair.b)));
  return {};
}

Result<std::unique_ptr<DiffSide>> PairLoader::actual(const LoadedPair& pair,
                                                     std::span<const Edit> edits,
                                                     const Execution& execution) const {
  return scaled_side(file_side(*actual_, pair.a, edits, execution), pair.left, edits);
}

Result<std::unique_ptr<DiffSide>> PairLoader::golden(const LoadedPair& pair,
                                                     std::span<const Edit> edits,
                                                     const Execution& execution) const {
  return scaled_side(file_side(*golden_, pair.b, edits, execution), pair.right, edits);
}

}  // namespace btf
