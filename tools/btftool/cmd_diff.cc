// btftool diff: are two files the same, within a tolerance, and if not, where?
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "arguments.h"
#include "btf/diff.h"
#include "btf/value.h"
#include "commands.h"
#include "exit_code.h"
#include "interrupt.h"
#include "json.h"
#include "progress.h"
#include "text.h"

namespace btftool {
namespace {

using btf::DiffResult;
using btf::Mismatch;
using btf::number_text;
using btf::TensorDiff;

std::string_view result_name(DiffResult result) {
  switch (result) {
    case DiffResult::same:
      return "same";
    case DiffResult::different:
      return "different";
    case DiffResult::shape:
      return "shape";
    case DiffResult::missing:
      break;
  }
  return "missing";
}

std::string tolerance_text(const btf::Tolerance& tolerance) {
  return fmt::format("rtol {}, atol {}{}", number_text(tolerance.rtol.value_or(0)),
                     number_text(tolerance.atol.value_or(0)),
                     tolerance.equal_nan ? "" : ", NaN equals nothing");
}

// "float32 kLINEAR [2, 3]", or both sides' where they differ.
std::string sides_text(const TensorDiff& diff) {
  const auto side = [](const btf::DiffTensor& tensor) {
    return fmt::format("{} {}", btf::info(tensor.dtype).name, layout_text(tensor.layout));
  };
  std::string text = side(*diff.actual);
  if (side(*diff.golden) != text) text += " against " + side(*diff.golden);
  return text + " " + btf::dims_text(diff.golden->dims);
}

std::string pair_name(const TensorDiff& diff) {
  if (!diff.actual) return fmt::format("tensor {} of golden", diff.golden->index);
  if (!diff.golden) return fmt::format("tensor {} of actual", diff.actual->index);
  if (diff.actual->index == diff.golden->index) return fmt::format("tensor {}", diff.actual->index);
  return fmt::format("tensor {} against {}", diff.actual->index, diff.golden->index);
}

// ", 3 NaN on both sides, 1 NaN in actual only"; empty when there is nothing special.
std::string specials_text(const TensorDiff& diff) {
  std::string text;
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  };
  add(diff.nan.both, "NaN on both sides");
  add(diff.nan.actual, "NaN in actual only");
  add(diff.nan.golden, "NaN in golden only");
  add(diff.inf.both, "Inf on both sides");
  add(diff.inf.opposite, "Inf of opposite signs");
  add(diff.inf.actual, "Inf in actual only");
  add(diff.inf.golden, "Inf in golden only");
  return text;
}

class TextReport {
 public:
  explicit TextReport(Output& out) : out_(out) {}

  void take(const TensorDiff& diff) {
    ++tensors_;
    if (diff.result == DiffResult::same) {
      out_.line(fmt::format("{}: {}: {}, {}{}", pair_name(diff), out_.green("same"),
                            counted(diff.compared, "element"), sides_text(diff),
                            specials_text(diff)));
      return;
    }
    ++different_;
    std::string line = pair_name(diff) + ": " + out_.red("different") + ": ";
    if (diff.mismatched > 0)
      line += fmt::format("{} of {} ({}), {}{}", diff.mismatched, counted(diff.compared, "element"),
                          percent(diff.mismatched, diff.compared), sides_text(diff),
                          specials_text(diff));
    if (!diff.reason.empty()) line += (diff.mismatched > 0 ? "; " : "") + diff.reason;
    out_.line(line);
    if (diff.mismatched > 0) mismatches(diff);
  }

  void verdict(bool same, const btf::Tolerance& tolerance) {
    if (same)
      out_.line(fmt::format("{}: {} ({})", out_.green("same"), counted(tensors_, "tensor"),
                            tolerance_text(tolerance)));
    else
      out_.line(fmt::format("{}: {} of {} ({})", out_.red("different"), different_,
                            counted(tensors_, "tensor"), tolerance_text(tolerance)));
  }

 private:
  void mismatches(const TensorDiff& diff) {
    // Where only NaN and Inf mismatch there is no error to be the worst of.
    if (std::isfinite(diff.worst_abs->abs_error)) {
      worst("worst absolute", *diff.worst_abs, diff);
      worst("worst relative", *diff.worst_rel, diff);
    }
    if (diff.required_atol && diff.required_rtol)
      out_.line(fmt::format("  would pass with   --atol {} alone, or --rtol {} alone",
                            number_text(*diff.required_atol), number_text(*diff.required_rtol)));
    else if (diff.required_atol)
      out_.line(fmt::format("  would pass with   --atol {} alone, no --rtol alone",
                            number_text(*diff.required_atol)));
    else
      out_.line("  would pass with   no tolerance: there are mismatches of NaN or Inf");
    if (diff.first.empty()) return;
    out_.line(fmt::format("  first {} of {} mismatches:", diff.first.size(), diff.mismatched));
    table(diff);
  }

  void worst(std::string_view label, const Mismatch& mismatch, const TensorDiff& diff) {
    out_.line(fmt::format(
        "  {:<16}  {} ({} relative) at {}: {} against {}, allowed {}; {} and {}", label,
        number_text(mismatch.abs_error), number_text(mismatch.rel_error),
        btf::dims_text(mismatch.index), btf::value_text(diff.actual->dtype, mismatch.actual_code),
        btf::value_text(diff.golden->dtype, mismatch.golden_code), number_text(mismatch.allowed),
        byte_text(mismatch.actual_offset), byte_text(mismatch.golden_offset)));
  }

  static std::string byte_text(const std::optional<std::uint64_t>& offset) {
    return (offset ? "byte " : "") + offset_text(offset);
  }

  static std::string offset_text(const std::optional<std::uint64_t>& offset) {
    return offset ? std::to_string(*offset) : "not stored";
  }

  void table(const TensorDiff& diff) {
    using Line = std::array<std::string, 8>;
    std::vector<Line> lines{{"index", "actual", "golden", "error", "actual code", "golden code",
                             "actual byte", "golden byte"}};
    for (const Mismatch& mismatch : diff.first)
      lines.push_back({btf::dims_text(mismatch.index),
                       btf::value_text(diff.actual->dtype, mismatch.actual_code),
                       btf::value_text(diff.golden->dtype, mismatch.golden_code),
                       fmt::format("{:.6g}", mismatch.abs_error),
                       btf::code_text(diff.actual->dtype, mismatch.actual_code),
                       btf::code_text(diff.golden->dtype, mismatch.golden_code),
                       offset_text(mismatch.actual_offset), offset_text(mismatch.golden_offset)});
    std::array<std::size_t, 8> widths{};
    for (const Line& line : lines)
      for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
    for (const Line& line : lines) {
      std::string text = "    " + pad_right(line[0], widths[0]);
      for (std::size_t c = 1; c < line.size(); ++c) text += "  " + pad_left(line[c], widths[c]);
      out_.line(text);
    }
  }

  Output& out_;
  std::uint64_t tensors_ = 0;
  std::uint64_t different_ = 0;
};

class JsonReport {
 public:
  void take(const TensorDiff& diff) {
    if (!tensors_.empty()) tensors_ += ",";
    tensors_ += dump(describe(diff));
  }

  std::string text(const DiffCommand& command, bool same) const {
    const btf::Tolerance& tolerance = command.diff.tolerance;
    const Json head{{"schema", "btftool/diff/1"},
                    {"actual", command.actual},
                    {"golden", command.golden},
                    {"result", same ? "same" : "different"},
                    {"tolerance",
                     {{"rtol", json_number(tolerance.rtol.value_or(0))},
                      {"atol", json_number(tolerance.atol.value_or(0))},
                      {"equal_nan", tolerance.equal_nan}}}};
    const std::string members = dump(head);
    return members.substr(0, members.size() - 1) + ",\"tensors\":[" + tensors_ + "]}";
  }

 private:
  static Json index_of(const std::optional<btf::DiffTensor>& tensor) {
    return tensor ? json_number(tensor->index) : Json(nullptr);
  }

  static Json side(const std::optional<btf::DiffTensor>& tensor) {
    if (!tensor) return nullptr;
    Json json{{"dtype", btf::info(tensor->dtype).name}};
    add_layout(json, "", tensor->layout);
    json["shape"] = json_dims(tensor->dims);
    return json;
  }

  static Json optional_number(const auto& value) {
    return value ? json_number(*value) : Json(nullptr);
  }

  static Json mismatch(const std::optional<Mismatch>& found, const TensorDiff& diff) {
    if (!found) return nullptr;
    return {{"index", json_dims(found->index)},
            {"actual", json_value(diff.actual->dtype, found->actual_code)},
            {"golden", json_value(diff.golden->dtype, found->golden_code)},
            {"actual_code", btf::code_text(diff.actual->dtype, found->actual_code)},
            {"golden_code", btf::code_text(diff.golden->dtype, found->golden_code)},
            {"abs_error", json_number(found->abs_error)},
            {"rel_error", json_number(found->rel_error)},
            {"allowed", json_number(found->allowed)},
            {"actual_offset", optional_number(found->actual_offset)},
            {"golden_offset", optional_number(found->golden_offset)}};
  }

  static Json describe(const TensorDiff& diff) {
    Json first = Json::array();
    for (const Mismatch& found : diff.first) first.push_back(mismatch(found, diff));
    return {{"actual", index_of(diff.actual)},
            {"golden", index_of(diff.golden)},
            {"result", result_name(diff.result)},
            {"reason", diff.reason.empty() ? Json(nullptr) : Json(diff.reason)},
            {"actual_tensor", side(diff.actual)},
            {"golden_tensor", side(diff.golden)},
            {"compared", json_number(diff.compared)},
            {"mismatched", json_number(diff.mismatched)},
            {"max_abs", json_number(diff.max_abs)},
            {"max_rel", json_number(diff.max_rel)},
            {"nan",
             {{"both", json_number(diff.nan.both)},
              {"actual", json_number(diff.nan.actual)},
              {"golden", json_number(diff.nan.golden)}}},
            {"inf",
             {{"both", json_number(diff.inf.both)},
              {"opposite", json_number(diff.inf.opposite)},
              {"actual", json_number(diff.inf.actual)},
              {"golden", json_number(diff.inf.golden)}}},
            {"worst",
             {{"abs", mismatch(diff.worst_abs, diff)}, {"rel", mismatch(diff.worst_rel, diff)}}},
            {"first", std::move(first)},
            {"required",
             {{"atol", optional_number(diff.required_atol)},
              {"rtol", optional_number(diff.required_rtol)}}}};
  }

  std::string tensors_;
};

}  // namespace

btf::Result<int> run_diff(const Context& context, const DiffCommand& command) {
  const auto actual = btf::TensorFile::open(command.actual);
  if (!actual) return std::unexpected(actual.error());
  const auto golden = btf::TensorFile::open(command.golden);
  if (!golden) return std::unexpected(golden.error());
  btf::DiffOptions options = command.diff;
  const auto select = [&](const btf::TensorFile& file, auto& target) -> btf::Status {
    if (!command.tensors) return {};
    auto tensors = parse_selection(*command.tensors, file.tensor_count());
    if (!tensors) return std::unexpected(tensors.error().in_file(file.path()));
    target = *std::move(tensors);
    return {};
  };
  btf::Status selected = select(*actual, options.actual_tensors);
  if (selected) selected = select(*golden, options.golden_tensors);
  if (!selected) return std::unexpected(selected.error());

  Progress progress(context.global, std::max(actual->size(), golden->size()));
  progress.attach(options.execution);
  options.execution.cancel = &watch_interrupts();
  TextReport text(context.out);
  JsonReport json;
  const auto same = btf::diff(*actual, *golden, options, [&](const TensorDiff& diff) {
    if (command.json)
      json.take(diff);
    else if (!context.global.quiet)
      text.take(diff);
  });
  progress.clear();
  if (!same) return std::unexpected(same.error());
  if (command.json)
    context.out.line(json.text(command, *same));
  else if (!context.global.quiet)
    text.verdict(*same, options.tolerance);
  return *same ? kSame : kDifferent;
}

}  // namespace btftool
