// Conversions of sets: which rules options obey, which outputs there are, and their order.
#include "convert/convert_set.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "btf/convert.h"
#include "btf/output.h"
#include "btf/quantize.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "convert/file_conversion.h"
#include "convert/quantize/scale_links.h"
#include "core/errors.h"
#include "core/names.h"
#include "formats/format_table.h"
#include "formats/io/file_names.h"
#include "formats/io/output.h"
#include "formats/tensor_file.h"
#include "sets/directory.h"
#include "sets/index.h"

namespace btf {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxNameBytes = 255;

std::string hexadecimal(std::uint64_t number, std::size_t digits) {
  std::string text(digits, '0');
  for (std::size_t i = digits; i-- > 0; number >>= 4) text[i] = "0123456789abcdef"[number & 15];
  return text;
}

// A name that is too long is cut, and a hash of the whole name is appended.
std::string shortened(const std::string& name, const std::string& ending) {
  if (name.size() + ending.size() <= kMaxNameBytes) return name + ending;
  const std::string hash = "-" + hexadecimal(XXH64(name.data(), name.size(), 0), 16);
  return name.substr(0, kMaxNameBytes - ending.size() - hash.size()) + hash + ending;
}

// For names made of paths, such as "sub/fc2#3": keeps the folders.
std::string file_of_place(const std::string& name, const std::string& ending) {
  const std::size_t base = name.rfind('/') + 1;
  return name.substr(0, base) + shortened(name.substr(base), ending);
}

class Outputs {
 public:
  Outputs(std::string directory, const TensorSet& input, const ConvertOptions& options)
      : directory_(std::move(directory)), input_(input), options_(options) {}

  Result<std::vector<PlannedOutput>> plan(const std::vector<std::uint64_t>& tensors) {
    if (!options_.format.empty()) {
      BTF_ASSIGN(const FormatRow* const format, format_of(""));
      format_ = format->name;
    }
    for (const std::uint64_t number : tensors) {
      BTF_ASSIGN(const SetTensor tensor, input_.tensor(number));
      BTF_TRY(add(number, tensor));
    }
    BTF_TRY(check_apart());
    return std::move(outputs_);
  }

 private:
  // Where the tensors of a member go: all into one file, or each into its own.
  struct Target {
    std::optional<std::size_t> whole;
    bool each = false;
    std::string ending;
  };

  Status add(std::uint64_t number, const SetTensor& tensor) {
    auto target = targets_.find(tensor.member);
    if (target == targets_.end()) {
      BTF_ASSIGN(Target chosen, target_of(tensor.member));
      target = targets_.emplace(tensor.member, std::move(chosen)).first;
    }
    if (!target->second.each) {
      std::optional<std::size_t>& whole = target->second.whole;
      if (!whole) {
        BTF_ASSIGN(whole, add_output(place_of(tensor.member), tensor.member));
      }
      outputs_[*whole].tensors.push_back(number);
      return {};
    }
    BTF_ASSIGN(const std::string place, place_of(tensor, target->second.ending));
    BTF_ASSIGN(const std::size_t output, add_output(place, tensor.member));
    outputs_[output].tensors.push_back(number);
    return {};
  }

  // The path of a tensor that has a file of its own. Tensors of different files may have equal
  // names.
  Result<std::string> place_of(const SetTensor& tensor, const std::string& ending) const {
    BTF_ASSIGN(const auto file, input_.file(tensor.member));
    BTF_ASSIGN(const auto own, file->own_name(tensor.index));
    BTF_ASSIGN(const std::string name, file->name(tensor.index));
    const auto renaming = options_.rename.find(name);
    if (renaming != options_.rename.end()) return safe_file_name(renaming->second, ending);
    if (!own) return file_of_place(name, ending);
    const std::string folder =
        input_.member_count() > 1 ? input_.member(tensor.member).name + "/" : "";
    return folder + safe_file_name(*own, ending);
  }

  Result<Target> target_of(std::uint64_t member) const {
    BTF_ASSIGN(const FormatRow* const format, format_of(place_of(member)));
    // Without a format or a new name in the options, the input's format is kept.
    const bool named = !format_.empty() || !options_.rename.empty();
    // A file of this format that holds one tensor stays one file and keeps its name.
    const auto from = find_ending(content_name(place_of_member(member)));
    const bool same = options_.rename.empty() && from && from->format == format->name;
    return Target{
        .whole = {}, .each = format->has(kSingle) && named && !same, .ending = ending_of(*format)};
  }

  std::string ending_of(const FormatRow& format) const {
    std::string ending(format.ending());
    if (options_.compression) ending += kCompressedEnding;
    return ending;
  }

  Result<const FormatRow*> format_of(const std::string& name) const {
    return format_to_write({name, options_.spec ? &*options_.spec : nullptr, options_.as_uint,
                            options_.format,
                            options_.compression.has_value() || ends_as_compressed(name)});
  }

  // The path relative to the input directory, or the file name.
  std::string place_of_member(std::uint64_t member) const {
    const SetMember from = input_.member(member);
    return from.place != from.path ? from.place : from.path.substr(from.path.rfind('/') + 1);
  }

  // The name of an input file, with another extension if its own belongs to another format.
  std::string place_of(std::uint64_t member) const {
    const SetMember from = input_.member(member);
    const std::string place = place_of_member(member);
    if (format_.empty())
      return options_.compression && !ends_as_compressed(place)
                 ? place + std::string(kCompressedEnding)
                 : place;
    const auto known = find_ending(content_name(place));
    const bool fits = known ? known->format == format_ : format_ == default_format().name;
    if (fits && ends_as_compressed(place) == options_.compression.has_value()) return place;
    return file_of_place(from.name, ending_of(format_named(format_)));
  }

  Result<std::size_t> add_output(const std::string& place, std::uint64_t member) {
    const SetMember from = input_.member(member);
    if (from.path == "-")
      return std::unexpected(Error{ErrorCode::invalid_argument,
                                   "is a directory, and standard input gives no file name"}
                                 .in_file(directory_));
    PlannedOutput output{.path = join_path(directory_, place), .tensors = {}};
    if (!paths_.insert(output.path).second)
      return std::unexpected(
          Error{ErrorCode::invalid_argument, "two inputs would be written here; rename one"}
              .in_file(output.path));
    std::error_code unknown;
    if (fs::equivalent(output.path, from.path, unknown))
      return std::unexpected(Error{ErrorCode::invalid_argument,
                                   "is the input itself under another name; only an output with "
                                   "the input's own path may replace it"}
                                 .in_file(output.path));
    outputs_.push_back(std::move(output));
    return outputs_.size() - 1;
  }

  // Refuses outputs that are the same file as another output, possibly by links, or as a file that
  // this run reads.
  Status check_apart() const {
    std::map<std::pair<FileIdentity, std::string>, const PlannedOutput*> spots;
    std::map<FileIdentity, const PlannedOutput*> there;
    for (const PlannedOutput& output : outputs_) {
      const auto spot = output_spot(output.path);
      if (!spot) continue;
      if (const auto [other, fresh] = spots.emplace(*spot, &output); !fresh)
        return std::unexpected(Error{ErrorCode::invalid_argument,
                                     "is the same file as the output " + other->second->path}
                                   .in_file(output.path));
      BTF_ASSIGN(const auto identity, output_identity(output.path));
      if (identity) there.emplace(*identity, &output);
    }
    for (const std::string& path : options_.reserved)
      if (const auto spot = output_spot(path); spot && spots.contains(*spot))
        return overwrites(*spots.at(*spot), path);
    if (there.empty()) return {};
    std::vector<std::string> read = input_.files_read();
    read.insert(read.end(), options_.reserved.begin(), options_.reserved.end());
    for (const std::string& path : read) {
      BTF_ASSIGN(const auto identity, input_identity(path));
      if (identity && there.contains(*identity)) return overwrites(*there.at(*identity), path);
    }
    return {};
  }

  static Status overwrites(const PlannedOutput& output, const std::string& path) {
    return std::unexpected(
        Error{ErrorCode::invalid_argument,
              "would overwrite " + path + ", which this run needs itself; choose another directory"}
            .in_file(output.path));
  }

  std::string directory_;
  const TensorSet& input_;
  const ConvertOptions& options_;
  std::string_view format_;                  // if the options name one
  std::map<std::uint64_t, Target> targets_;  // by member
  std::vector<PlannedOutput> outputs_;
  std::set<std::string> paths_;
};

}  // namespace

Result<bool> files_in_directory(const std::string& output, const TensorSet& input,
                                const ConvertOptions& options) {
  if (input.one_file() && options.format.empty() && options.rename.empty()) return false;
  if (output.ends_with('/')) return true;
  return is_directory(output);
}

Result<std::vector<PlannedOutput>> outputs_in(const std::string& directory, const TensorSet& input,
                                              const std::vector<std::uint64_t>& tensors,
                                              const ConvertOptions& options) {
  return Outputs(directory, input, options).plan(tensors);
}

std::string safe_file_name(const std::string& name, const std::string& ending) {
  std::string safe;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte != 0x7f && c != '/' && c != '%';
    if (plain && !(c == '.' && safe.empty()))
      safe += c;
    else
      safe += "%" + hexadecimal(byte, 2);
  }
  return shortened(safe.empty() ? "%" : safe, ending);
}

Status make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (!error) return {};
  return std::unexpected(
      system_failure(ErrorCode::io, error.value(), "cannot make its directory: " + error.message())
          .error()
          .in_file(path));
}

namespace {

// Rules for combinations of options, each in one place.

constexpr auto kDuplicates = std::to_array<Named<Duplicates>>({
    {Duplicates::error, "error"},
    {Duplicates::sum, "sum"},
    {Duplicates::first, "first"},
    {Duplicates::last, "last"},
});

std::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

Status check_spec(const ConvertOptions& options) {
  if (!options.spec) return {};
  if (options.spec->as_text)
    return wrong(
        "`ConvertOptions::spec` describes raw bytes; numbers in text are read, not written");
  if (!options.spec->storage)
    return wrong("`ConvertOptions::spec` needs dims: fp16:hwc8:1x3x224x224");
  if (options.plain || options.where_possible)
    return wrong("`ConvertOptions::spec` cannot be combined with `plain` and `where_possible`");
  if (options.quantization.block)
    return wrong("`ConvertOptions::spec` cannot be combined with `quantization.block`");
  if (options.dtype.value_or(options.spec->dtype) != options.spec->dtype ||
      options.layout.value_or(options.spec->layout) != options.spec->layout)
    return wrong("`ConvertOptions::spec` contradicts `dtype` or `layout`");
  return {};
}

Status check_shuffle(const ConvertOptions& options, const FormatRow* format) {
  const bool by_layout = options.layout && spec(*options.layout).shuffled();
  const bool asked = options.shuffle.value_or(false);
  if (!by_layout && !asked) return {};
  const std::string option = asked ? "`shuffle`" : "`layout` shuffled";
  if (!by_layout && options.layout && *options.layout != Layout::linear)
    return wrong(option + " takes elements in the order of kLINEAR, not of " +
                 std::string(spec(*options.layout).name));
  if (options.plain) return wrong(option + " and `plain` exclude each other");
  if (format != nullptr && !format->has(kShuffled))
    return wrong(option + " is for BTF, the output is " + std::string(format->title));
  return {};
}

Status check_names(const ConvertOptions& options, const FormatRow* format) {
  const bool given = options.names.has_value() || !options.rename.empty();
  if (options.drop_names && given) return wrong("`drop_names` cannot be combined with other names");
  // For a single tensor the name may become the name of the file.
  if (options.names && format != nullptr && !format->has(kNamed))
    return wrong("`names` is for a format that holds names, the output is " +
                 std::string(format->title));
  return {};
}

Status check_scales(const ConvertOptions& options) {
  const Quantization& scales = options.quantization;
  const bool scaled = scales.scale || scales.automatic;
  if (scales.scale && scales.automatic)
    return wrong("`quantization.scale` and `quantization.automatic` exclude each other");
  if (scaled + scales.block.has_value() + scales.dequantize > 1)
    return wrong(
        "`quantization.scale`, `quantization.block` and `quantization.dequantize` exclude each "
        "other");
  if (scales.axis && !scales.automatic)
    return wrong("`quantization.axis` goes with `quantization.automatic`");
  if (scales.zero_point && scales.find_zero_point)
    return wrong("`quantization.zero_point` and `quantization.find_zero_point` exclude each other");
  if ((scales.zero_point || scales.find_zero_point) && (scales.block || !scales.active()))
    return wrong(
        "`quantization.zero_point` goes with `quantization.scale` or `quantization.dequantize`");
  if (scales.find_zero_point && scales.scale)
    return wrong(
        "`quantization.find_zero_point` goes with `quantization.automatic` or "
        "`quantization.dequantize`");
  if (!scales.scale_blocks.empty() && !scales.dequantize)
    return wrong("`scale_blocks` goes with `quantization.dequantize`");
  if (std::ranges::find(scales.scale_blocks, 0U) != scales.scale_blocks.end())
    return wrong("a block size in `scale_blocks` is 0");
  if (!scaled || options.dtype || options.spec) return {};
  if (scales.automatic)
    return wrong("`quantization.automatic` needs `dtype`, the type to quantise to");
  return wrong(
      "`quantization.scale` needs `dtype`: it decides between quantising and dequantising");
}

// Checks the rules that need no tensor. The others are checked while tensors are measured.
Status check_recipient(const ConvertOptions& options, const FormatRow* format) {
  if (!options.recipient) return {};
  const RecipientRow& row = info(*options.recipient);
  const std::string option = "`recipient` " + std::string(row.name) + ": ";
  const auto asks = [&](const std::optional<Objection>& objection) -> Status {
    if (objection) return wrong(option + objection->message);
    return {};
  };
  if (format != nullptr)
    BTF_TRY(
        asks(format_objection(row, format->name, format->title, options.compression.has_value())));
  if (options.dtype) BTF_TRY(asks(dtype_objection(row, info(*options.dtype).code())));
  if (options.coo_code) BTF_TRY(asks(layout_objection(row, *options.coo_code)));
  if (options.shuffle.value_or(false))
    BTF_TRY(asks(layout_objection(row, spec(Layout::shuffled).code())));
  const bool stays = options.layout && options.layout != Layout::coo && !options.plain;
  return stays ? asks(layout_objection(row, spec(*options.layout).code())) : Status{};
}

}  // namespace

std::span<const Named<Duplicates>> duplicates_names() { return kDuplicates; }

Status check_options(const ConvertOptions& options, std::string_view format) {
  const FormatRow* row = nullptr;
  if (!format.empty()) {
    BTF_ASSIGN(row, format_to_write({.path = "-", .format = std::string(format)}));
  }
  BTF_TRY(check_spec(options));
  if (options.as_uint && row != nullptr && !row->has(kNumpyArrays))
    return wrong("`as_uint` goes with NumPy's arrays: .npy, .npz, JSON of Polygraphy");
  BTF_TRY(check_shuffle(options, row));
  BTF_TRY(check_names(options, row));
  BTF_TRY(check_scales(options));
  BTF_TRY(check_recipient(options, row));
  if (options.compression &&
      (*options.compression < kMinCompression || *options.compression > kGreatestCompression))
    return wrong(concat("`compression` takes a number from ", kMinCompression, " to ",
                        kGreatestCompression, ", not '", *options.compression, "'"));
  return {};
}

namespace {

WriteRequest request_for(const std::string& output, const ConvertOptions& options) {
  return {output, options.spec ? &*options.spec : nullptr, options.as_uint, options.format,
          options.compression.has_value()};
}

// Completes the options by what the output's format and spec imply.
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

// Refuses the conversion of a whole input that would silently leave tensors out.
Status check_complete(const TensorSet& input, const ConvertOptions& options) {
  if (options.tensors) return {};
  for (std::uint64_t i = 0; i < input.member_count(); ++i) {
    BTF_ASSIGN(const auto file, input.file(i));
    Status complete = file->check_complete();
    if (complete) continue;
    complete.error().message +=
        ", so it would be missing from the output; `tensors` '*' converts only the listed tensors";
    return complete;
  }
  return {};
}

// The numbers of the tensors to convert, in the order of the outputs.
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

// Scales and zero points in files of their own, if the options ask for dequantisation.
SetScales set_scales(const TensorSet& input, const ConvertOptions& options) {
  return options.quantization.dequantize && !input.one_file() ? SetScales::of(input) : SetScales();
}

// Scales that are applied are not converted themselves.
Status drop_scale_members(const SetScales& scales, const TensorSet& input,
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

// The same for scales in the files of their codes. Scales without a link follow their codes and are
// removed later.
Status drop_linked_scales(const TensorSet& input, std::vector<std::uint64_t>& tensors) {
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

// Removes tensors that outputs prepared earlier have used as scales.
Status drop_consumed(const TensorSet& input, const std::vector<SetTensor>& consumed,
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

// For one of many outputs: the directory has already been tidied.
MakeSink sink_among_others(const std::string& path) {
  return [path](SinkOptions options) {
    options.tidied = 0;
    return create_sink(path, options);
  };
}

// The input files that outputs are made of, and for each output its file.
struct Sources {
  std::vector<PlannedFile> files;
  std::vector<std::uint64_t> of;  // for each output, the number of its file
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

// For one shard, which only sees some of the outputs: looks for the old names in all tensors.
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
  std::uint64_t source = 0;  // number of the input file

  Result<std::uint64_t> write(const TensorReportSink& report) {
    BTF_TRY(make_folder(path));
    BTF_TRY(check_output(path));
    return conversion->write_to(sink_among_others(path), [&](TensorReport tensor) {
      tensor.output = path;
      if (report) report(tensor);
    });
  }
};

// Measures everything before it writes the first file. `share` is nullptr in a run that is not a
// shard.
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
    BTF_TRY(drop_scale_members(scales_, input_, tensors));
    if (options_.quantization.dequantize) BTF_TRY(drop_linked_scales(input_, tensors));
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
    BTF_TRY(known.status());
    BTF_ASSIGN(const std::uint64_t bytes, write(own, report));
    BTF_ASSIGN(const std::uint64_t more, write_indexes(indexes, known));
    return bytes + more;
  }

 private:
  Status prepare_all(std::vector<PlannedOutput>& outputs, const Sources& sources,
                     const std::vector<std::uint64_t>& own) {
    std::set<std::string> renamed;
    std::map<std::uint64_t, std::vector<SetTensor>> consumed;  // by the previous output of a file
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      PlannedOutput& output = outputs[i];
      const std::uint64_t source = sources.of[i];
      if (!std::ranges::binary_search(own, source)) continue;
      // Files of several tensors contain their scales.
      if (!consumed[source].empty() && output.tensors.size() == 1) {
        BTF_TRY(drop_consumed(input_, consumed[source], output.tensors));
        if (output.tensors.empty()) continue;
      }
      auto conversion = prepare(input_, std::move(output.tensors), scales_, output.path, options_);
      if (!conversion) return std::unexpected(conversion.error());
      renamed.insert(conversion->renamed().begin(), conversion->renamed().end());
      consumed[source] = conversion->consumed();
      prepared_.push_back({std::move(output.path),
                           std::make_unique<FileConversion>(*std::move(conversion)), source});
    }
    // Outputs of one input file are adjacent.
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

  // The shards of a model, by the path of their index.
  using Indexes = std::map<std::string, std::vector<WrittenShard>>;

  // Called before anything is written, since indexes of the input may be replaced. A single file
  // needs no index.
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
  BTF_ASSIGN(const bool in_place, may_write_over(output));
  if (in_place) BTF_TRY(check_written_over(output, input.files_read()));
  BTF_ASSIGN(std::vector<std::uint64_t> tensors, wanted_tensors(input, options));
  const SetScales scales = set_scales(input, options);
  BTF_TRY(drop_scale_members(scales, input, tensors));
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
                                 "is not a directory that gets an output file for each input file"}
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
