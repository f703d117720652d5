#include "io/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "io/text.h"

namespace btftool {

struct Log::State {
  spdlog::logger logger;
};

Log::Log(const GlobalOptions& options) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_st>();
  state_ = std::make_unique<State>(State{spdlog::logger("btftool", std::move(sink))});
  state_->logger.set_pattern("%n: %v");
  state_->logger.set_level(options.quiet     ? spdlog::level::err
                           : options.verbose ? spdlog::level::debug
                                             : spdlog::level::info);
}

Log::~Log() = default;

void Log::error(const btf::Error& error) { this->error(error.text()); }
void Log::error(const std::string& message) { state_->logger.error("{}", printable(message)); }
void Log::warning(const std::string& message) {
  state_->logger.warn("warning: {}", printable(message));
}
void Log::alarm(const std::string& message) {
  state_->logger.error("warning: {}", printable(message));
}
void Log::note(const std::string& message) { state_->logger.info("{}", printable(message)); }
void Log::detail(const std::string& message) { state_->logger.debug("{}", printable(message)); }

}  // namespace btftool
