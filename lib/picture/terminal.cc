#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "btf/inspect/picture.h"
#include "btf/try.h"
#include "picture/colours.h"

namespace btf {
namespace {

constexpr std::string_view kEscape = "\x1b";

Colour pixel(const Picture& picture, std::uint32_t x, std::uint32_t y) {
  const std::uint8_t* at = picture.rgb.data() + (std::size_t{y} * picture.width + x) * 3;
  return {at[0], at[1], at[2]};
}

std::string sequence(std::string_view kind, Colour colour) {
  return "\x1b[" + std::string(kind) + ";2;" + std::to_string(colour.red) + ";" +
         std::to_string(colour.green) + ";" + std::to_string(colour.blue) + "m";
}

std::string blocks(const Picture& picture, std::uint32_t columns) {
  const std::uint32_t step = std::max(1U, (picture.width + columns - 1) / std::max(1U, columns));
  std::string text;
  for (std::uint32_t y = 0; y < picture.height; y += 2 * step) {
    std::string upper;
    std::string lower;
    for (std::uint32_t x = 0; x < picture.width; x += step) {
      const std::string above = sequence("38", pixel(picture, x, y));
      const std::string below = y + step < picture.height
                                    ? sequence("48", pixel(picture, x, y + step))
                                    : std::string("\x1b[49m");
      if (above != upper) text += upper = above;
      if (below != lower) text += lower = below;
      text += "▀";
    }
    text += "\x1b[0m\n";
  }
  return text;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (int k = 3; k >= 0; --k) text += kDigits[group >> (6 * k) & 63];
  }
  const std::size_t spare = (3 - bytes.size() % 3) % 3;
  text.replace(text.size() - spare, spare, spare, '=');
  return text;
}

// Transmit and display a PNG, in pieces of at most 4096 characters.
Result<std::string> kitty(const Picture& picture) {
  BTF_ASSIGN(const std::string bytes, png(picture));
  const std::string data = base64(bytes);
  constexpr std::size_t kPiece = 4096;
  std::string text;
  for (std::size_t at = 0; at < data.size(); at += kPiece) {
    const bool more = at + kPiece < data.size();
    text += std::string(kEscape) + "_G" + (at == 0 ? "a=T,f=100," : "") + (more ? "m=1;" : "m=0;") +
            data.substr(at, kPiece) + std::string(kEscape) + "\\";
  }
  return text + "\n";
}

// The colours of a picture in so many steps a part that no more than 256 are left.
struct Palette {
  std::map<std::uint32_t, std::uint32_t> numbers;  // by colour
  unsigned dropped = 0;                            // low bits of each part

  std::uint32_t key(Colour c) const {
    return std::uint32_t{c.red} >> dropped << 16 | std::uint32_t{c.green} >> dropped << 8 |
           std::uint32_t{c.blue} >> dropped;
  }
};

Palette palette_of(const Picture& picture) {
  constexpr std::size_t kMost = 256;
  Palette palette;
  for (;; ++palette.dropped) {
    palette.numbers.clear();
    for (std::uint32_t y = 0; y < picture.height && palette.numbers.size() <= kMost; ++y)
      for (std::uint32_t x = 0; x < picture.width; ++x)
        palette.numbers.emplace(palette.key(pixel(picture, x, y)), 0);
    if (palette.numbers.size() <= kMost) break;
  }
  std::uint32_t next = 0;
  for (auto& [key, number] : palette.numbers) number = next++;
  return palette;
}

// So many of a sixel.
void repeat(std::string& text, std::size_t count, char sixel) {
  if (count > 3)
    text += "!" + std::to_string(count) + sixel;
  else
    text.append(count, sixel);
}

std::string sixel(const Picture& picture) {
  const Palette palette = palette_of(picture);
  std::string text = std::string(kEscape) + "Pq\"1;1;" + std::to_string(picture.width) + ";" +
                     std::to_string(picture.height);
  for (const auto& [key, number] : palette.numbers) {
    const auto percent = [&](unsigned shift) {
      const std::uint32_t part = (key >> shift & 255) << palette.dropped;
      return std::to_string((part * 100 + 127) / 255);
    };
    text +=
        "#" + std::to_string(number) + ";2;" + percent(16) + ";" + percent(8) + ";" + percent(0);
  }
  constexpr std::uint32_t kRows = 6;
  for (std::uint32_t top = 0; top < picture.height; top += kRows) {
    std::map<std::uint32_t, std::string> lines;  // by number: the sixels of a colour
    const std::uint32_t rows = std::min(kRows, picture.height - top);
    for (std::uint32_t x = 0; x < picture.width; ++x)
      for (std::uint32_t row = 0; row < rows; ++row) {
        std::string& line = lines[palette.numbers.at(palette.key(pixel(picture, x, top + row)))];
        line.resize(picture.width, '?');
        line[x] = static_cast<char>(line[x] + (1 << row));
      }
    for (const auto& [number, line] : lines) {
      text += "#" + std::to_string(number);
      for (std::size_t at = 0; at < line.size();) {
        const std::size_t end = std::min(line.find_first_not_of(line[at], at), line.size());
        repeat(text, end - at, line[at]);
        at = end;
      }
      text += "$";
    }
    text += "-";
  }
  return text + std::string(kEscape) + "\\\n";
}

}  // namespace

PictureForm terminal_form(std::string_view term, std::string_view term_program, bool kitty_window,
                          bool multiplexed) {
  if (multiplexed || term.starts_with("screen") || term.starts_with("tmux"))
    return PictureForm::blocks;
  const auto one_of = [](std::string_view word, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
  };
  if (kitty_window || one_of(term, {"xterm-kitty", "xterm-ghostty"}) ||
      one_of(term_program, {"ghostty", "WezTerm"}))
    return PictureForm::kitty;
  if (term.find("sixel") != term.npos ||
      one_of(term, {"foot", "foot-extra", "mlterm", "contour"}) ||
      one_of(term_program, {"mlterm", "mintty"}))
    return PictureForm::sixel;
  return PictureForm::blocks;
}

Result<std::string> terminal_picture(const Picture& picture, PictureForm form,
                                     std::uint32_t columns) {
  if (form == PictureForm::kitty) return kitty(picture);
  if (form == PictureForm::sixel) return sixel(picture);
  return blocks(picture, columns);
}

}  // namespace btf
