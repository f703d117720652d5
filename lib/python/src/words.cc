#include "python/src/words.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace btf::python {
namespace {

struct Word {
  std::string_view member;
  std::string_view option;
};

// Those whose names differ.
constexpr auto kWords = std::to_array<Word>({
    {"ConvertOptions::spec", "output_spec"},
    {"drop_names", "names='drop'"},
    {"quantization.automatic", "scale='auto'"},
    {"quantization.axis", "scale_axis"},
    {"quantization.block", "block_scale"},
    {"scale_blocks", "block"},
    {"quantization.find_zero_point", "zero_point='auto'"},
    {"tensors", "tensor"},
    {"pairs", "pair"},
    {"text.all", "all"},
});

std::string_view option_of(std::string_view member) {
  const auto* const row = std::ranges::find(kWords, member, &Word::member);
  return row != kWords.end() ? row->option : member.substr(member.rfind('.') + 1);
}

}  // namespace

std::string python_words(std::string text) {
  std::string words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text[at] == '`' ? text.find('`', at + 1) : text.npos;
    if (end == text.npos) {
      words += text[at++];
      continue;
    }
    words += option_of(std::string_view(text).substr(at + 1, end - at - 1));
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
