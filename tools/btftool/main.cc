// Runs a command, and turns its error into a message and an exit code.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <variant>

#include "btf/cpu_level.h"
#include "btf/try.h"
#include "cli/cli.h"
#include "commands/commands.h"
#include "io/context.h"
#include "io/text.h"

namespace btftool {
namespace {

// Applies the environment variable BTF_CPU, unless it is empty.
btf::Status set_cpu_level() {
  const char* const level = std::getenv("BTF_CPU");
  if (level == nullptr || *level == '\0') return {};
  const btf::Status status = btf::use_cpu_level(level);
  if (!status) return std::unexpected(status.error().within("BTF_CPU"));
  return {};
}

btf::Result<int> run(const Context& context, const Command& command) {
  BTF_TRY(set_cpu_level());
  struct Runner {
    const Context& context;
    btf::Result<int> operator()(const InspectOptions& o) const { return run_inspect(context, o); }
    btf::Result<int> operator()(const ConvertCommand& o) const { return run_convert(context, o); }
    btf::Result<int> operator()(const DiffCommand& o) const { return run_diff(context, o); }
    btf::Result<int> operator()(const ValidateOptions& o) const { return run_validate(context, o); }
    btf::Result<int> operator()(const RepairCommand& o) const { return run_repair(context, o); }
    btf::Result<int> operator()(const LayersCommand& o) const { return run_layers(context, o); }
    btf::Result<int> operator()(const FitCommand& o) const { return run_fit(context, o); }
    btf::Result<int> operator()(const MergeCommand& o) const { return run_merge(context, o); }
    btf::Result<int> operator()(const TypesOptions& o) const { return run_types(context, o); }
    btf::Result<int> operator()(const ExplainOptions& o) const { return run_explain(context, o); }
    btf::Result<int> operator()(const CompletionOptions& o) const {
      return run_completion(context, o);
    }
  };
  return std::visit(Runner{context}, command);
}

bool asks_for_json(const Command& command) {
  return std::visit(
      [](const auto& options) {
        if constexpr (requires { options.json; })
          return options.json;
        else
          return false;
      },
      command);
}

// The document that --json prints in place of a report if the command fails.
std::string error_document(const btf::Error& error) {
  const auto or_null = [](bool set, auto&& value) { return set ? Json(value) : Json(); };
  return dump({{"schema", "btftool/error/1"},
               {"error", error.text()},
               {"file", or_null(!error.file.empty(), error.file)},
               {"tensor", error.tensor ? json_number(*error.tensor) : Json()},
               {"finding", or_null(!error.finding.empty(), std::string(error.finding))},
               {"errno", or_null(error.system != 0, error.system)}});
}

int finish(Output& out, Log& log, int exit_code) {
  if (const btf::Status status = out.finish(); !status) {
    log.error(status.error().in_file("standard output"));
    return kTrouble;
  }
  return exit_code;
}

int run(const Invocation& invocation) {
  Log log(invocation.global, invocation.names);
  const bool json = asks_for_json(invocation.command);
  Output out(invocation.global.color, json);
  const Context context{invocation.global, out, log, invocation.names, invocation.files};
  const btf::Status apart = check_files_apart(invocation.command, invocation.files, out);
  const auto exit_code =
      apart ? run(context, invocation.command) : btf::Result<int>(std::unexpected(apart.error()));
  if (exit_code && json && *exit_code == kTrouble)
    out.replace(error_document({.message = log.first_error()}));
  if (exit_code) return finish(out, log, *exit_code);
  const btf::Error& error = exit_code.error();
  if (json && error.code != btf::ErrorCode::closed_pipe && error.code != btf::ErrorCode::cancelled)
    out.replace(error_document(invocation.names.translate(error)));
  finish(out, log, kTrouble);
  if (exit_code.error().code == btf::ErrorCode::closed_pipe) return kTrouble;
  log.error(exit_code.error());
  if (exit_code.error().code == btf::ErrorCode::cancelled) die_of_interrupt();
  return kTrouble;
}

// Opens standard descriptors that are closed. Otherwise the next file that is opened would get such
// a number, and messages could go into the output file. The replacement still fails as a closed one
// would: descriptor 0 cannot be read, 1 and 2 cannot be written.
void occupy_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char** argv) {
  occupy_standard_descriptors();
  // With this, exceeding the file size limit is an error of write() that is reported.
  std::signal(SIGXFSZ, SIG_IGN);
  const auto parsed = parse_command_line(argc, argv);
  if (const auto* invocation = std::get_if<Invocation>(&parsed)) return run(*invocation);
  Log log(GlobalOptions{}, OptionNames());
  if (const auto* information = std::get_if<RequestedText>(&parsed)) {
    Output out(When::never, false);
    out.text(information->text(output_columns()));
    return finish(out, log, kSame);
  }
  const auto& error = std::get<UsageError>(parsed);
  if (std::any_of(argv, argv + argc,
                  [](const char* word) { return word == std::string_view("--json"); })) {
    Output out(When::never, true);
    out.replace(error_document({.message = error.message}));
    finish(out, log, kTrouble);
  }
  const std::string space = error.command.empty() ? "" : " ";
  log.error(error.message);
  log.error("Try 'btftool" + space + error.command + " --help'");
  return kTrouble;
}

// Writes a message without allocating memory.
int give_up(std::string_view why, std::string_view what = "") noexcept {
  for (const std::string_view text :
       {std::string_view("btftool: "), why, what, std::string_view("\n")})
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0) break;
  return kTrouble;
}

// Destructors of the JSON library allocate memory, so running out of it may end here.
[[noreturn]] void on_terminate() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    ::_exit(give_up("out of memory"));
  } catch (...) {
    // A bug: abort() below leaves a core dump.
  }
  std::abort();
}

}  // namespace
}  // namespace btftool

int main(int argc, char** argv) {
  std::set_terminate(btftool::on_terminate);
  try {
    return btftool::main(argc, argv);
  } catch (const std::bad_alloc&) {
    return btftool::give_up("out of memory");
  } catch (const std::exception& error) {
    return btftool::give_up("internal error: ", error.what());
  }
}
