// From sets of tensors to outputs: what the options mean for an output, and which outputs there
// are.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include "btf/convert.h"
#include "btf/output.h"
#include "btf/quantize.h"
#include "btf/shards/convert_share.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "convert/convert_into.h"
#include "convert/file_conversion.h"
#include "convert/outputs.h"
#include "convert/quantize/scale_links.h"
#include "core/recipient.h"
#include "formats/find_format.h"
#include "formats/io/output_place.h"
#include "formats/io/replacing_sink.h"
#include "sets/safetensors_index.h"

namespace btf {
namespace {

WriteRequest request_for(const std::string& output, const ConvertOptions& options) {
  return {output, options.spec ? &*options.spec : nullptr, options.as_uint, options.format,
          options.compression.has_value()};
}

// Options completed by the output's format and spec.
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
  BTF_ASSIGN(const std::vector<SetTensor> copies, input.copies());
  if (copies.empty()) return all;
  std::vector<std::uint64_t> meant;
  for (const std::uint64_t number : all) {
    BTF_ASSIGN(const SetTensor tensor, input.tensor(number));
    if (std::ranges::find(copies, tensor) == copies.end()) meant.push_back(number);
  }
  return meant;
}

// Scales and zero points that are files of their own, where they are asked for.
SetScales set_scales(const TensorSet& input, const ConvertOptions& options) {
  return options.quantization.dequantize && !input.one_file() ? SetScales::of(input) : SetScales();
}

// Scales that are applied are not converted.
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

// The same within files. Scales that are not linked are found behind their codes.
Status leave_out_linked(const TensorSet& input, std::vector<std::uint64_t>& tensors) {
  std::map<std::uint64_t, std::set<std::uint64_t>> scales;  // by member
  std::vector<std::uint64_t> left;
  for (const std::uint64_t number : tensors) {
    BTF_ASSIGN(const SetTensor tensor, input.tensor(number));
    if (!scales.contains(tensor.member)) {
      BTF_ASSIGN(const auto file, input.file(tensor.member));
      BTF_ASSIGN(const FileAttributes attributes, usable_attributes(*file));
      scales[tensor.member] = ScaleLinks::of(*file, attributes).companions();
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
                  "cannot rename '" + from + "' to '" + to + "': there is no such tensor");
  return {};
}

MakeSink sink_at(const std::string& path) {
  return [path](const SinkOptions& options) { return create_sink(path, options); };
}

// One of many: the directory was tidied once for all of them.
MakeSink sink_among_others(const std::string& path) {
  return [path](SinkOptions options) {
    options.tidied = 0;
    return create_sink(path, options);
  };
}

// Files of the input that outputs are made of, and the outputs by these.
struct Sources {
  std::vector<PlannedFile> files;
  std::vector<std::uint64_t> of;  // of each output: its file
};

Result<Sources> sources_of(const TensorSet& input, const std::vector<PlannedOutput>& outputs) {
  Sources sources;
  std::map<std::uint64_t, std::uint64_t> numbers;  // by member
  for (const PlannedOutput& output : outputs) {
    BTF_ASSIGN(const SetTensor tensor, input.tensor(output.tensors.front()));
    const auto [number, added] = numbers.emplace(tensor.member, sources.files.size());
    if (added) {
      const SetMember member = input.member(tensor.member);
      BTF_ASSIGN(const auto file, input.file(tensor.member));
      sources.files.push_back({member.place, member.path, file->size()});
    }
    sources.of.push_back(number->second);
  }
  return sources;
}

// A share of the outputs: where their tensors have their new names it does not know.
Status check_renamed(const TensorSet& input, const ConvertOptions& options,
                     const std::vector<std::uint64_t>& tensors) {
  if (options.rename.empty()) return {};
  std::set<std::string> renamed;
  for (const std::uint64_t number : tensors) {
    BTF_ASSIGN(const SetTensor tensor, input.tensor(number));
    BTF_ASSIGN(const auto file, input.file(tensor.member));
    BTF_ASSIGN(const std::string name, file->name(tensor.index));
    if (options.rename.contains(name)) renamed.insert(name);
  }
  return check_renamed(options, renamed);
}

// One output of a directory, measured.
struct PreparedOutput {
  std::string path;
  std::unique_ptr<FileConversion> conversion;
  std::uint64_t source = 0;  // number of its file

  Result<std::uint64_t> write(const TensorReportSink& report) {
    BTF_TRY(make_folder(path));
    BTF_TRY(check_output(path));
    return conversion->write_to(sink_among_others(path), [&](TensorReport told) {
      told.output = path;
      if (report) report(told);
    });
  }
};

// Everything is measured before the first file is written. `share`: nullptr, where all is written.
class DirectoryConversion {
 public:
  DirectoryConversion(const TensorSet& input, const std::string& directory,
                      const ConvertOptions& options, ConvertShare* share)
      : input_(input),
        directory_(directory),
        options_(options),
        share_(share),
        scales_(set_scales(input, options)) {}

  Result<std::uint64_t> run(const TensorReportSink& report) {
    BTF_ASSIGN(std::vector<std::uint64_t> tensors, wanted_tensors(input_, options_));
    BTF_TRY(leave_out(scales_, input_, tensors));
    if (options_.quantization.dequantize) BTF_TRY(leave_out_linked(input_, tensors));
    BTF_ASSIGN(std::vector<PlannedOutput> outputs,
               outputs_in(directory_, input_, tensors, options_));
    BTF_ASSIGN(const Sources sources, sources_of(input_, outputs));
    std::vector<std::uint64_t> own(sources.files.size());
    std::iota(own.begin(), own.end(), 0);
    if (share_ != nullptr) {
      BTF_TRY(check_renamed(input_, options_, tensors));
      BTF_ASSIGN(own, share_->pick(sources.files));
    }
    BTF_TRY(prepare_all(outputs, sources, own));
    BTF_TRY(check_complete(input_, options_));
    ShardIndexes known;
    const Indexes indexes = share_ == nullptr ? indexes_of(sources, known) : Indexes();
    BTF_ASSIGN(const std::uint64_t bytes, write(own, report));
    BTF_ASSIGN(const std::uint64_t more, write_indexes(indexes, known));
    return bytes + more;
  }

 private:
  Status prepare_all(std::vector<PlannedOutput>& outputs, const Sources& sources,
                     const std::vector<std::uint64_t>& own) {
    std::set<std::string> renamed;
    std::map<std::uint64_t, std::vector<SetTensor>> consumed;  // by the file's output before
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      PlannedOutput& output = outputs[i];
      const std::uint64_t source = sources.of[i];
      if (!std::ranges::binary_search(own, source)) continue;
      // Files of several tensors keep their scales to themselves.
      if (!consumed[source].empty() && output.tensors.size() == 1) {
        BTF_TRY(leave_out_consumed(input_, consumed[source], output.tensors));
        if (output.tensors.empty()) continue;
      }
      auto conversion = prepare(input_, std::move(output.tensors), scales_, output.path, options_);
      if (!conversion) return std::unexpected(conversion.error());
      renamed.insert(conversion->renamed().begin(), conversion->renamed().end());
      consumed[source] = conversion->consumed();
      prepared_.push_back({std::move(output.path),
                           std::make_unique<FileConversion>(*std::move(conversion)), source});
    }
    // Outputs of one file follow one another.
    std::ranges::stable_sort(prepared_, {}, &PreparedOutput::source);
    return share_ != nullptr ? Status() : check_renamed(options_, renamed);
  }

  Result<std::uint64_t> write(const std::vector<std::uint64_t>& own,
                              const TensorReportSink& report) {
    std::uint64_t all = 0;
    auto next = prepared_.begin();
    for (const std::uint64_t source : own) {
      std::uint64_t bytes = 0;
      std::vector<std::string> paths;
      if (share_ != nullptr) share_->begin(source);
      for (; next != prepared_.end() && next->source == source; ++next) {
        tidy(std::filesystem::path(next->path).parent_path());
        BTF_ASSIGN(const std::uint64_t size, next->write(report));
        bytes += size;
        paths.push_back(next->path);
      }
      if (share_ != nullptr) share_->end(source, paths, bytes);
      all += bytes;
    }
    return all;
  }

  void tidy(const std::filesystem::path& folder) {
    if (tidied_.insert(folder).second) remove_unfinished(folder, UINT64_MAX);
  }

  // Shards, by the path of their index.
  using Indexes = std::map<std::string, std::vector<WrittenShard>>;

  // Before anything is written, for the indexes of the input may be replaced. A file by itself
  // needs none.
  Indexes indexes_of(const Sources& sources, ShardIndexes& known) const {
    constexpr std::string_view kShard = ".safetensors";
    Indexes indexes;
    for (const PreparedOutput& output : prepared_) {
      if (!output.path.ends_with(kShard)) continue;
      const std::string folder = output.path.substr(0, output.path.rfind('/') + 1);
      const std::string& source = sources.files[output.source].path;
      if (const auto name = known.name_for(source))
        indexes[folder + *name].push_back({output.path, source});
    }
    std::erase_if(indexes, [](const auto& index) { return index.second.size() < 2; });
    return indexes;
  }

  static Result<std::uint64_t> write_indexes(const Indexes& indexes, ShardIndexes& known) {
    std::uint64_t bytes = 0;
    for (const auto& [path, shards] : indexes) {
      BTF_ASSIGN(const std::string text, safetensors_index_text(shards, known));
      BTF_TRY(write_text(path, text));
      bytes += text.size();
    }
    return bytes;
  }

  const TensorSet& input_;
  const std::string& directory_;
  const ConvertOptions& options_;
  ConvertShare* share_;
  std::set<std::filesystem::path> tidied_;
  SetScales scales_;
  std::vector<PreparedOutput> prepared_;
};

}  // namespace

ConvertShare::~ConvertShare() = default;

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
  if (input.member_count() == 0) return std::unexpected(no_files(input));
  BTF_ASSIGN(const bool several, files_in_directory(output_or_directory, input, options));
  if (several) return DirectoryConversion(input, output_or_directory, options, nullptr).run(report);
  BTF_ASSIGN(const std::string output, output_path(output_or_directory, input.path()));
  if (output_or_directory.ends_with('/')) BTF_TRY(make_folder(output));
  BTF_TRY(check_output(output));
  if (may_write_over(output)) BTF_TRY(check_written_over(output, input.files_read()));
  BTF_ASSIGN(std::vector<std::uint64_t> tensors, wanted_tensors(input, options));
  const SetScales scales = set_scales(input, options);
  BTF_TRY(leave_out(scales, input, tensors));
  BTF_ASSIGN(FileConversion conversion,
             prepare(input, std::move(tensors), scales, output, options));
  BTF_TRY(check_renamed(options, conversion.renamed()));
  BTF_TRY(check_complete(input, options));
  return conversion.write_to(sink_at(output), report);
}

Status convert(const TensorSet& input, const std::string& directory, const ConvertOptions& options,
               ConvertShare& share, const TensorReportSink& report) {
  if (input.member_count() == 0) return std::unexpected(no_files(input));
  BTF_ASSIGN(const bool several, files_in_directory(directory, input, options));
  if (!several)
    return std::unexpected(Error{ErrorCode::invalid_argument,
                                 "is not a directory that gets a file for each of the input"}
                               .in_file(directory));
  const auto bytes = DirectoryConversion(input, directory, options, &share).run(report);
  return bytes ? Status() : std::unexpected(bytes.error());
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
