#include "formats/pickle/bytes.h"

#include <algorithm>

#include "btf/try.h"
#include "core/finding_table.h"
#include "core/utf8.h"
#include "formats/pickle/pickle.h"

namespace btf {

std::unexpected<Error> PickleBytes::wrong_at(std::uint64_t at, const std::string& what) {
  return malformed(kPickleFinding, at,
                   "the pickle: " + what + ", at its byte " + std::to_string(at));
}

Result<std::uint64_t> PickleBytes::next_operation() {
  at_ = next_;
  return number(1);
}

Result<std::uint64_t> PickleBytes::number(std::uint64_t bytes) {
  if (left() < bytes) return wrong_behind("it ends without a STOP");
  BTF_ASSIGN(const std::byte* const from, window_.at(next_, bytes));
  next_ += bytes;
  std::uint64_t value = 0;
  for (std::uint64_t i = 0; i < bytes; ++i)
    value |= std::to_integer<std::uint64_t>(from[i]) << 8 * i;
  return value;
}

Result<std::string> PickleBytes::line() {
  std::string text;
  while (true) {
    BTF_ASSIGN(const std::uint64_t c, number(1));
    if (c == '\n') return text;
    text += static_cast<char>(c);
    if (text.size() > kLongestPickleText) return wrong("a line of it is too long");
  }
}

Result<std::string> PickleBytes::text(std::uint64_t bytes) {
  std::string text(bytes, '\0');
  const auto to = std::as_writable_bytes(std::span(text));
  if (bytes <= Window::kBytes) {
    BTF_ASSIGN(const std::byte* const from, window_.at(next_, bytes));
    std::copy_n(from, bytes, to.begin());
  } else {
    BTF_TRY(source_.read_at(next_, to));
  }
  next_ += bytes;
  return text;
}

Status PickleBytes::check_length(std::uint64_t bytes, std::string_view what) const {
  if (bytes <= left()) return {};
  return wrong(std::string(what) + " has " + std::to_string(bytes) + " bytes, and " +
               std::to_string(left()) + " are left");
}

Status PickleBytes::skip(std::uint64_t bytes, bool utf8) {
  if (!utf8) {
    next_ += bytes;
    return {};
  }
  constexpr std::size_t kLongestCharacter = 4;
  std::string block;
  while (bytes > 0) {
    const std::uint64_t count = std::min(bytes, Window::kBytes);
    BTF_ASSIGN(const std::string more, text(count));
    block += more;
    bytes -= count;
    // The last character may go on in the next block.
    std::size_t cut = 0;
    while (!is_utf8(std::string_view(block).substr(0, block.size() - cut)))
      if (++cut == std::min(kLongestCharacter, block.size()) || bytes == 0)
        return wrong("a text is not UTF-8");
    block.erase(0, block.size() - cut);
  }
  return {};
}

}  // namespace btf
