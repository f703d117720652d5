#include "btf/picture.h"

#include <array>
#include <catch2/catch.hpp>
#include <limits>
#include <stdexcept>
#include <string>

#include "support/btf_bytes.h"
#include "support/scratch_dir.h"

using btf::DType;
using btf::Layout;
using btf::PictureForm;

namespace {

using Pixel = std::array<int, 3>;

Pixel pixel(const btf::Picture& picture, std::uint32_t x, std::uint32_t y) {
  const std::size_t at = (std::size_t{y} * picture.width + x) * 3;
  return {picture.rgb[at], picture.rgb[at + 1], picture.rgb[at + 2]};
}

btf::Result<btf::DrawnTensor> drawn(const bytes::Bytes& record,
                                    const btf::PictureOptions& options) {
  const ScratchDir scratch;
  const auto file = bytes::open(bytes::save(scratch, "f.btf", bytes::file({record})));
  return btf::draw(file, file.tensor(0).value(), options);
}

btf::Slice all_of(std::size_t dims) {
  return {std::vector<btf::SlicePart>(dims, btf::SliceRange{})};
}

}  // namespace

TEST_CASE("picture: numbers, NaN, Inf, and the ground between tiles") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto record = bytes::dense(DType::float32, Layout::linear, {2, 2, 2},
                                   bytes::values<float>({0, 1, kNan, kInf, -kInf, 0.5F, 0, 1}));
  const auto found = drawn(record, {.scale = btf::PictureScale::own, .zoom = 2});
  REQUIRE(found);
  const btf::Picture& picture = found->picture;
  REQUIRE(picture.width == 9);
  REQUIRE(picture.height == 4);
  CHECK(pixel(picture, 0, 0) == Pixel{68, 1, 84});
  CHECK(pixel(picture, 3, 1) == Pixel{253, 231, 37});
  CHECK(pixel(picture, 1, 2) == Pixel{255, 0, 255});
  CHECK(pixel(picture, 2, 3) == Pixel{255, 0, 0});
  CHECK(pixel(picture, 4, 1) == Pixel{40, 40, 40});
  CHECK(pixel(picture, 5, 0) == Pixel{0, 255, 255});
  CHECK(pixel(picture, 7, 0) == Pixel{33, 144, 141});  // level 128: 4.016 anchors from the first
  CHECK(found->facts.nan == 1);
  CHECK(found->facts.across == 2);
  CHECK(btf::png(picture)->starts_with("\x89PNG\r\n\x1a\n"));
}

TEST_CASE("picture: what cannot be drawn is said") {
  const auto trouble = [](const bytes::Words& dims, btf::PictureOptions options) {
    std::uint64_t elements = 1;
    for (const std::uint64_t dim : dims) elements *= dim;
    const auto found =
        drawn(bytes::dense(DType::int8, Layout::linear, dims, bytes::Bytes(elements)), options);
    return found ? std::string() : found.error().message;
  };
  CHECK(trouble({2, 2, 2, 2}, {.part = all_of(4)}).find("has 4 dims") != std::string::npos);
  CHECK(trouble({0, 3}, {}).find("none of the 0 indices of dim 0") != std::string::npos);
  CHECK(trouble({2, 3}, {.range = {2, 1}}).find("from 2 down to 1") != std::string::npos);
  CHECK(trouble({100, 200}, {.zoom = 200}).find("at most 16384 a side") != std::string::npos);
  CHECK(trouble({3000, 3000}, {})
            .find("[:, :] has 9000000 elements, but a picture has at most 4194304") !=
        std::string::npos);
  CHECK(trouble({}, {}).empty());
  // A COO tensor of more dims than anybody could look at.
  const auto huge = drawn(bytes::coo(DType::float32, {1ULL << 31, 1ULL << 31}, {}, {}), {});
  CHECK_FALSE(huge);
}

TEST_CASE("picture: forms that terminals show") {
  CHECK(btf::terminal_form("xterm-256color", "", false, false) == PictureForm::blocks);
  CHECK(btf::terminal_form("xterm-kitty", "", false, false) == PictureForm::kitty);
  CHECK(btf::terminal_form("xterm-256color", "", true, false) == PictureForm::kitty);
  CHECK(btf::terminal_form("xterm-kitty", "", true, true) == PictureForm::blocks);
  CHECK(btf::terminal_form("tmux-256color", "ghostty", false, false) == PictureForm::blocks);
  CHECK(btf::terminal_form("foot", "", false, false) == PictureForm::sixel);
  CHECK(btf::terminal_form("xterm", "WezTerm", false, false) == PictureForm::kitty);
}
