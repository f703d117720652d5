#include "io/text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace btftool {
namespace {

constexpr std::size_t kUsualColumns = 80;
constexpr std::size_t kLeastColumns = 56;  // narrower ones get lines of this
constexpr std::size_t kMostColumns = 1000;

// 0: nothing that is a number.
std::size_t said_columns() {
  std::size_t columns = 0;
  const char* const said = std::getenv("COLUMNS");
  const std::string_view text = said == nullptr ? "" : said;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  return error == std::errc() && stop == text.data() + text.size() ? columns : 0;
}

}  // namespace

std::size_t output_columns(int fd) {
  std::size_t columns = said_columns();
  winsize size{};
  if (columns == 0 && ::ioctl(fd, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  return columns == 0 ? kUsualColumns : std::clamp(columns, kLeastColumns, kMostColumns);
}

bool fits_columns(int fd) { return ::isatty(fd) != 0; }

}  // namespace btftool
