// btftool completion: scripts for shells, and what these ask for while a line is typed.
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "btf/tensor_set.h"
#include "btf/try.h"
#include "commands/commands.h"
#include "io/exit_code.h"
#include "io/text.h"

namespace btftool {
namespace {

// Nobody waits longer for a proposal.
constexpr unsigned kSeconds = 2;

[[noreturn]] void give_up(int) { ::_exit(kTrouble); }

// A regular file or a directory: the bytes of a pipe would be missing later.
bool at_rest(const std::string& path) {
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  return std::filesystem::is_regular_file(status) || std::filesystem::is_directory(status);
}

// As --tensor takes it; empty: it takes numbers only, or a terminal would do something else than
// show the name: controls, and what turns the direction of text.
std::string selection_of(const std::string& name) {
  const bool plain = !name.contains(',') && printable(name) == name;
  if (!plain || name.empty()) return {};
  const bool number = name.find_first_not_of("0123456789-") == name.npos;
  return number || name.front() == '@' || name.front() == '!' ? "@" + name : name;
}

void list_tensors(Output& out, const std::string& path) {
  const auto set = btf::TensorSet::open(path);
  if (!set) return;
  for (std::uint64_t m = 0; m < set->member_count(); ++m) {
    const auto file = set->file(m);
    if (!file) continue;
    for (std::uint64_t i = 0; i < (*file)->tensor_count(); ++i) {
      const auto name = (*file)->name(i);
      const std::string selection = name ? selection_of(*name) : std::string();
      if (!selection.empty()) out.text(selection + "\n");
    }
  }
}

}  // namespace

btf::Result<int> run_completion(const Context& context, const CompletionOptions& options) {
  if (options.script) {
    context.out.text(*options.script);
    return kSame;
  }
  std::signal(SIGALRM, give_up);
  ::alarm(kSeconds);
  for (const std::string& path : options.files)
    if (at_rest(path)) list_tensors(context.out, path);
  ::alarm(0);
  return kSame;
}

}  // namespace btftool
