// One output made of tensors of a set: attributes, scales, limits of losses, and the records.
#include "convert/file_conversion.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/attributes.h"
#include "btf/convert.h"
#include "btf/dtype.h"
#include "btf/quantize.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "convert/quantize/dequantize_plan.h"
#include "convert/quantize/scale_links.h"
#include "convert/quantize/scales.h"
#include "convert/tensor/target.h"
#include "core/errors.h"
#include "core/names.h"
#include "elements/cast.h"
#include "formats/format_table.h"
#include "formats/io/output.h"
#include "formats/zstd_sink.h"

namespace btf {
namespace {

class AttributeMerge {
 public:
  // Records which tensor of the output a tensor of the input becomes, and whether its codes are
  // dequantised. All calls must precede add().
  void place(const SetTensor& source, std::uint64_t target, bool dequantized) {
    targets_.emplace(std::pair(source.member, source.index), target);
    if (dequantized) dequantized_.insert(target);
  }
  // Adds the records of scales that are written after a tensor.
  void quantized(std::uint64_t target, const std::vector<ScaleRecord>& scales,
                 const Quantization& how);
  // Adds the attributes of a member. A link to a tensor that is not converted is dropped. Of the
  // attributes of whole files, those of the first member are kept.
  void add(std::uint64_t member, const FileAttributes& attributes);

  // Tensors of the output whose link was dropped.
  const std::set<std::uint64_t>& unlinked() const { return unlinked_; }
  FileAttributes take() { return std::move(merged_); }

 private:
  std::optional<std::uint64_t> target_of(std::uint64_t member, std::uint64_t index) const;
  std::optional<QuantizedBy> linked(std::uint64_t member, const QuantizedBy& by) const;

  std::multimap<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> targets_;
  std::set<std::uint64_t> dequantized_;
  std::set<std::uint64_t> unlinked_;
  FileAttributes merged_;
};

// If a tensor is selected twice, links refer to its first copy.
std::optional<std::uint64_t> AttributeMerge::target_of(std::uint64_t member,
                                                       std::uint64_t index) const {
  const auto found = targets_.lower_bound({member, index});
  if (found == targets_.end() || found->first != std::pair(member, index)) return std::nullopt;
  return found->second;
}

std::optional<QuantizedBy> AttributeMerge::linked(std::uint64_t member,
                                                  const QuantizedBy& by) const {
  const auto scale = target_of(member, by.scale);
  if (!scale) return std::nullopt;
  QuantizedBy moved = by;
  moved.scale = *scale;
  for (auto* link : {&moved.global_scale, &moved.zero_point}) {
    if (!*link) continue;
    *link = target_of(member, **link);
    // Scales without their zero points, or half of the scales, would change the meaning.
    if (!*link) return std::nullopt;
  }
  return moved;
}

void AttributeMerge::quantized(std::uint64_t target, const std::vector<ScaleRecord>& scales,
                               const Quantization& how) {
  QuantizedBy by;
  bool scaled = false;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const std::uint64_t index = target + 1 + i;
    if (scales[i].kind == ScaleKind::zero_points) {
      by.zero_point = index;
    } else if (scaled) {
      by.global_scale = index;
    } else {
      by.scale = index;
      scaled = true;
    }
  }
  if (!scaled) return;
  if (how.block) {
    by.kind = ScaleOf::block;
    by.axis = scales.front().storage.dims.size() - 1;
    by.block = info(*how.block).block;
  } else if (how.axis) {
    by.kind = ScaleOf::channel;
    by.axis = *how.axis;
  }
  merged_.tensors[target].quantized = by;
}

void AttributeMerge::add(std::uint64_t member, const FileAttributes& attributes) {
  if (merged_.producer.empty()) merged_.producer = attributes.producer;
  merged_.metadata.insert(attributes.metadata.begin(), attributes.metadata.end());
  merged_.others.insert(attributes.others.begin(), attributes.others.end());
  for (const auto& [index, tensor] : attributes.tensors) {
    const auto [first, last] = targets_.equal_range({member, index});
    for (auto at = first; at != last; ++at) {
      TensorAttributes moved = tensor;
      if (moved.quantized) {
        moved.quantized = linked(member, *moved.quantized);
        if (!moved.quantized && !dequantized_.contains(at->second)) unlinked_.insert(at->second);
      }
      std::optional<QuantizedBy>& written = merged_.tensors[at->second].quantized;
      if (written) moved.quantized = std::move(written);
      merged_.tensors[at->second] = std::move(moved);
    }
  }
}

// A few digits show by how much a limit is missed.
std::string short_text(double value) {
  std::array<char, 32> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 4);
  return {text.data(), end.ptr};
}

Status check(const std::optional<LossLimit>& limit, std::uint64_t count, std::uint64_t elements,
             const char* what) {
  if (!limit) return {};
  const double share = 100 * static_cast<double>(count) / static_cast<double>(elements);
  if ((limit->percent ? share : static_cast<double>(count)) <= limit->most || count == 0) return {};
  return fail(ErrorCode::refused, count, " of ", elements, " elements (", short_text(share), " %) ",
              what, ", the limit is ", number_text(limit->most), limit->percent ? " %" : "");
}

// An error if a tensor lost more than the limits allow.
Status check_limits(const LossLimits& limits, const Losses& losses) {
  BTF_TRY(check(limits.zero, losses.to_zero, losses.elements, "became zero"));
  BTF_TRY(check(limits.overflow, losses.overflowed, losses.elements, "overflowed"));
  if (!limits.snr || !losses.noise) return {};
  const double snr = losses.noise->decibels();
  if (snr >= *limits.snr) return {};
  return fail(ErrorCode::refused, "the signal-to-noise ratio is " + short_text(snr) +
                                      " dB, the limit is " + number_text(*limits.snr) + " dB");
}

// A file that cannot be opened is not reported here but where it is compared.
bool holds_only_codes(const TensorSet& set, std::uint64_t member) {
  if (set.trouble(member) != nullptr) return false;
  const auto file = set.file(member);
  if (!file || (*file)->tensor_count() != 1) return false;
  const auto record = (*file)->tensor(0);
  return record && holds_codes(*record);
}

class SetScaleReader {
 public:
  SetScaleReader(const TensorSet& set, const Execution& execution)
      : set_(set), execution_(execution) {}

  Result<GivenScale> read(std::uint64_t member, const QuantizedBy& by) const {
    BTF_ASSIGN(const auto codes_file, set_.file(member));
    BTF_ASSIGN(const TensorInfo codes, codes_file->tensor(0));
    if (by.global_scale)
      return refuse_scaling(
          "has a scale for each block in files of their own, which is not "
          "supported");
    BTF_ASSIGN(const auto file, set_.file(by.scale));
    auto given = read_scales(*file, codes);
    if (!given) return std::unexpected(given.error().in_file(file->path()));
    if (!by.zero_point || info(*codes.dtype).floating()) return *std::move(given);
    BTF_ASSIGN(const auto zero_file, set_.file(*by.zero_point));
    auto zeros = read_zero_points(*zero_file, codes, given->scales.size());
    if (!zeros) return std::unexpected(zeros.error().in_file(zero_file->path()));
    given->zero_points = *std::move(zeros);
    return *std::move(given);
  }

 private:
  // The link for a scale file, which contains a single tensor.
  static const QuantizedBy& only_tensor() {
    static const QuantizedBy kOnly{.scale = 0, .zero_point = 0};
    return kOnly;
  }

  static Status check_one_tensor(const TensorFile& file) {
    if (file.tensor_count() == 1) return {};
    return refuse_scaling(
        concat("has ", file.tensor_count(), " tensors; a file of scales must have exactly one"));
  }

  Result<GivenScale> read_scales(const TensorFile& file, const TensorInfo& codes) const {
    BTF_TRY(check_one_tensor(file));
    const StoredScales stored(file, codes, &only_tensor(), execution_);
    BTF_ASSIGN(const std::optional<TensorInfo> scales, stored.find(ScaleRole::scale));
    ScaleFit fit;
    if (scales) {
      BTF_ASSIGN(fit, fit_scales(*scales, codes.dims, &only_tensor()));
    }
    if (!fit.fits)
      return refuse_scaling("is named like the scales, but its dtype or dims do not fit");
    GivenScale given{.axis = fit.axis};
    BTF_ASSIGN(given.scales, stored.read_scales(*scales));
    return given;
  }

  Result<std::vector<std::int64_t>> read_zero_points(const TensorFile& file,
                                                     const TensorInfo& codes,
                                                     std::size_t scales) const {
    BTF_TRY(check_one_tensor(file));
    const StoredScales stored(file, codes, &only_tensor(), execution_);
    BTF_ASSIGN(const std::optional<TensorInfo> record, stored.find(ScaleRole::zero_point));
    if (!record || !is_integer(*record->dtype) || record->storage->elements() != scales)
      return refuse_scaling(concat("is named like the zero points, but does not hold ", scales,
                                   scales == 1 ? " integer" : " integers"));
    return stored.read_zero_points(*record);
  }

  const TensorSet& set_;
  const Execution& execution_;
};

}  // namespace

Result<std::set<std::uint64_t>> scale_tensors(const TensorFile& file) {
  BTF_ASSIGN(const FileAttributes attributes, file.attributes());
  return ScaleLinks::of(file, attributes).companions();
}

SetScales SetScales::of(const TensorSet& set) {
  SetScales found;
  NamedTensors names;
  for (std::uint64_t i = 0; i < set.member_count(); ++i) add_name(names, set.member(i).name, i);
  for (const auto& [name, member] : names) {
    if (!member) continue;
    const auto by = scales_named_after(names, name);
    if (!by || !holds_only_codes(set, *member)) continue;
    found.scales_.emplace(*member, by->by);
    if (by->rival) found.rivals_.emplace(*member, *by->rival);
    for (const auto& index : {std::optional(by->by.scale), by->by.zero_point, by->by.global_scale})
      if (index) found.companions_.insert(*index);
  }
  return found;
}

bool SetScales::only_scales(const MemberPair& pair, const SetScales& actual,
                            const SetScales& golden) {
  const auto other = [](const std::optional<std::uint64_t>& member, const SetScales& scales) {
    return member && !scales.is_companion(*member);
  };
  return !other(pair.actual, actual) && !other(pair.golden, golden);
}

Result<std::optional<GivenScale>> SetScales::given(const TensorSet& set, std::uint64_t member,
                                                   const Execution& execution) const {
  const auto found = scales_.find(member);
  if (found == scales_.end()) return std::nullopt;
  if (const auto rival = rivals_.find(member); rival != rivals_.end())
    return refuse_scaling("its scales may be " + set.member(found->second.scale).path + " or " +
                          set.member(rival->second).path + ": both are named like its scales");
  BTF_ASSIGN(GivenScale scale, SetScaleReader(set, execution).read(member, found->second));
  return scale;
}

namespace {

RecordShape shape_of(const ScaleRecord& scales, const RecordShape& data) {
  return {.dtype = scales.dtype,
          .layout_code = spec(Layout::linear).code(),
          .dims = scales.storage.dims,
          .payload = storage_bytes(scales.storage, scales.dtype),
          .name = data.name + std::string(scales.ending),
          .named = data.named};
}

// Explains which formats can hold scales; `refusal` is the message of the output's format.
std::string scale_formats_text(std::string refusal) {
  constexpr std::string_view kAdvice = ": select one";
  if (refusal.ends_with(kAdvice)) refusal.resize(refusal.size() - kAdvice.size());
  const auto holds_more = [](const FormatRow& row) {
    return row.writer != nullptr && !row.has(kSingle);
  };
  return refusal +
         ": the automatic scale is written as a second tensor after the codes; formats that "
         "can hold both are " +
         name_list(formats() | std::views::filter(holds_more)) +
         "; a scale that you give, as `quantization.scale` 0.02, is not written";
}

}  // namespace

FileConversion::FileConversion(const TensorSet& input, std::vector<std::uint64_t> tensors,
                               const SetScales& set_scales, ConvertOptions options,
                               std::unique_ptr<TensorWriter> writer)
    : input_(input),
      tensors_(std::move(tensors)),
      set_scales_(set_scales),
      options_(std::move(options)),
      unscaled_(options_),
      writer_(std::move(writer)) {
  unscaled_.quantization = {};
}

Status FileConversion::measure() {
  // Tensors of the previous input file that were used as scales.
  std::vector<SetTensor> consumed;
  BTF_TRY(read_attributes());
  for (const std::uint64_t number : tensors_) {
    PlannedTensor work{.number = number,
                       .place = {},
                       .name = {},
                       .named = false,
                       .entries = {},
                       .scaled = false,
                       .quantization = {}};
    BTF_ASSIGN(work.place, input_.tensor(number));
    if (std::ranges::find(consumed, work.place) != consumed.end()) continue;
    if (options_.quantization.dequantize &&
        links_.at(work.place.member).companions().contains(work.place.index))
      continue;
    BTF_ASSIGN(const auto file, input_.file(work.place.member));
    BTF_ASSIGN(const TensorInfo record, record_of(*file, work));
    BTF_TRY(file->check_overlap(record));
    BTF_TRY(name(record, work));
    if (const Status status = measure_tensor(*file, record, work); !status)
      return std::unexpected(file->about(work.place.index, status.error()));
    consumed.clear();
    if (work.quantization)
      for (const std::uint64_t index : work.quantization->consumed)
        consumed.push_back({work.place.member, index});
    work_.push_back(std::move(work));
  }
  if (!options_.drop_names) describe_tensors();
  if (!options_.names || options_.names->size() == work_.size()) return {};
  return fail(ErrorCode::invalid_argument, options_.names->size(), " names are given for ",
              work_.size(), " tensors");
}

Result<FileAttributes> usable_attributes(const TensorFile& file) {
  auto attributes = file.attributes();
  if (!attributes && !attributes.error().finding.empty()) return FileAttributes();
  return attributes;
}

Status FileConversion::read_attributes() {
  for (const std::uint64_t number : tensors_) {
    BTF_ASSIGN(const SetTensor place, input_.tensor(number));
    if (attributes_.contains(place.member)) continue;
    BTF_ASSIGN(const auto file, input_.file(place.member));
    BTF_ASSIGN(attributes_[place.member], usable_attributes(*file));
    const FileAttributes& read = attributes_[place.member];
    if (options_.quantization.dequantize) links_[place.member] = ScaleLinks::of(*file, read);
  }
  return {};
}

void FileConversion::describe_tensors() {
  AttributeMerge merge;
  std::uint64_t target = 0;
  // A file with names identifies scales by links, not by position.
  const bool named = std::ranges::any_of(work_, &PlannedTensor::named);
  for (const PlannedTensor& work : work_) {
    merge.place(work.place, target, work.quantization && options_.quantization.dequantize);
    if (work.quantization && named)
      merge.quantized(target, work.quantization->written, options_.quantization);
    target += 1 + (work.quantization ? work.quantization->written.size() : 0);
  }
  for (const auto& [member, attributes] : attributes_) merge.add(member, attributes);
  unlinked_ = merge.unlinked();
  writer_->describe(merge.take());
}

// The record as the file has it. If the file's format stores scales itself and they are to be
// applied, the record of the numbers, after which nothing is left to scale.
Result<TensorInfo> FileConversion::record_of(const TensorFile& file, PlannedTensor& work) const {
  if (options_.quantization.dequantize) {
    BTF_ASSIGN(std::optional<TensorInfo> numbers, file.dequantized(work.place.index));
    work.scaled = numbers.has_value();
    if (numbers) return *std::move(numbers);
  }
  BTF_ASSIGN(TensorInfo record, file.tensor(work.place.index));
  if (options_.quantization.dequantize) work.scaled = is_not_codes(record, work.place);
  return record;
}

// Returns true for scales and zero points of others. In files that say which tensors are codes,
// also for wide integers without a link, such as shapes and indices.
bool FileConversion::is_not_codes(const TensorInfo& record, const SetTensor& place) const {
  const ScaleLinks& links = links_.at(place.member);
  if (links.is_part(record)) return true;
  if (!record.dtype || info(*record.dtype).floating() || info(*record.dtype).bits <= 8)
    return false;
  return links.find(place.index) == nullptr && undecoded_codes(record).empty() && links.any();
}

const ConvertOptions& FileConversion::options_of(const PlannedTensor& work) const {
  return work.scaled ? unscaled_ : options_;
}

// A name that only comes from the file's name is stored if tensors of several files are combined.
Status FileConversion::name(const TensorInfo& record, PlannedTensor& work) {
  work.name = record.name;
  work.named = !options_.drop_names && (record.named || input_.member_count() > 1);
  const std::size_t number = work_.size();
  if (options_.names && number < options_.names->size()) {
    work.named = !(*options_.names)[number].empty();
    if (work.named) work.name = (*options_.names)[number];
  }
  const auto renaming = options_.rename.find(work.name);
  if (renaming == options_.rename.end()) return {};
  renamed_.insert(work.name);
  work.name = renaming->second;
  work.named = !options_.drop_names;
  return {};
}

Result<RecordShape> FileConversion::shape_of(const PlannedTensor& work,
                                             const ConvertTarget& target) const {
  BTF_ASSIGN(RecordShape shape, record_shape(target, options_, work.entries.all));
  shape.name = work.name;
  shape.named = work.named;
  return shape;
}

Status FileConversion::measure_tensor(const TensorFile& file, const TensorInfo& record,
                                      PlannedTensor& work) {
  const ConvertOptions& options = options_of(work);
  BTF_ASSIGN(const ConvertTarget target, choose_target(record, options));
  shuffled_ = shuffled_ || spec(target.layout).shuffled();
  BTF_ASSIGN(const ByteSource* const source, file.elements(record.index));
  const TensorConversion conversion{*source, record, target, options};
  if (target.sparse()) {
    BTF_ASSIGN(work.entries, count_entries(conversion));
  }
  BTF_ASSIGN(const RecordShape shape, shape_of(work, target));
  BTF_TRY(announce(shape));
  records_.push_back({.work = work_.size()});
  if (!options.quantization.active()) return {};
  BTF_ASSIGN(const std::optional<GivenScale> given,
             set_scales_.given(input_, work.place.member, options.execution));
  ScaleOrigin origin{.given = given ? &*given : nullptr};
  if (options.quantization.dequantize && !given) {
    const ScaleLinks& links = links_.at(work.place.member);
    BTF_TRY(links.check_clear(file, work.place.index));
    origin.link = links.find(work.place.index);
    origin.by_place = links.by_place();
  }
  BTF_ASSIGN(QuantizePlan plan, plan_quantization(file, conversion, origin));
  work.quantization = std::make_unique<QuantizePlan>(std::move(plan));
  for (const ScaleRecord& scales : work.quantization->written) {
    Status fits = announce(btf::shape_of(scales, shape));
    // The conversion of one tensor adds a second record for its scales, which the message must
    // explain.
    if (!fits && work_.empty() && records_.size() == 1)
      fits.error().message = scale_formats_text(fits.error().message);
    BTF_TRY(std::move(fits));
    records_.push_back({.work = work_.size(), .scales = &scales});
  }
  return {};
}

Status FileConversion::announce(const RecordShape& shape) {
  if (!options_.recipient) return writer_->add(shape);
  const RecipientRow& row = info(*options_.recipient);
  if (const auto objection = dtype_objection(row, info(shape.dtype).code()))
    return fail(ErrorCode::unsupported,
                objection->message + "; set `dtype` to one that it supports: " + dtype_list(row));
  if (const auto objection = layout_objection(row, shape.layout_code))
    return fail(ErrorCode::unsupported, objection->message + "; set `layout` to linear");
  return writer_->add(shape);
}

std::vector<SetTensor> FileConversion::consumed() const {
  std::vector<SetTensor> found;
  for (const PlannedTensor& work : work_)
    if (work.quantization)
      for (const std::uint64_t index : work.quantization->consumed)
        found.push_back({work.place.member, index});
  return found;
}

Result<std::uint64_t> FileConversion::write_to(const MakeSink& make_sink,
                                               const TensorReportSink& report) {
  BTF_ASSIGN(const std::uint64_t bytes, writer_->total_bytes());
  const bool compressed = options_.compression.has_value();
  // The compressed size is not known in advance.
  BTF_ASSIGN(const std::unique_ptr<ByteSink> file,
             make_sink({.size = compressed ? 0 : bytes, .sync = options_.sync}));
  if (!compressed) {
    BTF_TRY(write(*buffer_small_writes(*file), report));
    BTF_TRY(file->commit());
    // Some formats have a different form for sinks that cannot seek.
    return writer_->total_bytes();
  }
  const unsigned threads = worker_count(options_.execution, UINT64_MAX, bytes);
  const auto sink = zstd::compressing_sink(*file, {*options_.compression, shuffled_}, threads);
  BTF_TRY(write(*sink, report));
  BTF_TRY(file->commit());
  return sink->file_bytes();
}

Status FileConversion::write(ByteSink& sink, const TensorReportSink& report) {
  BTF_TRY(writer_->begin(sink));
  const std::vector<std::size_t> order = writer_->order();
  places_.resize(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) places_[order[place]] = place;
  for (const std::size_t number : order) BTF_TRY(write_record(number, sink, report));
  BTF_TRY(writer_->end(sink));
  // With many outputs, each for one file, checking all inputs every time would take quadratic time.
  if (!set_scales_.empty()) BTF_TRY(input_.check_unchanged());
  for (const auto& [member, attributes] : attributes_) BTF_TRY(input_.check_unchanged(member));
  return sink.commit();
}

Status FileConversion::write_record(std::size_t number, ByteSink& sink,
                                    const TensorReportSink& report) {
  PlannedTensor& work = work_[records_[number].work];
  const SetTensor& place = work.place;
  BTF_ASSIGN(const auto file, input_.file(place.member));
  BTF_ASSIGN(const TensorInfo tensor, record_of(*file, work));
  const Status written = write_parts(*file, tensor, number, sink, report);
  if (!written) return std::unexpected(file->about(place.index, written.error()));
  return {};
}

Status FileConversion::write_parts(const TensorFile& file, const TensorInfo& tensor,
                                   std::size_t number, ByteSink& sink,
                                   const TensorReportSink& report) {
  const PlannedTensor& work = work_[records_[number].work];
  const ConvertOptions& options = options_of(work);
  BTF_ASSIGN(const ConvertTarget target, choose_target(tensor, options));
  BTF_ASSIGN(const ByteSource* const source, file.elements(tensor.index));
  const TensorConversion conversion{*source, tensor, target, options};
  BTF_ASSIGN(const RecordShape shape, shape_of(work, target));
  if (const ScaleRecord* const scales = records_[number].scales)
    return write_scales(conversion, *work.quantization, *scales, shape, sink);
  TensorReport written = describe(work, tensor, target, shape);
  written.target = places_[number];
  written.unlinked = unlinked_.contains(number);
  const ByteSource* block_scales = nullptr;
  if (work.quantization && work.quantization->block_scales) {
    BTF_ASSIGN(block_scales, file.elements(work.quantization->block_scales->index));
  }
  BTF_ASSIGN(const Losses loss, write_data(work, conversion, block_scales, shape, sink));
  BTF_TRY(check_limits(options_.limits, loss));
  written.loss = loss;
  if (loss.noise) (options.limits.snr ? written.snr : written.snr_about) = loss.noise->decibels();
  for (std::size_t next = number + 1; next < records_.size() && records_[next].scales; ++next)
    written.scale_targets.push_back(places_[next]);
  if (report) report(written);
  return {};
}

Result<Losses> FileConversion::write_data(const PlannedTensor& work,
                                          const TensorConversion& conversion,
                                          const ByteSource* block_scales, const RecordShape& shape,
                                          ByteSink& sink) {
  const ConvertTarget& target = conversion.target;
  BTF_ASSIGN(const std::uint64_t payload, writer_->begin_record(sink, shape));
  const std::unique_ptr<ByteSink> shuffling =
      shuffling_sink(sink, payload, shape.payload, target.layout, shape.dtype);
  ByteSink& elements_to = shuffling                        ? *shuffling
                          : writer_->elements() != nullptr ? *writer_->elements()
                                                           : sink;
  Losses loss;
  if (target.sparse()) {
    BTF_ASSIGN(loss, write_coo(conversion, elements_to, payload, work.entries));
  } else {
    std::optional<UnpackedRecord> unpacked;
    if (!work.quantization) {
      BTF_ASSIGN(unpacked, UnpackedRecord::make(conversion, elements_to.random_access()));
    }
    const TensorConversion from =
        unpacked
            ? TensorConversion{unpacked->source(), unpacked->record(), target, conversion.options}
            : conversion;
    const ElementSource elements = work.quantization
                                       ? scaled_elements(from, *work.quantization, block_scales)
                                       : record_elements(from);
    BTF_ASSIGN(loss, write_dense(elements, options_.policy, *target.storage, target.job.to,
                                 options_.execution, elements_to, payload));
  }
  BTF_TRY(writer_->end_record(sink));
  return loss;
}

Status FileConversion::write_scales(const TensorConversion& conversion, const QuantizePlan& plan,
                                    const ScaleRecord& scales, const RecordShape& data,
                                    ByteSink& sink) {
  const RecordShape shape = btf::shape_of(scales, data);
  BTF_ASSIGN(const std::uint64_t payload, writer_->begin_record(sink, shape));
  ByteSink& elements_to = writer_->elements() != nullptr ? *writer_->elements() : sink;
  BTF_TRY(write_dense(scale_elements(conversion, plan, scales), {}, scales.storage, scales.dtype,
                      options_.execution, elements_to, payload));
  return writer_->end_record(sink);
}

TensorReport FileConversion::describe(const PlannedTensor& work, const TensorInfo& record,
                                      const ConvertTarget& target, const RecordShape& shape) const {
  TensorReport report{.source = work.number,
                      .target = {},
                      .name = work.name,
                      .output = {},
                      .source_dtype = *record.dtype,
                      .target_dtype = target.job.to,
                      .source_layout = *record.layout,
                      .target_layout = target.layout,
                      .source_dims = record.dims,
                      .target_dims = target.dims,
                      .data_bytes = writer_->data_bytes(shape),
                      .nnz = {},
                      .loss = {},
                      .snr = {},
                      .snr_about = {},
                      .scales = {},
                      .zero_points = {},
                      .scale_targets = {},
                      .kept = target.kept,
                      .unlinked = false,
                      .objections = target.objections};
  if (target.sparse()) {
    report.nnz = work.entries.all;
  } else if (options_.plain) {
    report.target_layout = Layout::linear;
    report.target_dims = shape.dims;
  }
  const QuantizePlan* plan = work.quantization.get();
  if (plan != nullptr && plan->scaling != Scaling::none &&
      (plan->scales.blocks == nullptr || plan->scales.blocks->tensor_scale))
    report.scales = plan->scales.values;
  if (plan != nullptr) report.zero_points = plan->scales.zero_points;
  return report;
}

}  // namespace btf
