// From sets of tensors to outputs: what the options mean for an output, and which outputs there are.
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include "btf/convert.h"
#include "btf/output.h"
#include "btf/quantize.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "convert/convert_into.h"
#include "convert/file_conversion.h"
#include "convert/outputs.h"
#include "convert/quantize/scale_names.h"
#include "core/recipient.h"
#include "formats/format_table.h"

namespace btf {
namespace {

WriteRequest request_for(const std::string& output, const ConvertOptions& options) {
  return {output, options.spec ? &*options.spec : nullptr, options.as_uint, options.format,
          options.compression.has_value()};
}

// What the output's format and spec ask for, where the options leave it open.
Result<ConvertOptions> complete(ConvertOptions options, const FormatRow& format) {
  BTF_TRY(check_options(options, format.name));
  if (options.recipient && !options.coo_code) options.coo_code = info(*options.recipient).coo_code;
  if (!format.has(kShuffled)) options.shuffle = false;
  if (format.has(kRowMajorOnly) && !options.layout && !options.plain)
    options.layout = Layout::linear;
  if (!options.spec) return options;
  options.dtype = options.spec->dtype;
  options.layout = options.spec->layout;
  return options;
}

// Whoever wants all of an input gets all of it.
Status check_complete(const TensorSet& input, const ConvertOptions& options) {
  if (options.tensors) return {};
  for (std::uint64_t i = 0; i < input.member_count(); ++i) {
    BTF_ASSIGN(const auto file, input.file(i));
    Status complete = file->check_complete();
    if (complete) continue;
    complete.error().message +=
        ", so the result would lack it; `tensors` '*' converts what is listed";
    return complete;
  }
  return {};
}

// Numbers of what is converted, in the order of the outputs.
Result<std::vector<std::uint64_t>> wanted_tensors(const TensorSet& input,
                                                  const ConvertOptions& options) {
  if (options.tensors) return *options.tensors;
  BTF_ASSIGN(const std::uint64_t count, input.tensor_count());
  std::vector<std::uint64_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Scales and zero points that are files of their own, where they are asked for.
SetScales set_scales(const TensorSet& input, const ConvertOptions& options) {
  return options.quantization.dequantize && !input.one_file() ? SetScales::of(input) : SetScales();
}

// Of scales nothing is left where they are applied.
Status leave_out(const SetScales& scales, const TensorSet& input,
                 std::vector<std::uint64_t>& tensors) {
  if (scales.empty()) return {};
  std::vector<std::uint64_t> left;
  for (const std::uint64_t number : tensors) {
    BTF_ASSIGN(const SetTensor tensor, input.tensor(number));
    if (!scales.is_companion(tensor.member)) left.push_back(number);
  }
  tensors = std::move(left);
  return {};
}

// The same within files. What is not linked, but stands behind its codes, shows with these.
Status leave_out_linked(const TensorSet& input, std::vector<std::uint64_t>& tensors) {
  std::map<std::uint64_t, std::set<std::uint64_t>> scales;  // by member
  std::vector<std::uint64_t> left;
  for (const std::uint64_t number : tensors) {
    BTF_ASSIGN(const SetTensor tensor, input.tensor(number));
    if (!scales.contains(tensor.member)) {
      BTF_ASSIGN(const auto file, input.file(tensor.member));
      FileAttributes attributes = file->attributes().value_or(FileAttributes());
      link_by_names(*file, attributes);
      scales[tensor.member] = linked_scales(attributes);
    }
    if (!scales[tensor.member].contains(tensor.index)) left.push_back(number);
  }
  tensors = std::move(left);
  return {};
}

// Takes out of an output what those before have used up.
Status leave_out_consumed(const TensorSet& input, const std::vector<SetTensor>& consumed,
                          std::vector<std::uint64_t>& tensors) {
  std::vector<std::uint64_t> left;
  for (const std::uint64_t number : tensors) {
    BTF_ASSIGN(const SetTensor tensor, input.tensor(number));
    if (std::ranges::find(consumed, tensor) == consumed.end()) left.push_back(number);
  }
  tensors = std::move(left);
  return {};
}

Result<FileConversion> prepare(const TensorSet& input, std::vector<std::uint64_t> tensors,
                               const SetScales& scales, const std::string& name,
                               const ConvertOptions& given) {
  ConvertOptions options = given;
  if (!options.compression && compressed_by_name(name)) options.compression = kDefaultCompression;
  BTF_ASSIGN(const FormatRow* const format, format_to_write(request_for(name, options)));
  BTF_ASSIGN(ConvertOptions completed, complete(std::move(options), *format));
  auto writer = format->writer(request_for(name, completed));
  FileConversion conversion(input, std::move(tensors), scales, std::move(completed),
                            std::move(writer));
  BTF_TRY(conversion.measure());
  return conversion;
}

Status check_renamed(const ConvertOptions& options, const std::set<std::string>& renamed) {
  for (const auto& [from, to] : options.rename)
    if (!renamed.contains(from))
      return fail(ErrorCode::invalid_argument,
                  "there is no tensor '" + from + "' to be called '" + to + "'");
  return {};
}

MakeSink sink_at(const std::string& path) {
  return [path](const SinkOptions& options) { return create_sink(path, options); };
}

// Everything is measured before the first file is written.
Result<std::uint64_t> convert_to_directory(const TensorSet& input, const std::string& directory,
                                           const ConvertOptions& options,
                                           const TensorReportSink& report) {
  BTF_ASSIGN(std::vector<std::uint64_t> tensors, wanted_tensors(input, options));
  const SetScales scales = set_scales(input, options);
  BTF_TRY(leave_out(scales, input, tensors));
  if (options.quantization.dequantize) BTF_TRY(leave_out_linked(input, tensors));
  BTF_ASSIGN(std::vector<PlannedOutput> outputs, outputs_in(directory, input, tensors, options));
  std::vector<FileConversion> conversions;
  std::vector<const PlannedOutput*> written;
  std::set<std::string> renamed;
  std::vector<SetTensor> consumed;  // by the output before
  for (PlannedOutput& output : outputs) {
    // Files of several tensors keep their scales to themselves.
    if (!consumed.empty() && output.tensors.size() == 1) {
      BTF_TRY(leave_out_consumed(input, consumed, output.tensors));
      if (output.tensors.empty()) continue;
    }
    auto conversion = prepare(input, std::move(output.tensors), scales, output.path, options);
    if (!conversion) return std::unexpected(conversion.error());
    renamed.insert(conversion->renamed().begin(), conversion->renamed().end());
    consumed = conversion->consumed();
    conversions.push_back(*std::move(conversion));
    written.push_back(&output);
  }
  BTF_TRY(check_renamed(options, renamed));
  BTF_TRY(check_complete(input, options));
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < conversions.size(); ++i) {
    const PlannedOutput& output = *written[i];
    BTF_TRY(make_folder(output.path));
    BTF_TRY(check_output(output.path));
    const auto name_report = [&](TensorReport told) {
      told.output = output.path;
      if (report) report(told);
    };
    BTF_ASSIGN(const std::uint64_t size,
               conversions[i].write_to(sink_at(output.path), name_report));
    bytes += size;
  }
  return bytes;
}

}  // namespace

Result<std::string_view> output_format(const std::string& output, const ConvertOptions& options) {
  BTF_ASSIGN(const FormatRow* const format, format_to_write(request_for(output, options)));
  return format->name;
}

Result<std::uint64_t> convert(const TensorFile& input, const std::string& output,
                              const ConvertOptions& options, const TensorReportSink& report) {
  return convert(TensorSet::of(input), output, options, report);
}

Result<std::uint64_t> convert(const TensorSet& input, const std::string& output_or_directory,
                              const ConvertOptions& options, const TensorReportSink& report) {
  if (input.member_count() == 0)
    return std::unexpected(
        Error{ErrorCode::refused, "there is no file in it"}.in_file(input.path()));
  BTF_ASSIGN(const bool several, files_in_directory(output_or_directory, input, options));
  if (several) return convert_to_directory(input, output_or_directory, options, report);
  BTF_ASSIGN(const std::string output, output_path(output_or_directory, input.path()));
  BTF_TRY(check_output(output));
  BTF_ASSIGN(std::vector<std::uint64_t> tensors, wanted_tensors(input, options));
  const SetScales scales = set_scales(input, options);
  BTF_TRY(leave_out(scales, input, tensors));
  BTF_ASSIGN(FileConversion conversion,
             prepare(input, std::move(tensors), scales, output, options));
  BTF_TRY(check_renamed(options, conversion.renamed()));
  BTF_TRY(check_complete(input, options));
  return conversion.write_to(sink_at(output), report);
}

Result<std::uint64_t> convert_into(const TensorFile& input, const std::string& name,
                                   const MakeSink& make_sink, const ConvertOptions& options,
                                   const TensorReportSink& report) {
  const TensorSet set = TensorSet::of(input);
  BTF_ASSIGN(std::vector<std::uint64_t> tensors, wanted_tensors(set, options));
  const SetScales none;
  BTF_ASSIGN(FileConversion conversion, prepare(set, std::move(tensors), none, name, options));
  BTF_TRY(check_complete(set, options));
  return conversion.write_to(make_sink, report);
}

}  // namespace btf
