// Numbers to colours.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace btf {

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  bool operator==(const Colour&) const = default;
};

inline constexpr Colour kNanColour{255, 0, 255};
inline constexpr Colour kInfColour{255, 0, 0};
inline constexpr Colour kMinusInfColour{0, 255, 255};
inline constexpr Colour kGround{40, 40, 40};
inline constexpr Colour kInk{230, 230, 230};

using ColourMap = std::array<Colour, 256>;

const ColourMap& viridis();      // dark blue over green to yellow
const ColourMap& blue_to_red();  // over white

struct ColourScale {
  double least = 0;
  double greatest = 1;

  // round((value - least) / (greatest - least) * 255), bounded; 128 where both ends are one.
  std::uint8_t level(double value) const;
};

Colour colour_of(double value, const ColourScale& scale, const ColourMap& map);

}  // namespace btf
