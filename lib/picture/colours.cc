#include "picture/colours.h"

#include <algorithm>
#include <cmath>

namespace btf {
namespace {

// Anchors at equal distances, straight lines between them.
template <std::size_t N>
ColourMap between(const std::array<Colour, N>& anchors) {
  ColourMap map{};
  for (std::size_t i = 0; i < map.size(); ++i) {
    const double place = static_cast<double>(i * (N - 1)) / 255;
    const auto low = std::min(static_cast<std::size_t>(place), N - 2);
    const double part = place - static_cast<double>(low);
    const auto mix = [&](std::uint8_t a, std::uint8_t b) {
      return static_cast<std::uint8_t>(std::floor(a + (b - a) * part + 0.5));
    };
    const Colour& a = anchors[low];
    const Colour& b = anchors[low + 1];
    map[i] = {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
  }
  return map;
}

}  // namespace

// Nine colours of matplotlib's map of this name: levels 0, 32, 64, ..., 255.
const ColourMap& viridis() {
  static const ColourMap kMap = between(std::array<Colour, 9>{{{68, 1, 84},
                                                               {71, 44, 122},
                                                               {59, 81, 139},
                                                               {44, 113, 142},
                                                               {33, 144, 141},
                                                               {39, 173, 129},
                                                               {92, 200, 99},
                                                               {170, 220, 50},
                                                               {253, 231, 37}}});
  return kMap;
}

const ColourMap& blue_to_red() {
  static const ColourMap kMap = between(std::array<Colour, 5>{
      {{5, 48, 97}, {67, 147, 195}, {247, 247, 247}, {214, 96, 77}, {103, 0, 31}}});
  return kMap;
}

std::uint8_t ColourScale::level(double value) const {
  if (least == greatest) return 128;
  // Halves: the whole range may be beyond double.
  const double share = (value / 2 - least / 2) / (greatest / 2 - least / 2);
  return static_cast<std::uint8_t>(std::floor(std::clamp(share, 0.0, 1.0) * 255 + 0.5));
}

Colour colour_of(double value, const ColourScale& scale, const ColourMap& map) {
  if (std::isnan(value)) return kNanColour;
  if (std::isinf(value)) return value > 0 ? kInfColour : kMinusInfColour;
  return map[scale.level(value)];
}

}  // namespace btf
