// The C interface, called from C++; tests/capi/ has programs in C.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "btf/btf.h"
#include "btf/dlpack_abi.h"
#include "capi_cases.h"
#include "support/scratch_dir.h"

using btf::dlpack::DLTensor;
using namespace capi;

TEST_CASE("capi: a file that is not there", "[capi]") {
  CHECK(btf_open("/nonexistent/x.btf") == nullptr);
  CHECK(std::string(btf_last_error()).find("/nonexistent/x.btf") != std::string::npos);
  CHECK(btf_open(nullptr) == nullptr);
  CHECK(std::string(btf_last_error()) == "the argument 'path' is NULL");
  btf_close(nullptr);
  btf_writer_free(nullptr);
}

TEST_CASE("capi: what is in a file", "[capi]") {
  const File file = open(kMixed);
  CHECK(std::string(btf_format(file.get())) == "btf");
  REQUIRE(btf_count(file.get()) == 4);
  CHECK(std::string(btf_file_error(file.get())).empty());
  auto info = sized<btf_tensor_info>();
  REQUIRE(btf_info(file.get(), 0, &info) == BTF_OK);
  CHECK(std::string(info.dtype) == "float32");
  CHECK(std::string(info.layout) == "kLINEAR");
  CHECK(std::vector(info.dims, info.dims + info.rank) == std::vector<std::uint64_t>{1, 3, 8, 8});
  CHECK(info.bytes == 768);
  const std::uint64_t* const dims = info.dims;
  REQUIRE(btf_info(file.get(), 3, &info) == BTF_OK);
  CHECK(std::string(info.layout) == "coo");
  CHECK(info.nnz == 20);
  CHECK(dims[3] == 8);  // still there
  CHECK(btf_info(file.get(), 4, &info) == BTF_INVALID_ARGUMENT);
  CHECK(btf_file_error(file.get()) == kMixed + ": there is no tensor 4, the file has 4");
  CHECK(std::string(btf_last_error()) == btf_file_error(file.get()));
}

TEST_CASE("capi: structures of an older and of a newer header", "[capi]") {
  const File file = open(kMixed);
  struct Older {
    size_t size;
    const char* name;
    const char* dtype;
    std::uint64_t canary;
  } older{offsetof(Older, canary), nullptr, nullptr, 0x1234};
  REQUIRE(btf_info(file.get(), 0, reinterpret_cast<btf_tensor_info*>(&older)) == BTF_OK);
  CHECK(std::string(older.dtype) == "float32");
  CHECK(older.canary == 0x1234);

  struct Newer {
    btf_read_options known;
    std::uint64_t more;
  } newer{};
  newer.known.size = sizeof(Newer);
  std::uint64_t bytes = 0;
  CHECK(btf_read_size(file.get(), 0, &newer.known, &bytes) == BTF_OK);
  newer.more = 1;
  CHECK(btf_read_size(file.get(), 0, &newer.known, &bytes) == BTF_INVALID_ARGUMENT);
  newer.known.size = 0;
  CHECK(btf_read_size(file.get(), 0, &newer.known, &bytes) == BTF_INVALID_ARGUMENT);
  CHECK(std::string(btf_file_error(file.get())) == "the size of a structure is not set");
}

// A structure that ends where the readable memory ends.
class AtTheEdge {
 public:
  AtTheEdge() : page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
    pages_ = ::mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages_ != MAP_FAILED);
    REQUIRE(::mprotect(static_cast<char*>(pages_) + page_, page_, PROT_NONE) == 0);
  }
  AtTheEdge(const AtTheEdge&) = delete;
  AtTheEdge& operator=(const AtTheEdge&) = delete;
  ~AtTheEdge() { ::munmap(pages_, 2 * page_); }

  template <typename Struct>
  Struct* place(std::size_t size) {
    auto* placed = new (static_cast<char*>(pages_) + page_ - sizeof(Struct)) Struct{};
    placed->size = size;
    return placed;
  }

 private:
  std::size_t page_;
  void* pages_ = nullptr;
};

TEST_CASE("capi: a size that nobody set is refused and not followed", "[capi]") {
  const File file = open(kMixed);
  const Writer writer(btf_writer_new());
  const ScratchDir scratch;
  const std::string output = scratch / "out.btf";
  AtTheEdge memory;
  // Too large for any structure ever, and no multiple of a word.
  const auto size = GENERATE(std::size_t{1032}, std::size_t{1} << 40, ~std::size_t{7},
                             sizeof(btf_read_options) + 4, sizeof(btf_loss) - 1);
  CAPTURE(size);
  const auto refused = [&](btf_status status) {
    CHECK(status == BTF_INVALID_ARGUMENT);
    CHECK(
        std::string(btf_last_error())
            .starts_with("the size of a structure is " + std::to_string(size) + ", but must be "));
  };
  std::uint64_t bytes = 0;
  refused(btf_info(file.get(), 0, memory.place<btf_tensor_info>(size)));
  refused(btf_read_size(file.get(), 0, memory.place<btf_read_options>(size), &bytes));
  refused(btf_convert(file.get(), output.c_str(), memory.place<btf_convert_options>(size), nullptr,
                      nullptr));
  refused(btf_convert(file.get(), output.c_str(), nullptr, nullptr, memory.place<btf_loss>(size)));
  auto result = sized<btf_diff_result>();
  refused(btf_diff(file.get(), file.get(), memory.place<btf_diff_options>(size), &result));
  refused(btf_diff(file.get(), file.get(), nullptr, memory.place<btf_diff_result>(size)));
  refused(btf_writer_add(writer.get(), memory.place<btf_array>(size), nullptr));
  refused(
      btf_writer_save(writer.get(), output.c_str(), memory.place<btf_save_options>(size), nullptr));
  std::array<float, 192> values{};
  refused(btf_read(file.get(), 0, nullptr, values.data(), sizeof(values),
                   memory.place<btf_loss>(size)));
  // Nothing was done before the refusal.
  CHECK_FALSE(std::filesystem::exists(output));
}

TEST_CASE("capi: a tensor as another dtype and layout", "[capi]") {
  const File file = open(kMixed);
  auto options = sized<btf_read_options>();
  options.dtype = "fp16";
  options.layout = "hwc8";
  std::uint64_t bytes = 0;
  REQUIRE(btf_read_size(file.get(), 0, &options, &bytes) == BTF_OK);
  REQUIRE(bytes == 8 * 8 * 8 * 2);
  std::array<std::uint64_t, 4> strides{};
  REQUIRE(btf_read_strides(file.get(), 0, &options, strides.data(), 4) == BTF_OK);
  CHECK(strides == std::array<std::uint64_t, 4>{512, 1, 64, 8});
  CHECK(btf_read_strides(file.get(), 0, &options, strides.data(), 3) == BTF_INVALID_ARGUMENT);
  std::vector<std::uint16_t> buffer(bytes / 2 + 1, 0xffff);
  auto loss = sized<btf_loss>();
  CHECK(btf_read(file.get(), 0, &options, buffer.data(), bytes - 1, &loss) == BTF_INVALID_ARGUMENT);
  CHECK(btf_read(file.get(), 0, &options, nullptr, bytes, &loss) == BTF_INVALID_ARGUMENT);
  CHECK(btf_read(file.get(), 0, &options, reinterpret_cast<char*>(buffer.data()) + 1, bytes,
                 &loss) == BTF_INVALID_ARGUMENT);
  REQUIRE(btf_read(file.get(), 0, &options, buffer.data(), bytes, &loss) == BTF_OK);
  CHECK(loss.elements == 192);
  CHECK(loss.inexact == 180);
  CHECK(buffer[3] == 0);
  CHECK(buffer.back() == 0xffff);

  options.lossless = 1;
  CHECK(btf_read(file.get(), 0, &options, buffer.data(), bytes, nullptr) == BTF_REFUSED);
  options = sized<btf_read_options>();
  options.layout = "kCHW4";
  CHECK(btf_read_strides(file.get(), 0, &options, strides.data(), 4) == BTF_UNSUPPORTED);
  options.layout = "coo";
  CHECK(btf_read_size(file.get(), 0, &options, &bytes) == BTF_UNSUPPORTED);
  options.layout = "hwc9";
  CHECK(btf_read_size(file.get(), 0, &options, &bytes) == BTF_INVALID_ARGUMENT);
  options = sized<btf_read_options>();
  options.overflow = "sometimes";
  CHECK(btf_read_size(file.get(), 0, &options, &bytes) == BTF_INVALID_ARGUMENT);
  CHECK(std::string(btf_last_error()) ==
        "unknown overflow 'sometimes'; there are saturate, ieee, wrap, error");

  // A sparse one, dense.
  REQUIRE(btf_read_size(file.get(), 3, nullptr, &bytes) == BTF_OK);
  CHECK(bytes == 64 * 64 * 4);
  std::vector<float> dense(64 * 64, 7.0F);
  REQUIRE(btf_read(file.get(), 3, nullptr, dense.data(), bytes, nullptr) == BTF_OK);
  CHECK(std::ranges::count_if(dense, [](float v) { return v != 0; }) <= 20);
}

TEST_CASE("capi: write, convert, read again, compare", "[capi]") {
  const ScratchDir scratch;
  std::vector<float> values(2 * 3 * 4);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 4;
  const std::vector<std::uint64_t> dims{3, 2, 4};
  const std::vector<std::int64_t> turned{4, 12, 1};

  const Writer writer(btf_writer_new());
  REQUIRE(writer);
  auto array = array_of(values.data(), values.size() * 4, "f32", dims);
  array.strides = turned.data();
  auto as = sized<btf_write_options>();
  REQUIRE(btf_writer_add(writer.get(), &array, &as) == BTF_OK);
  array.strides = nullptr;
  as.dtype = "bf16";
  as.layout = "kHWC";
  REQUIRE(btf_writer_add(writer.get(), &array, &as) == BTF_OK);
  std::array<std::int64_t, 1> shape{5};
  const DLTensor column{values.data(), {1, 0}, 1, {2, 32, 1}, shape.data(), nullptr, 4};
  REQUIRE(btf_writer_add_dlpack(writer.get(), &column, nullptr) == BTF_OK);
  std::uint64_t bytes = 0;
  REQUIRE(btf_writer_save(writer.get(), (scratch / "a.btf").c_str(), nullptr, &bytes) == BTF_OK);
  CHECK(read_file(scratch / "a.btf").size() == bytes);

  const File file = open(scratch / "a.btf");
  CHECK(btf_count(file.get()) == 3);
  auto info = sized<btf_tensor_info>();
  REQUIRE(btf_info(file.get(), 1, &info) == BTF_OK);
  CHECK(std::string(info.dtype) == "bfloat16");
  CHECK(std::string(info.layout) == "kHWC");
  std::vector<float> back(values.size());
  REQUIRE(btf_read(file.get(), 0, nullptr, back.data(), back.size() * 4, nullptr) == BTF_OK);
  CHECK(back[4] == values[12]);  // [0, 1, 0]
  CHECK(back[8] == values[4]);   // [1, 0, 0]
  auto linear = sized<btf_read_options>();
  linear.dtype = "float32";
  linear.layout = "kLINEAR";
  REQUIRE(btf_read(file.get(), 1, &linear, back.data(), back.size() * 4, nullptr) == BTF_OK);
  CHECK(back == values);
  REQUIRE(btf_read(file.get(), 2, nullptr, back.data(), back.size() * 4, nullptr) == BTF_OK);
  CHECK(back[0] == values[1]);

  const std::array<std::uint64_t, 2> order{1, 0};
  const std::array<std::uint32_t, 3> permute{1, 0, 2};
  auto convert = sized<btf_convert_options>();
  convert.dtype = "int8";
  convert.tensors = order.data();
  convert.tensor_count = 2;
  convert.permute = permute.data();
  convert.permute_count = 3;
  auto loss = sized<btf_loss>();
  REQUIRE(btf_convert(file.get(), (scratch / "b.btf").c_str(), &convert, &bytes, &loss) == BTF_OK);
  CHECK(loss.elements == 48);
  const File other = open(scratch / "b.btf");
  REQUIRE(btf_info(other.get(), 0, &info) == BTF_OK);
  CHECK(std::vector(info.dims, info.dims + 3) == std::vector<std::uint64_t>{2, 3, 4});
  convert.lossless = 1;
  CHECK(btf_convert(file.get(), (scratch / "b.btf").c_str(), &convert, nullptr, nullptr) ==
        BTF_REFUSED);
  CHECK(btf_convert(file.get(), "/nonexistent/x.btf", nullptr, nullptr, nullptr) == BTF_IO);

  auto result = sized<btf_diff_result>();
  REQUIRE(btf_diff(other.get(), file.get(), nullptr, &result) == BTF_OK);
  CHECK(result.same == 0);
  CHECK(result.tensors == 3);
  CHECK(result.different == 3);
  CHECK(std::string(result.reason) == "shape [2, 3, 4] against [3, 2, 4]");
  REQUIRE(btf_diff(file.get(), file.get(), nullptr, &result) == BTF_OK);
  CHECK(result.same == 1);
  CHECK(result.compared == 53);
}

TEST_CASE("capi: other formats, by the name of the output or by their own", "[capi]") {
  const ScratchDir scratch;
  const std::vector<std::uint64_t> dims{2, 3};
  const std::vector<std::uint16_t> values{1, 2, 3, 4, 5, 258};
  const Writer writer(btf_writer_new());
  auto array = array_of(values.data(), 12, "uint16", dims);
  REQUIRE(btf_writer_add(writer.get(), &array, nullptr) == BTF_OK);
  auto options = sized<btf_save_options>();
  const auto saved = [&](const char* name) {
    REQUIRE(btf_writer_save(writer.get(), (scratch / name).c_str(), &options, nullptr) == BTF_OK);
    return read_file(scratch / name);
  };
  const auto raw = std::as_bytes(std::span(values));
  const auto npy = saved("a.npy");
  CHECK(std::string(reinterpret_cast<const char*>(npy.data()) + 1, 5) == "NUMPY");
  CHECK(std::ranges::equal(std::span(npy).last(12), raw));
  CHECK(std::ranges::equal(saved("a.raw"), raw));
  options.format = "npy";
  CHECK(saved("b.btf") == npy);
  options.format = "btf";
  CHECK(std::string(btf_format(open((saved("b.npy"), scratch / "b.npy")).get())) == "btf");
  options.format = "zip";
  CHECK(btf_writer_save(writer.get(), (scratch / "c").c_str(), &options, nullptr) ==
        BTF_INVALID_ARGUMENT);
  CHECK(std::string(btf_writer_error(writer.get())) ==
        "unknown format 'zip'; there are npy, npz, safetensors, tvm, onnx, polygraphy, "
        "polygraphy-inputs, raw, btf");
  // Two tensors are too many for .npy.
  REQUIRE(btf_writer_add(writer.get(), &array, nullptr) == BTF_OK);
  options.format = nullptr;
  CHECK(btf_writer_save(writer.get(), (scratch / "c.npy").c_str(), &options, nullptr) ==
        BTF_UNSUPPORTED);

  const File file = open(scratch / "b.npy");
  auto convert = sized<btf_convert_options>();
  convert.shuffle = 1;
  REQUIRE(btf_convert(file.get(), (scratch / "s.btf").c_str(), &convert, nullptr, nullptr) ==
          BTF_OK);
  const File shuffled = open(scratch / "s.btf");
  auto info = sized<btf_tensor_info>();
  REQUIRE(btf_info(shuffled.get(), 0, &info) == BTF_OK);
  CHECK(std::string(info.layout) == "shuffled");
  std::vector<std::uint16_t> back(6);
  REQUIRE(btf_read(shuffled.get(), 0, nullptr, back.data(), 12, nullptr) == BTF_OK);
  CHECK(back == values);
  auto read = sized<btf_read_options>();
  read.layout = "shuffled";
  CHECK(btf_read(shuffled.get(), 0, &read, back.data(), 12, nullptr) == BTF_UNSUPPORTED);
  array.layout = "shuffled";
  CHECK(btf_writer_add(writer.get(), &array, nullptr) == BTF_INVALID_ARGUMENT);
  convert = sized<btf_convert_options>();
  convert.format = "npy";
  REQUIRE(btf_convert(shuffled.get(), (scratch / "s").c_str(), &convert, nullptr, nullptr) ==
          BTF_OK);
  CHECK(read_file(scratch / "s") == npy);
}

TEST_CASE("capi: tolerances", "[capi]") {
  const ScratchDir scratch;
  save(scratch / "a.btf", {1, 2, 3.5F, NAN});
  save(scratch / "b.btf", {1, 2, 3, NAN});
  const File actual = open(scratch / "a.btf");
  const File golden = open(scratch / "b.btf");
  auto options = sized<btf_diff_options>();
  auto result = sized<btf_diff_result>();
  REQUIRE(btf_diff(actual.get(), golden.get(), &options, &result) == BTF_OK);
  CHECK(result.same == 0);
  CHECK(result.mismatched == 1);
  CHECK(result.max_abs == 0.5);
  CHECK(std::string(result.reason).empty());
  options.atol = 0.5;
  REQUIRE(btf_diff(actual.get(), golden.get(), &options, &result) == BTF_OK);
  CHECK(result.same == 1);
  options.nan_differs = 1;
  REQUIRE(btf_diff(actual.get(), golden.get(), &options, &result) == BTF_OK);
  CHECK(result.same == 0);
  options.rtol = -1;
  CHECK(btf_diff(actual.get(), golden.get(), &options, &result) == BTF_INVALID_ARGUMENT);
  options.rtol = NAN;
  CHECK(btf_diff(actual.get(), golden.get(), &options, &result) == BTF_INVALID_ARGUMENT);
  CHECK(btf_diff(actual.get(), nullptr, nullptr, &result) == BTF_INVALID_ARGUMENT);
  CHECK(btf_diff(nullptr, golden.get(), nullptr, &result) == BTF_INVALID_ARGUMENT);
  CHECK(btf_diff(actual.get(), golden.get(), nullptr, nullptr) == BTF_INVALID_ARGUMENT);
}

TEST_CASE("capi: what differs by dtype alone differs where that is asked, and lists pair tensors",
          "[capi]") {
  const ScratchDir scratch;
  const std::array<float, 4> values{1, 2, 3, 4};
  const std::array<float, 4> others{1, 2, 3, 5};
  const std::vector<std::uint64_t> dims{4};
  const auto save = [&](const std::string& path, std::span<const float> second, const char* dtype) {
    const Writer writer(btf_writer_new());
    auto as = sized<btf_write_options>();
    as.dtype = dtype;
    for (const std::span<const float> each : {std::span<const float>(values), second}) {
      const auto array = array_of(each.data(), 16, "f32", dims);
      REQUIRE(btf_writer_add(writer.get(), &array, &as) == BTF_OK);
    }
    REQUIRE(btf_writer_save(writer.get(), path.c_str(), nullptr, nullptr) == BTF_OK);
  };
  save(scratch / "wide.btf", others, "float32");
  save(scratch / "half.btf", values, "float16");
  const File actual = open(scratch / "wide.btf");
  const File golden = open(scratch / "half.btf");
  auto result = sized<btf_diff_result>();
  auto options = sized<btf_diff_options>();
  const auto differing = [&] {
    REQUIRE(btf_diff(actual.get(), golden.get(), &options, &result) == BTF_OK);
    CHECK(result.same == (result.different == 0 ? 1 : 0));
    return result.different;
  };
  CHECK(differing() == 1);
  CHECK(result.first == 1);
  for (const std::int32_t set : {1, 2, -1}) {
    options.strict = set;
    CHECK(differing() == 2);
    CHECK(result.first == 0);
    CHECK_FALSE(std::string(result.reason).empty());
  }
  options.strict = 0;
  const std::array<std::uint64_t, 2> first_twice{0, 0};
  options.actual_tensors = first_twice.data();
  options.actual_count = 2;
  CHECK(differing() == 0);  // tensor 0 of the one side with each of the other
  CHECK(result.tensors == 2);
  const std::array<std::uint64_t, 1> second{1};
  options.actual_tensors = options.golden_tensors = second.data();
  options.actual_count = options.golden_count = 1;
  CHECK(differing() == 1);
  CHECK(result.tensors == 1);
  CHECK(result.mismatched == 1);
}

TEST_CASE("capi: arrays that cannot be", "[capi]") {
  const Writer writer(btf_writer_new());
  const std::array<float, 6> data{};
  const std::vector<std::uint64_t> dims{2, 3};
  const std::vector<std::int64_t> strides{-3, 1};
  const auto refused = [&](auto&& change) {
    auto array = array_of(data.data(), sizeof(data), "float32", dims);
    change(array);
    const btf_status status = btf_writer_add(writer.get(), &array, nullptr);
    return status == BTF_OK ? "accepted" : std::string(btf_writer_error(writer.get()));
  };
  CHECK(refused([](btf_array&) {}) == "accepted");
  CHECK(refused([](btf_array& a) { a.bytes = 20; }) ==
        "the array has 20 bytes, but its dims need 24");
  CHECK(refused([](btf_array& a) { a.data = nullptr; }) == "the array has no data");
  CHECK(refused([](btf_array& a) { a.dims = nullptr; }) == "the argument 'dims' is NULL");
  CHECK(refused([](btf_array& a) { a.dtype = nullptr; }) == "the array has no dtype");
  CHECK(refused([](btf_array& a) { a.layout = "coo"; }) == "COO is not a dense layout");
  CHECK(refused([&](btf_array& a) { a.strides = strides.data(); }) ==
        "stride -3 of dim 0 is negative");
  CHECK(refused([&](btf_array& a) { a.strides = strides.data(), a.layout = "kLINEAR"; }) ==
        "strides and a layout cannot both be given");
  CHECK(btf_writer_add(writer.get(), nullptr, nullptr) == BTF_INVALID_ARGUMENT);
  CHECK(btf_writer_add_dlpack(writer.get(), nullptr, nullptr) == BTF_INVALID_ARGUMENT);
  CHECK(btf_writer_save(writer.get(), nullptr, nullptr, nullptr) == BTF_INVALID_ARGUMENT);
  CHECK(btf_writer_add(nullptr, nullptr, nullptr) == BTF_INVALID_ARGUMENT);
}

TEST_CASE("capi: DLPack outlives the file", "[capi]") {
  File file = open(kMixed);
  auto options = sized<btf_read_options>();
  DLManagedTensor* plain = nullptr;
  REQUIRE(btf_read_dlpack(file.get(), 0, &options, &plain) == BTF_OK);
  options.dtype = "fp4";
  DLManagedTensor* none = plain;
  CHECK(btf_read_dlpack(file.get(), 0, &options, &none) == BTF_UNSUPPORTED);
  CHECK(none == nullptr);
  DLManagedTensorVersioned* packed = nullptr;
  REQUIRE(btf_read_dlpack_versioned(file.get(), 0, &options, &packed) == BTF_OK);
  file.reset();
  auto* tensor = reinterpret_cast<btf::dlpack::DLManagedTensor*>(plain);
  CHECK(tensor->dl_tensor.ndim == 4);
  CHECK(static_cast<float*>(tensor->dl_tensor.data)[0] == Approx(0).margin(10));
  tensor->deleter(tensor);
  auto* versioned = reinterpret_cast<btf::dlpack::DLManagedTensorVersioned*>(packed);
  CHECK(versioned->dl_tensor.dtype.bits == 4);
  CHECK(versioned->flags == btf::dlpack::kFlagIsCopied);
  versioned->deleter(versioned);
}

TEST_CASE("capi: names of statuses", "[capi]") {
  CHECK(std::string(btf_status_name(BTF_OK)) == "ok");
  CHECK(std::string(btf_status_name(BTF_INTERNAL)) == "internal");
  CHECK(std::string(btf_status_name(-1)) == "unknown");
  CHECK(std::string(btf_status_name(10)) == "unknown");
  CHECK(std::string(btf_version()).size() >= 5);
}

TEST_CASE("capi: a rank that no file holds is refused before dims and strides are read", "[capi]") {
  const ScratchDir scratch;
  const std::int8_t value = 7;
  for (const std::size_t rank :
       {std::size_t{255}, std::size_t{256}, std::size_t{100000}, SIZE_MAX}) {
    const Writer writer(btf_writer_new());
    const std::vector<std::uint64_t> dims(255, 1);
    const std::vector<std::int64_t> strides(255, 1);
    auto array = array_of(&value, 1, "int8", dims);
    array.rank = rank;
    if (rank > 255) {
      for (const std::int64_t* const given :
           {static_cast<const std::int64_t*>(nullptr), strides.data()}) {
        array.strides = given;
        CHECK(btf_writer_add(writer.get(), &array, nullptr) == BTF_UNSUPPORTED);
        CHECK(std::string(btf_writer_error(writer.get())) ==
              "the array has rank " + std::to_string(rank) + ", but tensors have at most 255");
      }
      continue;
    }
    REQUIRE(btf_writer_add(writer.get(), &array, nullptr) == BTF_OK);
    const std::string path = scratch / "x.btf";
    const btf_status status = btf_writer_save(writer.get(), path.c_str(), nullptr, nullptr);
    CHECK(status == BTF_OK);
    CHECK(open(path) != nullptr);
  }
}
