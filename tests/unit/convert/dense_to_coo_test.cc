// Dense tensors of many slabs as COO, by one thread and by several.
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "support/btf_bytes.h"
#include "support/random_tensor.h"
#include "support/scratch_dir.h"

using btf::DType;
using btf::Layout;
using bytes::Bytes;
using bytes::Words;

namespace {

const Words kDims{7, 13, 61, 251};

// Whole numbers below 128, few of them but in a stretch without a zero, as float32.
std::vector<float> sparse_numbers() {
  Random random(4);
  std::vector<float> numbers(kDims[0] * kDims[1] * kDims[2] * kDims[3]);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if ((i > 500'000 && i < 640'001) || random.below(40) == 0)
      numbers[i] = static_cast<float>(1 + random.below(127)) * (random.below(2) == 0 ? 1.F : -1.F);
  numbers.back() = -0.0F;
  return numbers;
}

struct Entries {
  std::vector<Words> indices;
  Bytes values;
};

// Of elements of `width` bytes.
Entries entries_of(const Bytes& elements, std::uint64_t width) {
  Entries entries;
  std::uint64_t at = 0;
  for (std::uint64_t n = 0; n < kDims[0]; ++n)
    for (std::uint64_t c = 0; c < kDims[1]; ++c)
      for (std::uint64_t h = 0; h < kDims[2]; ++h)
        for (std::uint64_t w = 0; w < kDims[3]; ++w, at += width) {
          const Bytes code(elements.begin() + static_cast<std::ptrdiff_t>(at),
                           elements.begin() + static_cast<std::ptrdiff_t>(at + width));
          if (code == Bytes(width)) continue;
          entries.indices.push_back({n, c, h, w});
          entries.values.insert(entries.values.end(), code.begin(), code.end());
        }
  return entries;
}

Bytes coo_file(DType dtype, const Bytes& elements) {
  const Entries entries = entries_of(elements, btf::info(dtype).bits / 8);
  return bytes::file({bytes::coo(dtype, kDims, entries.indices, entries.values)});
}

btf::ConvertOptions to_coo(unsigned jobs, std::uint64_t memory) {
  btf::ConvertOptions options;
  options.layout = Layout::coo;
  options.execution.jobs = jobs;
  options.execution.memory = memory;
  return options;
}

Bytes converted(const std::string& path, const ScratchDir& scratch,
                const btf::ConvertOptions& options, btf::LossAccount& loss) {
  const std::string out = scratch / "out.btf";
  const auto size = btf::convert(bytes::open(path), out, options,
                                 [&](const btf::TensorReport& report) { loss = report.loss; });
  if (!size) throw std::runtime_error(size.error().text());
  return read_file(out);
}

}  // namespace

TEST_CASE("dense to COO: the same file for any number of threads and any memory") {
  const ScratchDir scratch;
  const std::vector<float> numbers = sparse_numbers();
  std::vector<std::int8_t> cast;
  for (const float one : numbers) cast.push_back(static_cast<std::int8_t>(one));
  const std::string path = bytes::save(
      scratch, "in.btf",
      bytes::file({bytes::dense(DType::float32, Layout::linear, kDims, bytes::values(numbers))}));
  const Bytes as_float = coo_file(DType::float32, bytes::values(numbers));
  const Bytes as_int = coo_file(DType::int8, bytes::values(cast));
  for (const unsigned jobs : {1U, 2U, 5U})
    for (const std::uint64_t memory : {64U << 10, 32U << 20}) {
      CAPTURE(jobs, memory);
      btf::LossAccount loss;
      btf::ConvertOptions options = to_coo(jobs, memory);
      CHECK(converted(path, scratch, options, loss) == as_float);
      CHECK(loss.elements == numbers.size());
      options.dtype = DType::int8;
      CHECK(converted(path, scratch, options, loss) == as_int);
      CHECK(loss.elements == numbers.size());
      CHECK(loss.changed() == 0);
    }
}

TEST_CASE("dense to COO: the first element that is refused is named, whoever comes upon it") {
  const ScratchDir scratch;
  std::vector<float> numbers = sparse_numbers();
  numbers[300'000] = 1.5F;
  numbers[900'000] = 2.5F;
  numbers[1'390'000] = 3.5F;
  const std::string path = bytes::save(
      scratch, "in.btf",
      bytes::file({bytes::dense(DType::float32, Layout::linear, kDims, bytes::values(numbers))}));
  for (const unsigned jobs : {1U, 4U}) {
    btf::ConvertOptions options = to_coo(jobs, 32U << 20);
    options.dtype = DType::int8;
    options.policy.lossless = true;
    const auto size = btf::convert(bytes::open(path), scratch / "out.btf", options);
    REQUIRE_FALSE(size);
    // 300,000 = ((1 * 13 + 6) * 61 + 36) * 251 + 55
    CHECK(size.error().message.find("[1, 6, 36, 55]") != std::string::npos);
    CHECK(size.error().message.find("1.5") != std::string::npos);
  }
}
