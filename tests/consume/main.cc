// A user's program: built against the installed library only, with its public headers.
//
//   consume FILE.btf
//
// Lists the file's tensors, lays a tensor in memory out anew and compares two tensors in memory.
// Exit code 0 if everything came out as expected.
#include <btf/convert.h>
#include <btf/diff.h>
#include <btf/dtype.h>
#include <btf/file.h>
#include <btf/layout.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace {

int complain(const std::string& what) {
  std::fprintf(stderr, "consume: %s\n", what.c_str());
  return 1;
}

int list_tensors(const std::string& path) {
  const auto file = btf::TensorFile::open(path);
  if (!file) return complain(file.error().text());
  for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
    const auto tensor = file->tensor(i);
    if (!tensor) return complain(tensor.error().text());
    if (!tensor->known()) return complain("tensor " + std::to_string(i) + " is of unknown kind");
    std::printf("%llu %s %s [", static_cast<unsigned long long>(i),
                std::string(btf::info(*tensor->dtype).name).c_str(),
                std::string(btf::spec(*tensor->layout).name).c_str());
    for (const std::uint64_t dim : tensor->dims)
      std::printf(" %llu", static_cast<unsigned long long>(dim));
    std::printf(" ]\n");
  }
  return file->tensor_count() > 0 ? 0 : complain(path + " has no tensors");
}

// [1, 3, 2, 2], the elements 1 to 12 in row-major order.
constexpr std::array<std::uint64_t, 4> kDims{1, 3, 2, 2};

std::array<float, 12> counting() {
  std::array<float, 12> values;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  return values;
}

// [1, 2, 2, 8]: the three channels of a pixel side by side, then five of padding.
constexpr std::array<std::uint16_t, 32> kExpected{
    0x3c00, 0x4500, 0x4880, 0, 0, 0, 0, 0,   // 1, 5, 9
    0x4000, 0x4600, 0x4900, 0, 0, 0, 0, 0,   // 2, 6, 10
    0x4200, 0x4700, 0x4980, 0, 0, 0, 0, 0,   // 3, 7, 11
    0x4400, 0x4800, 0x4a00, 0, 0, 0, 0, 0};  // 4, 8, 12

int lay_out() {
  const auto linear = btf::resolve(btf::Layout::linear, kDims, btf::DType::float32);
  const auto hwc8 = btf::resolve(btf::Layout::hwc8, kDims, btf::DType::float16);
  if (!linear) return complain(linear.error().text());
  if (!hwc8) return complain(hwc8.error().text());
  if (hwc8->storage_shape() != btf::Dims{1, 2, 2, 8}) return complain("another stored shape");

  const std::array<float, 12> values = counting();
  // Filled, so that it shows whether padding is written.
  std::vector<std::byte> bytes(btf::storage_bytes(*hwc8, btf::DType::float16), std::byte{0xff});
  const auto loss =
      btf::convert(btf::TensorView{btf::DType::float32, *linear, std::as_bytes(std::span(values))},
                   btf::MutableTensorView{btf::DType::float16, *hwc8, bytes});
  if (!loss) return complain(loss.error().text());
  if (loss->elements != 12 || loss->changed() != 0) return complain("another account of losses");

  std::vector<std::byte> expected;
  for (const std::uint16_t code : kExpected) {
    expected.push_back(static_cast<std::byte>(code & 0xff));  // little-endian
    expected.push_back(static_cast<std::byte>(code >> 8));
  }
  return bytes == expected ? 0 : complain("other bytes than expected");
}

int compare() {
  const auto linear = btf::resolve(btf::Layout::linear, kDims, btf::DType::float32);
  if (!linear) return complain(linear.error().text());
  const std::array<float, 12> golden = counting();
  std::array<float, 12> actual = golden;
  actual[7] = 8.5F;  // at [0, 1, 1, 1], where golden has 8
  const auto view = [&](const std::array<float, 12>& values) {
    return btf::TensorView{btf::DType::float32, *linear, std::as_bytes(std::span(values))};
  };

  const auto found = btf::diff(view(actual), view(golden));
  if (!found) return complain(found.error().text());
  if (found->result != btf::DiffResult::different || found->compared != 12 ||
      found->mismatched != 1 || found->max_abs != 0.5 || found->first.size() != 1 ||
      found->first[0].index != btf::Dims{0, 1, 1, 1})
    return complain("the difference was not found where it is");

  btf::DiffOptions tolerant;
  tolerant.tolerance.atol = 0.5;
  const auto accepted = btf::diff(view(actual), view(golden), tolerant);
  if (!accepted) return complain(accepted.error().text());
  return accepted->result == btf::DiffResult::same ? 0 : complain("the tolerance did not count");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return complain("usage: consume FILE.btf");
  const int failures = list_tensors(argv[1]) + lay_out() + compare();
  return failures == 0 ? 0 : 1;
}
