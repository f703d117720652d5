#include "convert/outputs.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "btf/output.h"
#include "btf/try.h"
#include "formats/find_format.h"
#include "formats/io/compressed_name.h"
#include "formats/io/output_place.h"
#include "formats/io/system.h"
#include "formats/table/endings.h"
#include "formats/table/format_table.h"
#include "sets/directory.h"

namespace btf {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNameBytes = 255;

std::string hexadecimal(std::uint64_t number, std::size_t digits) {
  std::string text(digits, '0');
  for (std::size_t i = digits; i-- > 0; number >>= 4) text[i] = "0123456789abcdef"[number & 15];
  return text;
}

// A name that is too long keeps its front and a hash of the whole.
std::string shortened(const std::string& name, const std::string& ending) {
  if (name.size() + ending.size() <= kMostNameBytes) return name + ending;
  const std::string hash = "-" + hexadecimal(XXH64(name.data(), name.size(), 0), 16);
  return name.substr(0, kMostNameBytes - ending.size() - hash.size()) + hash + ending;
}

// "sub/fc2#3" of names that are taken from paths: the folders stay.
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
  // Where the tensors of a member go: a file of them all, or nothing for one file each.
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

  // The path of a tensor with a file of its own. Tensors of several files may have one name.
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
    // Where nothing is said of formats and names, that of the file is kept.
    const bool named = !format_.empty() || !options_.rename.empty();
    // A file of this format that holds one tensor stays a file, and keeps its name.
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

  // Below the directory, or the name of the file.
  std::string place_of_member(std::uint64_t member) const {
    const SetMember from = input_.member(member);
    return from.place != from.path ? from.place : from.path.substr(from.path.rfind('/') + 1);
  }

  // The name of a file of the input, with another ending where it would stand for another format.
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
      return std::unexpected(
          Error{ErrorCode::invalid_argument,
                "is the input itself, which only an output of the same name replaces"}
              .in_file(output.path));
    outputs_.push_back(std::move(output));
    return outputs_.size() - 1;
  }

  // No output takes the place of another one, by way of links, nor of what is read.
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
      if (const auto identity = output_identity(output.path)) there.emplace(*identity, &output);
    }
    for (const std::string& path : options_.reserved)
      if (const auto spot = output_spot(path); spot && spots.contains(*spot))
        return overwrites(*spots.at(*spot), path);
    if (there.empty()) return {};
    std::vector<std::string> read = input_.files_read();
    read.insert(read.end(), options_.reserved.begin(), options_.reserved.end());
    for (const std::string& path : read)
      if (const auto identity = input_identity(path); identity && there.contains(*identity))
        return overwrites(*there.at(*identity), path);
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
  std::string_view format_;                  // if the options say it
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

}  // namespace btf
