#include "btf/dlpack.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <map>
#include <string>

#include "btf/file.h"
#include "btf/read.h"
#include "btf/write.h"
#include "support/said.h"
#include "support/scratch_dir.h"
#include "support/strided_view.h"

using btf::Dims;
using btf::DType;
using btf::Layout;
using btf::SharedTensor;
using btf::dlpack::DLManagedTensor;
using btf::dlpack::DLManagedTensorVersioned;
using btf::dlpack::DLTensor;
using strided::Bytes;

// As another header would define it, of a version before 0.4.
namespace other {
struct DLContext {
  int device_type;
  int device_id;
};
struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLContext ctx;
  int ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
}  // namespace other

namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

struct Given {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  DLTensor tensor{};

  Given(void* data, btf::dlpack::DLDataType dtype, std::vector<std::int64_t> dims,
        std::vector<std::int64_t> steps = {})
      : shape(std::move(dims)), strides(std::move(steps)) {
    tensor = {data,
              {btf::dlpack::kDLCPU, 0},
              static_cast<std::int32_t>(shape.size()),
              dtype,
              shape.data(),
              strides.empty() ? nullptr : strides.data(),
              0};
  }
};

constexpr btf::dlpack::DLDataType kFloat{btf::dlpack::kDLFloat, 32, 1};

std::string refusal(const DLTensor& tensor) {
  const auto view = btf::from_dlpack(tensor);
  return view ? "accepted" : said(view.error());
}

// A tensor with random elements whose memory counts how often it was given back.
SharedTensor shared(DType dtype, Layout layout, const Dims& dims, int& freed) {
  auto resolved = btf::resolve(layout, dims, dtype);
  REQUIRE(resolved);
  auto* bytes = new Bytes(random_bytes(btf::storage_bytes(*resolved, dtype), 5));
  std::shared_ptr<void> owner(bytes, [&freed](void* memory) {
    ++freed;
    delete static_cast<Bytes*>(memory);
  });
  return {dtype, *std::move(resolved), {bytes->data(), bytes->size()}, std::move(owner)};
}

Bytes elements_of(const btf::TensorView& view) {
  const auto linear = btf::resolve(Layout::linear, view.storage.dims, view.dtype);
  REQUIRE(linear);
  Bytes result(btf::storage_bytes(*linear, view.dtype));
  REQUIRE(btf::convert(view, btf::MutableTensorView{view.dtype, *linear, result}));
  return result;
}

std::vector<std::int64_t> list(const std::int64_t* numbers, const DLTensor& tensor) {
  return {numbers, numbers + tensor.ndim};
}

}  // namespace

TEST_CASE("dlpack: the type codes are DLPack's", "[dlpack]") {
  const std::map<std::string, int> codes{{"int4", 0},
                                         {"int8", 0},
                                         {"int16", 0},
                                         {"int32", 0},
                                         {"int64", 0},
                                         {"uint4", 1},
                                         {"uint8", 1},
                                         {"uint16", 1},
                                         {"uint32", 1},
                                         {"uint64", 1},
                                         {"float16", 2},
                                         {"float32", 2},
                                         {"float64", 2},
                                         {"bfloat16", 4},
                                         {"bool", 6},
                                         {"float8_e4m3fn", 10},
                                         {"float8_e5m2", 12},
                                         {"float8_e8m0fnu", 14},
                                         {"float4_e2m1fn", 17},
                                         {"float8_e3m4", 7},
                                         {"float8_e4m3", 8},
                                         {"float8_e4m3b11fnuz", 9},
                                         {"float8_e4m3fnuz", 11},
                                         {"float8_e5m2fnuz", 13}};
  for (const btf::DTypeInfo& row : btf::dtypes())
    CHECK(codes.at(std::string(row.name)) == row.dlpack);
}

TEST_CASE("dlpack: every dtype goes out and comes back", "[dlpack]") {
  for (const btf::DTypeInfo& row : btf::dtypes()) {
    CAPTURE(row.name);
    int freed = 0;
    SharedTensor tensor = shared(row.dtype, Layout::linear, {2, 3, 5}, freed);
    const Bytes golden = elements_of(tensor.view());
    const auto out = btf::to_dlpack_versioned(tensor);
    REQUIRE(out);
    tensor.owner.reset();
    const DLTensor& dl = (*out)->dl_tensor;
    CHECK((*out)->version.major == 1);
    CHECK((*out)->flags == 0);
    CHECK(dl.dtype.bits == row.bits);
    CHECK(dl.dtype.lanes == 1);
    CHECK(dl.byte_offset == 0);
    CHECK(list(dl.shape, dl) == std::vector<std::int64_t>{2, 3, 5});
    CHECK(list(dl.strides, dl) == std::vector<std::int64_t>{15, 5, 1});
    auto back = btf::take_dlpack(*out);
    REQUIRE(back);
    CHECK(back->dtype == row.dtype);
    CHECK(elements_of(back->view()) == golden);
    const SharedTensor copy = *back;
    back->owner.reset();
    CHECK(freed == 0);
    *back = {};
    const_cast<SharedTensor&>(copy).owner.reset();
    CHECK(freed == 1);
  }
}

TEST_CASE("dlpack: the unversioned form has what is older than 1.1", "[dlpack]") {
  int freed = 0;
  int made = 0;
  for (const btf::DTypeInfo& row : btf::dtypes()) {
    CAPTURE(row.name);
    ++made;
    const auto out = btf::to_dlpack(shared(row.dtype, Layout::linear, {7}, freed));
    const bool newer = row.bits < 8 || row.name.starts_with("float8");
    CHECK(out.has_value() == !newer);
    if (!out) continue;
    CHECK(freed == made - 1);
    (*out)->deleter(*out);
    CHECK(freed == made);
  }
  SharedTensor constant = shared(DType::int8, Layout::linear, {7}, freed);
  constant.read_only = true;
  CHECK_FALSE(btf::to_dlpack(constant));
  const auto out = btf::to_dlpack_versioned(constant, btf::LaneForm::lanes, true);
  REQUIRE(out);
  CHECK((*out)->flags == (btf::dlpack::kFlagReadOnly | btf::dlpack::kFlagIsCopied));
  const auto back = btf::take_dlpack(*out);
  REQUIRE(back);
  CHECK(back->read_only);
}

TEST_CASE("dlpack: layouts as strides, and as lanes where strides cannot say them", "[dlpack]") {
  int freed = 0;
  const Dims dims{2, 3, 4, 5};
  const auto go = [&](Layout layout, btf::LaneForm form) {
    const SharedTensor tensor = shared(DType::float16, layout, dims, freed);
    const auto out = btf::to_dlpack(tensor, form);
    REQUIRE(out);
    const DLTensor& dl = (*out)->dl_tensor;
    std::string text = std::to_string(dl.dtype.lanes) + ":";
    for (const std::int64_t n : list(dl.shape, dl)) text += " " + std::to_string(n);
    text += " by";
    for (const std::int64_t n : list(dl.strides, dl)) text += " " + std::to_string(n);
    // The same bytes at the same places.
    const auto back = btf::take_dlpack(*out);
    REQUIRE(back);
    CHECK(back->bytes.data() == tensor.bytes.data());
    return text;
  };
  using enum btf::LaneForm;
  CHECK(go(Layout::hwc8, lanes) == "1: 2 3 4 5 by 160 1 40 8");
  CHECK(go(Layout::hwc, lanes) == "1: 2 3 4 5 by 60 1 15 3");
  CHECK(go(Layout::dla_linear, lanes) == "1: 2 3 4 5 by 384 128 32 1");
  CHECK(go(Layout::chw4, lanes) == "4: 2 1 4 5 by 20 20 5 1");
  CHECK(go(Layout::chw2, lanes) == "2: 2 2 4 5 by 40 20 5 1");
  CHECK(go(Layout::chw2, trailing_dim) == "1: 2 2 4 5 2 by 80 40 10 2 1");
}

TEST_CASE("dlpack: lanes become one more dim, the last", "[dlpack]") {
  std::array<float, 24> data{};
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  const Given packed(data.data(), {btf::dlpack::kDLFloat, 32, 4}, {2, 3});
  const auto view = btf::from_dlpack(packed.tensor);
  REQUIRE(view);
  CHECK(view->storage.dims == Dims{2, 3, 4});
  CHECK(view->storage.strides == Dims{12, 4, 1});
  CHECK(view->bytes.size() == sizeof(data));
  const Given turned(data.data(), {btf::dlpack::kDLFloat, 32, 4}, {3, 2}, {1, 3});
  const auto other = btf::from_dlpack(turned.tensor);
  REQUIRE(other);
  CHECK(other->storage.strides == Dims{4, 12, 1});
}

TEST_CASE("dlpack: strides absent, in any order, repeated, with a byte offset", "[dlpack]") {
  std::array<float, 32> data{};
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  const auto values = [](const DLTensor& tensor) {
    const auto view = btf::from_dlpack(tensor);
    REQUIRE(view);
    const Bytes bytes = elements_of({view->dtype, view->storage, view->bytes});
    std::vector<float> numbers(bytes.size() / sizeof(float));
    if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  };
  CHECK(values(Given(data.data(), kFloat, {2, 3}).tensor) == std::vector<float>{0, 1, 2, 3, 4, 5});
  CHECK(values(Given(data.data(), kFloat, {2, 3}, {1, 2}).tensor) ==
        std::vector<float>{0, 2, 4, 1, 3, 5});
  CHECK(values(Given(data.data(), kFloat, {2, 3}, {0, 5}).tensor) ==
        std::vector<float>{0, 5, 10, 0, 5, 10});
  CHECK(values(Given(data.data(), kFloat, {}).tensor) == std::vector<float>{0});
  CHECK(values(Given(nullptr, kFloat, {2, 0}).tensor).empty());
  Given moved(data.data(), kFloat, {2}, {16});
  moved.tensor.byte_offset = 12;
  CHECK(values(moved.tensor) == std::vector<float>{3, 19});
  Given pinned(data.data(), kFloat, {1});
  pinned.tensor.device.device_type = btf::dlpack::kDLCUDAHost;
  CHECK(values(pinned.tensor) == std::vector<float>{0});
}

TEST_CASE("dlpack: the older structure with a DLContext is the same", "[dlpack]") {
  static_assert(sizeof(other::DLTensor) == sizeof(DLTensor));
  static_assert(offsetof(other::DLTensor, ctx) == offsetof(DLTensor, device));
  std::array<float, 6> data{1, 2, 3, 4, 5, 6};
  std::array<std::int64_t, 2> shape{2, 3};
  const other::DLTensor old{data.data(), {1, 0}, 2, {2, 32, 1}, shape.data(), nullptr, 0};
  const auto view = btf::from_dlpack(btf::dlpack::as_dlpack(old));
  REQUIRE(view);
  CHECK(view->storage.dims == Dims{2, 3});
}

TEST_CASE("dlpack: what cannot be is refused, each in its own words", "[dlpack]") {
  alignas(8) std::array<float, 64> data{};
  using Type = btf::dlpack::DLDataType;
  const auto with = [&](auto&& change) {
    Given given(data.data(), kFloat, {2, 3}, {3, 1});
    change(given);
    return refusal(given.tensor);
  };
  CHECK(with([](Given&) {}) == "accepted");
  CHECK(with([](Given& g) { g.tensor.device.device_type = btf::dlpack::kDLCUDA; }) ==
        "DLPack: the tensor is on a device of type 2, not in the CPU's memory");
  CHECK(with([](Given& g) { g.tensor.ndim = -1; }) == "DLPack: a rank of -1");
  CHECK(with([](Given& g) { g.tensor.ndim = 100000; }) ==
        "DLPack: the tensor has rank 100000, but tensors have at most 255");
  CHECK(with([](Given& g) { g.tensor.shape = nullptr; }) == "DLPack: no shape for rank 2");
  CHECK(with([](Given& g) { g.shape[1] = -3; }) == "DLPack: dim 1 is -3");
  CHECK(with([](Given& g) { g.strides[0] = -1; }) == "DLPack: stride -1 of dim 0 is negative");
  CHECK(with([](Given& g) { g.tensor.dtype.lanes = 0; }) == "DLPack: elements of 0 lanes");
  CHECK(with([](Given& g) { g.tensor.dtype = Type{btf::dlpack::kDLFloat, 80, 1}; }) ==
        "DLPack: type code 2 with 80 bits");
  CHECK(with([](Given& g) { g.tensor.dtype = Type{btf::dlpack::kDLComplex, 64, 1}; }) ==
        "DLPack: type code 5 is not a dtype of this library");
  CHECK(with([](Given& g) { g.tensor.dtype = Type{200, 8, 1}; }) ==
        "DLPack: type code 200 is not a dtype of this library");
  CHECK(with([](Given& g) { g.tensor.data = nullptr; }) == "DLPack: no data for 24 bytes");
  CHECK(with([](Given& g) { g.tensor.byte_offset = 2; }) ==
        "DLPack: the elements are not aligned to their 4 bytes");
  CHECK(with([](Given& g) { g.tensor.byte_offset = ~7ULL; }) ==
        "DLPack: byte_offset and size go beyond the end of memory");
  CHECK(with([](Given& g) { g.strides = {kMax, kMax}, g.tensor.strides = g.strides.data(); }) ==
        "DLPack: the size in bytes of dims [2, 3] does not fit 64 bits");
  CHECK(with([](Given& g) { g.shape = {kMax, kMax}, g.tensor.shape = g.shape.data(); }) ==
        "DLPack: the product of dims [9223372036854775807, 9223372036854775807] does not fit 64 "
        "bits");
  CHECK(with([](Given& g) { g.strides[0] = kMax, g.tensor.dtype.lanes = 4; }) ==
        "DLPack: the strides do not fit 64 bits");
}

TEST_CASE("dlpack: a tensor that is not taken stays the caller's", "[dlpack]") {
  static int calls = 0;
  calls = 0;
  std::array<std::uint8_t, 8> data{};
  std::array<std::int64_t, 1> shape{8};
  DLManagedTensorVersioned managed{{1, 9},
                                   nullptr,
                                   [](DLManagedTensorVersioned*) { ++calls; },
                                   0,
                                   {data.data(), {1, 0}, 1, {0, 4, 1}, shape.data(), nullptr, 0}};
  {
    CHECK(btf::take_dlpack(&managed));
  }
  CHECK(calls == 1);
  managed.flags = btf::dlpack::kFlagSubbytePadded;
  CHECK(said(btf::take_dlpack(&managed).error()) ==
        "DLPack: elements of 4 bits in a byte each; only packed ones are supported");
  managed.version.major = 2;
  CHECK(said(btf::take_dlpack(&managed).error()) == "DLPack: a tensor of major version 2");
  CHECK_FALSE(btf::take_dlpack(static_cast<DLManagedTensor*>(nullptr)));
  CHECK(calls == 1);
  managed.version.major = 1;
  managed.flags = 0;
  managed.deleter = nullptr;  // allowed: nothing to give back
  CHECK(btf::take_dlpack(&managed));
}

TEST_CASE("dlpack: a record of a file in memory, as any dtype and layout", "[dlpack]") {
  const std::string path = BTF_TESTDATA_DIR "/good/mixed.btf";
  const auto file = btf::TensorFile::open(path);
  REQUIRE(file);
  for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
    const auto record = file->tensor(i);
    REQUIRE(record);
    for (const Layout layout : {Layout::linear, Layout::hwc8, Layout::chw4}) {
      for (const DType dtype : {DType::float32, DType::float16, DType::int8}) {
        btf::ReadOptions options;
        options.layout = layout;
        options.dtype = dtype;
        const auto loaded = btf::read_tensor(*file, *record, options);
        if (layout != Layout::linear && record->dims.size() < 3) {
          CHECK_FALSE(loaded);
          continue;
        }
        REQUIRE(loaded);
        CHECK(reinterpret_cast<std::uintptr_t>(loaded->tensor.bytes.data()) % 256 == 0);
        CHECK(loaded->loss.elements >= (record->coo ? 0 : loaded->tensor.storage.elements()));
        // The same by way of a file.
        const ScratchDir scratch;
        btf::ConvertOptions convert;
        convert.layout = layout;
        convert.dtype = dtype;
        convert.tensors = {i};
        REQUIRE(btf::convert(*file, scratch / "out.btf", convert));
        const Bytes whole = read_file(scratch / "out.btf");
        const auto written = btf::TensorFile::open(scratch / "out.btf");
        REQUIRE(written);
        const auto golden = written->tensor(0);
        REQUIRE(golden);
        REQUIRE(golden->data_bytes == loaded->tensor.bytes.size());
        CHECK(std::equal(loaded->tensor.bytes.begin(), loaded->tensor.bytes.end(),
                         whole.begin() + static_cast<std::ptrdiff_t>(golden->data_offset)));
        // And back into a file, of this memory.
        REQUIRE(btf::write_tensors(
            scratch / "again.btf",
            std::array{btf::TensorToWrite{.tensor = loaded->tensor.view(), .layout = layout}}));
        CHECK(read_file(scratch / "again.btf") == whole);
      }
    }
  }
}

TEST_CASE("dlpack: a record into strides of the caller", "[dlpack]") {
  const auto file = btf::TensorFile::open(BTF_TESTDATA_DIR "/good/mixed.btf");
  REQUIRE(file);
  const auto record = file->tensor(0);
  REQUIRE(record);
  const Dims strides{2000, 1, 50, 5};
  const auto layout = btf::resolve_strides(record->dims, strides, DType::float64);
  REQUIRE(layout);
  Bytes memory(btf::storage_bytes(*layout, DType::float64));
  REQUIRE(btf::read_tensor_into(*file, *record, {DType::float64, *layout, memory}));
  btf::ReadOptions options;
  options.dtype = DType::float64;
  const auto golden = btf::read_tensor(*file, *record, options);
  REQUIRE(golden);
  CHECK(strided::gathered(memory, record->dims, strides, DType::float64) ==
        Bytes(golden->tensor.bytes.begin(), golden->tensor.bytes.end()));

  const auto sparse = file->tensor(3);
  REQUIRE(sparse);
  const auto gaps = btf::resolve_strides(sparse->dims, Dims{100, 1}, DType::float64);
  REQUIRE(gaps);
  Bytes room(btf::storage_bytes(*gaps, DType::float64));
  CHECK_FALSE(btf::read_tensor_into(*file, *sparse, {DType::float64, *gaps, room}));
  const auto wrong = btf::read_tensor_into(*file, *sparse, {DType::float64, *layout, memory});
  REQUIRE_FALSE(wrong);
  CHECK(said(wrong.error()) == "tensor 3: the tensor has dims [64, 64], the target [1, 3, 8, 8]");
}
