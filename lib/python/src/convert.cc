// Files written out of other files.
#include "btf/convert.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "btf/tensor_set.h"
#include "btf/tensor_spec.h"
#include "btf/try.h"
#include "python/src/bindings.h"
#include "python/src/convert.h"
#include "python/src/options.h"
#include "python/src/raise.h"
#include "python/src/run.h"

namespace btf::python {
namespace {

namespace nb = nanobind;

// Edits as btf/_convert.py says them.
Edit permute(nb::handle argument) {
  return Permute{nb::cast<std::vector<std::uint32_t>>(argument)};
}

Edit slice(nb::handle argument) {
  using Bounds = std::tuple<std::optional<std::int64_t>, std::optional<std::int64_t>,
                            std::optional<std::int64_t>>;
  Slice edit;
  for (const nb::handle part : nb::cast<nb::list>(argument)) {
    if (!nb::isinstance<nb::tuple>(part)) {
      edit.parts.emplace_back(nb::cast<std::int64_t>(part));
      continue;
    }
    const auto [start, stop, step] = nb::cast<Bounds>(part);
    if (step == 0) throw nb::value_error("slice step cannot be zero");
    edit.parts.emplace_back(SliceRange{start, stop, step.value_or(1)});
  }
  return edit;
}

Edit squeeze(nb::handle argument) { return Squeeze{nb::cast<std::vector<std::int64_t>>(argument)}; }

Edit unsqueeze(nb::handle argument) { return Unsqueeze{nb::cast<std::int64_t>(argument)}; }

Edit reshape(nb::handle argument) { return Reshape{nb::cast<std::vector<std::int64_t>>(argument)}; }

// A number of elements, or a share in percent.
LossLimit loss_limit(nb::handle argument) {
  const auto [most, percent] = nb::cast<std::tuple<double, bool>>(argument);
  return {most, percent};
}

BlockFormat block_format(const std::string& name) {
  std::string there;
  for (const BlockFormatInfo& row : block_formats()) {
    if (row.name == name) return row.format;
    there += (there.empty() ? "'" : ", '") + std::string(row.name) + "'";
  }
  raise(fail(ErrorCode::invalid_argument,
             "block_scale '" + name + "' is not supported; there are " + there)
            .error());
}

std::uint8_t coo_code(const std::string& name) {
  if (name == "spec") return kCooCodeSpec;
  if (name == "tfrt") return kCooCodeTfrt;
  raise(fail(ErrorCode::invalid_argument, "coo_code is 'spec' or 'tfrt', not '" + name + "'")
            .error());
}

// `auto`, of a scale or a zero point.
bool automatic(nb::handle argument) {
  return nb::isinstance<nb::str>(argument) && nb::cast<std::string>(argument) == "auto";
}

void take_scale(nb::handle argument, Quantization& scales) {
  scales.automatic = automatic(argument);
  if (!scales.automatic) scales.scale = nb::cast<double>(argument);
  // As the command has it; the library takes the number as it is.
  if (scales.scale && !(*scales.scale > 0))
    raise(fail(ErrorCode::invalid_argument, "scale is 'auto' or a number above 0").error());
}

void take_zero_point(nb::handle argument, Quantization& scales) {
  scales.find_zero_point = automatic(argument);
  if (!scales.find_zero_point) scales.zero_point = nb::cast<std::int64_t>(argument);
}

void take_names(nb::handle argument, ConvertOptions& options) {
  if (nb::isinstance<nb::str>(argument)) {
    if (nb::cast<std::string>(argument) != "drop")
      throw nb::value_error("names is 'drop' or a list of names");
    options.drop_names = true;
    return;
  }
  options.names = nb::cast<std::vector<std::string>>(argument);
}

// Each option by its name in Python.
using Take = void (*)(nb::handle argument, Conversion& conversion);

template <auto Member>
void take_flag(nb::handle argument, Conversion& conversion) {
  conversion.options.*Member = nb::cast<bool>(argument);
}

template <Edit (*Read)(nb::handle)>
void take_edit(nb::handle argument, Conversion& conversion) {
  conversion.options.edits.push_back(Read(argument));
}

const std::map<std::string, Take, std::less<>>& takes() {
  static const std::map<std::string, Take, std::less<>> kTakes{
      {"tensor", [](nb::handle a, Conversion& c) { c.tensors = nb::cast<std::string>(a); }},
      {"exclude",
       [](nb::handle a, Conversion& c) { c.exclude = nb::cast<std::vector<std::string>>(a); }},
      {"rename",
       [](nb::handle a, Conversion& c) {
         c.options.rename = nb::cast<std::map<std::string, std::string>>(a);
       }},
      {"names", [](nb::handle a, Conversion& c) { take_names(a, c.options); }},
      {"permute", take_edit<permute>},
      {"slice", take_edit<slice>},
      {"squeeze", take_edit<squeeze>},
      {"unsqueeze", take_edit<unsqueeze>},
      {"reshape", take_edit<reshape>},
      {"max_zero", [](nb::handle a, Conversion& c) { c.options.limits.zero = loss_limit(a); }},
      {"max_overflow",
       [](nb::handle a, Conversion& c) { c.options.limits.overflow = loss_limit(a); }},
      {"min_snr", [](nb::handle a, Conversion& c) { c.options.limits.snr = nb::cast<double>(a); }},
      {"scale", [](nb::handle a, Conversion& c) { take_scale(a, c.options.quantization); }},
      {"scale_axis",
       [](nb::handle a, Conversion& c) {
         c.options.quantization.axis = nb::cast<std::uint32_t>(a);
       }},
      {"zero_point",
       [](nb::handle a, Conversion& c) { take_zero_point(a, c.options.quantization); }},
      {"block_scale",
       [](nb::handle a, Conversion& c) {
         c.options.quantization.block = block_format(nb::cast<std::string>(a));
       }},
      {"dequantize",
       [](nb::handle a, Conversion& c) { c.options.quantization.dequantize = nb::cast<bool>(a); }},
      {"block",
       [](nb::handle a, Conversion& c) { c.options.quantization.scale_blocks = sizes_of(a); }},
      {"prune_zeros", take_flag<&ConvertOptions::prune_zeros>},
      {"where_possible", take_flag<&ConvertOptions::where_possible>},
      {"shuffle", take_flag<&ConvertOptions::shuffle>},
      {"plain", take_flag<&ConvertOptions::plain>},
      {"output_spec",
       [](nb::handle a, Conversion& c) {
         c.options.spec = value(parse_tensor_spec(nb::cast<std::string>(a)));
       }},
      {"as_uint", take_flag<&ConvertOptions::as_uint>},
      {"coo_code", [](nb::handle a,
                      Conversion& c) { c.options.coo_code = coo_code(nb::cast<std::string>(a)); }},
      {"recipient",
       [](nb::handle a, Conversion& c) {
         c.options.recipient = named("recipient", nb::cast<std::string>(a), recipient_names());
       }},
      {"format", [](nb::handle a, Conversion& c) { c.options.format = nb::cast<std::string>(a); }},
      {"compression",
       [](nb::handle a, Conversion& c) { c.options.compression = nb::cast<int>(a); }},
      {"sync", take_flag<&ConvertOptions::sync>},
  };
  return kTakes;
}

}  // namespace

Conversion conversion_of(const nb::dict& given) {
  Conversion conversion;
  nb::dict casts;
  for (const auto& [key, argument] : given) {
    if (argument.is_none()) continue;
    const auto take = takes().find(nb::cast<std::string_view>(key));
    if (take == takes().end())
      casts[key] = argument;
    else
      take->second(argument, conversion);
  }
  const CastOptions cast = cast_options(casts);
  ConvertOptions& options = conversion.options;
  options.snr_sample = kSnrSample;
  options.dtype = cast.dtype;
  options.layout = cast.layout;
  options.policy = cast.policy;
  options.duplicates = cast.duplicates;
  conversion.jobs = cast.jobs;
  return conversion;
}

Status select(const TensorSet& set, Conversion& conversion) {
  if (!conversion.tensors && conversion.exclude.empty()) return {};
  BTF_ASSIGN(auto tensors, set.select(conversion.tensors.value_or("0--1")));
  for (const std::string& text : conversion.exclude) {
    BTF_ASSIGN(const auto without, set.select(text));
    std::erase_if(tensors, [&](std::uint64_t number) {
      return std::ranges::find(without, number) != without.end();
    });
  }
  conversion.options.tensors = std::move(tensors);
  return {};
}

OpenOptions open_options(const std::optional<std::string>& spec,
                         const std::optional<std::string>& layout_in) {
  OpenOptions open;
  if (spec) open.spec = value(parse_tensor_spec(*spec));
  if (layout_in) open.layout_in = layout_named(*layout_in);
  return open;
}

namespace {

// Oddities of a result that is not wrong.
std::vector<std::string> warnings_of(const TensorReport& report) {
  std::vector<std::string> warnings;
  if (report.kept) warnings.push_back("keeps its layout: " + *report.kept);
  if (report.unlinked)
    warnings.emplace_back(
        "its scales or zero points are not in the output, so the link to them is left out too");
  warnings.insert(warnings.end(), report.objections.begin(), report.objections.end());
  return warnings;
}

}  // namespace

nb::dict told(const TensorReport& report) {
  nb::dict members;
  members["index"] = report.target;
  members["name"] = report.name;
  members["output"] = report.output.empty() ? std::nullopt : std::optional(report.output);
  members["source_index"] = report.source;
  members["source_dtype"] = info(report.source_dtype).name;
  members["dtype"] = info(report.target_dtype).name;
  members["source_layout"] = spec(report.source_layout).name;
  members["layout"] = spec(report.target_layout).name;
  members["source_shape"] = nb::tuple(nb::cast(report.source_dims));
  members["shape"] = nb::tuple(nb::cast(report.target_dims));
  members["nbytes"] = report.data_bytes;
  members["nnz"] = report.nnz;
  members["kept_layout"] = report.kept.has_value();
  members["scales"] = report.scales;
  members["zero_points"] = report.zero_points;
  members["scale_records"] = report.scale_targets;
  members["loss"] = report.loss;
  members["snr"] = report.snr;
  members["snr_about"] = report.snr_about;
  members["warnings"] = warnings_of(report);
  return members;
}

namespace {

// The bytes that are written, and members of the conversion of each tensor.
nb::tuple convert_file(const std::vector<std::string>& inputs, const std::string& output,
                       const std::optional<std::string>& spec,
                       const std::optional<std::string>& layout_in, const nb::dict& given) {
  Conversion conversion = conversion_of(given);
  ConvertOptions& options = conversion.options;
  const OpenOptions open = open_options(spec, layout_in);
  std::vector<TensorReport> reports;
  const std::uint64_t bytes =
      value(run(conversion.jobs, kLong, [&](const Execution& execution) -> Result<std::uint64_t> {
        options.execution = execution;
        BTF_ASSIGN(const TensorSet set, TensorSet::open(inputs, open));
        if (set.member_count() == 0) return std::unexpected(no_files(set));
        BTF_TRY(select(set, conversion));
        return convert(set, output, options,
                       [&](const TensorReport& report) { reports.push_back(report); });
      }));
  nb::list tensors;
  for (const TensorReport& report : reports) tensors.append(told(report));
  return nb::make_tuple(bytes, tensors);
}

}  // namespace

void bind_convert(nb::module_& module) {
  module.def("convert_file", convert_file, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(),
             nb::arg());
}

}  // namespace btf::python
