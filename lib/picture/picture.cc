#include "btf/inspect/picture.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "btf/read.h"
#include "btf/try.h"
#include "picture/canvas.h"
#include "picture/numbers.h"
#include "picture/panels.h"

namespace btf {
namespace {

constexpr std::uint32_t kGap = 1;        // between tiles
constexpr std::uint32_t kPanelGap = 12;  // between actual, golden and error
constexpr std::uint32_t kBarHeight = 8;  // of a scale
constexpr std::uint32_t kMargin = 4;     // around texts
constexpr std::uint32_t kLarge = 480;    // pictures of so many pixels have larger labels
constexpr std::uint32_t kMostZoom = 16;
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

// How the tiles of a picture stand: `across` of them side by side, in row-major order.
struct Grid {
  std::uint64_t tiles = 1;
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
  std::uint64_t across = 1;
  std::uint64_t zoom = 1;

  std::uint64_t down() const { return (tiles + across - 1) / across; }
  std::uint64_t width() const { return across * (columns * zoom + kGap) - kGap; }
  std::uint64_t height() const { return down() * (rows * zoom + kGap) - kGap; }
};

Grid grid_of(const PartNumbers& part, std::uint32_t zoom, std::uint64_t panels) {
  Grid grid{part.tiles, part.rows, part.columns, 1, 1};
  const double wide = std::sqrt(static_cast<double>(part.tiles) * static_cast<double>(part.rows) /
                                static_cast<double>(part.columns));
  grid.across =
      std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(wide)), 1, part.tiles);
  const auto fits = [&] {
    return grid.width() * panels <= kWantedSide && grid.height() <= kWantedSide;
  };
  for (grid.zoom = zoom != 0 ? zoom : kMostZoom; zoom == 0 && grid.zoom > 1 && !fits();)
    --grid.zoom;
  return grid;
}

Status check_size(std::uint64_t width, std::uint64_t height) {
  if (width <= kMostPictureSide && height <= kMostPictureSide &&
      width * height <= kMostPicturePixels)
    return {};
  return fail(ErrorCode::unsupported,
              "the picture would have " + std::to_string(width) + " x " + std::to_string(height) +
                  " pixels; at most " + std::to_string(kMostPictureSide) + " a side and " +
                  std::to_string(kMostPicturePixels) +
                  " in all are drawn: take a part, every n-th element, or smaller squares");
}

struct Place {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
};

void draw_tiles(Canvas& canvas, const Grid& grid, Place at, const PartNumbers& part,
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

// A bar is at least as wide as its two labels.
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

PictureFacts facts_of(const PartNumbers& part, const Grid& grid) {
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
  const Grid grid = grid_of(part, options.zoom, 1);
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

  const Grid grid = grid_of(actual, options.zoom, 3);
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
