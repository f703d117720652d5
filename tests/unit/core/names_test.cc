#include <catch2/catch.hpp>
#include <vector>

#include "btf/did_you_mean.h"
#include "btf/dtype.h"
#include "btf/layout.h"

using namespace btf;

namespace {

const std::vector<std::string_view> kNames{"float16", "float32", "kHWC8",
                                           "kCHW32",  "layout",  "conv1.weight"};

std::string meant(std::string_view word) { return did_you_mean(word, kNames); }

}  // namespace

TEST_CASE("names: every word one slip away is recognised, and the name itself", "[names]") {
  const std::string name = "layout";
  const std::string expected = " (did you mean 'layout'?)";
  CHECK(meant(name) == expected);
  for (std::size_t i = 0; i < name.size(); ++i) {
    CHECK(meant(name.substr(0, i) + name.substr(i + 1)) == expected);
    CHECK(meant(name.substr(0, i) + "q" + name.substr(i)) == expected);
    CHECK(meant(name.substr(0, i) + "q" + name.substr(i + 1)) == expected);
    std::string exchanged = name;
    if (i + 1 < name.size()) std::swap(exchanged[i], exchanged[i + 1]);
    CHECK(meant(exchanged) == expected);
  }
}

TEST_CASE("names: the nearest one, and none where none is near", "[names]") {
  CHECK(meant("flaot16") == " (did you mean 'float16'?)");
  CHECK(meant("FLOAT_32") == " (did you mean 'float32'?)");
  CHECK(meant("khcw8") == " (did you mean 'kHWC8'?)");
  CHECK(meant("conv1.weigth") == " (did you mean 'conv1.weight'?)");
  for (const char* word : {"", "x", "int8", "resnet", "wholly different"})
    CHECK(meant(word).empty());
  CHECK(meant(std::string(100'000, 'x')).empty());
  CHECK(did_you_mean("layot", {}).empty());
  // Dashes are no letters.
  const std::vector<std::string_view> options{"--for", "--rtol"};
  CHECK(did_you_mean("--frob", options).empty());
  CHECK(did_you_mean("--rtl", options) == " (did you mean '--rtol'?)");
  CHECK(did_you_mean("-rtol", options) == " (did you mean '--rtol'?)");
}

TEST_CASE("names: as other programs write them", "[names]") {
  const std::pair<const char*, DType> dtypes[] = {{"torch.float16", DType::float16},
                                                  {"np.float32", DType::float32},
                                                  {"jnp.bfloat16", DType::bfloat16},
                                                  {"jax.numpy.bfloat16", DType::bfloat16},
                                                  {"kHALF", DType::float16},
                                                  {"DataType::kFP8", DType::float8_e4m3fn},
                                                  {"nvinfer1::DataType::kINT8", DType::int8},
                                                  {"trt.DataType.HALF", DType::float16},
                                                  {"fp8e5m2", DType::float8_e5m2},
                                                  {"fp8_e4m3", DType::float8_e4m3fn},
                                                  {"fp8e4m3", DType::float8_e4m3fn},
                                                  {"torch.float8_e4m3fn", DType::float8_e4m3fn},
                                                  {"torch.bool", DType::boolean},
                                                  {"np.double", DType::float64}};
  for (const auto& [name, dtype] : dtypes) {
    CAPTURE(name);
    const auto found = parse_dtype(name);
    REQUIRE(found);
    CHECK(*found == dtype);
  }
  const std::pair<const char*, Layout> layouts[] = {{"TensorFormat::kHWC8", Layout::hwc8},
                                                    {"trt.TensorFormat.CHW32", Layout::chw32},
                                                    {"channels_last", Layout::hwc},
                                                    {"torch.channels_last", Layout::hwc},
                                                    {"torch.channels_last_3d", Layout::dhwc}};
  for (const auto& [name, layout] : layouts) {
    CAPTURE(name);
    const auto found = parse_layout(name);
    REQUIRE(found);
    CHECK(*found == layout);
  }
  // Of an owner that is not known nothing is taken off.
  for (const char* name : {"foo.float16", "layer.half", "torch.", "::", ".", "torch.nothing"}) {
    CAPTURE(name);
    CHECK_FALSE(parse_dtype(name));
    CHECK_FALSE(parse_layout(name));
  }
}
