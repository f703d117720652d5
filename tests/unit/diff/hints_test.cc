// Hints as a whole: when there are any, large tensors, files, COO, threads.
#include <catch2/catch.hpp>

#include "support/hint_data.h"
#include "support/scratch_dir.h"

using namespace hint_data;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

// Codes of a float16 tensor that look random, quickly.
Tensor large_tensor(const Words& dims, std::uint64_t seed) {
  Random random(seed);
  Tensor result{DType::float16, dims, Words(product(dims))};
  // Finite numbers of ordinary size.
  for (std::uint64_t& code : result.codes) code = random.next() & 0xbfff;
  return result;
}

Tensor transposed(const Tensor& source) {
  const std::uint64_t rows = source.dims[0];
  const std::uint64_t columns = source.dims[1];
  return gathered(source, [&](std::uint64_t i) { return i % rows * columns + i / rows; });
}

Bytes linear(const Tensor& tensor) {
  return bytes::dense(tensor.dtype, btf::Layout::linear, tensor.dims, stored("kLINEAR", tensor));
}

Bytes sparse(const Tensor& tensor) {
  std::vector<Words> indices;
  Words values;
  for (std::uint64_t i = 0; i < tensor.codes.size(); ++i) {
    if (tensor.codes[i] == 0) continue;
    indices.push_back(index_of(tensor.dims, i));
    values.push_back(tensor.codes[i]);
  }
  return bytes::coo(tensor.dtype, tensor.dims, indices,
                    bytes::pack(btf::info(tensor.dtype).bits, values));
}

class Files {
 public:
  std::string hint(const Bytes& actual, const Bytes& golden,
                   const btf::DiffOptions& options = {}) const {
    std::string text;
    const auto same =
        btf::diff(bytes::open(bytes::save(scratch_, "actual.btf", bytes::file({actual}))),
                  bytes::open(bytes::save(scratch_, "golden.btf", bytes::file({golden}))), options,
                  [&](const btf::TensorDiff& diff) { text = hint_of(diff); });
    if (!same) throw std::runtime_error(same.error().text());
    return text;
  }

 private:
  ScratchDir scratch_;
};

// With 1 and with 3 threads, from memory and from files.
std::string everywhere(const Tensor& actual, const Tensor& golden) {
  btf::DiffOptions one;
  one.execution.jobs = 1;
  btf::DiffOptions three;
  three.execution.jobs = 3;
  const std::string text = hint_of(actual, golden, one);
  CHECK(hint_of(actual, golden, three) == text);
  const Files files;
  CHECK(files.hint(linear(actual), linear(golden), three) == text);
  return text;
}

std::string all_of(std::uint64_t count) {
  return ": " + std::to_string(count) + " of " + std::to_string(count) + " elements";
}

}  // namespace

TEST_CASE("every cause has a name") {
  CHECK(btf::cause_name(btf::Cause::layout) == "layout");
  CHECK(btf::cause_name(btf::Cause::permutation) == "permutation");
  CHECK(btf::cause_name(btf::Cause::shift) == "shift");
  CHECK(btf::cause_name(btf::Cause::byte_order) == "byte-order");
  CHECK(btf::cause_name(btf::Cause::nibble_order) == "nibble-order");
  CHECK(btf::cause_name(btf::Cause::dtype_misread) == "dtype-misread");
  CHECK(btf::cause_name(btf::Cause::scale) == "scale");
  CHECK(btf::cause_name(btf::Cause::offset) == "offset");
  CHECK(btf::cause_name(btf::Cause::sign) == "sign");
  CHECK(btf::cause_name(btf::Cause::saturation) == "saturation");
  CHECK(btf::cause_name(btf::Cause::rounding) == "rounding");
  CHECK(btf::cause_name(btf::Cause::stale_padding) == "stale-padding");
  CHECK(btf::cause_name(btf::Cause::region) == "region");
  CHECK(btf::cause_name(btf::Cause::zero_tail) == "zero-tail");
  CHECK(btf::cause_name(btf::Cause::channels_reversed) == "channels-reversed");
  CHECK(btf::cause_name(btf::Cause::mirrored) == "mirrored");
  CHECK(btf::cause_name(btf::Cause::rotated) == "rotated");
  CHECK(btf::cause_name(btf::Cause::shuffled) == "shuffled");
  CHECK(btf::cause_name(btf::Cause::interleaved) == "interleaved");
  CHECK(btf::cause_name(btf::Cause::repeated) == "repeated");
  CHECK(btf::cause_name(btf::Cause::pitch) == "pitch");
  CHECK(btf::cause_name(btf::Cause::index_base) == "index-base");
  CHECK(btf::cause_name(btf::Cause::affine) == "affine");
  CHECK(btf::cause_name(btf::Cause::channel_scale) == "channel-scale");
  CHECK(btf::cause_name(btf::Cause::scale_axis) == "scale-axis");
  CHECK(btf::cause_name(btf::Cause::activation) == "activation");
  CHECK(btf::cause_name(btf::Cause::inverted) == "inverted");
  CHECK(btf::cause_name(btf::Cause::wrapped) == "wrapped");
}

TEST_CASE("no hints for the same tensors, or where none are wanted") {
  Random random(1);
  const Tensor golden = tensor(DType::float32, {500}, gaussians(500, 1, random));
  Tensor actual = golden;
  for (std::uint64_t& code : actual.codes) code ^= 0x80000000;
  CHECK(hint_of(golden, golden) == "");
  CHECK_THAT(hint_of(actual, golden), StartsWith("sign: "));
  btf::DiffOptions options;
  options.hints = false;
  CHECK(hint_of(actual, golden, options) == "");
}

TEST_CASE("causes are confirmed on tensors of more than a million elements") {
  const Words dims{1100, 1000};
  const Tensor golden = large_tensor(dims, 2);
  const std::uint64_t count = golden.codes.size();

  SECTION("permutation") {
    CHECK(everywhere(transposed(golden), golden) ==
          "permutation: actual holds golden transposed to dims 1, 0" + all_of(count));
  }
  SECTION("shift") {
    for (const std::uint64_t by : {1U, 777U, 30000U}) {
      const Tensor actual =
          gathered(golden, [&](std::uint64_t i) { return (i + count - by) % count; });
      CHECK_THAT(everywhere(actual, golden), StartsWith("shift: actual is golden shifted by ") &&
                                                 Contains(std::to_string(by)) &&
                                                 Contains(all_of(count)));
    }
    // By columns, and nothing comes in at the other end.
    Tensor actual = gathered(golden, [&](std::uint64_t i) { return i % 1000 < 3 ? i : i - 3; });
    for (std::uint64_t i = 0; i < count; ++i)
      if (i % 1000 < 3) actual.codes[i] = 0;
    CHECK(everywhere(actual, golden) ==
          "shift: actual is golden shifted by 3 along dim 1" + all_of(count - 3 * 1100));
  }
  SECTION("byte order") {
    Tensor actual = golden;
    for (std::uint64_t& code : actual.codes) code = (code >> 8 | code << 8) & 0xffff;
    CHECK(everywhere(actual, golden) ==
          "byte-order: actual equals golden with its bytes reversed" + all_of(count));
  }
  SECTION("scale") {
    Tensor actual = golden;
    for (std::uint64_t& code : actual.codes)
      code = code_of(DType::float16, 2 * value_of(DType::float16, code));
    CHECK(everywhere(actual, golden) ==
          "scale: actual = 2 * golden" + all_of(count) + ", residual 0 rms");
  }
  SECTION("elements in other places") {
    CHECK(everywhere(
              gathered(golden, [](std::uint64_t i) { return i / 1000 * 1000 + 999 - i % 1000; }),
              golden) == "mirrored: actual is golden mirrored along dim 1" + all_of(count));
    CHECK(everywhere(gathered(golden, [&](std::uint64_t i) { return count - 1 - i; }), golden) ==
          "rotated: actual is golden rotated by 180 degrees in the plane of dim 0 and dim 1" +
              all_of(count));
    CHECK(everywhere(gathered(golden,
                              [](std::uint64_t i) {
                                const std::uint64_t row = i / 1000;
                                return (row % 11 * 100 + row / 11) * 1000 + i % 1000;
                              }),
                     golden) ==
          "shuffled: actual holds dim 0 as [100, 11], golden as [11, 100]" + all_of(count));
    CHECK(everywhere(gathered(golden, [](std::uint64_t i) { return 7000 + i % 1000; }), golden) ==
          "repeated: actual holds golden's dim 0 = 7 at all 1100 indices" + all_of(count));
  }
  SECTION("a line and lines") {
    const auto line = [&](auto gain, auto offset) {
      Tensor actual{DType::float32, dims, Words(count)};
      for (std::uint64_t i = 0; i < count; ++i)
        actual.codes[i] = code_of(DType::float32, gain(i) * golden.value(i) + offset(i));
      return everywhere(actual, golden);
    };
    const auto one = [](double value) { return [=](std::uint64_t) { return value; }; };
    CHECK_THAT(line(one(1.5), one(0.25)),
               StartsWith("affine: actual = 1.5 * golden + 0.25" + all_of(count) + ", residual "));
    CHECK_THAT(line([](std::uint64_t i) { return 1 + static_cast<double>(i / 1000 % 8); }, one(0)),
               StartsWith("channel-scale: actual = s * golden, s of each of 1100 indices of dim 0, "
                          "1 to 8" +
                          all_of(count) + ", residual "));
  }
  SECTION("zero tail") {
    Tensor actual = golden;
    std::fill(actual.codes.begin() + 1000003, actual.codes.end(), 0);
    const std::string hint = hint_of(actual, golden);
    CHECK_THAT(hint, StartsWith("zero-tail: actual is 0 from element 1000003 [1000, 3] (byte "
                                "2000006) to the end: "));
    const Files files;
    CHECK_THAT(files.hint(linear(actual), linear(golden)),
               Contains("(byte " + std::to_string(2000006 + 48) + ")"));
  }
  SECTION("region") {
    Tensor actual = golden;
    for (std::uint64_t i = 0; i < count; ++i)
      if (i % 1000 % 32 >= 30) actual.codes[i] ^= 0x155;
    CHECK_THAT(everywhere(actual, golden), StartsWith("region: all 68200 mismatches have dim 1 % "
                                                      "32 >= 30 (68200 elements)"));
  }
  SECTION("region, by several threads") {
    const Words larger{3000, 2000};
    const Tensor all = large_tensor(larger, 7);
    Tensor actual = all;
    for (std::uint64_t i = 0; i < all.codes.size(); ++i)
      if (i % 2000 % 32 >= 30) actual.codes[i] ^= 0x155;
    CHECK_THAT(everywhere(actual, all), StartsWith("region: all 372000 mismatches have dim 1 % "
                                                   "32 >= 30 (372000 elements)"));
  }
  SECTION("one element more than a cause explains is too many only beyond a hundredth") {
    Tensor actual = transposed(golden);
    for (std::uint64_t i = 0; i < count; i += 1000) actual.codes[i] ^= 0x300;
    CHECK_THAT(everywhere(actual, golden),
               StartsWith("permutation: ") && Contains(": 1098900 of 1100000 elements"));
    for (std::uint64_t i = 0; i < count; i += 20) actual.codes[i] ^= 0x300;
    CHECK_THAT(hint_of(actual, golden),
               StartsWith("permutation: ") && Contains(", but for noise of "));
    for (std::uint64_t i = 0; i < count; i += 2) actual.codes[i] ^= 0x7f00;
    CHECK(hint_of(actual, golden) == "");
  }
}

TEST_CASE("a large stored array taken for another layout is confirmed") {
  const Tensor golden = large_tensor({1, 64, 160, 128}, 3);
  const Memory actual(DType::float16, golden.dims, "kLINEAR", stored("kHWC", golden));
  CHECK(hint_of(actual, Memory(golden)) ==
        "layout: actual equals golden when its bytes are read as kHWC" +
            all_of(golden.codes.size()));
  CHECK(hint_of(actual, Memory(golden, "kCHW32")) ==
        "layout: actual equals golden when its bytes are read as kHWC" +
            all_of(golden.codes.size()));
}

TEST_CASE("causes are found where one side or both are sparse") {
  Random random(4);
  Values values(60 * 80);
  for (double& value : values)
    if (random.below(12) == 0) value = gaussian(random);
  const Tensor golden = tensor(DType::float32, {60, 80}, values);
  const Files files;
  const auto check = [&](const Tensor& actual, const std::string& start) {
    CHECK_THAT(files.hint(sparse(actual), linear(golden)), StartsWith(start));
    CHECK_THAT(files.hint(linear(actual), sparse(golden)), StartsWith(start));
    CHECK_THAT(files.hint(sparse(actual), sparse(golden)), StartsWith(start));
  };
  check(transposed(golden), "permutation: actual holds golden transposed to dims 1, 0: 4800 of");
  check(gathered(golden, [](std::uint64_t i) { return (i + 4793) % 4800; }),
        "shift: actual is golden shifted by 7 elements in row-major order, wrapping around: 4800");
  Values doubled = golden.values();
  for (double& value : doubled) value *= 2;
  check(tensor(DType::float32, golden.dims, doubled), "scale: actual = 2 * golden: 4800 of 4800");
  Tensor tail = golden;
  std::fill(tail.codes.begin() + 3000, tail.codes.end(), 0);
  check(tail, "zero-tail: actual is 0 from element 30");
  Tensor row = golden;
  for (std::uint64_t i = 0; i < row.codes.size(); ++i)
    if (i / 80 >= 20 && i / 80 < 24 && row.codes[i] != 0) row.codes[i] ^= 0x00400000;
  check(row, "region: all ");
  // What no side stores is counted as what both say is 0.
  CHECK(files.hint(sparse(row), sparse(golden)) == files.hint(linear(row), linear(golden)));
}

TEST_CASE("sparse tensors too large to be spelt out cost nothing") {
  // 2^40 elements, of which 1000 are stored.
  const Words dims{1U << 20, 1U << 20};
  Random random(5);
  std::vector<Words> indices;
  Words values;
  Words others;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    indices.push_back({i * 1000 + random.below(1000), random.below(1U << 20)});
    values.push_back(code_of(DType::float32, gaussian(random)));
    others.push_back(values.back() ^ 0x80000000);
  }
  const Files files;
  const Bytes golden = bytes::coo(DType::float32, dims, indices, bytes::pack(32, values));
  CHECK_THAT(files.hint(bytes::coo(DType::float32, dims, indices, bytes::pack(32, others)), golden),
             StartsWith("sign: actual = -golden: 1099511627776 of 1099511627776 elements"));
  for (std::size_t i = 0; i < 300; ++i) others[i] = values[i];
  std::copy(values.begin() + 700, values.end(), others.begin() + 700);
  CHECK_THAT(files.hint(bytes::coo(DType::float32, dims, indices, bytes::pack(32, others)), golden),
             StartsWith("region: all 400 mismatches have dim 0 in 300"));
}

TEST_CASE("indices that count from 1 are found at any size") {
  const Files files;
  for (const Words& dims : {Words{40}, Words{60, 80}, Words{9, 8, 7}, Words{1U << 20, 1U << 20},
                            Words{1U << 15, 1U << 15, 1U << 15}}) {
    Random random(6);
    std::vector<Words> from0;
    std::vector<Words> from1;
    Words values;
    const std::uint64_t entries = std::min<std::uint64_t>(200, product(dims) / 2);
    for (std::uint64_t i = 0; i < entries; ++i) {
      // In order, and none of them at the end of a dim.
      Words index{i * (dims[0] - 1) / entries};
      for (std::size_t d = 1; d < dims.size(); ++d) index.push_back(random.below(dims[d] - 1));
      if (!from0.empty() && !(from0.back() < index)) continue;
      from0.push_back(index);
      for (std::uint64_t& at : index) ++at;
      from1.push_back(index);
      values.push_back(code_of(DType::float32, gaussian(random)));
    }
    const auto sparse = [&](const std::vector<Words>& indices) {
      return bytes::coo(DType::float32, dims, indices, bytes::pack(32, values));
    };
    INFO(dims.size() << " dims");
    const std::string words = "'s indices are one too high in every dim, as if counted from 1: " +
                              std::to_string(values.size()) + " of " +
                              std::to_string(values.size()) + " stored elements";
    CHECK(files.hint(sparse(from1), sparse(from0)) == "index-base: actual" + words);
    CHECK(files.hint(sparse(from0), sparse(from1)) == "index-base: golden" + words);
  }
}

TEST_CASE("a search can be cancelled") {
  std::atomic<bool> cancel{true};
  btf::DiffOptions options;
  options.execution.cancel = &cancel;
  const Tensor golden = large_tensor({100, 100}, 6);
  const Memory actual(transposed(golden));
  const Memory expected(golden);
  const auto result = btf::diff(actual.view(), expected.view(), options);
  REQUIRE(!result);
  CHECK(result.error().code == btf::ErrorCode::cancelled);
}
