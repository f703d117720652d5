// Names are matched without regard to case.
#pragma once

#include <string>
#include <string_view>

namespace btf {

constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (ascii_lower(a[i]) != ascii_lower(b[i])) return false;
  return true;
}

// How others write one of our names as code of their own: "float16" of "torch.float16" or
// "np.float16", "kHWC8" of "nvinfer1::TensorFormat::kHWC8". Any other word as it is.
std::string_view without_owner(std::string_view name);

// "a, b, c" of the names of the rows of a table.
template <typename Rows>
std::string name_list(Rows&& rows) {
  std::string text;
  for (const auto& row : rows) {
    if (!text.empty()) text += ", ";
    text += row.name;
  }
  return text;
}

}  // namespace btf
