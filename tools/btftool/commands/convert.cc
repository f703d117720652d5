// btftool convert: layout, dtype, order of dims and sparsity.
#include "btf/convert.h"

#include <algorithm>
#include <utility>

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

namespace btftool {
namespace {

class Conversion {
 public:
  Conversion(const Context& context, const ConvertCommand& command)
      : context_(context), command_(command), options_(command.convert) {}

  btf::Result<int> run() {
    // Before anything is read, which of a pipe may take long.
    if (!command_.many_outputs) BTF_TRY(btf::check_output(command_.output));
    options_.reserved = reserved_files(command_);
    BTF_ASSIGN(const auto input, btf::TensorSet::open(command_.inputs, command_.open));
    BTF_TRY(input.check_named_specs());
    const bool named = !input.one_file();
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
          [&](const btf::TensorReport& report) { part.take(told(report, command_, named)); })));
      BTF_TRY(part.finish());
      return kSame;
    }
    ConvertReport printed(context_, command_);
    const auto bytes = btf::convert(
        input, command_.output, options_,
        [&](const btf::TensorReport& report) { printed.take(told(report, command_, named)); });
    BTF_TRY(ended(bytes ? btf::Status() : std::unexpected(bytes.error())));
    printed.finish(*bytes, others);
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

  const Context& context_;
  const ConvertCommand& command_;
  btf::ConvertOptions options_;
};

}  // namespace

btf::Result<int> run_convert(const Context& context, const ConvertCommand& command) {
  return Conversion(context, command).run();
}

}  // namespace btftool
