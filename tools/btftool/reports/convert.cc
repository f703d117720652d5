#include "reports/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "btf/dtype.h"
#include "btf/output.h"
#include "btf/tensor_spec.h"
#include "cli/arguments.h"
#include "io/text.h"
#include "report/text/json.h"

namespace btftool {
namespace {

std::string_view name_of(btf::DType dtype) { return btf::info(dtype).name; }

// "overflowed to +-448", the value that replaces everything beyond it; or what else happens.
std::string overflow_target(btf::DType dtype, const btf::CastPolicy& policy) {
  const btf::DTypeInfo& row = btf::info(dtype);
  if (!row.floating())
    return policy.overflow == btf::Overflow::wrap ? "overflowed and wrapped"
                                                  : "overflowed and clamped";
  if (policy.overflow == btf::Overflow::ieee || !row.fp.saturates)
    return row.fp.specials == btf::FloatSpecials::ieee ? "overflowed to +-Inf"
                                                       : "overflowed to NaN";
  return "overflowed to " + std::string(row.fp.power_of_two ? "" : "+-") +
         btf::value_text(dtype, btf::largest_code(dtype));
}

std::string cast_of(std::string_view from, std::string_view to) {
  return fmt::format("{} -> {}", from, to);
}

std::string cast_text(const btf::TensorReport& report) {
  return cast_of(name_of(report.source_dtype), name_of(report.target_dtype)) + ":";
}

// "float32 -> int8: scale 0.031", the scales that were found.
std::string scale_line(const btf::TensorReport& report) {
  constexpr std::size_t kShown = 4;
  std::string text = cast_text(report) + " scale";
  for (std::size_t i = 0; i < std::min(kShown, report.scales.size()); ++i)
    text += fmt::format("{}{:.9g}", i == 0 ? " " : ", ", report.scales[i]);
  if (report.scales.size() == 1 && report.zero_points.size() == 1)
    text += fmt::format(", zero point {}", report.zero_points.front());
  if (report.scales.size() > kShown)
    text += fmt::format(", and {} more", report.scales.size() - kShown);
  return text;
}

// Returns true if the ratio is estimated from some of the elements. `snr` is the exact one, which
// is only computed if it was asked for.
bool is_sampled(const std::optional<double>& snr, const btf::LossAccount& loss) {
  return !snr && loss.elements > btf::kSnrSample;
}

std::string snr_text(const btf::TensorReport& report) {
  const std::optional<double> snr = report.snr ? report.snr : report.snr_about;
  if (!snr || !std::isfinite(*snr)) return {};
  return fmt::format("snr {}{:.4g} dB", is_sampled(report.snr, report.loss) ? "about " : "", *snr);
}

// If `all` is set, the line also counts inexact elements, which every cast to a smaller float has
// and which the ratio summarises.
std::string loss_line(const btf::TensorReport& report, const btf::CastPolicy& policy, bool scaled,
                      bool all) {
  const btf::LossAccount& loss = report.loss;
  const std::string snr = snr_text(report);
  const bool rounding = all || scaled || snr.empty() || !btf::info(report.target_dtype).floating();
  std::string counts;
  const auto add = [&](std::uint64_t count, const std::string& what) {
    if (count > 0) counts += (counts.empty() ? " " : ", ") + std::to_string(count) + " " + what;
  };
  add(loss.overflowed, overflow_target(report.target_dtype, policy));
  add(loss.nan - loss.nan_lost, "NaN");
  add(loss.nan_lost, "NaN lost");
  add(loss.sign_lost, "signs lost");
  add(loss.to_zero, "became zero");
  if (rounding) add(loss.inexact - loss.sign_lost, "inexact");
  std::string text = cast_text(report) + counts;
  if (!counts.empty()) text += " of " + std::to_string(loss.elements);
  // Nearly all scaled values are inexact, so the largest error is more useful than their number.
  if (scaled) return text + fmt::format(", largest error {:.6g}", loss.max_abs);
  if (!snr.empty() && (all || !rounding)) text += (counts.empty() ? " " : ", ") + snr;
  return text;
}

// Warns if a large part of the tensor is lost, which is hardly what was wanted. Returns
// std::nullopt for a conversion with scales; wrapped values do not count.
std::optional<std::string> loss_warning(const btf::TensorReport& report,
                                        const btf::ConvertOptions& options) {
  constexpr double kLargePart = 0.1;
  const btf::LossAccount& loss = report.loss;
  if (options.quantization.active()) return std::nullopt;
  const bool wrapped = options.policy.overflow == btf::Overflow::wrap;
  const std::uint64_t lost = loss.to_zero + (wrapped ? 0 : loss.overflowed);
  const double part = static_cast<double>(lost) / static_cast<double>(loss.elements);
  if (lost == 0 || part < kLargePart) return std::nullopt;
  std::string text = fmt::format("{} of {} elements ({:.3g} %) became zero or were clamped as {}",
                                 lost, loss.elements, 100 * part, name_of(report.target_dtype));
  if (btf::can_scale(report.target_dtype) && !report.nnz &&
      report.source_layout != btf::Layout::coo)
    text += "; --scale auto fits their range to it";
  return text;
}

// Warnings that are not about lost values.
std::vector<std::string> warnings_of(const btf::TensorReport& report) {
  std::vector<std::string> warnings;
  if (report.kept) warnings.push_back("keeps its layout: " + *report.kept);
  if (report.unlinked)
    warnings.emplace_back(
        "its scales or zero points are not in the output, so the link to them is left out too");
  warnings.insert(warnings.end(), report.objections.begin(), report.objections.end());
  return warnings;
}

Json report_json(const btf::TensorReport& report, const btf::ConvertOptions& options) {
  Json warnings(warnings_of(report));
  if (auto lost = loss_warning(report, options)) warnings.push_back(*std::move(lost));
  Json scales = Json::array();
  for (const double scale : report.scales) scales.push_back(json_number(scale));
  Json zero_points = Json::array();
  for (const std::int64_t zero : report.zero_points) zero_points.push_back(zero);
  Json json{{"index", json_number(report.target)},
            {"name", report.name},
            {"output", report.output.empty() ? Json(nullptr) : Json(report.output)},
            {"source_index", json_number(report.source)},
            {"source_dtype", name_of(report.source_dtype)},
            {"dtype", name_of(report.target_dtype)}};
  add_layout(json, "source_", report.source_layout);
  add_layout(json, "", report.target_layout);
  json["source_shape"] = json_dims(report.source_dims);
  json["shape"] = json_dims(report.target_dims);
  json["data_bytes"] = json_number(report.data_bytes);
  json["nnz"] = report.nnz ? json_number(*report.nnz) : Json(nullptr);
  json["kept_layout"] = report.kept.has_value();
  json["scales"] = std::move(scales);
  json["zero_points"] = std::move(zero_points);
  json["scale_records"] = json_dims(report.scale_targets);
  json["loss"] = json_loss(report.loss);
  json["loss"]["snr"] = report.snr ? json_number(*report.snr) : Json(nullptr);
  json["loss"]["snr_about"] = report.snr_about ? json_number(*report.snr_about) : Json(nullptr);
  json["warnings"] = std::move(warnings);
  return json;
}

// The tensor in messages. With several files its number alone does not identify it.
std::string title(const btf::TensorReport& report, bool named) {
  std::string text = "tensor " + std::to_string(report.source);
  if (named) text += " " + quoted_name(report.name);
  return text;
}

// Returns the ratio for totals: not an infinite one, and none for scaled tensors, whose errors say
// more.
std::optional<double> snr_of(const std::optional<double>& snr, bool scaled) {
  return scaled || !snr || !std::isfinite(*snr) ? std::nullopt : snr;
}

// Returns the --input-spec of a raw output file, which does not describe itself.
std::optional<std::string> raw_text(const btf::TensorReport& report, const std::string& path,
                                    const btf::ConvertOptions& options) {
  const auto format = btf::output_format(path, options);
  if (options.spec || !format || !btf::format_has(*format, btf::kUndescribed)) return std::nullopt;
  const std::string spec =
      btf::spec_text(report.target_dtype, report.target_layout, report.target_dims);
  if (btf::is_standard_output(path)) return "to read standard output: --input-spec " + spec;
  std::string text = "to read " + printable(path) + ": --input-spec " + spec;
  if (!btf::parse_dump_name(path))
    text += "; trtexec would name it " +
            printable(btf::dump_name(path, report.target_dtype, report.target_dims));
  return text;
}

// Returns a hint about an output file with a dtype that NumPy itself does not know.
std::optional<std::string> numpy_text(const btf::TensorReport& report, const std::string& path,
                                      const btf::ConvertOptions& options) {
  if (options.as_uint || !btf::info(report.target_dtype).npy.empty()) return std::nullopt;
  const auto format = btf::output_format(path, options);
  if (!format || !btf::format_has(*format, btf::kNumpyArrays)) return std::nullopt;
  return fmt::format(
      "NumPy needs 'import ml_dtypes' to read {}; --as-uint writes the codes as unsigned integers, "
      "which it can read without",
      name_of(report.target_dtype));
}

// Returns true if the extension is of no known format, so that other tools may misread the file.
bool has_odd_ending(const std::string& path, const btf::ConvertOptions& options) {
  const bool has_format = !options.format.empty() || options.spec;
  return !has_format && btf::has_unknown_extension(path) && !btf::is_standard_output(path);
}

}  // namespace

ConversionMessage describe(const btf::TensorReport& report, const ConvertCommand& command,
                           bool named) {
  const btf::ConvertOptions& options = command.convert;
  const std::string& path = report.output.empty() ? command.output : report.output;
  const bool scaled = options.quantization.active();
  const std::string tensor = title(report, named) + ": ";
  ConversionMessage message{.raw = raw_text(report, path, options)};
  if (has_odd_ending(path, options)) message.ending = path;
  for (const std::string& warning : warnings_of(report))
    message.warnings.push_back(tensor + warning);
  if (const auto lost = loss_warning(report, options)) message.alarm = tensor + *lost;
  message.numpy = numpy_text(report, path, options);
  const bool densified = report.source_layout == btf::Layout::coo && !report.nnz;
  if (densified && !options.layout && !options.spec) message.dense = title(report, named);
  if (!report.scales.empty() && !report.scale_targets.empty())
    message.scale = tensor + scale_line(report);
  if (report.loss.changed() > 0)
    for (const bool all : {false, true})
      (all ? message.losses : message.loss) =
          tensor + loss_line(report, options.policy, scaled, all);
  message.lost = {title(report, named),
                  cast_of(name_of(report.source_dtype), name_of(report.target_dtype)), report.loss,
                  snr_of(report.snr ? report.snr : report.snr_about, scaled),
                  is_sampled(report.snr, report.loss)};
  if (command.json || command.part) message.json = report_json(report, options);
  return message;
}

Json to_json(const ConversionMessage& tensor) {
  Json json{{"tensor", tensor.json}, {"title", tensor.lost.title}, {"warnings", tensor.warnings}};
  for (const auto& [member, text] : {std::pair("raw", &tensor.raw),
                                     {"ending", &tensor.ending},
                                     {"alarm", &tensor.alarm},
                                     {"numpy", &tensor.numpy},
                                     {"dense", &tensor.dense},
                                     {"scale", &tensor.scale},
                                     {"loss", &tensor.loss},
                                     {"losses", &tensor.losses}})
    if (*text) json[member] = **text;
  return json;
}

namespace {

TensorLoss read_loss(const JsonNode& node, const std::string& title, bool scaled) {
  const JsonNode loss = node["loss"];
  const auto number = [&](const char* member) -> std::optional<double> {
    if (loss[member].null()) return std::nullopt;
    return loss[member].number();
  };
  const std::optional<double> snr = number("snr");
  TensorLoss lost{.title = title,
                  .cast = cast_of(node["source_dtype"].text(), node["dtype"].text())};
  lost.account = {.elements = loss["elements"].count(),
                  .overflowed = loss["overflowed"].count(),
                  .nan_lost = loss["nan_lost"].count(),
                  .to_zero = loss["to_zero"].count(),
                  .inexact = loss["inexact"].count(),
                  .nan = loss["nan"].count(),
                  .max_abs = loss["max_abs_error"].number(),
                  .max_rel = loss["max_rel_error"].number()};
  if (loss.has("sign_lost")) lost.account.sign_lost = loss["sign_lost"].count();
  lost.snr = snr_of(snr ? snr : number("snr_about"), scaled);
  lost.sampled = is_sampled(snr, lost.account);
  return lost;
}

}  // namespace

ConversionMessage read_message(const Json& json, const JsonNode& node, bool scaled) {
  ConversionMessage tensor;
  node["warnings"].each(
      [&](const JsonNode& warning) { tensor.warnings.push_back(warning.text()); });
  for (const auto& [member, text] : {std::pair("raw", &tensor.raw),
                                     {"ending", &tensor.ending},
                                     {"alarm", &tensor.alarm},
                                     {"numpy", &tensor.numpy},
                                     {"dense", &tensor.dense},
                                     {"scale", &tensor.scale},
                                     {"loss", &tensor.loss},
                                     {"losses", &tensor.losses}})
    if (node.has(member)) *text = node[member].text();
  if (node.has("tensor")) {
    // Parts of older versions have no title.
    const std::string title =
        node.has("title") ? node["title"].text()
                          : "tensor " + std::to_string(node["tensor"]["source_index"].count());
    tensor.lost = read_loss(node["tensor"], title, scaled);
    tensor.json = json["tensor"];
  }
  return tensor;
}

ConvertReport::ConvertReport(const Context& context, const ConvertCommand& command)
    : context_(context), command_(command) {
  if (command_.json)
    json_.begin_object()
        .members({{"schema", "btftool/convert/1"},
                  {"input", command_.inputs.front()},
                  {"inputs", command_.inputs},
                  {"output", command_.output}})
        .begin_list("tensors");
}

void ConvertReport::Tally::add(std::uint64_t count) {
  tensors += count > 0 ? 1 : 0;
  elements += count;
}

void ConvertReport::take(const ConversionMessage& tensor) {
  ++tensors_;
  if (tensor.raw && raw_.pass()) notes_.push_back(*tensor.raw);
  if (tensor.ending && *tensor.ending != last_ending_) {
    last_ending_ = *tensor.ending;
    if (endings_.pass())
      warned_.push_back(last_ending_ +
                        ": unknown extension, so BTF is written; --format btf avoids this warning, "
                        "--format raw writes raw bytes");
  }
  for (const std::string& warning : tensor.warnings)
    if (warnings_.pass()) warned_.push_back(warning);
  if (tensor.numpy && numpy_.insert(*tensor.numpy).second) notes_.push_back(*tensor.numpy);
  constexpr std::size_t kShown = 3;
  if (tensor.dense && ++densified_ <= kShown) dense_.push_back(*tensor.dense);
  if (tensor.scale && scales_.pass()) notes_.push_back(*tensor.scale);
  take_loss(tensor);
  if (command_.json) json_.item(tensor.json);
}

void ConvertReport::take_loss(const ConversionMessage& tensor) {
  const btf::LossAccount& loss = tensor.lost.account;
  overflowed_.add(loss.overflowed);
  nan_lost_.add(loss.nan_lost);
  sign_lost_.add(loss.sign_lost);
  to_zero_.add(loss.to_zero);
  inexact_.add(loss.inexact);
  const std::optional<std::string>& line = context_.global.verbose ? tensor.losses : tensor.loss;
  const bool harmed = tensor.lost.harmed();
  if (tensor.alarm && (harmed ? harm_alarms_ : alarms_).pass())
    (harmed ? harm_alarmed_ : alarmed_).push_back(*tensor.alarm);
  if (!line) return;
  if (harmed) return harmed_.push_back(*line);
  if (context_.global.verbose || rounded_.empty()) rounded_.push_back(*line);
  Rounding& all = roundings_[tensor.lost.cast];
  ++all.tensors;
  all.elements += loss.elements;
  all.to_zero.add(loss.to_zero);
  if (tensor.lost.snr && (!all.least_snr || *tensor.lost.snr < *all.least_snr->snr))
    all.least_snr = tensor.lost;
  if (all.tensors == 1 || loss.max_abs > all.largest_error.account.max_abs)
    all.largest_error = tensor.lost;
}

// "299 of 300 tensors were rounded: float32 -> float16: snr 73.1 dB or more, least in tensor 5
// 'w'".
std::string ConvertReport::rounding_line() const {
  std::uint64_t rounded = 0;
  for (const auto& [cast, all] : roundings_) rounded += all.tensors;
  std::string text = fmt::format("{} of {} tensors were rounded: ", rounded, tensors_);
  for (bool first = true; const auto& [cast, all] : roundings_) {
    text += (first ? "" : "; ") + cast;
    first = false;
    if (roundings_.size() > 1) text += fmt::format(" in {}", all.tensors);
    text += ": ";
    const TensorLoss& worst = all.least_snr ? *all.least_snr : all.largest_error;
    text += worst.snr
                ? fmt::format("snr {}{:.4g} dB or more", worst.sampled ? "about " : "", *worst.snr)
                : fmt::format("largest error {:.6g}", worst.account.max_abs);
    if (all.tensors > 1) text += fmt::format("{} in {}", worst.snr ? ", least" : "", worst.title);
    if (all.to_zero.tensors > 0)
      text += fmt::format(", {} of {} became zero, in {}", all.to_zero.elements, all.elements,
                          counted(all.to_zero.tensors, "tensor"));
  }
  return text;
}

void ConvertReport::print_warnings() {
  for (const std::string& warning : warned_) context_.log.warning(warning);
  if (endings_.held_back() > 0)
    context_.log.warning(fmt::format("and {} more files", endings_.held_back()));
  if (warnings_.held_back() > 0)
    context_.log.warning(fmt::format("and {} more", warnings_.held_back()));
}

void ConvertReport::print_totals() {
  if (tensors_ < 2) return;
  std::string text;
  const auto add = [&](const Tally& tally, const char* what) {
    if (tally.tensors == 0) return;
    text += fmt::format("{}{} of {} tensors {}: {}", text.empty() ? "" : "; ", tally.tensors,
                        tensors_, what, counted(tally.elements, "element"));
  };
  add(overflowed_, "overflowed");
  add(nan_lost_, "lost NaN");
  add(sign_lost_, "lost signs");
  if (!text.empty()) context_.log.note(text);
}

Json ConvertReport::json_totals() const {
  Json json{{"tensors", json_number(tensors_)}};
  for (const auto& [member, tally] : {std::pair("overflowed", &overflowed_),
                                      {"nan_lost", &nan_lost_},
                                      {"to_zero", &to_zero_},
                                      {"inexact", &inexact_}})
    json[member] = {{"tensors", json_number(tally->tensors)},
                    {"elements", json_number(tally->elements)}};
  if (sign_lost_.tensors > 0)
    json["sign_lost"] = {{"tensors", json_number(sign_lost_.tensors)},
                         {"elements", json_number(sign_lost_.elements)}};
  return json;
}

void ConvertReport::finish(std::uint64_t bytes, const std::vector<std::string>& others) {
  for (const std::string& alarm : harm_alarmed_) context_.log.alarm(alarm);
  for (const std::string& line : harmed_) context_.log.note(line);
  print_warnings();
  for (const std::string& alarm : alarmed_) context_.log.alarm(alarm);
  if (const std::uint64_t more = harm_alarms_.held_back() + alarms_.held_back(); more > 0)
    context_.log.alarm(fmt::format("{} more tensors lost a large part", more));
  for (const std::string& note : notes_) context_.log.note(note);
  if (densified_ > 0) {
    std::string tensors;
    for (const std::string& title : dense_) tensors += (tensors.empty() ? "" : ", ") + title;
    if (densified_ > dense_.size())
      tensors += fmt::format(" and {} more", densified_ - dense_.size());
    context_.log.note("sparse (COO) in the input, dense in the output: " + tensors);
  }
  if (raw_.held_back() > 0)
    context_.log.note(fmt::format("and {} more files of raw bytes", raw_.held_back()));
  if (scales_.held_back() > 0)
    context_.log.note(fmt::format("and the scales of {} more tensors", scales_.held_back()));
  std::uint64_t rounded = 0;
  for (const auto& [cast, all] : roundings_) rounded += all.tensors;
  if (context_.global.verbose || rounded == 1)
    for (const std::string& line : rounded_) context_.log.note(line);
  if (rounded > 1) context_.log.note(rounding_line());
  print_totals();
  context_.log.detail(fmt::format("{}: {} written", command_.output, counted(bytes, "byte")));
  if (command_.json)
    context_.out.line(
        json_.end()
            .members({{"losses", json_totals()}, {"output_bytes", json_number(bytes)}})
            .members(json_others(others))
            .end()
            .take());
}

void ConvertReport::give_up() { print_warnings(); }

}  // namespace btftool
