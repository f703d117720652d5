#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "unit/convert/quantize_cases.h"

using namespace quantize_cases;

TEST_CASE("dequantise: the numbers of every format, and the scales are used up") {
  const Tensor tensor = random_tensor(DType::float32, {6, 75}, 13);
  const Tensor wide = random_tensor(DType::float16, {9}, 14);
  for (const BlockRule& rule : kBlockRules) {
    const Blocks blocks = expected_blocks(rule, tensor);
    std::vector<Tensor> records = blocks.records(rule);
    records.insert(records.begin(), wide);
    records.push_back(wide);
    const std::uint64_t per_row = blocks.scales.dims.back();
    for (const DType to : kLargeFloats) {
      CAPTURE(name_of(rule.element), static_cast<int>(rule.format), name_of(to));
      Tensor back{to, tensor.dims, {}};
      for (std::size_t i = 0; i < tensor.codes.size(); ++i) {
        const std::uint64_t scale_code =
            blocks.scales.codes[i / 75 * per_row + i % 75 / rule.block];
        const long double scale = oracle_value(scale_type(rule), scale_code) * blocks.tensor_scale;
        back.codes.push_back(oracle_dequantize(rule.element, to, blocks.data.codes[i], scale).code);
      }
      ConvertOptions options = dequantizing(to);
      options.tensors = Words{1};
      CHECK((converted(file_of(records), options).file == file_of({back})));
      if (to != DType::float32) continue;
      // Without a dtype: float32, and what is large already stays.
      const Converted got = converted(file_of(records), {.quantization = {.dequantize = true}});
      CHECK((got.file == file_of({wide, back, wide})));
      CHECK(got.reports.at(2).source == records.size() - 1);
    }
  }
}

TEST_CASE("dequantise: with a zero point") {
  const Tensor codes{DType::uint8, {3}, {0, 128, 255}};
  ConvertOptions options = dequantizing(DType::float32);
  options.quantization.zero_point = 128;
  CHECK((converted(file_of({codes, scale_tensor({}, {0.5F})}), options).file ==
         file_of({tensor_of(DType::float32, {3}, {-64, 0, 63.5})})));
}

TEST_CASE("dequantise: zero points that nobody asked for are no reason for wrong numbers") {
  for (const Dims& dims : {Dims{}, Dims{1, 3}}) {
    CAPTURE(btf::dims_text(dims));
    const auto count = static_cast<std::size_t>(count_of(dims));
    const Tensor codes{DType::int8, {2, 3}, {1, 2, 3, 4, 5, 6}};
    const Tensor scales = scale_tensor(dims, std::vector<float>(count, 0.5F));
    const Tensor zeros{DType::int8, dims, Words(count, 2)};
    const Bytes file = file_of({codes, scales, zeros});
    ConvertOptions options{.quantization = {.dequantize = true}};
    const std::string unread =
        "tensor 0: tensor 2 follows the scales as a record of zero points would";
    CHECK(refusal(file, options) == unread);
    CHECK(try_convert(file, options).error->finding == "zero-points-unread");
    options.tensors = Words{0};
    CHECK(refusal(file, options) == unread);
    // They are left where a zero point is given, be it 0.
    options.quantization.zero_point = 0;
    CHECK((converted(file, options).file ==
           file_of({tensor_of(DType::float32, {2, 3}, {0.5, 1, 1.5, 2, 2.5, 3})})));
    options.tensors.reset();
    CHECK(refusal(file, options) ==
          "tensor 2: it follows the scales of tensor 0 as a record of zero points would");
    options.quantization.zero_point.reset();
    options.quantization.find_zero_point = true;
    CHECK((converted(file, options).file ==
           file_of({tensor_of(DType::float32, {2, 3}, {-0.5, 0, 0.5, 1, 1.5, 2})})));
    // Another dtype, or other dims, are something else.
    options.quantization.find_zero_point = false;
    options.tensors = Words{0};
    CHECK(!try_convert(file_of({codes, scales, {DType::uint8, dims, Words(count, 2)}}), options)
               .error);
    CHECK(!try_convert(file_of({codes, scales, {DType::int8, {7}, Words(7, 2)}}), options).error);
  }
}

TEST_CASE("dequantise: a scale of NaN makes its block NaN") {
  const Tensor data{DType::float8_e4m3fn, {33}, Words(33, 0x38)};
  const Tensor scales{DType::float8_e8m0fnu, {2}, {0xFF, 0x80}};
  const Converted got = converted(file_of({data, scales}), {.quantization = {.dequantize = true}});
  std::vector<double> numbers(32, NAN);
  numbers.push_back(2);
  CHECK((got.file == file_of({tensor_of(DType::float32, {33}, numbers)})));
}

// Files: layouts, slabs, threads

TEST_CASE("layouts: quantised into one is quantised and then converted") {
  for (const naive::Name& name : naive::names()) {
    const Layout layout = static_cast<Layout>(name.code);
    const std::size_t rank = std::max<std::size_t>(name.least_rank, 3);
    const std::uint64_t channels = naive::can_hold(name, rank, 21) ? 21 : 3;
    const Dims dims = naive::dims_for(name, rank, channels, 35);
    const Tensor tensor = random_tensor(DType::float32, dims, 20);
    const Bytes linear = file_of({tensor});
    const Bytes stored = converted(linear, {.layout = layout}).file;
    const auto axis = static_cast<std::uint32_t>(rank - std::min(rank, name.channel_from_end));
    std::vector<ConvertOptions> ways{quantizing(DType::int8), quantizing(DType::int8, axis),
                                     quantizing(DType::float8_e4m3fn, axis)};
    for (const BlockRule& rule : kBlockRules)
      if (rule.element != DType::float4_e2m1fn)
        ways.push_back(in_blocks(rule.format, rule.element));
    for (std::size_t way = 0; way < ways.size(); ++way) {
      CAPTURE(name.name, way, dims);
      ConvertOptions options = ways[way];
      options.layout = Layout::linear;
      const Bytes plain = converted(linear, options).file;
      CHECK((converted(stored, options).file == plain));
      options.layout = layout;
      const Bytes direct = converted(linear, options).file;
      CHECK((only(direct, 0) == converted(plain, {.layout = layout, .tensors = Words{0}}).file));
      CHECK((only(direct, 1) == only(plain, 1)));
      CHECK((converted(stored, options).file == direct));
      ConvertOptions back = dequantizing(DType::float32);
      back.layout = Layout::linear;
      CHECK((converted(direct, back).file == converted(plain, back).file));
    }
  }
}

TEST_CASE("layouts: 4-bit blocks out of a blocked layout") {
  const Tensor tensor = random_tensor(DType::float16, {2, 19, 3, 35}, 21);
  const Bytes stored = converted(file_of({tensor}), {.layout = Layout::hwc8}).file;
  for (const BlockFormat format : {BlockFormat::mxfp4, BlockFormat::nvfp4}) {
    ConvertOptions options = in_blocks(format);
    options.layout = Layout::linear;
    CHECK((converted(stored, options).file == converted(file_of({tensor}), options).file));
  }
}

TEST_CASE("large tensors: the same for every number of threads") {
  const Dims dims{37, 130, 523};  // 10 MB, several slabs
  Tensor tensor{DType::float32, dims, {}};
  Random random(22);
  for (std::uint64_t i = 0; i < count_of(dims); ++i)
    tensor.codes.push_back((random.next() & 0x877FFFFF) | 0x38000000);
  const Bytes input = file_of({tensor});
  std::vector<ConvertOptions> ways{quantizing(DType::int8, 1), quantizing(DType::uint16, 2),
                                   in_blocks(BlockFormat::mxfp8), in_blocks(BlockFormat::nvfp4)};
  ways[1].quantization.zero_point = 30'000;
  ways[2].layout = Layout::hwc16;
  for (ConvertOptions& options : ways) {
    options.execution.jobs = 1;
    const Converted one = converted(input, options);
    options.execution.jobs = 3;
    const Converted three = converted(input, options);
    CHECK((one.file == three.file));
    CHECK(one.reports.at(0).loss.inexact == three.reports.at(0).loss.inexact);
    CHECK(one.reports.at(0).loss.max_abs == three.reports.at(0).loss.max_abs);
    CHECK(one.reports.at(0).loss.elements == count_of(dims));
    ConvertOptions back = dequantizing(DType::float32);
    back.execution.jobs = 1;
    const Converted first = converted(one.file, back);
    back.execution.jobs = 3;
    CHECK((converted(one.file, back).file == first.file));
    CHECK(first.reports.at(0).loss.elements == count_of(dims));
  }
}

// Slabs of which none is a row, in layouts where the last dim is not the innermost: they must end
// where blocks end.
TEST_CASE("large tensors: slabs end where blocks do") {
  const Dims dims{104, 1, 12000};
  const Tensor tensor = random_tensor(DType::float32, dims, 23);
  const Bytes linear = file_of({tensor});
  const Bytes plain = converted(linear, in_blocks(BlockFormat::mxfp8)).file;
  for (const Layout layout : {Layout::hwc8, Layout::hwc16, Layout::chw32}) {
    ConvertOptions options = in_blocks(BlockFormat::mxfp8);
    options.layout = layout;
    const Bytes direct = converted(linear, options).file;
    CHECK((only(direct, 0) == converted(plain, {.layout = layout, .tensors = Words{0}}).file));
    CHECK((only(direct, 1) == only(plain, 1)));
    options.layout = Layout::linear;
    CHECK((converted(converted(linear, {.layout = layout}).file, options).file == plain));
  }
}

TEST_CASE("large tensors: through a pipe, front to back") {
  const ScratchDir scratch;
  // So many channels that the interleaved ones of 32 columns are more than a slab.
  const Tensor tensor = random_tensor(DType::float32, {40000, 1, 64}, 24);
  const btf::TensorFile file = bytes::open(bytes::save(scratch, "in", file_of({tensor})));
  ConvertOptions options = in_blocks(BlockFormat::mxfp8);
  options.layout = Layout::hwc8;
  REQUIRE(btf::convert(file, scratch / "out", options));
  REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0600) == 0);
  Bytes got;
  {
    const int keep = ::open((scratch / "pipe").c_str(), O_RDWR);
    const int reader = ::open((scratch / "pipe").c_str(), O_RDONLY);
    const std::jthread read([&] {
      Bytes part(1U << 16);
      for (ssize_t n = 0; (n = ::read(reader, part.data(), part.size())) > 0;)
        got.insert(got.end(), part.begin(), part.begin() + n);
      ::close(reader);
    });
    CHECK(btf::convert(file, scratch / "pipe", options));
    ::close(keep);
  }
  CHECK((got == read_file(scratch / "out")));
}

// Refusals

TEST_CASE("refused: what makes no sense") {
  const Bytes numbers = file_of({random_tensor(DType::float32, {4, 8}, 30)});
  const Bytes codes = file_of({Tensor{DType::int8, {4}, {1, 2, 3, 4}}});
  const auto given = [](DType to, double scale, std::int64_t zero = 0) {
    return ConvertOptions{.dtype = to, .quantization = {.scale = scale, .zero_point = zero}};
  };
  CHECK(refusal(numbers, given(DType::float16, 0.1)) ==
        "tensor 0: a scale does not apply from float32 to float16: one of them must be an integer "
        "or a float of 8 bits or less");
  CHECK(
      refusal(numbers, given(DType::boolean, 0.1)) ==
      "tensor 0: a scale does not apply from float32 to bool: one of them must be an integer or a "
      "float of 8 bits or less");
  CHECK(refusal(codes, given(DType::boolean, 0.1)) ==
        "tensor 0: dequantising gives float16, bfloat16, float32 or float64, not bool");
  CHECK(refusal(codes, given(DType::float8_e8m0fnu, 0.1)) ==
        "tensor 0: dequantising gives float16, bfloat16, float32 or float64, not float8_e8m0fnu");
  for (const double scale : {0.0, -1.0, static_cast<double>(INFINITY), static_cast<double>(NAN)})
    CHECK_THAT(refusal(numbers, given(DType::int8, scale)),
               Catch::EndsWith("scales must be positive"));
  CHECK(refusal(numbers, given(DType::float8_e4m3fn, 1, 3)) ==
        "tensor 0: a zero point does not apply to float8_e4m3fn: only integers have one");
  CHECK(refusal(numbers, given(DType::int8, 1, 128)) ==
        "tensor 0: the zero point 128 is outside the range of int8");
  CHECK(refusal(numbers, given(DType::uint8, 1, -1)) ==
        "tensor 0: the zero point -1 is outside the range of uint8");
  CHECK(refusal(codes, given(DType::float32, 1, -129)) ==
        "tensor 0: the zero point -129 is outside the range of int8");
  CHECK(refusal(file_of({tensor_of(DType::float32, {2}, {-3.25, 1})}), quantizing(DType::uint8)) ==
        "tensor 0: numbers from -3.25 to 1 do not fit: with zero point 0 no code of uint8 "
        "represents a number below 0; choose a zero point between its limits");
  ConvertOptions found = quantizing(DType::uint64);
  found.quantization.find_zero_point = true;
  CHECK(
      refusal(numbers, found) ==
      "tensor 0: a zero point can only be computed for integers of up to 32 bits, not for uint64");
  found.dtype = DType::float8_e4m3fn;
  CHECK(refusal(numbers, found) ==
        "tensor 0: a zero point does not apply to float8_e4m3fn: only integers have one");
  // Blocks are floats.
  ConvertOptions blocks{.quantization = {.zero_point = -3, .block = BlockFormat::mxfp8}};
  CHECK(refusal(numbers, blocks) ==
        "`quantization.zero_point` goes with `quantization.scale` or `quantization.dequantize`");
  blocks.quantization.zero_point.reset();
  blocks.quantization.find_zero_point = true;
  CHECK(refusal(numbers, blocks) ==
        "`quantization.zero_point` goes with `quantization.scale` or `quantization.dequantize`");
  ConvertOptions zeros = dequantizing(DType::float32);
  zeros.quantization.find_zero_point = true;
  CHECK(refusal(file_of({Tensor{DType::int8, {2}, {1, 2}}, scale_tensor({}, {1})}), zeros) ==
        "tensor 0: no zero points of int8 with the dims of the scales follow the scales of the "
        "tensor");
  CHECK(refusal(numbers, quantizing(DType::float16)) ==
        "tensor 0: a scale for float16 cannot be chosen: quantising needs an integer or a float of "
        "8 bits or less");
  CHECK(refusal(numbers, quantizing(DType::int8, 2)) ==
        "tensor 0: there is no dim 2 for the scales, the tensor has rank 2");
  CHECK(refusal(numbers, in_blocks(BlockFormat::mxfp8, DType::float4_e2m1fn)) ==
        "tensor 0: mxfp8 has elements of float8_e4m3fn, not of float4_e2m1fn");
  CHECK(refusal(numbers, in_blocks(BlockFormat::nvfp4, DType::int4)) ==
        "tensor 0: nvfp4 has elements of float4_e2m1fn, not of int4");
  CHECK(refusal(file_of({tensor_of(DType::float32, {}, {1})}), in_blocks(BlockFormat::mxfp4)) ==
        "tensor 0: blocks need a dim to run along, the tensor has rank 0");
}

TEST_CASE("refused: policies that mean nothing with a scale") {
  const Bytes numbers = file_of({random_tensor(DType::float32, {4}, 30)});
  const Bytes codes = file_of({Tensor{DType::int8, {4}, {1, 2, 3, 4}}});
  ConvertOptions options{.dtype = DType::int8, .quantization = {.scale = 0.1}};
  options.policy.overflow = Overflow::wrap;
  CHECK(refusal(numbers, options) ==
        "tensor 0: overflow wrap does not apply with a scale: codes are clamped");
  options.policy.overflow = Overflow::ieee;
  CHECK(refusal(codes, options) ==
        "tensor 0: overflow ieee does not apply to int8: it has no Inf and no NaN");
  options.policy = {};
  options.policy.rounding = Rounding::up;
  CHECK(!try_convert(numbers, options).error);
  options.dtype = DType::float32;
  CHECK(refusal(codes, options) ==
        "tensor 0: a rounding other than to nearest does not apply to float32: with a scale it "
        "applies to integers only");
}

TEST_CASE("refused: COO on either side") {
  const Bytes sparse =
      bytes::file({bytes::coo(DType::float32, {4}, {{1}, {3}}, bytes::values<float>({1.5F, -2}))});
  const std::string message =
      "tensor 0: scales apply to dense tensors only; convert to a dense layout first";
  CHECK(refusal(sparse, quantizing(DType::int8)) == message);
  CHECK(refusal(sparse, in_blocks(BlockFormat::mxfp8)) == message);
  CHECK(refusal(sparse, {.quantization = {.dequantize = true}}) == message);
  ConvertOptions to_sparse = quantizing(DType::int8);
  to_sparse.layout = Layout::coo;
  CHECK(refusal(file_of({random_tensor(DType::float32, {4}, 1)}), to_sparse) == message);
}

TEST_CASE("refused: codes without the scales they need") {
  const Tensor codes{DType::int8, {2, 3}, {1, 2, 3, 4, 5, 6}};
  const Tensor small{DType::float8_e4m3fn, {2, 3}, Words(6, 0x38)};
  const Tensor nibbles{DType::float4_e2m1fn, {2, 3}, Words(6, 2)};
  const ConvertOptions options{.quantization = {.dequantize = true}};
  const auto missing = [](const char* dtype, const char* why = "no scale record follows them") {
    return "tensor 0: no scales were found for its " + std::string(dtype) + " codes: " + why +
           "; give one with `quantization.scale`";
  };
  const auto e8m0 = [](const Dims& dims) {
    return Tensor{DType::float8_e8m0fnu, dims, Words(count_of(dims), 127)};
  };
  CHECK(refusal(file_of({codes}), options) == missing("int8", "the file has no other tensor"));
  CHECK(refusal(file_of({codes, codes, scale_tensor({}, {1})}), options) == missing("int8"));
  CHECK(refusal(file_of({codes, scale_tensor({1}, {1})}), options) == missing("int8"));
  CHECK(refusal(file_of({codes, scale_tensor({2, 3}, {1, 1, 1, 1, 1, 1})}), options) ==
        missing("int8"));
  CHECK(refusal(file_of({codes, scale_tensor({1, 2}, {1, 1})}), options) == missing("int8"));
  CHECK(refusal(file_of({codes, tensor_of(DType::float16, {}, {1})}), options) == missing("int8"));
  CHECK(refusal(file_of({codes, e8m0({2, 1})}), options) == missing("int8"));
  CHECK(refusal(file_of({small, e8m0({2, 3})}), options) == missing("float8_e4m3fn"));
  CHECK(refusal(file_of({small, e8m0({1, 2})}), options) == missing("float8_e4m3fn"));
  // nvfp4, without the tensor's scale.
  const Tensor e4m3{DType::float8_e4m3fn, {2, 1}, {0x38, 0x38}};
  CHECK(refusal(file_of({nibbles, e4m3}), options) == missing("float4_e2m1fn"));
  CHECK(refusal(file_of({nibbles, e4m3, scale_tensor({1}, {1})}), options) ==
        missing("float4_e2m1fn"));
  CHECK(!try_convert(file_of({nibbles, e4m3, scale_tensor({}, {1})}), options).error);
  ConvertOptions mxfp4 = options;
  mxfp4.quantization.block = BlockFormat::mxfp4;
  CHECK(refusal(file_of({nibbles}), mxfp4) ==
        "`quantization.scale`, `quantization.block` and `quantization.dequantize` exclude each "
        "other");
  // In a file with something else behind, and in the middle.
  CHECK_THAT(refusal(file_of({codes, scale_tensor({}, {1}), codes}), options),
             Catch::StartsWith("tensor 2: no scales were found for its int8 codes"));
}

TEST_CASE("refused: scales that are no positive numbers") {
  const Tensor codes{DType::int8, {2}, {1, 2}};
  const Tensor nibbles{DType::float4_e2m1fn, {2}, {1, 2}};
  const Tensor e4m3{DType::float8_e4m3fn, {1}, {0x38}};
  const ConvertOptions options{.quantization = {.dequantize = true}};
  const auto message = [](int record, const std::string& value) {
    return "tensor 0: a scale in tensor " + std::to_string(record) + " is " + value +
           "; scales must be positive";
  };
  CHECK(refusal(file_of({codes, scale_tensor({}, {0})}), options) == message(1, "0"));
  CHECK(refusal(file_of({codes, scale_tensor({2}, {1, -0.5F})}), options) == message(1, "-0.5"));
  CHECK(refusal(file_of({codes, scale_tensor({}, {INFINITY})}), options) == message(1, "inf"));
  CHECK(refusal(file_of({codes, scale_tensor({}, {NAN})}), options) == message(1, "nan"));
  CHECK(refusal(file_of({nibbles, e4m3, scale_tensor({}, {-1})}), options) == message(2, "-1"));
}

TEST_CASE("refused: dequantising to another type, or permuted") {
  const Bytes codes = file_of({Tensor{DType::int8, {2, 2}, {1, 2, 3, 4}}, scale_tensor({}, {1})});
  for (const DType to : {DType::int32, DType::float8_e4m3fn, DType::float8_e8m0fnu, DType::boolean})
    CHECK(refusal(codes, dequantizing(to)) ==
          "tensor 0: dequantising gives float16, bfloat16, float32 or float64, not " + name_of(to));
  ConvertOptions turned = dequantizing(DType::float32);
  turned.edits = {btf::Permute{{1, 0}}};
  CHECK(refusal(codes, turned) ==
        "tensor 0: a tensor cannot be dequantised and have its dims edited in one conversion; run "
        "permute on the result");
}

TEST_CASE("lossless and overflow error name the first element and leave the output alone") {
  const ScratchDir scratch;
  const Bytes junk(3, std::byte{0xA5});
  const auto message = [&](const Bytes& input, const ConvertOptions& options) {
    write_file(scratch / "out", junk);
    const btf::TensorFile file = bytes::open(bytes::save(scratch, "in", input));
    const auto result = btf::convert(file, scratch / "out", options);
    REQUIRE(!result);
    CHECK(result.error().code == btf::ErrorCode::refused);
    CHECK((read_file(scratch / "out") == junk));
    CHECK(scratch.names() == std::vector<std::string>{"in", "out"});
    return said(result.error());
  };
  std::vector<double> values(300, 0.5);
  values[257] = 0.3;
  values[258] = 1000;
  const Bytes numbers = file_of({tensor_of(DType::float32, {3, 100}, values)});
  ConvertOptions options{.dtype = DType::int8, .quantization = {.scale = 0.25}};
  options.policy.lossless = true;
  CHECK_THAT(message(numbers, options),
             Catch::StartsWith("tensor 0: element [2, 57] = 0.3 is not exact in int8"));
  options.policy = {};
  options.policy.overflow = Overflow::error;
  CHECK_THAT(message(numbers, options),
             Catch::StartsWith("tensor 0: element [2, 58] = 1000 overflows int8"));
  options.quantization.scale = 10;
  CHECK(!try_convert(numbers, options).error);

  ConvertOptions blocks = in_blocks(BlockFormat::mxfp8);
  blocks.policy.lossless = true;
  CHECK_THAT(message(numbers, blocks), Catch::StartsWith("tensor 0: element [2, 57] = 0.3 is"));
  blocks.policy = {};
  blocks.policy.overflow = Overflow::error;
  CHECK_THAT(message(numbers, blocks),
             Catch::StartsWith("tensor 0: element [2, 58] = 1000 overflows float8_e4m3fn"));

  const Bytes codes = file_of({Tensor{DType::int8, {2}, {0, 3}}, scale_tensor({}, {0x1p100F})});
  ConvertOptions back = dequantizing(DType::float16);
  back.policy.overflow = Overflow::error;
  CHECK_THAT(message(codes, back),
             Catch::StartsWith("tensor 0: element [1] = 3 overflows float16"));

  // In a later slab than the first, whoever gets there first.
  Tensor large{DType::float32, {30, 100'000}, Words(3'000'000, 0x3F800000)};
  for (const std::size_t i : {1'234'567U, 2'000'003U, 2'999'999U}) large.codes[i] = 0x3E99999A;
  options.quantization.scale = 0.25;
  options.policy = {};
  options.policy.lossless = true;
  for (const unsigned jobs : {1U, 3U}) {
    options.execution.jobs = jobs;
    CHECK_THAT(message(file_of({large}), options),
               Catch::StartsWith("tensor 0: element [12, 34567] = 0.3 is not exact"));
  }
}
