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

}  // namespace

std::size_t output_columns() {
  std::size_t columns = 0;
  const char* const said = std::getenv("COLUMNS");
  const std::string_view text = said == nullptr ? "" : said;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (error != std::errc() || stop != text.data() + text.size()) columns = 0;
  winsize size{};
  if (columns == 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  return columns == 0 ? kUsualColumns : std::clamp(columns, kLeastColumns, kMostColumns);
}

}  // namespace btftool
