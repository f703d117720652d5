// Bytes without a header: by layout, by strides, by NvMedia's metadata, by trtexec's names.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/read.h"
#include "btf/tensor_spec.h"
#include "btf/validate.h"
#include "support/btf_bytes.h"
#include "support/naive_layout.h"
#include "support/said.h"
#include "support/scratch_dir.h"

using btf::Dims;
using btf::DType;
using btf::Layout;
using btf::TensorFile;
using bytes::Bytes;

namespace {

const std::string kGood = std::string(BTF_TESTDATA_DIR) + "/good/";

btf::TensorSpec spec(const std::string& text) {
  auto parsed = btf::parse_tensor_spec(text);
  if (!parsed) FAIL(parsed.error().text());
  return *std::move(parsed);
}

std::string spec_error(const std::string& text) {
  const auto parsed = btf::parse_tensor_spec(text);
  if (parsed) return "";
  const std::string prefix = "'" + text + "': ";
  CHECK(said(parsed.error()).starts_with(prefix));
  return said(parsed.error()).substr(prefix.size());
}

TensorFile open(const std::string& path, const btf::OpenOptions& options = {}) {
  auto file = TensorFile::open(path, options);
  if (!file) FAIL(file.error().text());
  return *std::move(file);
}

std::string open_error(const std::string& path, const btf::OpenOptions& options = {}) {
  const auto file = TensorFile::open(path, options);
  return file ? "" : said(file.error());
}

void write(const TensorFile& file, const std::string& output,
           const btf::ConvertOptions& options = {}) {
  const auto size = btf::convert(file, output, options);
  if (!size) FAIL(size.error().text());
  CHECK(*size == std::filesystem::file_size(output));
}

std::string convert_error(const TensorFile& file, const std::string& output,
                          const btf::ConvertOptions& options) {
  const auto size = btf::convert(file, output, options);
  CHECK_FALSE(std::filesystem::exists(output));
  return size ? "" : said(size.error());
}

// 16-bit elements of a row-major tensor 1, 2, 3, ...
Bytes counting(std::uint64_t count) {
  bytes::Words codes(count);
  for (std::uint64_t i = 0; i < count; ++i) codes[i] = i + 1;
  return bytes::pack(16, codes);
}

// Everything but the elements is filled with `gap`.
template <typename Offset>
Bytes buffer_of(const Dims& dims, std::uint64_t size, Offset&& offset, std::byte gap) {
  Bytes buffer(size, gap);
  Dims index(dims.size());
  std::uint64_t value = 0;
  do {
    ++value;
    const std::uint64_t at = offset(index);
    buffer.at(at) = static_cast<std::byte>(value);
    buffer.at(at + 1) = static_cast<std::byte>(value >> 8);
  } while (naive::next(index, dims));
  return buffer;
}

// The raw bytes, read as `text` says, are 1, 2, 3, ... of these dims.
void check_counting(const std::string& path, const std::string& text, const Dims& dims) {
  CAPTURE(text);
  const ScratchDir scratch;
  const TensorFile file = open(path, {.spec = spec(text)});
  REQUIRE(file.tensor(0)->dims == dims);
  write(file, scratch / "out.btf");
  std::uint64_t count = 1;
  for (const std::uint64_t dim : dims) count *= dim;
  CHECK(read_file(scratch / "out.btf") ==
        bytes::file(
            {bytes::dense(file.tensor(0)->dtype.value(), Layout::linear, dims, counting(count))}));
}

}  // namespace

TEST_CASE("raw: every layout by its name, and by its strides where they say all") {
  const ScratchDir scratch;
  std::size_t by_strides = 0;
  for (const std::string stem : {"layouts_f16", "layouts_i8", "layouts_f32", "layout_dla_hwc4_c",
                                 "layout_dla_linear_c", "layout_hwc8_c", "layout_chw32_c"}) {
    const TensorFile layouts = open(kGood + stem + ".btf");
    const TensorFile linear = open(kGood + stem + ".linear.btf");
    for (std::uint64_t i = 0; i < layouts.tensor_count(); ++i) {
      CAPTURE(stem, i);
      const auto info = layouts.tensor(i);
      REQUIRE(info);
      const std::string path = scratch / "x.raw";
      write(layouts, path, {.tensors = std::vector{i}});
      CHECK(std::filesystem::file_size(path) == info->data_bytes);

      // The golden is that of one tensor.
      write(linear, scratch / "golden.btf", {.tensors = std::vector{i}});
      const Bytes golden = read_file(scratch / "golden.btf");
      const std::string named = btf::spec_text(*info->dtype, *info->layout, info->dims);
      std::vector<std::string> texts{named};
      if (!info->storage->split) {
        ++by_strides;
        const std::string dims = btf::spec_text(*info->dtype, Layout::linear, info->dims);
        std::string elements = dims + ":strides=";
        std::string in_bytes = elements;
        std::string comma;
        for (const std::uint64_t stride : info->storage->strides) {
          elements += comma + std::to_string(stride);
          in_bytes += comma + std::to_string(stride * btf::info(*info->dtype).bits / 8) + "B";
          comma = ",";
        }
        texts.push_back(elements);
        texts.push_back(in_bytes);
      }
      for (const std::string& text : texts) {
        CAPTURE(text);
        write(open(path, {.spec = spec(text)}), scratch / "out.btf", {.layout = Layout::linear});
        CHECK(read_file(scratch / "out.btf") == golden);
        // And back: the same bytes, padding included.
        write(layouts, scratch / "again.bin", {.tensors = std::vector{i}, .spec = spec(text)});
        CHECK(read_file(scratch / "again.bin") == read_file(path));
      }
    }
  }
  CHECK(by_strides > 50);
}

TEST_CASE("raw: NvMedia's NCHW with pitch, NHWC and NCxHWx") {
  const ScratchDir scratch;
  const std::string path = scratch / "x.bin";
  constexpr auto kGap = std::byte{0xee};
  SECTION("NCHW, rows of 64 bytes") {
    const Dims dims{2, 3, 5, 7};
    const std::uint64_t s[] = {2, 64, 320, 960};
    write_file(path, buffer_of(
                         dims, 1920,
                         [&](const Dims& i) {
                           return i[0] * s[3] + i[1] * s[2] + i[2] * s[1] + i[3] * s[0];
                         },
                         kGap));
    check_counting(path, "fp16:7x5x3x2:strides=2,64,320,960:nvmedia=NCHW", dims);
    check_counting(path, "int16:2x3x5x7:strides=960B,320B,64B,2B", dims);
    check_counting(path, "int16:2x3x5x7:strides=480,160,32,1", dims);
    // The buffer may end with its last element.
    std::filesystem::resize_file(path, 1920 - 64 + 14);
    check_counting(path, "fp16:7x5x3x2:strides=2,64,320,960:nvmedia=nchw", dims);
    std::filesystem::resize_file(path, 1920 - 64 + 15);
    CHECK(open_error(path, {.spec = spec("fp16:7x5x3x2:strides=2,64,320,960:nvmedia=NCHW")}) ==
          "float16 [2, 3, 5, 7] with these strides takes 1870 (with the last padding 1920) bytes, "
          "the file has 1871; no dtype and layout with these dims fits");
  }
  SECTION("NHWC, four channels for three, rows of 64 bytes") {
    const Dims dims{2, 3, 5, 7};
    const std::uint64_t s[] = {2, 8, 64, 320};
    write_file(path, buffer_of(
                         dims, 640,
                         [&](const Dims& i) {
                           return i[0] * s[3] + i[2] * s[2] + i[3] * s[1] + i[1] * s[0];
                         },
                         kGap));
    check_counting(path, "fp16:3x7x5x2:strides=2,8,64,320:nvmedia=NHWC", dims);
  }
  SECTION("NCxHWx") {
    for (const std::uint64_t x : {16U, 32U}) {
      const std::uint64_t pitch = 7 * x * 2 + 32;
      const std::uint64_t s[] = {2, x * 2, pitch, pitch * 5, pitch * 5 * 2};
      const std::string strides = "2," + std::to_string(s[1]) + "," + std::to_string(s[2]) + "," +
                                  std::to_string(s[3]) + "," + std::to_string(s[4]);
      const std::string text =
          "fp16:" + std::to_string(x) + "x7x5x2x2:strides=" + strides + ":nvmedia=NCxHWx";
      for (const std::uint64_t channels : {2 * x, 2 * x - 5}) {
        const Dims dims{2, channels, 5, 7};
        write_file(path, buffer_of(
                             dims, s[4] * 2,
                             [&](const Dims& i) {
                               return i[0] * s[4] + i[1] / x * s[3] + i[2] * s[2] + i[3] * s[1] +
                                      i[1] % x * s[0];
                             },
                             kGap));
        check_counting(path, text + (channels == 2 * x ? "" : ":c=" + std::to_string(channels)),
                       dims);
      }
      CHECK(spec_error(text + ":c=" + std::to_string(x)) ==
            std::to_string(x) + " channels are 1 blocks of " + std::to_string(x) +
                ", the sizes say 2");
    }
  }
}

TEST_CASE("raw: TensorRT's kCHW16 and kCHW32 are NvMedia's NCxHWx") {
  const ScratchDir scratch;
  for (const Layout layout : {Layout::chw16, Layout::chw32}) {
    const std::uint64_t x = btf::spec(layout).lanes;
    const Dims dims{2, x + 1, 3, 5};
    const Bytes image = bytes::file(
        {bytes::dense(DType::float16, Layout::linear, dims, counting(2 * (x + 1) * 15))});
    const TensorFile file = open(bytes::save(scratch, "in.btf", image));
    write(file, scratch / "x.raw", {.layout = layout});
    const std::uint64_t w = 2 * x;
    std::string strides = "2";
    for (const std::uint64_t stride : {w, w * 5, w * 15, w * 30})
      strides += "," + std::to_string(stride);
    check_counting(scratch / "x.raw",
                   "fp16:" + std::to_string(x) + "x5x3x2x2:strides=" + strides +
                       ":nvmedia=NCxHWx:c=" + std::to_string(x + 1),
                   dims);
  }
}

TEST_CASE("raw: an element's offset is the formula of trtexec and that of NvMedia") {
  for (const std::string stem : {"layouts_f16", "layout_chw32_c", "layout_hwc8_c",
                                 "layout_cdhw32_c", "layout_dhwc8_c", "layout_dla_hwc4_c"}) {
    const TensorFile file = open(kGood + stem + ".btf");
    for (std::uint64_t t = 0; t < file.tensor_count(); ++t) {
      CAPTURE(stem, t);
      const auto info = file.tensor(t);
      const btf::StridedLayout& layout = *info->storage;
      const std::uint64_t bytes = btf::info(*info->dtype).bits / 8;
      const Dims strides = btf::tensorrt_strides(layout);
      const std::uint64_t spv = layout.components;
      Dims index(info->dims.size());
      do {
        const auto element = btf::read_elements(file, *info, std::span(&index, 1));
        REQUIRE(element);
        const std::uint64_t found = *element->front().offset - info->data_offset;
        std::uint64_t trtexec = 0;
        for (std::size_t d = 0; d < index.size(); ++d) {
          if (static_cast<int>(d) == layout.vectorized_dim)
            trtexec += index[d] / spv * strides[d] * spv + index[d] % spv;
          else
            trtexec += index[d] * strides[d] * (layout.vectorized_dim < 0 ? 1 : spv);
        }
        REQUIRE(found == trtexec * bytes);
        std::uint64_t nvmedia = 0;
        for (const btf::StorageAxis& axis : layout.axes) {
          const std::uint64_t i = index[axis.dim];
          const std::uint64_t part = axis.part == btf::AxisPart::blocks  ? i / layout.split->lanes
                                     : axis.part == btf::AxisPart::lanes ? i % layout.split->lanes
                                                                         : i;
          nvmedia += part * axis.stride * bytes;
        }
        REQUIRE(found == nvmedia);
      } while (naive::next(index, info->dims));
    }
  }
}

TEST_CASE("raw: a size that does not match is refused, and what would have matched is told") {
  const ScratchDir scratch;
  const std::string path = scratch / "x.bin";
  const auto message = [&](std::uint64_t size, const std::string& text) {
    write_file(path, Bytes(size));
    return open_error(path, {.spec = spec(text)});
  };
  CHECK(message(96, "fp16:1x3x4x4").empty());
  CHECK(message(192, "fp16:1x3x4x4") ==
        "float16 [1, 3, 4, 4] in kLINEAR takes 96 bytes, the file has 192; these fit: "
        "int32:linear, fp32:linear, uint32:linear");
  CHECK(message(256, "fp16:1x3x4x4").find("fp16:kHWC8") != std::string::npos);
  CHECK(message(97, "fp16:1x3x4x4").find("no dtype and layout") != std::string::npos);
  CHECK(message(0, "fp16:1x3x4x4").find("the file has 0") != std::string::npos);
  // Nothing of the same dtype or layout fits, but another pair does.
  CHECK(message(48, "fp64:hwc8:1x3x4x4").find("int8:linear") != std::string::npos);
  CHECK(message(0, "fp16:1x0x4x4").empty());
  CHECK(message(5, "int4:3x3").empty());
  CHECK(message(9, "int4:3x3").find("int8:linear") != std::string::npos);
  CHECK(message(4, "fp32:scalar").empty());

  std::vector<std::string> codes;
  write_file(path, Bytes(192));
  CHECK(btf::validate(path, [&](const btf::Finding& f) { codes.emplace_back(f.code); },
                      {.spec = spec("fp16:1x3x4x4")}));
  CHECK(codes == std::vector<std::string>{"raw-size"});
}

TEST_CASE("raw: names as trtexec dumps them") {
  const auto name = [](const std::string& path) { return btf::parse_dump_name(path); };
  REQUIRE(name("/tmp/a.b/net.output.1.3.224.224.fp16.raw"));
  CHECK(name("/tmp/a.b/net.output.1.3.224.224.fp16.raw")->dims == Dims{1, 3, 224, 224});
  CHECK(name("conv.1.2.input.4.int8.raw")->dims == Dims{4});
  CHECK(name("conv.1.2.input.4.int8.raw")->dtype == DType::int8);
  CHECK(name("x.output.bool.raw")->dims == Dims{});
  CHECK(name("x.output..fp32.raw")->dims == Dims{});
  for (const char* other : {"x.raw", "x.fp16.raw", "x.output.1.2.raw", "x.output.1.2.fp99.raw",
                            ".output.raw", "output.1.2.fp16.raw", "x.output.1.2.fp16.bin",
                            "x.output.1.18446744073709551616.fp16.raw", "x.1.2.fp16.raw"})
    CHECK_FALSE(name(other));
  for (const btf::DTypeInfo& row : btf::dtypes()) {
    const std::string offered = btf::dump_name("dir/x.raw", row.dtype, Dims{2, 3});
    CHECK(name(offered)->dtype == row.dtype);
    CHECK(name(offered)->dims == Dims{2, 3});
  }

  const ScratchDir scratch;
  const TensorFile mixed = open(kGood + "layouts_f16.btf");
  const std::string path = scratch / "x.output.1.3.5.7.fp16.raw";
  write(mixed, path, {.tensors = std::vector<std::uint64_t>{2}});
  CHECK(open_error(path).find("fp16:kHWC8") != std::string::npos);  // it would be kLINEAR
  const TensorFile dumped = open(path, {.spec = {}, .layout_in = Layout::hwc8});
  CHECK(dumped.format() == "raw");
  write(dumped, scratch / "a.btf");
  write(mixed, scratch / "b.btf", {.tensors = std::vector<std::uint64_t>{2}});
  CHECK(read_file(scratch / "a.btf") == read_file(scratch / "b.btf"));
  CHECK(open_error(bytes::save(scratch, "x.raw", Bytes(8))).find("raw bytes need a spec") !=
        std::string::npos);

  // A name that says otherwise is not given to a file.
  CHECK(convert_error(mixed, scratch / "x.output.1.3.5.7.fp32.raw",
                      {.tensors = std::vector<std::uint64_t>{2}}) ==
        "tensor 2: the name of the output stands for float32 [1, 3, 5, 7], the result is float16 "
        "[1, 3, 5, 7]");
}

TEST_CASE("raw: what an output cannot be") {
  const ScratchDir scratch;
  const TensorFile mixed = open(kGood + "mixed.btf");
  const TensorFile layouts = open(kGood + "layouts_f16.btf");
  using Selection = std::vector<std::uint64_t>;
  const auto error = [&](const TensorFile& file, btf::ConvertOptions options) {
    return convert_error(file, scratch / "x.raw", options);
  };
  CHECK(error(mixed, {}).find("holds one tensor, the result has more") == std::string::npos);
  CHECK(error(mixed, {}).find("one tensor") != std::string::npos);
  CHECK(error(mixed, {.tensors = Selection{}}).find("there is none") != std::string::npos);
  CHECK(error(mixed, {.tensors = Selection{3}}).find("no COO") != std::string::npos);
  CHECK(error(layouts, {.tensors = Selection{0}, .spec = spec("fp16:1x3x7x5")}) ==
        "tensor 0: the spec of the output says [1, 3, 7, 5], the tensor has [1, 3, 5, 7]");
  CHECK(
      error(layouts, {.dtype = DType::int8, .tensors = Selection{0}, .spec = spec("fp16:1x3x5x7")})
          .find("contradicts") != std::string::npos);
  CHECK(error(layouts, {.tensors = Selection{0}, .spec = spec("fp16:1x3x5x7:strides=200,60,11,1")})
            .find("multiples of one another") != std::string::npos);
  CHECK(error(layouts, {.tensors = Selection{0}, .spec = spec("fp16:1x3x5x7:strides=420,140,28,4")})
            .find("stride of 1") != std::string::npos);
}

TEST_CASE("raw: a pitched buffer is written with zeros in its gaps") {
  const ScratchDir scratch;
  const Dims dims{2, 3, 5, 7};
  const Bytes image =
      bytes::file({bytes::dense(DType::float16, Layout::linear, dims, counting(210))});
  const TensorFile file = open(bytes::save(scratch, "in.btf", image));
  const auto written = [&](const std::string& text) {
    write(file, scratch / "out.bin", {.spec = spec(text)});
    return read_file(scratch / "out.bin");
  };
  CHECK(written("fp16:7x5x3x2:strides=2,64,320,1280:nvmedia=NCHW") ==
        buffer_of(
            dims, 2560,
            [](const Dims& i) { return i[0] * 1280 + i[1] * 320 + i[2] * 64 + i[3] * 2; },
            std::byte{}));
  CHECK(written("fp16:2x3x5x7:strides=1,2,6,30") ==
        buffer_of(
            dims, 420, [](const Dims& i) { return 2 * (i[0] + i[1] * 2 + i[2] * 6 + i[3] * 30); },
            std::byte{}));
  CHECK(written("fp16:16x7x5x1x2:strides=2,32,224,1120,1120:nvmedia=NCxHWx:c=3") ==
        buffer_of(
            dims, 2240,
            [](const Dims& i) { return i[0] * 1120 + i[2] * 224 + i[3] * 32 + i[1] * 2; },
            std::byte{}));
}

TEST_CASE("raw: specs that cannot be") {
  CHECK(spec_error("fp17:1x2").find("unknown dtype") != std::string::npos);
  CHECK(spec_error("").find("unknown dtype") != std::string::npos);
  CHECK(spec_error("fp16:sideways:1x2").find("unknown layout") != std::string::npos);
  CHECK(spec_error("fp16:coo:1x2").find("no COO") != std::string::npos);
  CHECK(spec_error("fp16:hwc8").find("without dims") != std::string::npos);
  CHECK(spec_error("fp16:hwc8:1x2").find("needs rank 3") != std::string::npos);
  CHECK(spec_error("fp16:1x2:2x1") == "dims twice");
  CHECK(spec_error("fp16:chw:hwc:1x2x3") == "a layout twice");
  CHECK(spec_error("fp16:1x-2").find("dims are numbers") != std::string::npos);
  CHECK(spec_error("fp16:1x18446744073709551616").find("dims are numbers") != std::string::npos);
  CHECK(spec_error("fp16:4294967296x4294967296").find("does not fit 64 bits") != std::string::npos);
  CHECK(spec_error("fp16:strides=1,2").find("need dims") != std::string::npos);
  CHECK(spec_error("fp16:hwc8:1x2x3:strides=1,2,3").find("exclude") != std::string::npos);
  CHECK(spec_error("fp16:2x3:strides=3") == "there are 2 dims and 1 strides");
  CHECK(spec_error("fp16:2x3:strides=3,a").find("a stride is a number") != std::string::npos);
  CHECK(spec_error("fp16:2x3:strides=7B,2B").find("not a whole number of 2-byte") !=
        std::string::npos);
  CHECK(spec_error("fp16:2x3:strides=2,1") ==
        "elements would overlap: the stride of dim 0 is 2 elements, but the dims inside it span 3");
  CHECK(spec_error("fp16:2x3:strides=3,0").find("overlap") != std::string::npos);
  CHECK(spec_error("fp16:2x3:strides=0,1").find("overlap") != std::string::npos);
  CHECK(spec_error("fp16:3x3:strides=9223372036854775807,1").find("does not fit") !=
        std::string::npos);
  CHECK(spec_error("int4:2x3:strides=3,1").find("4-bit") != std::string::npos);
  CHECK(spec_error("fp16:1x2:pitch=3").find("unknown 'pitch='") != std::string::npos);
  CHECK(spec_error("fp16:1x2x3x4:nvmedia=NCHW").find("needs strides") != std::string::npos);
  CHECK(spec_error("fp16:1x2x3x4:strides=2,2,4,12:nvmedia=NWHC").find("orders are") !=
        std::string::npos);
  CHECK(spec_error("fp16:1x2x3x4:strides=2,2,4,12:nvmedia=NCxHWx").find("has 5 sizes") !=
        std::string::npos);
  CHECK(spec_error("fp16:4x3x2x1:strides=2,8,24,48:nvmedia=NCHW:c=2").find("NCxHWx") !=
        std::string::npos);
  CHECK(spec_error("fp16:1x2:c=2").find("NCxHWx") != std::string::npos);
  CHECK(spec_error("fp16:0x4x3x2x1:strides=2,2,8,24,48:nvmedia=NCxHWx").find("blocks of 0") !=
        std::string::npos);
  // Dims of one element may stand anywhere.
  CHECK(spec("fp16:1x3:strides=0,1").storage->storage_elements == 3);
  CHECK(spec("fp16:1x3:strides=1,1").storage->storage_elements == 3);
  CHECK(spec("FP16:kDLA_HWC4:Xavier:1x3x2x2").layout == Layout::dla_hwc4_xavier);
  CHECK(spec("bf16").storage == std::nullopt);
}
