// btftool convert: layout, dtype, order of dims and sparsity.
#include "btf/convert.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "btf/output.h"
#include "btf/shards/convert_share.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "commands/commands.h"
#include "commands/files_apart.h"
#include "convert/part.h"
#include "convert/report.h"
#include "convert/told.h"
#include "io/exit_code.h"
#include "io/index_warnings.h"
#include "io/interrupt.h"
#include "io/other_files.h"
#include "io/progress.h"
#include "io/text.h"

namespace btftool {
namespace {

namespace fs = std::filesystem;

// What a file holds, "BTF, 4 tensors, 3144 bytes"; nothing: no tensors, as far as can be seen.
std::optional<std::string> held_by(const std::string& path) {
  std::error_code unknown;
  if (!fs::is_regular_file(path, unknown) || fs::file_size(path, unknown) == 0)
    return std::nullopt;
  const auto file = btf::TensorFile::open(path);
  if (!file && file.error().code != btf::ErrorCode::malformed) return std::nullopt;
  if (!file) return "damaged tensors, " + counted(fs::file_size(path, unknown), "byte");
  return std::string(file->format_title()) + ", " + counted(file->tensor_count(), "tensor") + ", " +
         counted(file->size(), "byte");
}

// The directory of an output, which goes again if nothing is written into it.
class NewFolder {
 public:
  explicit NewFolder(const std::string& path) : path_(path) {
    if (!path.empty()) fs::create_directories(path, error_);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder() {
    // Of a directory that is not empty nothing is removed.
    std::error_code unknown;
    const std::string name = path_.substr(0, path_.find_last_not_of('/') + 1);
    if (!name.empty()) fs::remove(name, unknown);
  }

  btf::Status made() const {
    if (!error_) return {};
    return std::unexpected(
        btf::Error{btf::ErrorCode::io, "cannot make the directory: " + error_.message()}.in_file(
            path_));
  }

 private:
  const std::string& path_;
  std::error_code error_;
};

class Conversion {
 public:
  Conversion(const Context& context, const ConvertCommand& command)
      : context_(context), command_(command), options_(command.convert) {}

  btf::Result<int> run() {
    BTF_TRY(check_forgotten());
    const NewFolder folder(command_.new_folder);
    BTF_TRY(folder.made());
    // Before anything is read, which of a pipe may take long.
    if (!command_.many_outputs) BTF_TRY(btf::check_output(command_.output));
    options_.reserved = reserved_files(command_);
    BTF_ASSIGN(const auto input, btf::TensorSet::open(command_.inputs, command_.open));
    input_ = &input;
    BTF_TRY(input.check_named_specs());
    const bool several = !input.one_file();
    // A name that only the file's gives says nothing more than the number.
    const auto named = [&](const btf::TensorReport& report) {
      if (several) return true;
      const auto file = input.file(0);
      const auto own = file ? (*file)->own_name(report.source) : std::unexpected(file.error());
      return own && own->has_value();
    };
    note_others(context_, input);
    std::vector<std::string> others;
    add_others(input, others);
    if (input.member_count() == 0) return std::unexpected(explain(btf::no_files(input)));
    BTF_TRY(select(input));
    std::vector<std::string> warnings;
    for (std::uint64_t i = 0; i < input.member_count(); ++i)
      add_warnings_of_index(input, i, warnings);
    for (const std::string& warning : warnings) context_.log.warning(warning);
    BTF_ASSIGN(const std::uint64_t input_bytes, bytes_of(input));
    Progress progress(context_.global, input_bytes / (command_.part ? command_.part->shard.of : 1));
    progress.attach(options_.execution);
    options_.execution.cancel = &watch_interrupts();
    const auto ended = [&](const btf::Status& status) -> btf::Status {
      progress.clear();
      if (!status) return std::unexpected(explain(status.error()));
      return {};
    };
    if (command_.part) {
      ConvertPart part(context_, command_, std::move(others), std::move(warnings));
      BTF_TRY(ended(btf::convert(
          input, command_.output, options_, part,
          [&](const btf::TensorReport& report) { part.take(told(report, command_, named(report))); })));
      BTF_TRY(part.finish());
      return kSame;
    }
    ConvertReport printed(context_, command_);
    const auto bytes = btf::convert(
        input, command_.output, options_, [&](const btf::TensorReport& report) {
          note_replaced(report.output.empty() ? command_.output : report.output);
          printed.take(told(report, command_, named(report)));
        });
    if (!bytes) printed.give_up();
    BTF_TRY(ended(bytes ? btf::Status() : std::unexpected(bytes.error())));
    printed.finish(*bytes, others);
    for (const std::string& replacement : replacements_) context_.log.detail(replacement);
    return kSame;
  }

 private:
  // convert a.btf b.btf c.btf, of which all three were meant as inputs.
  btf::Status check_forgotten() const {
    if (command_.inputs.size() < 2 || command_.many_outputs || command_.output_said ||
        command_.force)
      return {};
    std::error_code unknown;
    for (const std::string& input : command_.inputs)
      if (fs::equivalent(input, command_.output, unknown)) return {};
    const auto held = held_by(command_.output);
    if (!held) return {};
    return btf::fail(btf::ErrorCode::refused,
                     "the last operand is the output, and " + command_.output + " holds " + *held +
                         ": was OUT forgotten? -o " + command_.output +
                         " says that it is to be replaced, and so does --force (-f)");
  }

  // While the old file is still in its place.
  void note_replaced(const std::string& path) {
    if (!context_.global.verbose || path == replaced_) return;
    replaced_ = path;
    if (const auto held = held_by(path)) replacements_.push_back(path + ": replaced " + *held);
  }

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

  // The name that its file gives the tensor of an error.
  std::string name_of(const btf::Error& error) const {
    for (std::uint64_t i = 0; error.tensor && i < input_->member_count(); ++i) {
      if (input_->path(i) != error.file) continue;
      const auto file = input_->file(i);
      if (!file || *error.tensor >= (*file)->tensor_count()) return {};
      const auto name = (*file)->own_name(*error.tensor);
      return name ? name->value_or("") : "";
    }
    return {};
  }

  btf::Error explain(btf::Error error) const {
    if (const std::string name = name_of(error); !name.empty())
      if (const std::string quoted = quoted_name(name);
          !error.message.contains(quoted) && !error.message.starts_with("member '" + name))
        error.message = quoted + ": " + error.message;
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

  const Context& context_;
  const ConvertCommand& command_;
  const btf::TensorSet* input_ = nullptr;
  std::string replaced_;  // the output that note_replaced() has seen last
  std::vector<std::string> replacements_;
  btf::ConvertOptions options_;
};

}  // namespace

btf::Result<int> run_convert(const Context& context, const ConvertCommand& command) {
  return Conversion(context, command).run();
}

}  // namespace btftool
