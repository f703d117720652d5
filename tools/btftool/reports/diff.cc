#include "reports/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/output.h"
#include "btf/picture.h"
#include "btf/set_diff.h"
#include "btf/try.h"
#include "cli/support.h"
#include "io/text.h"

namespace btftool {
namespace {

// Returns the tolerance of one pair. The options cannot be repeated as they are, because their
// numbers and names may not exist in the files of the next command.
btf::Tolerance tolerance_of(const DiffCommand& command, const btf::TensorDiff& diff) {
  btf::Tolerance own;
  for (const TensorTolerance& given : command.tensor_tolerances) {
    if (!btf::is_for(given, diff)) continue;
    if (given.tolerance.rtol) own.rtol = given.tolerance.rtol;
    if (given.tolerance.atol) own.atol = given.tolerance.atol;
    if (given.tolerance.ulp) own.ulp = given.tolerance.ulp;
  }
  const btf::Tolerance& general = command.diff.tolerance;
  if (!own.rtol) own.rtol = general.rtol;
  if (!own.atol) own.atol = general.atol;
  if (!own.ulp) own.ulp = general.ulp;
  return own;
}

// Returns true if --tensor takes the name for a single name, not for a glob or a number.
bool is_plain(std::string_view name) {
  return !name.empty() && name.find_first_of("*?[],!@\\") == name.npos &&
         name.find_first_not_of("0123456789-") != name.npos;
}

// Options of the commands that are printed.
constexpr std::string_view kInclude = "--include=";
constexpr const char* kReshape = "--reshape=actual";
constexpr const char* kSqueeze = "--squeeze";
std::string tensor_option(const std::string& selection) { return "--tensor=" + selection; }
std::string pair_option(const std::string& actual, const std::string& golden) {
  return "--pair=" + actual + ":" + golden;
}

// Returns the option that selects this pair by its names, or an empty string if none can.
std::string by_name(const btf::DiffTensor& actual, const btf::DiffTensor& golden) {
  if (is_plain(golden.name) && actual.name == golden.name) return tensor_option(golden.name);
  if (actual.name.empty() || golden.name.empty() ||
      (actual.name + golden.name).find_first_of(",:") != std::string::npos)
    return {};
  const auto named = [](const std::string& name) {
    const bool number = name.find_first_not_of("0123456789-") == name.npos;
    return (number || name.starts_with('@') ? "@" : "") + name;
  };
  return pair_option(named(actual.name), named(golden.name));
}

bool by_globs(const std::vector<SpecRule>& rules) {
  return std::ranges::any_of(rules, [](const SpecRule& rule) { return !rule.glob.empty(); });
}

// Adds specs of the rules file as options. The file itself cannot be given again, because rules
// that match no tensor are an error. Its rules go before those of the command line.
void add_ruled_specs(const std::string& option, const std::vector<SpecRule>& specs,
                     std::vector<std::string>& words) {
  for (const SpecRule& rule : specs)
    if (!rule.source.starts_with("--")) words.push_back(option + "=" + rule.glob + "=" + rule.spec);
}

// Returns an option that selects the pair of files by their common name without extensions. Needed
// if specs take their dims from the other side: such files have no tensors that could be selected
// by name. Returns an empty string if there are no such specs or names.
std::string by_file(const DiffCommand& command, const btf::FilePair& pair) {
  const auto lacks_dims = [](const SpecRule& rule) {
    return btf::spec_without_dims(rule.spec).has_value();
  };
  if (std::ranges::none_of(command.actual_specs, lacks_dims) &&
      std::ranges::none_of(command.golden_specs, lacks_dims))
    return {};
  const auto below = [](const std::string& directory, const std::string& path) {
    const std::string begin = directory + (directory.ends_with('/') ? "" : "/");
    return path.starts_with(begin) ? path.substr(begin.size()) : std::string();
  };
  const auto stem = [](const std::string& path) {
    const std::size_t dot = path.rfind('.');
    const std::size_t slash = path.rfind('/');
    return dot == path.npos || (slash != path.npos && dot < slash) ? path : path.substr(0, dot);
  };
  const std::string actual = below(command.actual, pair.actual);
  const std::string golden = below(command.golden, pair.golden);
  if (actual.empty() || golden.empty() || stem(actual) != stem(golden)) return {};
  std::string glob;
  for (const char c : stem(golden))
    glob +=
        std::string(std::string_view("*?[]\\").find(c) == std::string_view::npos ? "" : "\\") + c;
  return std::string(kInclude) + glob + (stem(golden) == golden ? "" : ".*");
}

// Returns true if the option applies to this pair. --permute without a tensor of its rank, and
// scales without codes, are errors.
bool applies(const std::string& given, const DiffCommand& command, const btf::TensorDiff& diff) {
  if (given.starts_with("--permute="))
    return command.diff.permute->order.size() == diff.actual->dims.size();
  if (given.starts_with("--actual-scale=")) return diff.actual->codes.has_value();
  if (given.starts_with("--golden-scale=")) return diff.golden->codes.has_value();
  return true;
}

// Returns the command that compares only this pair, by the same criteria.
std::string compare_again(const DiffCommand& command, bool directories, const btf::FilePair& pair,
                          const btf::TensorDiff& diff, std::vector<std::string> words) {
  add_ruled_specs("--actual-spec", command.actual_specs, words);
  add_ruled_specs("--golden-spec", command.golden_specs, words);
  for (const std::string& given : command.pair_options)
    if (applies(given, command, diff)) words.push_back(given);
  const btf::Tolerance tolerance = tolerance_of(command, diff);
  if (tolerance.rtol) words.push_back("--rtol=" + btf::number_text(*tolerance.rtol));
  if (tolerance.atol) words.push_back("--atol=" + btf::number_text(*tolerance.atol));
  if (tolerance.ulp) words.push_back(fmt::format("--ulp={}", *tolerance.ulp));
  // Scales may be in other files, and globs of specs match paths in the directories.
  const bool whole = directories && (command.diff.dequantize || by_globs(command.actual_specs) ||
                                     by_globs(command.golden_specs));
  if (!whole) {
    words.push_back(
        pair_option(std::to_string(diff.actual->index), std::to_string(diff.golden->index)));
    return command_line("diff", words, std::vector{pair.actual, pair.golden});
  }
  std::string file = by_file(command, pair);
  for (const std::string& given : command.file_options)
    if (file.empty() || !given.starts_with(kInclude)) words.push_back(given);
  if (!file.empty()) words.push_back(std::move(file));
  std::string tensor = by_name(*diff.actual, *diff.golden);
  if (tensor.empty()) return {};
  words.push_back(std::move(tensor));
  return command_line("diff", words, std::vector{command.actual, command.golden});
}

// Returns the options that make the dims and, apart from noise, the elements of both tensors equal.
std::vector<std::string> equalizing_options(const DiffCommand& command,
                                            const btf::TensorDiff& diff) {
  if (diff.result != btf::DiffResult::shape || diff.hints.empty()) return {};
  if (command.diff.permute || command.diff.squeeze || command.diff.reshape_actual) return {};
  std::string_view edit = diff.hints.front().evidence;
  if (edit.starts_with(btf::kGivenGoldensDims)) return {kReshape};
  if (!edit.starts_with(btf::kEqualAfter)) return {};
  edit.remove_prefix(btf::kEqualAfter.size());
  edit = edit.substr(0, edit.find(", but for noise"));
  edit = edit.substr(0, edit.find(", then actual"));
  if (edit == "squeeze") return {kSqueeze};
  if (edit == "reshape") return {kReshape};
  constexpr std::string_view kSqueezed = " and squeeze";
  const bool squeezed = edit.ends_with(kSqueezed);
  if (squeezed) edit.remove_suffix(kSqueezed.size());
  std::string option = "--" + std::string(edit);
  std::ranges::replace(option, ' ', '=');
  std::vector<std::string> options{std::move(option)};
  if (squeezed) options.emplace_back(kSqueeze);
  return options;
}

// Returns the command that lists both tensors, if they cannot be compared. Returns an empty string
// if the files need specs.
std::string list_both(const DiffCommand& command, const btf::FilePair& pair,
                      const btf::TensorDiff& diff) {
  const auto described = [](const btf::OpenOptions& open, const std::vector<SpecRule>& specs) {
    return open.spec || !open.named_specs.empty() || open.layout_in || !specs.empty();
  };
  if (command.rules || described(command.open_actual, command.actual_specs) ||
      described(command.open_golden, command.golden_specs))
    return {};
  std::vector<std::string> words;
  if (diff.actual && diff.golden && diff.actual->index == diff.golden->index)
    words.push_back(tensor_option(std::to_string(diff.actual->index)));
  std::vector<std::string> files{pair.actual};
  if (pair.golden != pair.actual) files.push_back(pair.golden);
  return command_line("inspect", words, files);
}

// Returns the command that shows more about a pair of tensors: where they differ, that they are
// equal with other dims, or what the files hold if they cannot be compared. Returns an empty string
// if the report has shown that already, or if the files have no names.
std::string next_command(const DiffCommand& command, bool directories, const btf::FilePair& pair,
                         const btf::TensorDiff& diff) {
  if (command.from_json) return {};
  if (pair.actual.empty() || pair.golden.empty() || pair.actual == "-" || pair.golden == "-")
    return {};
  if (diff.result == btf::DiffResult::different)
    return command.diff.heatmap || diff.mismatched == 0
               ? std::string()
               : compare_again(command, directories, pair, diff, {"--heatmap"});
  const std::vector<std::string> edits = equalizing_options(command, diff);
  return edits.empty() ? list_both(command, pair, diff)
                       : compare_again(command, directories, pair, diff, edits);
}

// Returns the command that repeats this comparison, without options about shards.
std::string same_command(const DiffCommand& command) {
  const std::vector<std::string> operands{command.actual, command.golden};
  return command_line("diff", command.comparison_options,
                      std::span(operands).first(command.from_json ? 0 : 2));
}

// "tensor 0 'fc'", "tensor 3 'fc' against 0 'fc.weight'"
std::string both_tensors(const btf::DiffTensor& actual, const btf::DiffTensor& golden) {
  const auto name = [](const btf::DiffTensor& tensor) {
    return tensor.named ? " " + quoted_name(tensor.name) : std::string();
  };
  std::string text = fmt::format("tensor {}{}", actual.index, name(actual));
  const bool other_name = (actual.named || golden.named) && actual.name != golden.name;
  if (actual.index != golden.index || other_name)
    text += fmt::format(" against {}{}", golden.index, name(golden));
  return text;
}

// Returns a slice with the last three dims at the index `place`.
btf::Slice around(const btf::Dims& place) {
  btf::Slice slice;
  for (std::size_t d = 0; d + btf::kMaxPictureDims < place.size(); ++d)
    slice.parts.emplace_back(static_cast<std::int64_t>(place[d]));
  return slice;
}

}  // namespace

bool picture_takes_output(const DiffCommand& command) {
  return command.image.path && PictureTarget(command.image).takes_output();
}

DifferencePicture::DifferencePicture(const DiffCommand& command, bool several)
    : command_(command), several_(several) {
  if (command.image.path) target_.emplace(command.image);
}

void DifferencePicture::note(const btf::FilePair& files, const btf::TensorDiff& diff) {
  if (!target_ || !diff.actual || !diff.golden) return;
  const bool different = diff.result == btf::DiffResult::different;
  if (!different && diff.result != btf::DiffResult::same) return;
  different_ += different ? 1 : 0;
  if (worst_ && (!different || (worst_->different && diff.worst_error() <= worst_->error))) return;
  worst_ = {.files = files,
            .actual = *diff.actual,
            .golden = *diff.golden,
            .error = diff.worst_error(),
            .different = different};
  if (diff.worst_abs) worst_->place = diff.worst_abs->index;
}

std::optional<std::uint64_t> DifferencePicture::pair() const {
  return worst_ ? std::optional(worst_->files.number) : std::nullopt;
}

void DifferencePicture::draw(const Context& context, const btf::Result<btf::ComparedFiles>& files) {
  if (!files) {
    drawn_ = std::unexpected(files.error());
    return;
  }
  btf::PictureOptions options = target_->draw_options();
  if (!options.part && worst_->place) options.part = around(*worst_->place);
  options.execution = context.global.execution();
  options.execution.cancel = &watch_interrupts();
  drawn_ = btf::draw_difference(*files->actual, *files->golden,
                                {.actual = worst_->actual.index, .golden = worst_->golden.index},
                                files->options, options);
}

btf::Status DifferencePicture::write(const Context& context) const {
  if (!target_) return {};
  if (!drawn_)
    return btf::fail(btf::ErrorCode::invalid_argument,
                     *command_.image.path +
                         ": there is nothing to draw: no tensors of equal dims were compared");
  if (!*drawn_) return std::unexpected(drawn_->error());
  const btf::DrawnTensor& drawn = **drawn_;
  BTF_TRY(target_->write(drawn.picture, context.out));
  if (context.global.quiet || command_.json || target_->takes_output()) return {};
  std::string line = target_->in_terminal() ? "" : printable(*command_.image.path) + ": ";
  if (several_) line += printable(worst_->files.actual) + ": ";
  line += both_tensors(worst_->actual, worst_->golden);
  if (different_ > 1) line += fmt::format(", the worst of {} that differ", different_);
  line += fmt::format(": {}: actual, golden, error from {} to {}", drawn.facts.part,
                      short_number(drawn.facts.least), short_number(drawn.facts.greatest));
  context.out.line(line + specials_text(drawn.facts));
  return {};
}

namespace {

// "rtol 1e-3 for tensor 2"
std::string criterion_text(const TensorTolerance& given) {
  return given.text + " for " +
         (given.glob ? printable(*given.glob) : "tensor " + std::to_string(given.tensor));
}

btf::ReportOptions report_options(const Context& context, const DiffCommand& command,
                                  bool directories) {
  btf::ReportOptions options{
      .actual = command.actual,
      .golden = command.golden,
      .directories = directories,
      .criteria = command.diff,
      .schema = command.json_schema,
      .sort = command.sort,
      .text = {.all = command.all,
               .figures = context.global.verbose,
               .columns = output_columns(),
               .whole_lines = !fits_columns(),
               .color = context.out.colored()},
      .member_names =
          [&names = context.names](std::string text) { return names.translate(std::move(text)); },
      .origin = page_origin(same_command(command)),
      .next_command =
          [&command, directories](const FilePair& pair, const btf::TensorDiff& diff) {
            return next_command(command, directories, pair, diff);
          }};
  for (const TensorTolerance& given : command.tensor_tolerances)
    options.tensor_criteria.push_back(criterion_text(given));
  if (!command.tensor_criteria.empty()) options.tensor_criteria = command.tensor_criteria;
  return options;
}

// Returns the format of standard output; unset if nothing is printed there.
std::optional<btf::ReportFormat> printed(const GlobalOptions& global, const DiffCommand& command) {
  if (command.part) return std::nullopt;
  if (command.json) return btf::ReportFormat::json;
  if (global.quiet || picture_takes_output(command)) return std::nullopt;
  return command.summary ? btf::ReportFormat::summary : btf::ReportFormat::text;
}

}  // namespace

DiffReports::DiffReports(const Context& context, const DiffCommand& command, bool directories)
    : context_(context), command_(command) {
  totals_.directories = directories;
  const btf::ReportOptions options = report_options(context, command, directories);
  if (const auto format = printed(context.global, command))
    reports_.push_back({make_report(*format, options,
                                    [&out = context.out](std::string_view text) -> btf::Status {
                                      out.text(text);
                                      return {};
                                    }),
                        false});
  const auto to_file = [&](btf::ReportFormat format, const std::optional<std::string>& path) {
    if (path)
      reports_.push_back({make_report(format, options,
                                      [path = *path](std::string_view text) {
                                        return btf::write_text(path, text);
                                      }),
                          true});
  };
  to_file(btf::ReportFormat::junit, command.junit);
  to_file(btf::ReportFormat::html, command.html);
  if (!command.part) return;
  auto part = std::make_unique<PartReport>(context, command, directories, options.tensor_criteria);
  part_ = part.get();
  reports_.push_back({std::move(part), true});
}

void DiffReports::set_others(std::vector<std::string> paths) {
  if (part_ != nullptr) part_->set_others(paths);
  totals_.others = std::move(paths);
}

btf::Result<std::vector<std::uint64_t>> DiffReports::pick(std::span<const btf::PlannedPair> pairs) {
  return part_->pick(pairs);
}

btf::Status DiffReports::check_files() const {
  for (const std::optional<std::string>& path : {command_.junit, command_.html}) {
    if (path) BTF_TRY(btf::check_output(*path));
  }
  return {};
}

void DiffReports::begin(const FilePair& pair) {
  if (!command_.html || command_.from_json) return begin(pair, {}, {});
  begin(pair, state_of(pair.actual, pair.actual_state), state_of(pair.golden, pair.golden_state));
}

// The page states the time of the newest input.
std::optional<btf::FileState> DiffReports::state_of(const std::string& path,
                                                    const std::optional<btf::FileState>& opened) {
  if (opened) return opened;
  const auto now = btf::FileState::of(path);
  if (now) return *now;
  context_.log.error(now.error());
  totals_.unwritten = true;
  return std::nullopt;
}

void DiffReports::begin(const FilePair& pair, const std::optional<btf::FileState>& actual,
                        const std::optional<btf::FileState>& golden) {
  pair_ = pair;
  totals_.begin();
  btf::PageOrigin origin{.newest_input = totals_.newest_input};
  for (const auto& file : {actual, golden})
    if (file && !command_.from_json) origin.add(*file);
  totals_.newest_input = origin.newest_input;
  for (const Report& row : reports_) row.report->begin(pair);
}

void DiffReports::take(const btf::TensorDiff& diff) {
  // Only errors and causes can name options.
  diff.error || !diff.hints.empty() ? show(context_.names.translate(diff)) : show(diff);
}

void DiffReports::show(const btf::TensorDiff& diff) {
  totals_.take(diff);
  for (const Report& row : reports_) row.report->take(diff);
}

bool DiffReports::lists_missing() const {
  return std::ranges::any_of(reports_,
                             [](const Report& row) { return row.report->lists_missing(); });
}

void DiffReports::missing(const btf::TensorDiff& diff) {
  for (const Report& row : reports_) row.report->missing(diff);
}

void DiffReports::end(PairOutcome outcome) {
  outcome.error = context_.names.translate(std::move(outcome.error));
  totals_.end(pair_, outcome);
  for (const Report& row : reports_) row.report->end(pair_, outcome);
}

// Writes files first, because the report on stdout names those that could not be written. Nothing
// is printed if a single pair of files could not be compared at all.
int DiffReports::finish() {
  btf::PageOrigin origin{.newest_input = totals_.newest_input};
  set_date_from_environment(origin);
  totals_.newest_input = origin.newest_input;
  const bool silent = totals_.troubled_files > 0 && !totals_.directories && !totals_.partly();
  for (const bool own_file : {true, false})
    for (const Report& row : reports_) {
      if (row.own_file != own_file || (silent && !own_file)) continue;
      const btf::Status status = row.report->finish(totals_);
      if (status) continue;
      context_.log.error(status.error());
      totals_.unwritten = true;
    }
  // merge decides on the exit status of the results in a part.
  if (part_ != nullptr) return totals_.unwritten ? kTrouble : kSame;
  switch (totals_.result()) {
    case PairResult::same:
      return kSame;
    case PairResult::trouble:
      return kTrouble;
    default:
      return kDifferent;
  }
}

void DiffReports::refuse(const FilePair& pair, const btf::Error& error) {
  totals_.directories = false;
  begin(pair);
  end({.result = PairResult::trouble, .error = error.text()});
  finish();
}

btf::DiffOptions needed_by_reports(const GlobalOptions& global, const DiffCommand& command) {
  btf::DiffOptions options = command.diff;
  options.details = options.figures = false;
  const auto format = printed(global, command);
  if (format) ask_for(*format, options);
  if (command.junit) ask_for(btf::ReportFormat::junit, options);
  // A part may become any report.
  if (command.html || command.part) ask_for(btf::ReportFormat::html, options);
  options.hints = options.hints && options.details;
  if (!format && !command.html && !command.part) options.heatmap.reset();
  if (command.image.path) options.details = true;  // where the largest error is
  return options;
}

}  // namespace btftool
