#include "formats/pickle/latin_1.h"

#include <string_view>

namespace btf {

std::optional<std::string> latin_1_of(const Pickle& pickle, Pickle::Node node) {
  if (pickle.called(node) != "_codecs encode" || pickle.arguments(node).empty() ||
      pickle.kind(pickle.arguments(node)[0]) != PickleKind::text)
    return std::nullopt;
  const std::string_view utf8 = pickle.text(pickle.arguments(node)[0]);
  std::string bytes;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto lead = static_cast<std::uint8_t>(utf8[i]);
    // Those from 0x80 on take two bytes, what takes more is none.
    if (lead > 0xc3) return std::nullopt;
    bytes += lead < 0x80 ? utf8[i] : static_cast<char>(lead << 6 | (utf8[++i] & 0x3f));
  }
  return bytes;
}

}  // namespace btf
