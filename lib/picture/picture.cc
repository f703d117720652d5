// Colours, digits, the canvas, PNG, and forms for terminals.
#include "picture/picture.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "btf/picture.h"
#include "btf/read.h"
#include "btf/try.h"
#include "core/errors.h"

namespace btf {
namespace {

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  bool operator==(const Colour&) const = default;
};

constexpr Colour kNanColour{255, 0, 255};
constexpr Colour kInfColour{255, 0, 0};
constexpr Colour kMinusInfColour{0, 255, 255};
constexpr Colour kGround{40, 40, 40};
constexpr Colour kInk{230, 230, 230};

using ColourMap = std::array<Colour, 256>;

struct ColourScale {
  double least = 0;
  double greatest = 1;

  // round((value - least) / (greatest - least) * 255), clamped; 128 if both ends are equal.
  std::uint8_t level(double value) const;
};

class Canvas {
 public:
  Canvas(std::uint32_t width, std::uint32_t height, Colour ground);

  // Clips to the canvas.
  void fill(std::uint32_t x, std::uint32_t y, std::uint32_t width, std::uint32_t height,
            Colour colour);

  // Writes digits, signs and the letters that labels need, in 5 by 7 pixels with one between them;
  // other characters are blank. Each pixel is a square of side `times`. Returns the end of the
  // text.
  std::uint32_t write(std::uint32_t x, std::uint32_t y, std::string_view text, Colour colour,
                      std::uint32_t times = 1);

  Picture take() { return std::move(picture_); }

 private:
  Picture picture_;
};

constexpr std::uint32_t kGlyphWidth = 6;
constexpr std::uint32_t kGlyphHeight = 7;
constexpr std::uint32_t text_width(std::string_view text) {
  return static_cast<std::uint32_t>(text.size()) * kGlyphWidth;
}

// Interpolates linearly between anchors at equal distances.
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

// Nine colours of matplotlib's map of this name, at the levels 0, 32, 64, ..., 255.
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

// With white in the middle.
const ColourMap& blue_to_red() {
  static const ColourMap kMap = between(std::array<Colour, 5>{
      {{5, 48, 97}, {67, 147, 195}, {247, 247, 247}, {214, 96, 77}, {103, 0, 31}}});
  return kMap;
}

std::uint8_t ColourScale::level(double value) const {
  if (least == greatest) return 128;
  // Of halves, since the whole range may exceed a double.
  const double share = (value / 2 - least / 2) / (greatest / 2 - least / 2);
  return static_cast<std::uint8_t>(std::floor(std::clamp(share, 0.0, 1.0) * 255 + 0.5));
}

Colour colour_of(double value, const ColourScale& scale, const ColourMap& map) {
  if (std::isnan(value)) return kNanColour;
  if (std::isinf(value)) return value > 0 ? kInfColour : kMinusInfColour;
  return map[scale.level(value)];
}

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

Slice default_part(std::size_t rank) {
  Slice part;
  part.parts.assign(rank > kMaxPictureDims ? rank - kMaxPictureDims : 0, std::int64_t{0});
  return part;
}

// "[0, :, 2:9:2]"
std::string text_of(const std::vector<SlicedDim>& part, const Dims& dims) {
  std::string text = "[";
  for (std::size_t d = 0; d < part.size(); ++d) {
    const SlicedDim& dim = part[d];
    if (d > 0) text += ", ";
    if (!dim.keep) {
      text += std::to_string(dim.start);
    } else if (dim.count == dims[d] && dim.step == 1) {
      text += ":";
    } else {
      const auto last = static_cast<std::int64_t>(dim.start) +
                        static_cast<std::int64_t>(dim.count - 1) * dim.step;
      text += concat(dim.start, ":");
      // A range that goes down to index 0 has no end.
      if (dim.step > 0 || last > 0) text += std::to_string(dim.step > 0 ? last + 1 : last - 1);
      if (dim.step != 1) text += concat(":", dim.step);
    }
  }
  return text + "]";
}

DimRange range_of(const SlicedDim& dim) {
  const std::uint64_t step = static_cast<std::uint64_t>(std::abs(dim.step));
  const std::uint64_t reach = (dim.count - 1) * step;
  const std::uint64_t begin = dim.step > 0 ? dim.start : dim.start - reach;
  return {begin, begin + reach + 1, step};
}

}  // namespace

Result<PicturePart> picture_part(const Dims& dims, const std::optional<Slice>& given) {
  PicturePart part;
  BTF_ASSIGN(part.dims, sliced_dims(given.value_or(default_part(dims.size())), dims));
  std::vector<std::size_t> kept;
  std::uint64_t elements = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const SlicedDim& dim = part.dims[d];
    if (dim.keep) kept.push_back(d);
    if (dim.count == 0)
      return fail(ErrorCode::invalid_argument,
                  "there is nothing to draw: the part has none of the ", dims[d],
                  " indices of dim ", d);
    if (__builtin_mul_overflow(elements, dim.count, &elements)) elements = UINT64_MAX;
  }
  part.text = text_of(part.dims, dims);
  if (elements > kMaxPictureElements)
    return fail(ErrorCode::unsupported, part.text, " has ", elements,
                " elements, but a picture has at most ", kMaxPictureElements,
                ": draw a part, or every n-th element");
  if (kept.size() > kMaxPictureDims)
    return fail(ErrorCode::invalid_argument, "a picture has rows, columns and tiles, but ",
                part.text, " has ", kept.size(), " dims: give an index for the others");
  const auto count_of = [&](std::size_t from_end) {
    return kept.size() >= from_end ? part.dims[kept[kept.size() - from_end]].count : 1;
  };
  part.columns = count_of(1);
  part.rows = count_of(2);
  part.tiles = count_of(3);
  return part;
}

Result<PartNumbers> read_part(const TensorFile& file, const TensorInfo& tensor,
                              const std::optional<Slice>& part, const Execution& execution) {
  if (!tensor.known())
    return fail(ErrorCode::unsupported, tensor.dtype
                                            ? concat("unknown layout code ", tensor.layout_code)
                                            : tensor.unknown_dtype_text());
  BTF_ASSIGN(PicturePart chosen, picture_part(tensor.dims, part));
  PartNumbers result{std::move(chosen), {}};
  const std::vector<SlicedDim>& sliced = result.dims;
  ReadOptions read;
  read.dtype = DType::float64;
  read.layout = Layout::linear;
  read.execution = execution;
  for (const SlicedDim& dim : sliced) read.region.push_back(range_of(dim));
  BTF_ASSIGN(const LoadedTensor loaded, read_tensor(file, tensor, read));
  result.numbers.resize(result.elements());
  std::memcpy(result.numbers.data(), loaded.tensor.bytes.data(),
              result.numbers.size() * sizeof(double));

  // Dims with a negative step were read forwards.
  std::vector<std::size_t> kept;
  for (std::size_t d = 0; d < sliced.size(); ++d)
    if (sliced[d].keep) kept.push_back(d);
  const auto backwards = [&](std::size_t from_end) {
    return kept.size() >= from_end && sliced[kept[kept.size() - from_end]].step < 0;
  };
  const auto reverse = [&](std::uint64_t groups, std::uint64_t items, std::uint64_t size) {
    for (std::uint64_t group = 0; group < groups; ++group)
      for (std::uint64_t i = 0; i < items / 2; ++i) {
        double* const first = result.numbers.data() + (group * items + i) * size;
        double* const last = result.numbers.data() + (group * items + items - 1 - i) * size;
        std::swap_ranges(first, first + size, last);
      }
  };
  if (backwards(1)) reverse(result.tiles * result.rows, result.columns, 1);
  if (backwards(2)) reverse(result.tiles, result.rows, result.columns);
  if (backwards(3)) reverse(1, result.tiles, result.rows * result.columns);
  return result;
}

void Extent::add(const Extent& other) {
  least = std::min(least, other.least);
  greatest = std::max(greatest, other.greatest);
}

Extent extent_of(std::span<const double> numbers) {
  Extent extent;
  for (const double value : numbers)
    if (std::isfinite(value)) extent.add({value, value});
  return extent;
}

namespace {

constexpr std::string_view kEscape = "\x1b";

Colour pixel(const Picture& picture, std::uint32_t x, std::uint32_t y) {
  const std::uint8_t* at = picture.rgb.data() + (std::size_t{y} * picture.width + x) * 3;
  return {at[0], at[1], at[2]};
}

std::string sequence(std::string_view kind, Colour colour) {
  return concat("\x1b[", kind, ";2;", colour.red, ";", colour.green, ";", colour.blue, "m");
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

// The sequences that transmit and display a PNG, in pieces of at most 4096 characters.
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

// The colours of a picture, with the low bits dropped that leave at most 256 different ones.
struct Palette {
  std::map<std::uint32_t, std::uint32_t> numbers;  // by colour
  unsigned dropped = 0;                            // low bits of red, green and blue

  std::uint32_t key(Colour c) const {
    return std::uint32_t{c.red} >> dropped << 16 | std::uint32_t{c.green} >> dropped << 8 |
           std::uint32_t{c.blue} >> dropped;
  }
};

Palette palette_of(const Picture& picture) {
  constexpr std::size_t kMax = 256;
  Palette palette;
  for (;; ++palette.dropped) {
    palette.numbers.clear();
    for (std::uint32_t y = 0; y < picture.height && palette.numbers.size() <= kMax; ++y)
      for (std::uint32_t x = 0; x < picture.width; ++x)
        palette.numbers.emplace(palette.key(pixel(picture, x, y)), 0);
    if (palette.numbers.size() <= kMax) break;
  }
  std::uint32_t next = 0;
  for (auto& [key, number] : palette.numbers) number = next++;
  return palette;
}

void repeat(std::string& text, std::size_t count, char sixel) {
  if (count > 3)
    text += concat("!", count, sixel);
  else
    text.append(count, sixel);
}

std::string sixel(const Picture& picture) {
  const Palette palette = palette_of(picture);
  std::string text = concat(kEscape, "Pq\"1;1;", picture.width, ";", picture.height);
  for (const auto& [key, number] : palette.numbers) {
    const auto percent = [&](unsigned shift) {
      const std::uint32_t part = (key >> shift & 255) << palette.dropped;
      return std::to_string((part * 100 + 127) / 255);
    };
    text += concat("#", number, ";2;", percent(16), ";", percent(8), ";", percent(0));
  }
  constexpr std::uint32_t kRows = 6;
  for (std::uint32_t top = 0; top < picture.height; top += kRows) {
    std::map<std::uint32_t, std::string> lines;  // the sixels of each colour, by its number
    const std::uint32_t rows = std::min(kRows, picture.height - top);
    for (std::uint32_t x = 0; x < picture.width; ++x)
      for (std::uint32_t row = 0; row < rows; ++row) {
        std::string& line = lines[palette.numbers.at(palette.key(pixel(picture, x, top + row)))];
        line.resize(picture.width, '?');
        line[x] = static_cast<char>(line[x] + (1 << row));
      }
    for (const auto& [number, line] : lines) {
      text += concat("#", number);
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

Result<std::string> png(const Picture& picture) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = picture.width;
  image.height = picture.height;
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, picture.rgb.data(), 0, nullptr) ==
      0)
    return fail(ErrorCode::unsupported, std::string("libpng: ") + image.message);
  bytes.resize(size);
  return bytes;
}

namespace {

constexpr std::uint32_t kGap = 1;        // between tiles
constexpr std::uint32_t kPanelGap = 12;  // between actual, golden and error
constexpr std::uint32_t kBarHeight = 8;  // of a scale
constexpr std::uint32_t kMargin = 4;     // around texts
constexpr std::uint32_t kLarge = 480;    // width in pixels from which labels are larger
constexpr std::uint32_t kMaxZoom = 16;
constexpr std::uint32_t kWantedSide = 1024;

// Each pixel of a label is a square of this side.
std::uint32_t label_times(std::uint64_t width) { return width >= kLarge ? 2 : 1; }

std::uint32_t scale_height(std::uint32_t times) {
  return 2 * kMargin + kBarHeight + 2 + kGlyphHeight * times;
}

std::string label(double value) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 4);
  return {text.data(), end.ptr};
}

// The arrangement of tiles: `across` of them in each row, in row-major order.
struct PanelGrid {
  std::uint64_t tiles = 1;
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
  std::uint64_t across = 1;
  std::uint64_t zoom = 1;

  std::uint64_t down() const { return (tiles + across - 1) / across; }
  std::uint64_t width() const { return across * (columns * zoom + kGap) - kGap; }
  std::uint64_t height() const { return down() * (rows * zoom + kGap) - kGap; }
};

PanelGrid grid_of(const PartNumbers& part, std::uint32_t zoom, std::uint64_t panels) {
  PanelGrid grid{part.tiles, part.rows, part.columns, 1, 1};
  const double wide = std::sqrt(static_cast<double>(part.tiles) * static_cast<double>(part.rows) /
                                static_cast<double>(part.columns));
  grid.across =
      std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(wide)), 1, part.tiles);
  const auto fits = [&] {
    return grid.width() * panels <= kWantedSide && grid.height() <= kWantedSide;
  };
  for (grid.zoom = zoom != 0 ? zoom : kMaxZoom; zoom == 0 && grid.zoom > 1 && !fits();) --grid.zoom;
  return grid;
}

Status check_size(std::uint64_t width, std::uint64_t height) {
  if (width <= kMaxPictureSide && height <= kMaxPictureSide && width * height <= kMaxPicturePixels)
    return {};
  return fail(ErrorCode::unsupported, "the picture would have ", width, " x ", height,
              " pixels, but at most ", kMaxPictureSide, " a side and ", kMaxPicturePixels,
              " in all are possible: draw a part, every n-th element, or smaller squares");
}

struct Place {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
};

void draw_tiles(Canvas& canvas, const PanelGrid& grid, Place at, const PartNumbers& part,
                const auto& scale_of_tile, const ColourMap& map) {
  const auto zoom = static_cast<std::uint32_t>(grid.zoom);
  std::size_t next = 0;
  for (std::uint64_t tile = 0; tile < grid.tiles; ++tile) {
    const ColourScale scale = scale_of_tile(tile);
    const auto left =
        at.x + static_cast<std::uint32_t>(tile % grid.across * (grid.columns * zoom + kGap));
    const auto top =
        at.y + static_cast<std::uint32_t>(tile / grid.across * (grid.rows * zoom + kGap));
    for (std::uint32_t row = 0; row < grid.rows; ++row)
      for (std::uint32_t column = 0; column < grid.columns; ++column)
        canvas.fill(left + column * zoom, top + row * zoom, zoom, zoom,
                    colour_of(part.numbers[next++], scale, map));
  }
}

void draw_scale(Canvas& canvas, Place at, std::uint32_t width, const ColourScale& scale,
                const ColourMap& map) {
  for (std::uint32_t x = 0; x < width; ++x)
    canvas.fill(at.x + x, at.y + kMargin, 1, kBarHeight,
                map[width > 1 ? x * 255ULL / (width - 1) : 128]);
  const std::uint32_t below = at.y + kMargin + kBarHeight + 2;
  const std::uint32_t times = label_times(width);
  canvas.write(at.x, below, label(scale.least), kInk, times);
  const std::string last = label(scale.greatest);
  canvas.write(at.x + width - (text_width(last) - 1) * times, below, last, kInk, times);
}

// The least width of a bar: that of its two labels.
std::uint64_t scale_width(const ColourScale& scale) {
  return text_width(label(scale.least)) + text_width(label(scale.greatest)) + 2 * kMargin;
}

ColourScale scale_of(const Extent& extent, const PictureRange& range) {
  return {range.least.value_or(extent.any() ? extent.least : 0),
          range.greatest.value_or(extent.any() ? extent.greatest : 0)};
}

Status check_range(const ColourScale& scale) {
  if (scale.least <= scale.greatest) return {};
  return fail(ErrorCode::invalid_argument, "the colours would go from " + label(scale.least) +
                                               " down to " + label(scale.greatest));
}

PictureFacts facts_of(const PartNumbers& part, const PanelGrid& grid) {
  PictureFacts facts;
  facts.part = part.text;
  facts.tiles = grid.tiles;
  facts.rows = grid.rows;
  facts.columns = grid.columns;
  facts.across = grid.across;
  for (const double value : part.numbers) {
    facts.nan += std::isnan(value) ? 1 : 0;
    if (std::isinf(value)) ++(value > 0 ? facts.positive_inf : facts.negative_inf);
  }
  return facts;
}

std::span<const double> tile_of(const PartNumbers& part, std::uint64_t tile) {
  const std::uint64_t each = part.rows * part.columns;
  return std::span(part.numbers).subspan(tile * each, each);
}

Result<DrawnTensor> drawn(const PartNumbers& part, const PictureOptions& options) {
  const PanelGrid grid = grid_of(part, options.zoom, 1);
  DrawnTensor result{{}, facts_of(part, grid)};
  const ColourScale shared = scale_of(extent_of(part.numbers), options.range);
  BTF_TRY(check_range(shared));
  const bool own = options.scale == PictureScale::own;
  const std::uint64_t width = own ? grid.width() : std::max(grid.width(), scale_width(shared));
  const std::uint64_t height = grid.height() + (own ? 0 : scale_height(label_times(width)));
  BTF_TRY(check_size(width, height));
  Canvas canvas(static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), kGround);
  draw_tiles(
      canvas, grid, {}, part,
      [&](std::uint64_t tile) {
        return own ? scale_of(extent_of(tile_of(part, tile)), options.range) : shared;
      },
      viridis());
  if (!own) {
    draw_scale(canvas, {0, static_cast<std::uint32_t>(grid.height())},
               static_cast<std::uint32_t>(width), shared, viridis());
    result.facts.least = shared.least;
    result.facts.greatest = shared.greatest;
  }
  result.picture = canvas.take();
  return result;
}

}  // namespace

Result<DrawnTensor> draw(const TensorFile& file, const TensorInfo& tensor,
                         const PictureOptions& options) {
  const auto part = read_part(file, tensor, options.part, options.execution);
  if (!part) return std::unexpected(file.about(tensor.index, part.error()));
  auto picture = drawn(*part, options);
  if (!picture) return std::unexpected(file.about(tensor.index, picture.error()));
  return picture;
}

Result<DrawnTensor> draw_panels(const PartNumbers& actual, const PartNumbers& golden,
                                const PartNumbers& error, const PictureOptions& options) {
  Extent both = extent_of(actual.numbers);
  both.add(extent_of(golden.numbers));
  const ColourScale shared = scale_of(both, options.range);
  BTF_TRY(check_range(shared));
  const Extent errors = extent_of(error.numbers);
  const double most =
      errors.any() ? std::max(std::abs(errors.least), std::abs(errors.greatest)) : 0;
  const ColourScale around_zero{0 - most, most};

  const PanelGrid grid = grid_of(actual, options.zoom, 3);
  const std::uint64_t panel =
      std::max({grid.width(), scale_width(shared), scale_width(around_zero)});
  const std::uint64_t width = 3 * panel + 2 * kPanelGap;
  const std::uint32_t times = label_times(panel);
  const std::uint64_t head = kGlyphHeight * times + 2 * kMargin;
  const std::uint64_t height = head + grid.height() + scale_height(times);
  BTF_TRY(check_size(width, height));
  Canvas canvas(static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), kGround);
  const auto add = [&](std::uint32_t number, std::string_view name, const PartNumbers& part,
                       const ColourScale& scale, const ColourMap& map) {
    const auto x = static_cast<std::uint32_t>(number * (panel + kPanelGap));
    const auto y = static_cast<std::uint32_t>(head);
    canvas.write(x, kMargin, name, kInk, times);
    draw_tiles(canvas, grid, {x, y}, part, [&](std::uint64_t) { return scale; }, map);
    draw_scale(canvas, {x, y + static_cast<std::uint32_t>(grid.height())},
               static_cast<std::uint32_t>(panel), scale, map);
  };
  add(0, "actual", actual, shared, viridis());
  add(1, "golden", golden, shared, viridis());
  add(2, "error", error, around_zero, blue_to_red());
  DrawnTensor result{canvas.take(), facts_of(error, grid)};
  result.facts.least = around_zero.least;
  result.facts.greatest = around_zero.greatest;
  return result;
}

}  // namespace btf
