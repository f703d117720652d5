#include "io/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "io/text.h"
#include "report/text/json.h"

namespace btftool {

bool use_color(When when, int fd) {
  if (when != When::automatic) return when == When::always;
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && ::isatty(fd) != 0;
}

namespace {

// Documents that are longer are written as they come: nobody reads them on a terminal.
constexpr std::size_t kMostIndented = 16U << 20;

std::string indented(const std::string& document) {
  using btf::report::Json;
  const Json json = Json::parse(document, nullptr, false);
  return json.is_discarded() ? document : json.dump(2) + "\n";
}

}  // namespace

Output::Output(When color, bool json)
    : columns_(!json && fits_columns() ? output_columns() : SIZE_MAX),
      indented_(json && ::isatty(STDOUT_FILENO) != 0),
      paint_{use_color(color, STDOUT_FILENO)} {}

void Output::text(std::string_view text) {
  pending_ += text;
  indented_ = indented_ && pending_.size() <= kMostIndented;
  if (!indented_ && pending_.size() >= (64U << 10)) flush();
}

void Output::instead(std::string_view document) {
  if (begun_ || pending_.ends_with('\n')) return;
  pending_ = document;
  pending_ += '\n';
}

void Output::line(std::string_view text, std::size_t indent) {
  if (columns_ == SIZE_MAX) {
    pending_ += text;
    return this->text("\n");
  }
  for (const std::string& piece : wrapped(text, columns_, indent)) this->text(piece + "\n");
}

void Output::flush() {
  if (abandoned_) pending_.clear();
  begun_ = begun_ || !pending_.empty();
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
  if (indented_) pending_ = indented(pending_);
  flush();
  if (failure_ == 0 || failure_ == EPIPE) return {};
  return btf::fail(btf::ErrorCode::io, std::string("cannot write: ") + std::strerror(failure_));
}

}  // namespace btftool
