// Pictures of a part of a tensor, and of the difference of two tensors: a pixel, or a square of
// pixels, for each element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "btf/api.h"
#include "btf/diff.h"
#include "btf/edit.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/file.h"

namespace btf {

// Rows from top to bottom, pixels from left to right, 3 bytes each: red, green, blue.
struct Picture {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<std::uint8_t> rgb;
};

// A picture shows at most three dims: tiles, rows and columns.
inline constexpr std::size_t kMaxPictureDims = 3;

// Limits of a picture: elements, the longest side in pixels, and pixels. With these a picture takes
// at most 200 MB of memory, and the picture of a difference 300 MB.
inline constexpr std::uint64_t kMaxPictureElements = 1U << 22;
inline constexpr std::uint64_t kMaxPictureSide = 16384;
inline constexpr std::uint64_t kMaxPicturePixels = 1U << 24;

// The numbers at the two ends of the colour scale. Unset: the least and the greatest finite number.
struct PictureRange {
  std::optional<double> least{};
  std::optional<double> greatest{};
};

enum class PictureScale : std::uint8_t {
  shared,  // one for all tiles, drawn below them
  own,     // each tile has its own
};

struct PictureOptions {
  // The part to draw. Unset: the last three dims, at index 0 of all others. The last two dims of
  // the part are rows and columns, a third one gives tiles, and more are an error.
  std::optional<Slice> part{};
  PictureScale scale = PictureScale::shared;
  PictureRange range{};
  // Side of an element's square in pixels. 0: the largest one up to 16 that keeps the picture
  // within 1024 pixels, at least 1.
  std::uint32_t zoom = 0;
  Execution execution{};
};

// What a picture shows: its part of the tensor, its size and its scale.
struct PictureFacts {
  std::string part;  // "[0, :, :, :]"
  std::uint64_t tiles = 1;
  std::uint64_t rows = 0;  // of a tile
  std::uint64_t columns = 0;
  std::uint64_t across = 1;                                 // tiles in a row
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

// Draws a part of a tensor in the colours of viridis (docs/inspect.md has the formula). NaN, Inf,
// -Inf and the background between tiles have colours of their own.
BTF_API Result<DrawnTensor> draw(const TensorFile& file, const TensorInfo& tensor,
                                 const PictureOptions& options = {});

// The bytes of a PNG file.
BTF_API Result<std::string> png(const Picture& picture);

// Ways to show a picture in a terminal.
enum class PictureForm : std::uint8_t {
  blocks,  // two pixels per character in 24-bit colours, for most terminals
  kitty,   // kitty's graphics protocol
  sixel,
};

// The best form for the terminal that these environment variables describe; blocks if it is not
// known to show pictures, and inside a multiplexer.
BTF_API PictureForm terminal_form(std::string_view term, std::string_view term_program,
                                  bool kitty_window, bool multiplexed);

// The picture as text that ends in a newline. In blocks, a picture wider than `columns` is reduced
// to every n-th pixel.
BTF_API Result<std::string> terminal_picture(const Picture& picture, PictureForm form,
                                             std::uint32_t columns);

// Draws actual, golden and error = actual - golden side by side: the numbers that diff() compares
// with these options, after scales and edits. Actual and golden share a scale; that of the error is
// centred at 0, from blue over white to red. `picture.part` refers to the dims as they are
// compared, which must be equal. Only the part is read, and of COO tensors all entries.
BTF_API Result<DrawnTensor> draw_difference(const TensorFile& actual, const TensorFile& golden,
                                            const TensorPair& pair, const DiffOptions& options,
                                            const PictureOptions& picture = {});

}  // namespace btf
