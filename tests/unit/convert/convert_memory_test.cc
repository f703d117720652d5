#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "btf/convert.h"
#include "support/btf_bytes.h"
#include "support/naive_layout.h"
#include "support/random_tensor.h"
#include "support/said.h"
#include "unit/convert/convert_cases.h"

using namespace convert_cases;

namespace {

const std::vector<std::uint64_t> kChannels{1, 2, 3, 4, 7, 8, 9, 31, 32, 33};

std::uint64_t bytes_of(DType dtype) { return btf::info(dtype).buffer_bytes(); }

// By the size in bytes.
DType any_of_size(std::uint64_t bytes) {
  static const std::map<std::uint64_t, DType> dtypes{
      {1, DType::int8}, {2, DType::bfloat16}, {4, DType::float32}, {8, DType::uint64}};
  return dtypes.at(bytes);
}

// Converts without a change of dtype into a buffer full of junk.
std::optional<Bytes> moved(DType dtype, const StridedLayout& from, const Bytes& bytes,
                           const StridedLayout& to, unsigned jobs = 1) {
  Bytes result(btf::storage_bytes(to, dtype), kJunk);
  btf::Execution execution;
  execution.jobs = jobs;
  const auto account = btf::convert(btf::TensorView{dtype, from, bytes},
                                    btf::MutableTensorView{dtype, to, result}, {}, execution);
  if (!account || account->elements != from.elements() || account->changed() != 0) return {};
  return result;
}

std::vector<std::vector<std::uint32_t>> orders(std::size_t rank) {
  std::vector<std::uint32_t> order(rank);
  std::iota(order.begin(), order.end(), 0U);
  std::vector<std::vector<std::uint32_t>> all;
  do all.push_back(order);
  while (std::ranges::next_permutation(order).found);
  return all;
}

}  // namespace

TEST_CASE("memory: every dtype into every layout and back, as the oracle has it") {
  for (const naive::Name& name : naive::names()) {
    std::size_t cases = 0;
    for (std::size_t rank = 3; rank <= 6; ++rank) {
      for (const std::uint64_t channels : kChannels) {
        if (!naive::can_hold(name, rank, channels)) continue;
        const Dims dims = naive::dims_for(name, rank, channels, 5);
        std::map<std::uint64_t, naive::Array> arrays;
        for (const std::uint64_t size : {1U, 2U, 4U, 8U})
          arrays[size] = naive::layout(name.name, dims, size);
        for (const btf::DTypeInfo& row : btf::dtypes()) {
          if (row.bits < 8) continue;
          const std::uint64_t size = bytes_of(row.dtype);
          const Bytes source = random_bytes(count_of(dims) * size, channels * rank);
          const StridedLayout plain = linear(dims, row.dtype);
          const StridedLayout target = resolved(layout_of(name), dims, row.dtype);
          const auto stored = moved(row.dtype, plain, source, target);
          const bool right = stored && *stored == naive::store(arrays[size], source, size);
          const bool back = stored && moved(row.dtype, target, *stored, plain) == source;
          ++cases;
          if (right && back) continue;
          CAPTURE(name.name, row.name, dims);
          CHECK(right);
          CHECK(back);
        }
      }
    }
    CHECK(cases > 100);
  }
}

TEST_CASE("memory: every layout to every layout") {
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  for (std::size_t rank = 3; rank <= 6; ++rank) {
    for (const auto& [third, fourth] :
         {Pair{3, 33}, Pair{33, 2}, Pair{4, 9}, Pair{1, 8}, Pair{9, 31}, Pair{1, 1}}) {
      const std::array<std::uint64_t, 6> from_end{5, 3, third, fourth, 2, 3};
      Dims dims(rank);
      for (std::size_t d = 0; d < rank; ++d) dims[rank - 1 - d] = from_end[d];
      const auto channels = [&](const naive::Name& name) {
        return name.channel_from_end > rank ? 0 : dims[rank - name.channel_from_end];
      };
      for (const std::uint64_t size : {1U, 2U, 4U, 8U}) {
        const DType dtype = any_of_size(size);
        const Bytes elements = random_bytes(count_of(dims) * size, third + fourth);
        std::map<std::string_view, Bytes> stored;
        for (const naive::Name& name : naive::names())
          if (naive::can_hold(name, rank, channels(name)))
            stored[name.name] = naive::store(naive::layout(name.name, dims, size), elements, size);
        for (const naive::Name& from : naive::names()) {
          for (const naive::Name& to : naive::names()) {
            if (!stored.contains(from.name) || !stored.contains(to.name)) continue;
            const bool right =
                moved(dtype, resolved(layout_of(from), dims, dtype), stored[from.name],
                      resolved(layout_of(to), dims, dtype)) == stored[to.name];
            if (right) continue;
            CAPTURE(from.name, to.name, btf::info(dtype).name, dims);
            CHECK(right);
          }
        }
      }
    }
  }
}

TEST_CASE("memory: what stands in the padding is not read") {
  const Dims dims{3, 3, 5};
  const Bytes elements = random_bytes(45, 8);
  for (const naive::Name& name : naive::names()) {
    if (!naive::can_hold(name, 3, 3)) continue;
    const naive::Array array = naive::layout(name.name, dims, 1);
    Bytes dirty(array.elements(), kJunk);
    for (std::size_t i = 0; i < elements.size(); ++i) dirty[array.place[i]] = elements[i];
    CAPTURE(name.name);
    const StridedLayout layout = resolved(layout_of(name), dims, DType::uint8);
    CHECK(moved(DType::uint8, layout, dirty, linear(dims, DType::uint8)) == elements);
    // And does not survive in the same layout.
    CHECK(moved(DType::uint8, layout, dirty, layout) == naive::store(array, elements, 1));
  }
}

TEST_CASE("memory: dims of 0 and rank 0") {
  for (const btf::DTypeInfo& row : btf::dtypes()) {
    CAPTURE(row.name);
    CHECK(moved(row.dtype, linear({3, 0, 2}, row.dtype), {}, linear({3, 0, 2}, row.dtype)) ==
          Bytes{});
    Bytes element = random_bytes(bytes_of(row.dtype), 9);
    if (row.bits < 8) element[0] &= std::byte{15};
    CHECK(moved(row.dtype, linear({}, row.dtype), element, linear({}, row.dtype)) == element);
  }
  const StridedLayout empty = resolved(Layout::hwc8, {0, 2, 2}, DType::int8);
  CHECK(moved(DType::int8, empty, {}, linear({0, 2, 2}, DType::int8)) == Bytes{});
}

TEST_CASE("memory: 4-bit tensors of odd and even counts") {
  for (const DType dtype : {DType::int4, DType::uint4, DType::float4_e2m1fn}) {
    for (std::uint64_t count = 1; count <= 40; ++count) {
      const Bytes codes = random_nibbles(count, count);
      Bytes packed = pack(codes);
      CAPTURE(btf::info(dtype).name, count);
      CHECK(moved(dtype, linear({count}, dtype), packed, linear({count}, dtype)) == packed);
      if (count % 2 == 0) continue;
      // Junk in the spare half goes.
      const Bytes clean = packed;
      packed.back() |= std::byte{0xf0};
      CHECK(moved(dtype, linear({count}, dtype), packed, linear({count}, dtype)) == clean);
    }
  }
}

TEST_CASE("memory: 4-bit tensors in another order") {
  const Dims dims{3, 5, 7};
  const Bytes codes = random_nibbles(count_of(dims), 10);
  for (const std::vector<std::uint32_t>& order : orders(3)) {
    const StridedLayout source = btf::permuted(linear(dims, DType::int4), order);
    CAPTURE(order);
    CHECK(moved(DType::int4, source, pack(codes), linear(source.dims, DType::int4)) ==
          pack(transposed(dims, codes, order, 1)));
  }
}

TEST_CASE("memory: 4-bit tensors of many slabs") {
  // Rows of an odd length, so that slabs begin in the middle of a byte.
  const Dims dims{1021, 3083};
  const Bytes codes = random_nibbles(count_of(dims), 11);
  const Bytes packed = pack(codes);
  const StridedLayout plain = linear(dims, DType::uint4);
  CHECK((moved(DType::uint4, plain, packed, plain, 3) == packed));
  const StridedLayout turned = btf::permuted(plain, std::vector<std::uint32_t>{1, 0});
  CHECK((moved(DType::uint4, turned, packed, linear(turned.dims, DType::uint4), 3) ==
         pack(transposed(dims, codes, {1, 0}, 1))));
}

TEST_CASE("memory: 4-bit tensors whose slabs are every third element") {
  const Dims dims{1499, 1001, 3};
  const Bytes codes = random_nibbles(count_of(dims), 20);
  const std::vector<std::uint32_t> order{2, 0, 1};
  const StridedLayout turned = btf::permuted(linear(dims, DType::int4), order);
  CHECK((moved(DType::int4, turned, pack(codes), linear(turned.dims, DType::int4)) ==
         pack(transposed(dims, codes, order, 1))));
}

TEST_CASE("memory: large tensors, by any number of threads") {
  const Dims dims{1, 67, 181, 183};
  const DType dtype = DType::float32;
  const Bytes elements = random_bytes(count_of(dims) * 4, 12);
  std::map<Layout, Bytes> stored{{Layout::linear, elements}};
  for (const auto& [layout, name] :
       {std::pair{Layout::chw32, "kCHW32"}, std::pair{Layout::hwc8, "kHWC8"},
        std::pair{Layout::dla_linear, "kDLA_LINEAR"}})
    stored[layout] = naive::store(naive::layout(name, dims, 4), elements, 4);
  for (const auto& [from, source] : stored) {
    for (const auto& [to, target] : stored) {
      for (const unsigned jobs : {1U, 4U}) {
        CAPTURE(btf::spec(from).name, btf::spec(to).name, jobs);
        CHECK((moved(dtype, resolved(from, dims, dtype), source, resolved(to, dims, dtype), jobs) ==
               target));
      }
    }
  }
}

TEST_CASE("memory: a large transpose") {
  const Dims dims{1500, 1700};
  const Bytes elements = random_bytes(count_of(dims) * 2, 13);
  const StridedLayout source =
      btf::permuted(linear(dims, DType::int16), std::vector<std::uint32_t>{1, 0});
  CHECK((moved(DType::int16, source, elements, linear(source.dims, DType::int16), 2) ==
         transposed(dims, elements, {1, 0}, 2)));
}

TEST_CASE("memory: dtype and layout change together") {
  const Dims dims{2, 11, 3, 5};
  const Bytes elements = random_bytes(count_of(dims), 14);
  Bytes wide(elements.size() * 4);
  for (std::size_t i = 0; i < elements.size(); ++i) wide[4 * i] = elements[i];
  for (const naive::Name& from : naive::names()) {
    for (const naive::Name& to : naive::names()) {
      if (from.code == 138 || from.code == 154 || to.code == 138 || to.code == 154) continue;
      const Bytes source = naive::store(naive::layout(from.name, dims, 1), elements, 1);
      Bytes result(naive::layout(to.name, dims, 4).elements() * 4, kJunk);
      const auto account =
          btf::convert({DType::uint8, resolved(layout_of(from), dims, DType::uint8), source},
                       btf::MutableTensorView{DType::int32,
                                              resolved(layout_of(to), dims, DType::int32), result});
      CAPTURE(from.name, to.name);
      REQUIRE(account);
      CHECK(account->elements == elements.size());
      CHECK((result == naive::store(naive::layout(to.name, dims, 4), wide, 4)));
    }
  }
}

TEST_CASE("memory: strides that no named layout has") {
  // Rows of 5 stand 8 apart, planes 40: a pitch as another program may have it.
  StridedLayout pitched;
  pitched.dims = {3, 4, 5};
  pitched.strides = {40, 8, 1};
  pitched.axes = {{3, 40, 0, btf::AxisPart::whole},
                  {5, 8, 1, btf::AxisPart::whole},
                  {8, 1, 2, btf::AxisPart::whole}};
  pitched.storage_elements = 120;
  const Bytes elements = random_bytes(60 * 2, 15);
  Bytes stored(240);
  for (std::size_t i = 0; i < 60; ++i)
    std::memcpy(stored.data() + 2 * (i / 20 * 40 + i / 5 % 4 * 8 + i % 5), elements.data() + 2 * i,
                2);
  const StridedLayout plain = linear({3, 4, 5}, DType::int16);
  CHECK(moved(DType::int16, plain, elements, pitched) == stored);
  CHECK(moved(DType::int16, pitched, stored, plain) == elements);
}

TEST_CASE("memory: what does not fit together is refused") {
  Bytes bytes(64);
  const auto attempt = [&](const Dims& from, std::size_t from_bytes, const Dims& to,
                           std::size_t to_bytes) {
    const auto result =
        btf::convert({DType::int8, linear(from, DType::int8), std::span(bytes).first(from_bytes)},
                     {DType::int8, linear(to, DType::int8), std::span(bytes).first(to_bytes)});
    return result ? "" : said(result.error());
  };
  CHECK(attempt({2, 3}, 6, {2, 3}, 6).empty());
  CHECK(attempt({2, 3}, 6, {3, 2}, 6) == "source and target have different dims");
  CHECK(attempt({2, 3}, 6, {2, 3, 1}, 6) == "source and target have different dims");
  CHECK(attempt({2, 3}, 5, {2, 3}, 6) == "the buffer has 5 bytes, but its layout needs 6");
  CHECK(attempt({2, 3}, 6, {2, 3}, 5) == "the buffer has 5 bytes, but its layout needs 6");
}

TEST_CASE("memory: cancelled") {
  const std::atomic<bool> cancel = true;
  btf::Execution execution;
  execution.cancel = &cancel;
  Bytes bytes(8);
  const Bytes source(8);
  const auto result = btf::convert({DType::int8, linear({8}, DType::int8), source},
                                   {DType::int8, linear({8}, DType::int8), bytes}, {}, execution);
  REQUIRE(!result);
  CHECK(result.error().code == btf::ErrorCode::cancelled);
}

TEST_CASE("permuted: every layout in every order, by brute force") {
  for (const naive::Name& name : naive::names()) {
    const Dims dims{3, 3, 2, 5};
    if (!naive::can_hold(name, 4, 3)) continue;
    const StridedLayout layout = resolved(layout_of(name), dims, DType::int8);
    for (const std::vector<std::uint32_t>& order : orders(4)) {
      const StridedLayout turned = btf::permuted(layout, order);
      Dims expected_dims;
      for (const std::uint32_t d : order) expected_dims.push_back(dims[d]);
      bool right = turned.dims == expected_dims &&
                   turned.storage_elements == layout.storage_elements &&
                   turned.storage_shape() == layout.storage_shape();
      Dims index(4, 0);
      do {
        Dims source(4);
        for (std::size_t d = 0; d < 4; ++d) source[order[d]] = index[d];
        right = right && btf::offset(turned, index) == btf::offset(layout, source);
      } while (naive::next(index, expected_dims));
      if (turned.vectorized_dim >= 0)
        right = right && order[static_cast<std::size_t>(turned.vectorized_dim)] ==
                             static_cast<std::uint32_t>(layout.vectorized_dim);
      CAPTURE(name.name, order);
      CHECK(right);
    }
  }
}

TEST_CASE("permuted: converted, every layout in every order") {
  for (const naive::Name& name : naive::names()) {
    const Dims dims{3, 3, 3, 5};
    const Bytes elements = random_bytes(count_of(dims) * 2, 16);
    const Bytes stored = naive::store(naive::layout(name.name, dims, 2), elements, 2);
    for (const std::vector<std::uint32_t>& order : orders(4)) {
      const StridedLayout source =
          btf::permuted(resolved(layout_of(name), dims, DType::float16), order);
      CAPTURE(name.name, order);
      CHECK((moved(DType::float16, source, stored, linear(source.dims, DType::float16)) ==
             transposed(dims, elements, order, 2)));
    }
  }
}
