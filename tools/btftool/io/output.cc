#include "io/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace btftool {

bool use_color(When when, int fd) {
  if (when != When::automatic) return when == When::always;
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && ::isatty(fd) != 0;
}

Output::Output(When color) : paint_{use_color(color, STDOUT_FILENO)} {}

void Output::text(std::string_view text) {
  pending_ += text;
  if (pending_.size() >= (64U << 10)) flush();
}

void Output::line(std::string_view text) {
  pending_ += text;
  this->text("\n");
}

void Output::flush() {
  std::string_view rest = pending_;
  while (!rest.empty() && failure_ == 0) {
    const ssize_t put = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0)
      failure_ = errno;
    else
      rest.remove_prefix(static_cast<std::size_t>(put));
  }
  pending_.clear();
}

btf::Status Output::finish() {
  flush();
  if (failure_ == 0 || failure_ == EPIPE) return {};
  return btf::fail(btf::ErrorCode::io, std::string("cannot write: ") + std::strerror(failure_));
}

}  // namespace btftool
