// A part of a tensor as a picture: a pixel for each element, or for a square of pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "btf/api.h"
#include "btf/edit.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/file.h"

namespace btf {

// Rows from the top, pixels from the left, 3 bytes each: red, green, blue.
struct Picture {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<std::uint8_t> rgb;
};

// Tiles, rows and columns.
inline constexpr std::size_t kMaxPictureDims = 3;

// The most elements of a picture, the longest side in pixels, and the most pixels: with all of it
// a picture takes no more than 200 MB, that of a difference 300.
inline constexpr std::uint64_t kMaxPictureElements = 1U << 22;
inline constexpr std::uint64_t kMaxPictureSide = 16384;
inline constexpr std::uint64_t kMaxPicturePixels = 1U << 24;

// Numbers that become the ends of the colours; nothing: the least and the greatest finite one.
struct PictureRange {
  std::optional<double> least{};
  std::optional<double> greatest{};
};

enum class PictureScale : std::uint8_t {
  shared,  // one for all tiles; it is drawn below them
  own,     // each tile has its own
};

struct PictureOptions {
  // The part; nothing: the last three dims, at index 0 of all others. Of its dims the last two are
  // rows and columns, and one before them gives tiles; more are refused.
  std::optional<Slice> part{};
  PictureScale scale = PictureScale::shared;
  PictureRange range{};
  std::uint32_t zoom = 0;  // side of the square of an element; 0: the largest up to 16 that keeps
                           // the picture within 1024 pixels, or 1
  Execution execution{};
};

// The facts of a picture: its part of the tensor, its size and its scale.
struct PictureFacts {
  std::string part;  // "[0, :, :, :]"
  std::uint64_t tiles = 1;
  std::uint64_t rows = 0;  // of a tile
  std::uint64_t columns = 0;
  std::uint64_t across = 1;                                 // tiles side by side
  double least = std::numeric_limits<double>::quiet_NaN();  // ends of the shared scale
  double greatest = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t nan = 0;
  std::uint64_t positive_inf = 0;
  std::uint64_t negative_inf = 0;
};

struct DrawnTensor {
  Picture picture;
  PictureFacts facts;
};

// Numbers go through viridis from the least to the greatest (docs/inspect.md has the colours and
// the formula); NaN, Inf and -Inf have colours of their own, as the ground between tiles has.
BTF_API Result<DrawnTensor> draw(const TensorFile& file, const TensorInfo& tensor,
                                 const PictureOptions& options = {});

// A PNG file.
BTF_API Result<std::string> png(const Picture& picture);

// Ways to show a picture in a terminal.
enum class PictureForm : std::uint8_t {
  blocks,  // two pixels a character, in 24-bit colours: most terminals
  kitty,   // kitty's graphics protocol
  sixel,
};

// The form that the terminal of these environment variables is known to show; blocks if none is
// known, and inside of a multiplexer.
BTF_API PictureForm terminal_form(std::string_view term, std::string_view term_program,
                                  bool kitty_window, bool multiplexed);

// Lines of text with a last newline. Blocks are made for so many columns: a wider picture is made
// smaller, by every n-th pixel.
BTF_API Result<std::string> terminal_picture(const Picture& picture, PictureForm form,
                                             std::uint32_t columns);

}  // namespace btf
