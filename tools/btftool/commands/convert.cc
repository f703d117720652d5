// btftool convert, and the check that outputs overwrite no inputs.
#include "btf/convert.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "btf/output.h"
#include "btf/set_diff.h"
#include "btf/share.h"
#include "btf/tensor_set.h"
#include "btf/tensorrt.h"
#include "btf/try.h"
#include "commands/commands.h"
#include "io/text.h"
#include "reports/convert.h"
#include "reports/convert_part.h"

namespace btftool {
namespace {

struct OutputFile {
  std::string name;  // in messages: "--html page.html"
  std::string path;
  bool may_replace_operand = false;
};

// The files that a command reads and writes. Sets are only opened if an output exists already.
class RunFiles {
 public:
  RunFiles() { written_.push_back({"standard output", "-"}); }

  void named(std::span<const NamedFile> files) {
    for (const auto& [option, path, traits] : files) {
      const std::string name = option + " " + path;
      if (traits.any(kWrites)) written_.push_back({name, path});
      if (traits.any(kWritesPart))
        for (const char* const suffix : {"", ".partial", ".partial-new"})
          written_.push_back({name + suffix, path + suffix});
      if (traits.any(kReads | kReadsSet)) files_.push_back({name, path});
      if (traits.any(kReadsSet)) reads_set(path, {});
    }
  }
  // The parser keeps only the last of several values of such an option, so they are taken from here.
  void writes_lists(const std::vector<FitListFile>& lists) {
    for (const FitListFile& list : lists) written_.push_back({"--emit " + list.path, list.path});
  }
  void writes_output(const std::string& path) {
    written_.push_back({"the output " + path, path, true});
  }
  void reads_operand(const std::string& path) { operands_.push_back(path); }
  void reads_operand(const std::string& path, const btf::OpenOptions& open) {
    reads_operand(path);
    reads_set(path, open);
  }
  // Other files of two directories are compared too, if both have them.
  void reads_pairs(const std::string& actual, const std::string& golden,
                   const btf::SetDiffOptions& options) {
    reads_operand(actual);
    reads_operand(golden);
    reads_engine(options.actual.open);
    reads_engine(options.golden.open);
    sets_.push_back([actual, golden, options](std::vector<std::string>& paths) -> btf::Status {
      const auto sets = btf::open_sets(actual, golden, options);
      if (!sets) return unless_there_is_none(sets.error());
      std::map<std::string, std::string> others;
      for (const btf::SetMember& other : sets->actual.others())
        others.emplace(other.place, other.path);
      for (const btf::SetMember& other : sets->golden.others())
        if (const auto found = others.find(other.place); found != others.end())
          paths.insert(paths.end(), {found->second, other.path});
      for (const btf::TensorSet* set : {&sets->actual, &sets->golden})
        std::ranges::move(set->files_read(), std::back_inserter(paths));
      return {};
    });
  }

  // All files except those that an output of a conversion may replace.
  std::vector<std::string> other_files() const {
    std::vector<std::string> paths;
    for (const File& file : files_) paths.push_back(file.path);
    for (const OutputFile& output : written_)
      if (output.path != "-" && !output.may_replace_operand) paths.push_back(output.path);
    return paths;
  }

  btf::Status check(Output& out) const {
    for (std::size_t i = 0; i < written_.size(); ++i)
      for (std::size_t k = i + 1; k < written_.size(); ++k) BTF_TRY(check_two(i, k));
    std::optional<std::vector<std::string>> in_sets;
    for (const OutputFile& output : written_) {
      BTF_ASSIGN(const bool there, btf::output_exists(output.path));
      if (!there) continue;
      if (!in_sets) {
        BTF_ASSIGN(in_sets, paths_in_sets());
      }
      const btf::Status status = check(output, *in_sets);
      if (status) continue;
      if (btf::is_standard_output(output.path)) out.abandon();
      return status;
    }
    return {};
  }

 private:
  struct File {
    std::string name;
    std::string path;
  };

  void reads_engine(const btf::OpenOptions& open) {
    if (open.engine) files_.push_back({"the layer list " + open.engine->path, open.engine->path});
  }

  void reads_set(const std::string& path, const btf::OpenOptions& open) {
    reads_engine(open);
    sets_.push_back([path, open](std::vector<std::string>& paths) -> btf::Status {
      const auto set = btf::TensorSet::open(path, open);
      if (!set) return unless_there_is_none(set.error());
      std::ranges::move(set->files_read(), std::back_inserter(paths));
      return {};
    });
  }

  btf::Status check_two(std::size_t one, std::size_t other) const {
    const OutputFile& a = written_[one];
    const OutputFile& b = written_[other];
    // A report may go to standard output too, where it follows what is printed.
    const bool printed = one == 0 && btf::is_standard_output(b.path);
    if (printed || !btf::same_output(a.path, b.path)) return {};
    return btf::fail(
        btf::ErrorCode::invalid_argument,
        a.name + " and " + b.name + " name the same file; each output needs a file of its own");
  }

  btf::Status check(const OutputFile& output, const std::vector<std::string>& in_sets) const {
    const auto refuse = [&](const std::string& read) {
      return btf::fail(btf::ErrorCode::invalid_argument,
                       output.name + " would overwrite " + (read == "-" ? "standard input" : read) +
                           ", which is read; give the output another name");
    };
    for (const File& file : files_) {
      BTF_ASSIGN(const auto read, btf::overwritten(output.path, std::span(&file.path, 1)));
      if (read) return refuse(file.name);
    }
    const bool replaces = output.may_replace_operand && !btf::written_in_place(output.path);
    BTF_ASSIGN(const auto operand, btf::overwritten(output.path, operands_));
    if (operand && replaces) return {};
    if (operand) return refuse(*operand);
    BTF_ASSIGN(const auto read, btf::overwritten(output.path, in_sets));
    return read ? refuse(*read) : btf::Status();
  }

  // A set that cannot be opened is skipped, since the command itself reports it; but after an error
  // of the system it might open next time.
  static btf::Status unless_there_is_none(const btf::Error& error) {
    constexpr std::array kReported{0, ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG};
    if (std::ranges::find(kReported, error.system) != kReported.end()) return {};
    return std::unexpected(error);
  }

  btf::Result<std::vector<std::string>> paths_in_sets() const {
    std::vector<std::string> paths;
    for (const auto& append : sets_) BTF_TRY(append(paths));
    return paths;
  }

  std::vector<OutputFile> written_;
  std::vector<File> files_;  // named by options
  std::vector<std::string> operands_;
  std::vector<std::function<btf::Status(std::vector<std::string>& paths)>> sets_;
};

// Collects the operands that each command reads and writes.
struct Gather {
  RunFiles& files;

  void operator()(const InspectOptions& inspect) const {
    for (const std::string& path : inspect.files) files.reads_operand(path, inspect.open);
  }
  void operator()(const ConvertCommand& convert) const {
    for (const std::string& path : convert.inputs) files.reads_operand(path, convert.open);
    if (!convert.many_outputs) files.writes_output(convert.output);
  }
  void operator()(const DiffCommand& diff) const {
    if (diff.from_json) return;
    btf::SetDiffOptions options;
    options.actual = {diff.open_actual, diff.actual_specs};
    options.golden = {diff.open_golden, diff.golden_specs};
    files.reads_pairs(diff.actual, diff.golden, options);
  }
  void operator()(const ValidateOptions& validate) const {
    for (const std::string& path : validate.files) files.reads_operand(path, validate.open);
  }
  void operator()(const RepairCommand& repair) const {
    files.reads_operand(repair.input);
    files.writes_output(repair.output);
  }
  void operator()(const LayersCommand& layers) const {
    if (layers.from_json) return;
    files.reads_operand(layers.actual, layers.open_actual);
    files.reads_operand(layers.golden, layers.open_golden);
  }
  void operator()(const FitCommand& fit) const {
    for (const std::string& path : fit.dumps) files.reads_operand(path, fit.open);
    files.writes_lists(fit.emit);
  }
  void operator()(const MergeCommand& merge) const {
    for (const std::string& path : merge.parts) files.reads_operand(path);
    files.writes_lists(merge.emit);
  }
  void operator()(const CompletionOptions& completion) const {
    for (const std::string& path : completion.files) files.reads_operand(path);
  }
  void operator()(const auto&) const {}
};

}  // namespace

btf::Status check_files_apart(const Command& command, std::span<const NamedFile> named, Output& out,
                              const Invocation* merged) {
  RunFiles files;
  std::visit(Gather{files}, command);
  files.named(named);
  if (merged != nullptr) {
    std::visit(Gather{files}, merged->command);
    files.named(merged->files);
  }
  return files.check(out);
}

std::vector<std::string> reserved_files(const ConvertCommand& convert,
                                        std::span<const NamedFile> named) {
  RunFiles files;
  Gather{files}(convert);
  files.named(named);
  return files.other_files();
}

namespace {

namespace fs = std::filesystem;

// Describes the contents of a file: "BTF, 4 tensors, 3144 bytes". Returns std::nullopt if it holds
// no tensors.
btf::Result<std::optional<std::string>> contents_of(const std::string& path) {
  BTF_ASSIGN(const auto state, btf::FileState::of(path));
  std::error_code unknown;
  if (!state || state->bytes == 0 || !fs::is_regular_file(path, unknown)) return std::nullopt;
  const auto file = btf::TensorFile::open(path);
  if (!file && file.error().code == btf::ErrorCode::io) return std::unexpected(file.error());
  if (!file && file.error().code != btf::ErrorCode::malformed) return std::nullopt;
  if (!file) return "damaged tensors, " + counted(state->bytes, "byte");
  return std::string(file->format_title()) + ", " + counted(file->tensor_count(), "tensor") + ", " +
         counted(file->size(), "byte");
}

// The directory of an output. It is removed again if it is empty at the end.
class NewFolder {
 public:
  explicit NewFolder(const std::string& path) : path_(path) {
    if (!path.empty()) fs::create_directories(path, error_);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder() {
    // This fails if the directory is not empty.
    std::error_code unknown;
    const std::string name = path_.substr(0, path_.find_last_not_of('/') + 1);
    if (!name.empty()) fs::remove(name, unknown);
  }

  btf::Status status() const {
    if (!error_) return {};
    return std::unexpected(
        btf::Error{btf::ErrorCode::io, "cannot create the directory: " + error_.message()}.in_file(
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
    BTF_TRY(check_forgotten_output());
    const NewFolder folder(command_.new_folder);
    BTF_TRY(folder.status());
    // Checked first, because reading a pipe may take long.
    if (!command_.many_outputs) BTF_TRY(btf::check_output(command_.output));
    options_.reserved = reserved_files(command_, context_.files);
    BTF_ASSIGN(const auto input, btf::TensorSet::open(command_.inputs, command_.open));
    input_ = &input;
    BTF_TRY(input.check_named_specs());
    const bool several = !input.one_file();
    // A name that is derived from that of the file says no more than the number.
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
      BTF_TRY(ended(btf::convert(input, command_.output, options_, part,
                                 [&](const btf::TensorReport& report) {
                                   part.take(describe(report, command_, named(report)));
                                 })));
      BTF_TRY(part.finish());
      return kSame;
    }
    ConvertReport printed(context_, command_);
    const auto bytes =
        btf::convert(input, command_.output, options_, [&](const btf::TensorReport& report) {
          note_replaced(report.output.empty() ? command_.output : report.output);
          printed.take(describe(report, command_, named(report)));
        });
    if (!bytes) printed.give_up();
    BTF_TRY(ended(bytes ? btf::Status() : std::unexpected(bytes.error())));
    printed.finish(*bytes, others);
    for (const std::string& replacement : replacements_) context_.log.detail(replacement);
    return kSame;
  }

 private:
  // Refuses `convert a.btf b.btf c.btf` if c.btf holds tensors: it may have been meant as an input.
  btf::Status check_forgotten_output() const {
    if (command_.inputs.size() < 2 || command_.many_outputs || command_.output_by_option ||
        command_.force)
      return {};
    std::error_code unknown;
    for (const std::string& input : command_.inputs)
      if (fs::equivalent(input, command_.output, unknown)) return {};
    BTF_ASSIGN(const auto contents, contents_of(command_.output));
    if (!contents) return {};
    return btf::fail(btf::ErrorCode::refused,
                     "the last operand is the output, but " + command_.output + " holds " +
                         *contents + ": if it is an input, add an output; to replace it, use -o " +
                         command_.output + " or --force (-f)");
  }

  // Must be called while the old file still exists.
  void note_replaced(const std::string& path) {
    if (!context_.global.verbose || path == replaced_) return;
    replaced_ = path;
    // Only said: an old file that cannot be read is replaced like any other.
    if (const auto contents = contents_of(path); contents && *contents)
      replacements_.push_back(path + ": replaced " + **contents);
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

  // Opens every file, which is needed for its tensors anyway.
  static btf::Result<std::uint64_t> bytes_of(const btf::TensorSet& input) {
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < input.member_count(); ++i) {
      BTF_ASSIGN(const auto file, input.file(i));
      bytes += file->size();
    }
    return bytes;
  }

  // Returns the name that the file gives the tensor of an error, or an empty string.
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
  std::string replaced_;  // the last output that note_replaced() has seen
  std::vector<std::string> replacements_;
  btf::ConvertOptions options_;
};

}  // namespace

btf::Result<int> run_convert(const Context& context, const ConvertCommand& command) {
  return Conversion(context, command).run();
}

}  // namespace btftool
