#include "core/names.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "btf/words/did_you_mean.h"

namespace btf {
namespace {

constexpr auto kOwners = std::to_array<std::string_view>(
    {"torch", "np", "numpy", "jnp", "jax.numpy", "tf", "tf.dtypes", "ml_dtypes", "mx",
     "TensorFormat", "DataType", "trt.TensorFormat", "trt.DataType", "tensorrt.TensorFormat",
     "tensorrt.DataType", "nvinfer1::TensorFormat", "nvinfer1::DataType", "nvinfer1.TensorFormat",
     "nvinfer1.DataType"});

// Letters missing, added, replaced, or exchanged with the next one. Source: Damerau's distance in
// the form that changes no letter twice (optimal string alignment).
std::size_t slips(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_above;
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = ascii_lower(a[i - 1]) == ascii_lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && same_name(a.substr(i - 2, 1), b.substr(j - 1, 1)) &&
          same_name(a.substr(i - 1, 1), b.substr(j - 2, 1)))
        row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
    two_above = std::exchange(above, row);
  }
  return above.back();
}

// The dashes of options are not what makes them alike.
std::string_view letters(std::string_view name) {
  return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> names) {
  constexpr std::size_t kLongest = 200;  // the table has the square of it
  if (word.size() > kLongest) return {};
  word = letters(word);
  std::string_view best;
  std::size_t fewest = word.size();
  for (const std::string_view whole : names) {
    const std::string_view name = letters(whole);
    // Fewer slips than letters' difference in length there cannot be.
    if (name.size() > word.size() + word.size() / 2 || word.size() > name.size() + name.size() / 2)
      continue;
    const std::size_t count = slips(word, name);
    if (3 * count > std::max(word.size(), name.size()) || count >= fewest) continue;
    fewest = count;
    best = whole;
  }
  return best.empty() ? std::string() : " (did you mean '" + std::string(best) + "'?)";
}

std::string_view without_owner(std::string_view name) {
  for (const std::string_view mark : {"::", "."}) {
    const std::size_t at = name.rfind(mark);
    if (at == std::string_view::npos) continue;
    const bool known = std::ranges::any_of(
        kOwners, [&](std::string_view owner) { return same_name(owner, name.substr(0, at)); });
    return known ? name.substr(at + mark.size()) : name;
  }
  return name;
}

}  // namespace btf
