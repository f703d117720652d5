// btftool convert: layout, dtype, order of dims and sparsity.
#include "btf/convert.h"

#include <fmt/format.h>

#include <algorithm>

#include "btf/output.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "btf/value.h"
#include "cli/arguments.h"
#include "commands/commands.h"
#include "commands/index_warnings.h"
#include "io/exit_code.h"
#include "io/interrupt.h"
#include "io/json.h"
#include "io/other_files.h"
#include "io/progress.h"
#include "io/text.h"
#include "report/text/json_document.h"

namespace btftool {
namespace {

std::string_view name_of(btf::DType dtype) { return btf::info(dtype).name; }

// "+-448", the number that replaces everything beyond it; or another result.
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

std::string cast_text(const btf::TensorReport& report) {
  return fmt::format("{} -> {}:", name_of(report.source_dtype), name_of(report.target_dtype));
}

// "float32 -> int8: scale 0.031", the scales that were found out.
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

std::string loss_line(const btf::TensorReport& report, const btf::CastPolicy& policy, bool scaled) {
  const btf::LossAccount& loss = report.loss;
  std::string text = cast_text(report);
  std::string separator = " ";
  const auto add = [&](std::uint64_t count, const std::string& what) {
    if (count == 0) return;
    text += separator + std::to_string(count) + " " + what;
    separator = ", ";
  };
  add(loss.overflowed, overflow_target(report.target_dtype, policy));
  add(loss.nan - loss.nan_lost, "NaN");
  add(loss.nan_lost, "NaN lost");
  add(loss.to_zero, "became zero");
  add(loss.inexact, "inexact");
  text += " of " + std::to_string(loss.elements);
  // Nearly all scaled numbers are inexact: it matters by how much.
  if (scaled) text += fmt::format(", largest error {:.6g}", loss.max_abs);
  return text;
}

// Where a large part of a tensor is gone the result is hardly what was wanted; nothing where it
// was scaled, or where codes were to wrap.
std::optional<std::string> loss_warning(const btf::TensorReport& report,
                                        const btf::ConvertOptions& options) {
  constexpr double kLargeShare = 0.1;
  const btf::LossAccount& loss = report.loss;
  if (options.quantization.active()) return std::nullopt;
  const bool wrapped = options.policy.overflow == btf::Overflow::wrap;
  const std::uint64_t gone = loss.to_zero + (wrapped ? 0 : loss.overflowed);
  const double share = static_cast<double>(gone) / static_cast<double>(loss.elements);
  if (gone == 0 || share < kLargeShare) return std::nullopt;
  std::string text = fmt::format("{} of {} elements ({:.3g} %) became zero or were clamped as {}",
                                 gone, loss.elements, 100 * share, name_of(report.target_dtype));
  if (btf::can_scale(report.target_dtype) && !report.nnz &&
      report.source_layout != btf::Layout::coo)
    text += "; --scale auto fits their range to it";
  return text;
}

// Oddities of a result that is not wrong.
std::vector<std::string> warnings_of(const btf::TensorReport& report) {
  std::vector<std::string> warnings;
  if (report.kept) warnings.push_back("keeps its layout: " + *report.kept);
  if (report.unlinked)
    warnings.emplace_back(
        "its scales or zero points are left out, and so is the link that says where they are");
  warnings.insert(warnings.end(), report.objections.begin(), report.objections.end());
  return warnings;
}

Json describe(const btf::TensorReport& report, const btf::ConvertOptions& options) {
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
  json["warnings"] = std::move(warnings);
  return json;
}

class Conversion {
 public:
  Conversion(const Context& context, const ConvertCommand& command)
      : context_(context), command_(command), options_(command.convert) {}

  btf::Result<int> run() {
    // Before anything is read, which of a pipe may take long.
    if (!command_.many_outputs) BTF_TRY(btf::check_output(command_.output));
    BTF_ASSIGN(const auto input, btf::TensorSet::open(command_.inputs, command_.open));
    BTF_TRY(input.check_named_specs());
    named_ = !input.one_file();
    note_others(context_, input);
    add_others(input, others_);
    if (input.member_count() == 0) return std::unexpected(explain(btf::no_files(input)));
    BTF_TRY(select(input));
    for (std::uint64_t i = 0; i < input.member_count(); ++i) warn_of_index(context_, input, i);
    BTF_ASSIGN(const std::uint64_t input_bytes, bytes_of(input));
    Progress progress(context_.global, input_bytes);
    progress.attach(options_.execution);
    options_.execution.cancel = &watch_interrupts();
    if (command_.json)
      json_.begin_object()
          .members({{"schema", "btftool/convert/1"},
                    {"input", command_.inputs.front()},
                    {"inputs", command_.inputs},
                    {"output", command_.output}})
          .begin_list("tensors");
    const auto bytes = btf::convert(input, command_.output, options_,
                                    [&](const btf::TensorReport& report) { take(report); });
    progress.clear();
    if (!bytes) return std::unexpected(explain(bytes.error()));
    // Losses are reported when the output has been written, not before.
    for (const std::string& note : notes_) context_.log.note(note);
    if (endings_.held_back() > 0)
      context_.log.warning(fmt::format("and {} more files", endings_.held_back()));
    if (warnings_.held_back() > 0)
      context_.log.warning(fmt::format("and {} more", warnings_.held_back()));
    if (alarms_.held_back() > 0)
      context_.log.alarm(fmt::format("{} more tensors lost a large part", alarms_.held_back()));
    if (raw_.held_back() > 0)
      context_.log.note(fmt::format("and {} more files of raw bytes", raw_.held_back()));
    if (losses_.held_back() > 0)
      context_.log.note(fmt::format("and {} more tensors lost something", losses_.held_back()));
    context_.log.detail(fmt::format("{}: {} written", command_.output, counted(*bytes, "byte")));
    if (command_.json)
      context_.out.line(json_.end()
                            .members({{"output_bytes", json_number(*bytes)}})
                            .members(json_others(others_))
                            .end()
                            .take());
    return kSame;
  }

 private:
  btf::Status select(const btf::TensorSet& input) {
    if (!command_.tensors && command_.exclude.empty()) return {};
    BTF_ASSIGN(auto tensors, input.select(command_.tensors.value_or("0--1")));
    for (const std::string& text : command_.exclude) {
      BTF_ASSIGN(const auto without, input.select(text));
      std::erase_if(tensors, [&](std::uint64_t number) {
        return std::ranges::find(without, number) != without.end();
      });
    }
    options_.tensors = std::move(tensors);
    return {};
  }

  // Every file is opened for its tensors anyway.
  static btf::Result<std::uint64_t> bytes_of(const btf::TensorSet& input) {
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < input.member_count(); ++i) {
      BTF_ASSIGN(const auto file, input.file(i));
      bytes += file->size();
    }
    return bytes;
  }

  // As messages call a tensor: where there are several files its name helps more than its number.
  std::string title(const btf::TensorReport& report) const {
    std::string text = "tensor " + std::to_string(report.source);
    if (named_) text += " " + quoted_name(report.name);
    return text + ": ";
  }

  btf::Error explain(btf::Error error) const {
    if (error.finding == "coo-duplicate-index")
      error.message += "; --duplicates sum, first or last resolves them";
    if (error.finding == "zero-points-unread")
      error.message += std::string("; --zero-point auto reads them") +
                       (options_.quantization.zero_point ? "" : ", --zero-point 0 ignores them");
    if (error.code == btf::ErrorCode::refused && !btf::is_standard_output(command_.output))
      error.message +=
          command_.many_outputs ? "; this file was not written" : "; nothing was written";
    return error;
  }

  // Raw bytes do not say what they hold, so it is said here.
  void describe_raw(const btf::TensorReport& report) {
    const std::string& path = report.output.empty() ? command_.output : report.output;
    const auto format = btf::output_format(path, options_);
    if (options_.spec || !format || !btf::format_has(*format, btf::kUndescribed) || !raw_.pass())
      return;
    const std::string spec =
        btf::spec_text(report.target_dtype, report.target_layout, report.target_dims);
    if (btf::is_standard_output(path)) {
      notes_.push_back("standard output is --input-spec " + spec);
      return;
    }
    std::string text = printable(path) + " is --input-spec " + spec;
    if (!btf::parse_dump_name(path))
      text += "; trtexec would name it " +
              printable(btf::dump_name(path, report.target_dtype, report.target_dims));
    notes_.push_back(std::move(text));
  }

  // Other tools take a file that is called so for something else.
  void warn_of_ending(const btf::TensorReport& report) {
    const std::string& path = report.output.empty() ? command_.output : report.output;
    const bool said = !options_.format.empty() || options_.spec;
    if (said || path == last_output_ || !btf::has_unknown_ending(path)) return;
    last_output_ = path;
    if (!btf::is_standard_output(path) && endings_.pass())
      context_.log.warning(path +
                           ": unknown extension, BTF is written; --format btf confirms it, "
                           "--format raw writes raw bytes");
  }

  void take(const btf::TensorReport& report) {
    describe_raw(report);
    warn_of_ending(report);
    const std::string tensor = title(report);
    for (const std::string& warning : warnings_of(report))
      if (warnings_.pass()) context_.log.warning(tensor + warning);
    if (const auto lost = loss_warning(report, options_); lost && alarms_.pass())
      context_.log.alarm(tensor + *lost);
    if (!report.scales.empty() && !report.scale_targets.empty() && scales_.pass())
      notes_.push_back(tensor + scale_line(report));
    if (report.loss.changed() > 0 && losses_.pass())
      notes_.push_back(tensor + loss_line(report, options_.policy, options_.quantization.active()));
    if (!command_.json) return;
    json_.item(describe(report, options_));
  }

  const Context& context_;
  const ConvertCommand& command_;
  btf::ConvertOptions options_;
  bool named_ = false;  // messages say the names of tensors
  JsonDocument json_;
  std::vector<std::string> notes_;
  std::vector<std::string> others_;
  Limited raw_;
  Limited endings_;  // that say nothing
  std::string last_output_;
  Limited warnings_;
  Limited alarms_;
  Limited scales_;
  Limited losses_;
};

}  // namespace

btf::Result<int> run_convert(const Context& context, const ConvertCommand& command) {
  return Conversion(context, command).run();
}

}  // namespace btftool
