#include "io/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "io/output.h"
#include "io/text.h"

namespace btftool {

struct Log::State {
  spdlog::logger logger;
  OptionNames names;
  btf::report::Paint paint;
  std::size_t columns;  // of a terminal; else no line is too long

  std::string line(const std::string& message) const { return printable(names.in(message)); }

  // As one message, in lines that fit behind the program's name.
  std::string fitted(const std::string& line) const {
    if (columns == SIZE_MAX) return line;
    const std::string room(std::string_view("btftool: ").size(), '.');  // no blank to break at
    std::string text;
    for (const std::string& piece : wrapped(room + line, columns, 4))
      text += (text.empty() ? "" : "\n") + piece;
    return text.substr(room.size());
  }

  std::string warning(const std::string& message) const {
    return fitted(paint.yellow("warning") + ": " + line(message));
  }
};

Log::Log(const GlobalOptions& options, OptionNames names) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_st>();
  state_ = std::make_unique<State>(
      State{spdlog::logger("btftool", std::move(sink)),
            std::move(names),
            {use_color(options.color, STDERR_FILENO)},
            fits_columns(STDERR_FILENO) ? output_columns(STDERR_FILENO) : SIZE_MAX});
  state_->logger.set_pattern("%n: %v");
  state_->logger.set_level(options.quiet     ? spdlog::level::err
                           : options.verbose ? spdlog::level::debug
                                             : spdlog::level::info);
}

Log::~Log() = default;

void Log::error(const btf::Error& error) { this->error(error.text()); }
void Log::error(const std::string& message) {
  const std::string line = state_->line(message);
  if (first_error_.empty()) first_error_ = line;
  state_->logger.error("{}", state_->fitted(line));
}
void Log::warning(const std::string& message) {
  state_->logger.warn("{}", state_->warning(message));
}
void Log::alarm(const std::string& message) {
  state_->logger.error("{}", state_->warning(message));
}
void Log::note(const std::string& message) {
  state_->logger.info("{}", state_->fitted(state_->line(message)));
}
void Log::detail(const std::string& message) {
  state_->logger.debug("{}", state_->fitted(state_->line(message)));
}

}  // namespace btftool
