#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "btf/tensor_spec.h"
#include "btf/tensorrt.h"

using btf::Dims;
using btf::DType;
using btf::Layout;

namespace {

std::string layouts_of(const std::string& text) {
  const auto format = btf::parse_logged_format(text);
  REQUIRE(format);
  std::string names;
  for (const btf::LoggedShape& shape : btf::shapes_of(*format))
    names += std::string(names.empty() ? "" : " ") + std::string(btf::spec(shape.layout).name) +
             btf::dims_text(shape.dims);
  return names;
}

std::string refused(const std::string& spec) {
  const auto parsed = btf::parse_tensor_spec(spec);
  REQUIRE_FALSE(parsed);
  return parsed.error().message;
}

}  // namespace

// Which bytes they stand for: tests/interop/check_tensorrt.py.
TEST_CASE("tensorrt: a sentence that fits no row names the nearest", "[tensorrt]") {
  CHECK(refused("Twelve wide channel vectorized row major FP16 format:1x3x2x2")
            .ends_with("'Two wide channel vectorized row major float16 format' is the nearest"));
  CHECK(refused("Channel major FP16 format where channel % 12 == 0:1x3x2x2").contains("nearest"));
  CHECK(refused("Unknown format:1x3x2x2").contains("only describes it as"));
  CHECK(refused("Row major linear FP32 format (kCHW4):1x3x2x2").contains("says two things"));
  CHECK(refused("Channel major FP16 format").contains("layout without dims"));
  CHECK(refused("Channel major FP16 format where channel % 4 == 0:3x2").contains("3 dims"));
}

TEST_CASE("tensorrt: every sentence is read as it is said", "[tensorrt]") {
  for (std::string text : {"FP32", "Half", "Int8"}) {
    const auto bare = btf::parse_format_sentence(text);
    REQUIRE(bare);
    CHECK(bare->layout == Layout::linear);
  }
  for (const std::string_view row : btf::format_sentences()) {
    std::string text(row);
    text.replace(text.find("TYPE"), 4, "float16");
    const auto format = btf::parse_format_sentence(text);
    REQUIRE(format);
    CHECK(format->dtype == DType::float16);
    const auto again = btf::parse_format_sentence(btf::format_sentence(*format));
    REQUIRE(again);
    CHECK(again->layout == format->layout);
    CHECK(again->lanes == format->lanes);
    CHECK(again->row_pitch == format->row_pitch);
  }
}

TEST_CASE("tensorrt: strides of logs say layouts and dims", "[tensorrt]") {
  CHECK(layouts_of("Half(1280000,20000,200,1)").starts_with("kLINEAR[1, 64, 100, 200]"));
  CHECK(layouts_of("Half(160000,1:8,1600,8)") == "kHWC8[1, 64, 100, 200]");
  CHECK(layouts_of("Half(640000,20000:2,200,1)") == "kCHW2[1, 64, 100, 200]");
  CHECK(layouts_of("Float(1280000,1,12800,64)") == "kHWC[1, 64, 100, 200]");
  CHECK(layouts_of("Half(7,3,2)").empty());
}

TEST_CASE("tensorrt: a log's format with dims is a layout, or strides", "[tensorrt]") {
  const auto named = btf::parse_tensor_spec("Half(160000,1:8,1600,8):1x64x100x200");
  REQUIRE(named);
  CHECK(named->layout == Layout::hwc8);
  CHECK_FALSE(named->strided);
  const auto pitched = btf::parse_tensor_spec("Float(96,32,8,1):1x3x4x5");
  REQUIRE(pitched);
  CHECK(pitched->strided);
  CHECK(pitched->storage->strides == Dims{96, 32, 8, 1});
  const auto vectors = btf::parse_tensor_spec("Int8(64,16:4,8,1):1x5x2x3");
  REQUIRE(vectors);
  CHECK(vectors->strided);
  CHECK(btf::offset(*vectors->storage, Dims{0, 4, 1, 2}) == (16 + 8 + 2) * 4);
  CHECK(refused("Half(1,2):1x2x3").contains("there are 2 strides, and 3 dims"));
  CHECK(refused("Half(1,x):1x2").contains("a stride is a number, not 'x'"));
  CHECK(refused("Half(1:8,1:8):1x2").contains("two dims are vectorised"));
  CHECK(refused("Half(2,1)").contains("dims after them"));
}
