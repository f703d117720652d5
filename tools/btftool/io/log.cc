#include "io/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "io/text.h"

namespace btftool {

struct Log::State {
  spdlog::logger logger;
  OptionNames names;

  std::string line(const std::string& message) const { return printable(names.in(message)); }
};

Log::Log(const GlobalOptions& options, OptionNames names) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_st>();
  state_ =
      std::make_unique<State>(State{spdlog::logger("btftool", std::move(sink)), std::move(names)});
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
  state_->logger.error("{}", line);
}
void Log::warning(const std::string& message) {
  state_->logger.warn("warning: {}", state_->line(message));
}
void Log::alarm(const std::string& message) {
  state_->logger.error("warning: {}", state_->line(message));
}
void Log::note(const std::string& message) { state_->logger.info("{}", state_->line(message)); }
void Log::detail(const std::string& message) { state_->logger.debug("{}", state_->line(message)); }

}  // namespace btftool
