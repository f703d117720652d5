// A picture that is drawn on.
#pragma once

#include <cstdint>
#include <string_view>

#include "btf/inspect/picture.h"
#include "picture/colours.h"

namespace btf {

class Canvas {
 public:
  Canvas(std::uint32_t width, std::uint32_t height, Colour ground);

  // What lies outside is left out.
  void fill(std::uint32_t x, std::uint32_t y, std::uint32_t width, std::uint32_t height,
            Colour colour);

  // Digits, signs and a few letters, 5 by 7 pixels each with one between, each pixel a square of
  // `times`; other characters are blank. Returns where the text ends.
  std::uint32_t write(std::uint32_t x, std::uint32_t y, std::string_view text, Colour colour,
                      std::uint32_t times = 1);

  Picture take() { return std::move(picture_); }

 private:
  Picture picture_;
};

inline constexpr std::uint32_t kGlyphWidth = 6;
inline constexpr std::uint32_t kGlyphHeight = 7;
constexpr std::uint32_t text_width(std::string_view text) {
  return static_cast<std::uint32_t>(text.size()) * kGlyphWidth;
}

}  // namespace btf
