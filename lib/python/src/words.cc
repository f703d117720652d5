#include "python/src/words.h"

#include <string_view>

namespace btf::python {

std::string python_words(std::string text) {
  std::string words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text[at] == '`' ? text.find('`', at + 1) : text.npos;
    if (end == text.npos) {
      words += text[at++];
      continue;
    }
    std::string_view member = std::string_view(text).substr(at + 1, end - at - 1);
    member.remove_prefix(member.rfind('.') + 1);
    words += member;
    at = end + 1;
    // A number behind it is its value.
    const bool valued = at + 1 < text.size() && text[at] == ' ' &&
                        (text[at + 1] == '-' || (text[at + 1] >= '0' && text[at + 1] <= '9'));
    if (!valued) continue;
    words += '=';
    ++at;
  }
  return words;
}

}  // namespace btf::python
