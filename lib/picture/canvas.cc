#include "picture/canvas.h"

#include <algorithm>
#include <array>

namespace btf {
namespace {

// Rows from the top, the leftmost pixel in bit 4.
struct Glyph {
  char character;
  std::array<std::uint8_t, kGlyphHeight> rows;
};

constexpr auto kGlyphs = std::to_array<Glyph>({
    {'0', {0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110}},
    {'1', {0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110}},
    {'2', {0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111}},
    {'3', {0b01110, 0b10001, 0b00001, 0b00110, 0b00001, 0b10001, 0b01110}},
    {'4', {0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010}},
    {'5', {0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110}},
    {'6', {0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110}},
    {'7', {0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000}},
    {'8', {0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110}},
    {'9', {0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100}},
    {'-', {0b00000, 0b00000, 0b00000, 0b11111, 0b00000, 0b00000, 0b00000}},
    {'+', {0b00000, 0b00100, 0b00100, 0b11111, 0b00100, 0b00100, 0b00000}},
    {'.', {0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100}},
    {'a', {0b00000, 0b00000, 0b01110, 0b00001, 0b01111, 0b10001, 0b01111}},
    {'c', {0b00000, 0b00000, 0b01110, 0b10000, 0b10000, 0b10001, 0b01110}},
    {'d', {0b00001, 0b00001, 0b01111, 0b10001, 0b10001, 0b10001, 0b01111}},
    {'e', {0b00000, 0b00000, 0b01110, 0b10001, 0b11111, 0b10000, 0b01110}},
    {'f', {0b00110, 0b01000, 0b11110, 0b01000, 0b01000, 0b01000, 0b01000}},
    {'g', {0b00000, 0b00000, 0b01111, 0b10001, 0b01111, 0b00001, 0b01110}},
    {'i', {0b00100, 0b00000, 0b01100, 0b00100, 0b00100, 0b00100, 0b01110}},
    {'l', {0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110}},
    {'n', {0b00000, 0b00000, 0b10110, 0b11001, 0b10001, 0b10001, 0b10001}},
    {'o', {0b00000, 0b00000, 0b01110, 0b10001, 0b10001, 0b10001, 0b01110}},
    {'r', {0b00000, 0b00000, 0b10110, 0b11001, 0b10000, 0b10000, 0b10000}},
    {'t', {0b01000, 0b01000, 0b11110, 0b01000, 0b01000, 0b01001, 0b00110}},
    {'u', {0b00000, 0b00000, 0b10001, 0b10001, 0b10001, 0b10011, 0b01101}},
});

}  // namespace

Canvas::Canvas(std::uint32_t width, std::uint32_t height, Colour ground)
    : picture_{width, height, std::vector<std::uint8_t>(std::size_t{3} * width * height)} {
  fill(0, 0, width, height, ground);
}

void Canvas::fill(std::uint32_t x, std::uint32_t y, std::uint32_t width, std::uint32_t height,
                  Colour colour) {
  const std::uint32_t right = std::min(picture_.width, x + width);
  const std::uint32_t bottom = std::min(picture_.height, y + height);
  for (std::uint32_t row = y; row < bottom; ++row) {
    std::uint8_t* pixel = picture_.rgb.data() + (std::size_t{row} * picture_.width + x) * 3;
    for (std::uint32_t column = x; column < right; ++column) {
      *pixel++ = colour.red;
      *pixel++ = colour.green;
      *pixel++ = colour.blue;
    }
  }
}

std::uint32_t Canvas::write(std::uint32_t x, std::uint32_t y, std::string_view text, Colour colour,
                            std::uint32_t times) {
  for (const char c : text) {
    const auto glyph = std::ranges::find(kGlyphs, c, &Glyph::character);
    if (glyph != kGlyphs.end())
      for (std::uint32_t row = 0; row < kGlyphHeight; ++row)
        for (std::uint32_t column = 0; column < kGlyphWidth - 1; ++column)
          if ((glyph->rows[row] >> (kGlyphWidth - 2 - column) & 1) != 0)
            fill(x + column * times, y + row * times, times, times, colour);
    x += kGlyphWidth * times;
  }
  return x;
}

}  // namespace btf
