#include "diff/layers/spot/arithmetic.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>

namespace btf {
namespace {

// By the bits that results show, and else by what most of them are off by.
struct BitsRow {
  std::uint32_t most = 0;
  std::string_view name;
};
constexpr auto kByBits = std::to_array<BitsRow>({{8, "bfloat16"}, {11, "float16"}});

struct ErrorRow {
  double below = 0;
  std::string_view name;
};
// Operands rounded to 11 bits make products of 2e-4, to 8 bits of 2e-3; sums of float32 stay below
// 2e-6 whatever their order.
constexpr std::string_view kFloat32Name = "float32";
constexpr std::string_view kTransformed = "float32 by way of Winograd's or other transformations";
constexpr auto kByError = std::to_array<ErrorRow>({
    {2e-6, kFloat32Name},
    {8e-5, kTransformed},
    {1e-3, "TF32 or float16"},
    {2e-2, "bfloat16"},
});
constexpr std::size_t kEnough = 3;

template <typename T>
T middle(std::vector<T> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, at);
  return *at;
}

// Empty: no arithmetic that is known here.
std::string_view name_of(const std::vector<const OwnSample*>& layers) {
  std::vector<std::uint32_t> bits;
  std::vector<double> errors;
  std::size_t codes = 0;
  for (const OwnSample* const layer : layers) {
    if (layer->bits > 0) bits.push_back(layer->bits);
    errors.push_back(layer->own_error);
    codes += layer->codes ? 1U : 0U;
  }
  if (errors.empty()) return {};
  if (2 * codes > layers.size()) return "8-bit codes";
  const double error = middle(errors);
  if (!bits.empty() && error > kByError.front().below) {
    const std::uint32_t shown = middle(bits);
    for (const BitsRow& row : kByBits)
      if (shown <= row.most) return row.name;
  }
  for (const ErrorRow& row : kByError)
    if (error < row.below) return row.name;
  return {};
}

// Windows of convolutions that are transformed, where others are not.
std::string transformed_windows(const std::vector<const OwnSample*>& products) {
  std::map<std::string, std::vector<const OwnSample*>> windows;
  for (const OwnSample* const layer : products) windows[layer->window].push_back(layer);
  std::string text;
  for (const auto& [window, layers] : windows)
    if (!window.empty() && name_of(layers) == kTransformed)
      text += (text.empty() ? "" : " and ") + window;
  return text;
}

}  // namespace

std::string arithmetic_text(const std::vector<OwnSample>& layers) {
  std::vector<const OwnSample*> products;
  std::vector<const OwnSample*> rest;
  for (const OwnSample& layer : layers) {
    // What rounds nothing, as ReLU, tells nothing.
    if (layer.own_error == 0) continue;
    if (layer.product)
      products.push_back(&layer);
    else if (!layer.moves)
      rest.push_back(&layer);
  }
  const std::string_view of_products = name_of(products);
  const std::string_view of_rest = rest.size() < kEnough ? std::string_view() : name_of(rest);
  if (of_products.empty() && of_rest.empty()) return {};
  const std::string from = " (from " + std::to_string(products.size() + rest.size()) + " layer" +
                           (products.size() + rest.size() == 1 ? ")" : "s)");
  const std::string windows = transformed_windows(products);
  if (!windows.empty() && (of_products == kTransformed || of_products == kFloat32Name))
    return windows + " convolutions in " + std::string(kTransformed) + ", the rest in " +
           std::string(of_rest.empty() ? kFloat32Name : of_rest) + from;
  if (of_products.empty()) return "all in " + std::string(of_rest) + from;
  if (of_rest.empty() || of_rest == of_products) return "all in " + std::string(of_products) + from;
  return "products in " + std::string(of_products) + ", sums and the rest in " +
         std::string(of_rest) + from;
}

}  // namespace btf
