#include "btf/layout.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/naive_layout.h"
#include "support/said.h"

using btf::Dims;
using btf::DType;
using btf::Layout;

namespace {

Layout layout_of(const naive::Name& name) { return static_cast<Layout>(name.code); }

// A dtype of each size in bytes.
const std::vector<DType> kOfEachSize{DType::int8, DType::float16, DType::float32, DType::int64};

const std::vector<std::uint64_t> kChannels{1, 2, 3, 4, 7, 8, 9, 31, 32, 33};

std::uint64_t bytes_of(DType dtype) { return btf::info(dtype).buffer_bytes(); }

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// True if resolve() and offset() put every element where the oracle does.
bool agrees(const btf::StridedLayout& resolved, const naive::Array& expected, const Dims& dims) {
  if (resolved.dims != dims || resolved.storage_shape() != expected.shape ||
      resolved.storage_elements != expected.elements() ||
      resolved.elements() != expected.place.size())
    return false;
  Dims index(dims.size(), 0);
  for (const std::uint64_t place : expected.place) {
    if (btf::offset(resolved, index) != place) return false;
    naive::next(index, dims);
  }
  return true;
}

struct Refusal {
  Layout layout;
  Dims dims;
  DType dtype;
  btf::ErrorCode code;
  std::string finding;
  std::string message;
};

}  // namespace

TEST_CASE("layouts have the codes of the format") {
  CHECK(btf::layouts().size() == naive::names().size() + 2);  // and COO, and shuffled
  for (unsigned code = 0; code < 256; ++code) {
    const btf::LayoutSpec* found = btf::find_layout(static_cast<std::uint8_t>(code));
    const auto names = naive::names();
    const auto known = std::ranges::find(names, code, &naive::Name::code);
    CAPTURE(code);
    REQUIRE((found != nullptr) == (code == 1 || code == 2 || code == 192 || known != names.end()));
    if (found == nullptr) continue;
    CHECK(found->code() == (code == 1 ? 2 : code));
    CHECK(found->extension() == (code >= 128));
    CHECK(&btf::spec(found->layout) == found);
    if (known == names.end()) continue;
    CHECK(found->name == known->name.substr(0, known->name.find(' ')));
    CHECK(found->min_rank == known->least_rank);
  }
}

TEST_CASE("layouts answer to all of their names in any case") {
  const std::map<Layout, std::vector<std::string>> names{
      {Layout::linear, {"kLINEAR", "linear", "dense", "chw", "nchw", "row-major"}},
      {Layout::coo, {"coo", "sparse", "coordinate"}},
      {Layout::chw2, {"kCHW2", "chw2", "NC/2HW2"}},
      {Layout::hwc8, {"kHWC8", "hwc8", "NHWC8"}},
      {Layout::chw4, {"kCHW4", "chw4", "NC/4HW4"}},
      {Layout::chw16, {"kCHW16", "chw16", "NC/16HW16"}},
      {Layout::chw32, {"kCHW32", "chw32", "NC/32HW32"}},
      {Layout::dhwc8, {"kDHWC8", "dhwc8", "NDHWC8"}},
      {Layout::cdhw32, {"kCDHW32", "cdhw32", "NC/32DHW32"}},
      {Layout::hwc, {"kHWC", "hwc", "NHWC"}},
      {Layout::dla_linear, {"kDLA_LINEAR", "dla_linear", "DLA Linear"}},
      {Layout::dla_hwc4, {"kDLA_HWC4", "dla_hwc4", "DLA HWC4"}},
      {Layout::hwc16, {"kHWC16", "hwc16", "NHWC16"}},
      {Layout::dhwc, {"kDHWC", "dhwc", "NDHWC"}},
      {Layout::shuffled, {"shuffled", "shuffle"}},
  };
  for (const auto& [layout, all] : names) {
    for (const std::string& name : all) {
      CAPTURE(name);
      CHECK(btf::parse_layout(name) == layout);
      CHECK(btf::parse_layout(upper(name)) == layout);
    }
  }
}

TEST_CASE("an unknown layout's error lists the names there are") {
  const std::pair<std::string, std::string> words[] = {
      {"hwc9", "HWC8"}, {"", ""}, {"k", ""}, {"kLINEAR8", "kLINEAR"}, {"fp16:hwc8", ""}};
  for (const auto& [name, meant] : words) {
    const auto parsed = btf::parse_layout(name);
    CAPTURE(name);
    REQUIRE(!parsed);
    CHECK(parsed.error().code == btf::ErrorCode::invalid_argument);
    CHECK(said(parsed.error()) ==
          "unknown layout '" + name + "'" +
              (meant.empty() ? "" : " (did you mean '" + meant + "'?)") +
              "; there are kLINEAR, coo, kCHW2, kHWC8, kCHW4, kCHW16, kCHW32, kDHWC8, kCDHW32, "
              "kHWC, kDLA_LINEAR, kDLA_HWC4, kHWC16, kDHWC, shuffled");
  }
}

TEST_CASE("every layout puts every element where TensorRT's words put it") {
  for (const naive::Name& name : naive::names()) {
    for (const DType dtype : kOfEachSize) {
      std::size_t cases = 0;
      for (std::size_t rank = 3; rank <= 6; ++rank) {
        for (const std::uint64_t channels : kChannels) {
          for (const std::uint64_t width : {1U, 5U, 17U}) {
            if (!naive::can_hold(name, rank, channels)) continue;
            const Dims dims = naive::dims_for(name, rank, channels, width);
            const auto resolved = btf::resolve(layout_of(name), dims, dtype);
            const bool same =
                resolved &&
                agrees(*resolved, naive::layout(name.name, dims, bytes_of(dtype)), dims);
            ++cases;
            if (same) continue;
            CAPTURE(name.name, btf::info(dtype).name, dims);
            CHECK(same);
          }
        }
      }
      CHECK(cases > 30);
    }
  }
}

TEST_CASE("a resolved layout describes its storage consistently") {
  for (const naive::Name& name : naive::names()) {
    for (const std::uint64_t channels : {1U, 3U, 4U, 33U}) {
      if (!naive::can_hold(name, 5, channels)) continue;
      const Dims dims = naive::dims_for(name, 5, channels, 7);
      const auto resolved = btf::resolve(layout_of(name), dims, DType::float16);
      CAPTURE(name.name, dims);
      REQUIRE(resolved);

      // A packed array: every axis strides over all that lies inside it.
      std::uint64_t inside = 1;
      bool packed = true;
      for (auto axis = resolved->axes.rbegin(); axis != resolved->axes.rend(); ++axis) {
        packed = packed && axis->stride == inside;
        inside *= axis->extent;
      }
      CHECK(packed);
      CHECK(resolved->storage_elements == inside);
      CHECK(btf::storage_bytes(*resolved, DType::float16) == 2 * inside);
      CHECK(resolved->padded() == (inside != resolved->elements()));

      const bool blocked = name.name.find("CHW") != std::string_view::npos ||
                           name.name.find("CDHW") != std::string_view::npos;
      CHECK(resolved->split.has_value() == blocked);
      if (resolved->split) {
        CHECK(resolved->split->dim == dims.size() - name.channel_from_end);
        CHECK(resolved->split->lane_stride == 1);
        CHECK(resolved->split->lanes == resolved->components);
      }
    }
  }
}

TEST_CASE("TensorRT's components and vectorised dim") {
  const std::map<Layout, std::uint64_t> components{
      {Layout::chw2, 2},   {Layout::hwc8, 8},  {Layout::chw4, 4},    {Layout::chw16, 16},
      {Layout::chw32, 32}, {Layout::dhwc8, 8}, {Layout::cdhw32, 32}, {Layout::hwc16, 16},
  };
  for (const naive::Name& name : naive::names()) {
    const Dims dims = naive::dims_for(name, 5, 3, 5);
    const auto resolved = btf::resolve(layout_of(name), dims, DType::int8);
    CAPTURE(name.name);
    REQUIRE(resolved);
    const auto row = components.find(layout_of(name));
    const bool vectorised = row != components.end();
    CHECK(resolved->components == (vectorised ? row->second : 1));
    CHECK(resolved->vectorized_dim ==
          (vectorised ? 5 - static_cast<int>(name.channel_from_end) : -1));
  }
}

TEST_CASE("the worked example: float16 [1, 3, 2, 5]") {
  struct Row {
    Layout layout;
    Dims shape;
    Dims strides;
    std::optional<std::uint64_t> lanes;
    std::uint64_t bytes;
    std::uint64_t offset;  // of (0, 2, 1, 3)
  };
  const std::vector<Row> rows{
      {Layout::linear, {1, 3, 2, 5}, {30, 10, 5, 1}, {}, 60, 28},
      {Layout::chw2, {1, 2, 2, 5, 2}, {40, 20, 10, 2}, 2, 80, 36},
      {Layout::hwc8, {1, 2, 5, 8}, {80, 1, 40, 8}, {}, 160, 66},
      {Layout::chw4, {1, 1, 2, 5, 4}, {40, 40, 20, 4}, 4, 80, 34},
      {Layout::chw16, {1, 1, 2, 5, 16}, {160, 160, 80, 16}, 16, 320, 130},
      {Layout::chw32, {1, 1, 2, 5, 32}, {320, 320, 160, 32}, 32, 640, 258},
      {Layout::hwc, {1, 2, 5, 3}, {30, 1, 15, 3}, {}, 60, 26},
      {Layout::dla_linear, {1, 3, 2, 32}, {192, 64, 32, 1}, {}, 384, 163},
      {Layout::dla_hwc4, {1, 2, 8, 4}, {64, 1, 32, 4}, {}, 128, 46},
      {Layout::hwc16, {1, 2, 5, 16}, {160, 1, 80, 16}, {}, 320, 130},
  };
  for (const Row& row : rows) {
    CAPTURE(btf::spec(row.layout).name);
    const auto resolved = btf::resolve(row.layout, Dims{1, 3, 2, 5}, DType::float16);
    REQUIRE(resolved);
    CHECK(resolved->storage_shape() == row.shape);
    CHECK(resolved->strides == row.strides);
    CHECK(resolved->split.has_value() == row.lanes.has_value());
    if (resolved->split) CHECK(resolved->split->lanes == *row.lanes);
    CHECK(btf::storage_bytes(*resolved, DType::float16) == row.bytes);
    CHECK(btf::offset(*resolved, Dims{0, 2, 1, 3}) == row.offset);
  }
}

TEST_CASE("rows of the DLA layouts by size of element and device") {
  // W = 1, so the row is as long as its unit. Columns: Orin with C = 1, with C = 3, 4; Xavier
  // likewise; kDLA_LINEAR.
  const std::map<DType, std::vector<std::uint64_t>> rows{
      {DType::int8, {64, 16, 32, 8, 64}},
      {DType::float16, {32, 8, 16, 4, 32}},
      {DType::float32, {16, 4, 8, 2, 16}},
      {DType::int64, {8, 2, 4, 1, 8}},
  };
  for (const auto& [dtype, units] : rows) {
    const auto row = [&](Layout layout, std::uint64_t channels, std::size_t axis) {
      const auto resolved = btf::resolve(layout, Dims{channels, 1, 1}, dtype);
      return resolved ? resolved->storage_shape()[axis] : 0;
    };
    CAPTURE(btf::info(dtype).name);
    CHECK(row(Layout::dla_hwc4, 1, 1) == units[0]);
    CHECK(row(Layout::dla_hwc4, 3, 1) == units[1]);
    CHECK(row(Layout::dla_hwc4, 4, 1) == units[1]);
    CHECK(row(Layout::dla_hwc4_xavier, 1, 1) == units[2]);
    CHECK(row(Layout::dla_hwc4_xavier, 3, 1) == units[3]);
    CHECK(row(Layout::dla_linear, 3, 2) == units[4]);
  }
}

TEST_CASE("kLINEAR takes any rank, and dims of 0") {
  const auto scalar = btf::resolve(Layout::linear, Dims{}, DType::int4);
  REQUIRE(scalar);
  CHECK(scalar->elements() == 1);
  CHECK(btf::offset(*scalar, Dims{}) == 0);
  CHECK(btf::storage_bytes(*scalar, DType::int4) == 1);

  const auto odd = btf::resolve(Layout::linear, Dims{3, 3}, DType::uint4);
  REQUIRE(odd);
  CHECK(btf::storage_bytes(*odd, DType::uint4) == 5);

  const auto empty = btf::resolve(Layout::linear, Dims{3, 0, 2}, DType::float64);
  REQUIRE(empty);
  CHECK(empty->elements() == 0);
  CHECK(empty->storage_elements == 0);

  const auto deep = btf::resolve(Layout::linear, Dims(255, 1), DType::int8);
  REQUIRE(deep);
  CHECK(deep->storage_elements == 1);
}

TEST_CASE("a dim of 0 leaves nothing to store in any layout") {
  for (const naive::Name& name : naive::names()) {
    for (std::size_t d = 0; d < 5; ++d) {
      Dims dims = naive::dims_for(name, 5, 3, 5);
      const bool image = name.code == 138 || name.code == 154;
      if (image && d == 5 - name.channel_from_end) continue;
      dims[d] = 0;
      const auto resolved = btf::resolve(layout_of(name), dims, DType::float16);
      CAPTURE(name.name, dims);
      REQUIRE(resolved);
      CHECK(resolved->elements() == 0);
      CHECK(btf::storage_bytes(*resolved, DType::float16) == 0);
    }
  }
}

TEST_CASE("a dim of 0 counts as 1 in strides and in limits") {
  for (const naive::Name& name : naive::names()) {
    for (std::size_t d = 0; d < 5; ++d) {
      Dims dims = naive::dims_for(name, 5, 3, 5);
      const bool image = name.code == 138 || name.code == 154;
      if (image && d == 5 - name.channel_from_end) continue;
      dims[d] = 1;
      const auto one = btf::resolve(layout_of(name), dims, DType::int8);
      dims[d] = 0;
      const auto none = btf::resolve(layout_of(name), dims, DType::int8);
      CAPTURE(name.name, dims);
      REQUIRE(none);
      CHECK(none->strides == one->strides);
      CHECK(btf::tensorrt_strides(*none) == btf::tensorrt_strides(*one));
      CHECK(none->elements() == 0);
    }
  }
  const auto strides = [](Layout layout, Dims dims) {
    return btf::resolve(layout, dims, DType::int8)->strides;
  };
  CHECK(strides(Layout::dla_linear, {1, 1, 0}) == Dims{64, 64, 1});
  CHECK(strides(Layout::hwc8, {0, 3, 5}) == Dims{1, 40, 8});
  const std::uint64_t k61 = std::uint64_t{1} << 61;
  CHECK(btf::resolve(Layout::hwc, Dims{0, k61, 4}, DType::int8));
  CHECK_FALSE(btf::resolve(Layout::hwc8, Dims{0, k61, 1}, DType::int8));
  CHECK_FALSE(btf::resolve(Layout::linear, Dims{0, k61}, DType::float64));
  CHECK(btf::resolve(Layout::linear, Dims{0, k61}, DType::float32));
}

TEST_CASE("resolve refuses what cannot be stored, and says why") {
  using enum btf::ErrorCode;
  const std::uint64_t most = UINT64_MAX;
  const std::uint64_t half = std::uint64_t{1} << 32;
  const std::vector<Refusal> refusals{
      {Layout::hwc8,
       {3, 5},
       DType::float16,
       unsupported,
       "layout-rank",
       "kHWC8 needs rank 3 or more, found rank 2"},
      {Layout::cdhw32,
       {3, 5, 7},
       DType::int8,
       unsupported,
       "layout-rank",
       "kCDHW32 needs rank 4 or more, found rank 3"},
      {Layout::dla_linear,
       {},
       DType::int8,
       unsupported,
       "layout-rank",
       "kDLA_LINEAR needs rank 3 or more, found rank 0"},
      {Layout::chw4,
       {1, 4, 2, 2},
       DType::int4,
       unsupported,
       "layout-dtype",
       "4-bit types are stored in kLINEAR only, not int4 in kCHW4"},
      {Layout::dla_linear,
       {4, 2, 2},
       DType::float4_e2m1fn,
       unsupported,
       "layout-dtype",
       "4-bit types are stored in kLINEAR only, not float4_e2m1fn in kDLA_LINEAR"},
      {Layout::dla_hwc4,
       {1, 2, 3, 3},
       DType::int8,
       unsupported,
       "layout-channels",
       "kDLA_HWC4 needs C of 1, 3 or 4, found 2"},
      {Layout::dla_hwc4_xavier,
       {0, 3, 3},
       DType::int8,
       unsupported,
       "layout-channels",
       "kDLA_HWC4 needs C of 1, 3 or 4, found 0"},
      {Layout::coo, {2, 2}, DType::int8, unsupported, "", "COO is not a dense layout"},
      {Layout::linear,
       {half, half},
       DType::int8,
       malformed,
       "size-overflow",
       "the product of the dims [4294967296, 4294967296] does not fit 64 bits"},
      {Layout::linear,
       {(std::uint64_t{1} << 63) + 2, 2},
       DType::uint8,
       malformed,
       "size-overflow",
       "the product of the dims [9223372036854775810, 2] does not fit 64 bits"},
      {Layout::linear,
       {std::uint64_t{1} << 61},
       DType::float64,
       malformed,
       "size-overflow",
       "the size in bytes of dims [2305843009213693952] does not fit 64 bits"},
      // A 0 does not hide it, wherever it stands.
      {Layout::linear,
       {0, half, half},
       DType::int8,
       malformed,
       "size-overflow",
       "the product of the dims [0, 4294967296, 4294967296] does not fit 64 bits"},
      {Layout::linear,
       {half, half, 0},
       DType::int8,
       malformed,
       "size-overflow",
       "the product of the dims [4294967296, 4294967296, 0] does not fit 64 bits"},
      // The dims fit, the padding does not.
      {Layout::hwc8, {most, 1, 1}, DType::int8, malformed, "size-overflow", ""},
      {Layout::chw32,
       {1, 1, std::uint64_t{1} << 60},
       DType::int8,
       malformed,
       "size-overflow",
       "the size in bytes of dims [1, 1, 1152921504606846976] does not fit 64 bits"},
      {Layout::chw32,
       {0, 1, std::uint64_t{1} << 60},
       DType::int8,
       malformed,
       "size-overflow",
       "the size in bytes of dims [0, 1, 1152921504606846976] does not fit 64 bits"},
      {Layout::dla_linear, {1, 1, most}, DType::int8, malformed, "size-overflow", ""},
      {Layout::dla_hwc4, {1, 1, most}, DType::int8, malformed, "size-overflow", ""},
  };
  for (const Refusal& refusal : refusals) {
    CAPTURE(btf::spec(refusal.layout).name, refusal.dims, btf::info(refusal.dtype).name);
    const auto resolved = btf::resolve(refusal.layout, refusal.dims, refusal.dtype);
    REQUIRE(!resolved);
    CHECK(resolved.error().code == refusal.code);
    CHECK(resolved.error().finding == refusal.finding);
    if (!refusal.message.empty()) CHECK(said(resolved.error()) == refusal.message);
  }
}

TEST_CASE("the largest sizes that fit are accepted") {
  CHECK(btf::resolve(Layout::linear, Dims{UINT64_MAX}, DType::int8));
  CHECK(btf::resolve(Layout::linear, Dims{UINT64_MAX}, DType::int4));
  CHECK(btf::resolve(Layout::linear, Dims{(std::uint64_t{1} << 61) - 1}, DType::float64));
  CHECK(btf::resolve(Layout::hwc8, Dims{UINT64_MAX - 7, 1, 1}, DType::int8));
  CHECK(btf::resolve(Layout::linear, Dims{0, UINT64_MAX}, DType::int8));
}

TEST_CASE("what TensorRT holds where") {
  const auto objection = [](Layout layout, DType dtype) {
    return btf::tensorrt_objection(layout, dtype).value_or("");
  };
  for (const btf::DTypeInfo& row : btf::dtypes())
    CHECK(objection(Layout::linear, row.dtype).empty());

  const std::map<Layout, std::vector<DType>> newest{
      {Layout::chw2, {DType::float16, DType::bfloat16}},
      {Layout::hwc8, {DType::float16, DType::bfloat16}},
      {Layout::chw4, {DType::int8}},
      {Layout::chw16, {DType::float16}},
      {Layout::chw32, {DType::int8, DType::float32, DType::float16}},
      {Layout::dhwc8, {DType::float16, DType::bfloat16}},
      {Layout::cdhw32, {DType::float16, DType::int8}},
      {Layout::hwc, {DType::float32, DType::uint8}},
      {Layout::dla_linear, {DType::float16, DType::int8}},
      {Layout::dla_hwc4, {DType::float16, DType::int8}},
      {Layout::hwc16, {DType::float16, DType::int8, DType::float8_e4m3fn}},
      {Layout::dhwc, {DType::float32}},
      {Layout::dla_hwc4_xavier, {DType::float16, DType::int8}},
  };
  for (const auto& [layout, dtypes] : newest) {
    for (const btf::DTypeInfo& row : btf::dtypes()) {
      CAPTURE(btf::spec(layout).name, row.name);
      CHECK(objection(layout, row.dtype).empty() ==
            (std::ranges::find(dtypes, row.dtype) != dtypes.end()));
    }
  }

  CHECK(objection(Layout::chw4, DType::float16) ==
        "TensorRT 10.12 to 11.4 does not hold float16 in kCHW4; these versions do: 10.10, 6.0 to "
        "10.8");
  CHECK(objection(Layout::hwc, DType::int64) ==
        "TensorRT 10.12 to 11.4 does not hold int64 in kHWC; these versions do: 10.6 to 10.8");
  CHECK(objection(Layout::dhwc, DType::float64) ==
        "TensorRT 10.12 to 11.4 does not hold float64 in kDHWC; no version does");
}

TEST_CASE("layout: what TensorRT and a DLA take by the dims") {
  const auto objection = [](Layout layout, const Dims& dims) {
    return btf::tensorrt_objection(layout, dims).value_or("");
  };
  for (const Layout layout : {Layout::dla_linear, Layout::dla_hwc4, Layout::dla_hwc4_xavier,
                              Layout::chw16, Layout::chw32}) {
    const std::string takes = "a DLA takes " + std::string(btf::spec(layout).name);
    CHECK(objection(layout, {8192, 8192, 8192}).empty());
    CHECK(objection(layout, {1, 1, 1}).empty());
    CHECK(objection(layout, {9000, 0, 3, 1, 1}).empty());
    CHECK(objection(layout, {1, 0, 9000, 1}).empty());  // nothing that a device is given
    for (const std::uint64_t extent : {8193ULL, ~0ULL}) {
      const std::string found = std::to_string(extent);
      CHECK(objection(layout, {2, extent, 1, 1}).find("C is " + found) != std::string::npos);
      CHECK(objection(layout, {2, 1, extent, 1}).find("H is " + found) != std::string::npos);
      CHECK(objection(layout, {2, 1, 1, extent}).find("W is " + found) != std::string::npos);
      CHECK(objection(layout, {2, 1, 1, extent}).find(takes) == 0);
    }
  }
  for (const Layout layout : {Layout::linear, Layout::chw4, Layout::hwc8, Layout::dhwc})
    CHECK(objection(layout, {9000, 9000, 9000, 0}).empty());
  // All of TensorRT's end at rank 8.
  const Dims nine(9, 2);
  const Dims eight(8, 2);
  for (const btf::LayoutSpec& row : btf::layouts()) {
    const bool of_tensorrt = row.code() >= 128 && !row.shuffled();
    CHECK(objection(row.layout, nine) ==
          (of_tensorrt ? "a TensorRT tensor has at most 8 dims, but this one has 9" : ""));
    CHECK(objection(row.layout, eight).empty());
  }
}
