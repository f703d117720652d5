#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "support/btf_bytes.h"
#include "support/naive_layout.h"
#include "support/random_tensor.h"
#include "support/scratch_dir.h"
#include "unit/diff/diff_cases.h"

using namespace diff_cases;

TEST_CASE("diff: every pair of layouts, padding ignored, with the right places") {
  Random random(4);
  const Files files;
  for (const Words& dims : {Words{2, 3, 3, 4, 9}, Words{1, 4, 3, 5, 33}}) {
    const Tensor golden = random_tensor(DType::int8, dims, random);
    Tensor actual = golden;
    for (std::uint64_t& code : actual.codes)
      if (random.below(50) == 0) code = (code + 1 + random.below(250)) & 0xff;
    const std::uint64_t data = 16 + 16 + 8 * dims.size();
    const Brute brute = brute_force(actual, golden, {});
    const auto can_hold = [&](const naive::Name& name) {
      return naive::can_hold(name, 5, dims[5 - name.channel_from_end]);
    };
    const auto path = [&](const char* what, const naive::Name& name) {
      return files.scratch() / (what + std::to_string(name.code));
    };
    for (const naive::Name& name : naive::names()) {
      if (!can_hold(name)) continue;
      write_file(path("actual", name), bytes::file({stored(name, actual)}));
      write_file(path("golden", name), bytes::file({stored(name, golden)}));
    }
    for (const naive::Name& from : naive::names()) {
      for (const naive::Name& to : naive::names()) {
        if (!can_hold(from) || !can_hold(to)) continue;
        CAPTURE(from.name, to.name, dims);
        CHECK(*Files::diff_paths(path("golden", from), path("golden", to)).same);
        DiffOptions options;
        options.show = 7;
        const TensorDiff diff =
            Files::diff_paths(path("actual", from), path("golden", to), options).tensors.at(0);
        CHECK(diff.mismatched == brute.mismatched);
        CHECK(diff.max_abs == brute.max_abs);
        REQUIRE(diff.first.size() == std::min<std::size_t>(7, brute.places.size()));
        const naive::Array left = naive::layout(from.name, dims, 1);
        const naive::Array right = naive::layout(to.name, dims, 1);
        const auto check_place = [&](const Mismatch& mismatch) {
          std::uint64_t at = 0;
          for (std::size_t d = 0; d < dims.size(); ++d) at = at * dims[d] + mismatch.index[d];
          CHECK(mismatch.actual_code == actual.codes[at]);
          CHECK(mismatch.golden_code == golden.codes[at]);
          CHECK(mismatch.actual_offset == data + left.place[at]);
          CHECK(mismatch.golden_offset == data + right.place[at]);
        };
        for (std::size_t k = 0; k < diff.first.size(); ++k) {
          CHECK(diff.first[k].index == index_of(dims, brute.places[k]));
          check_place(diff.first[k]);
        }
        check_place(*diff.worst_abs);
        CHECK(diff.worst_abs->abs_error == diff.max_abs);
        check_place(*diff.worst_rel);
      }
    }
  }
}

TEST_CASE("diff: dense against COO, and COO against COO") {
  Random random(5);
  const Files files;
  const Words dims{2, 3, 3, 4, 9};
  for (const DType dtype : {DType::float32, DType::float16, DType::int8, DType::int64}) {
    Tensor golden = random_tensor(dtype, dims, random);
    for (std::uint64_t& code : golden.codes)
      if (random.below(3) != 0) code = 0;
    Tensor actual = disturbed(golden, random);
    DiffOptions options = tolerance(1e-3, 0);
    options.execution.memory = 0;
    for (const naive::Name& name : naive::names()) {
      CAPTURE(btf::info(dtype).name, name.name);
      check_against(files.one(stored(name, actual), sparse(golden), options), actual, golden,
                    options);
      check_against(files.one(sparse(actual), stored(name, golden), options), actual, golden,
                    options);
    }
    check_against(files.one(sparse(actual), sparse(golden), options), actual, golden, options);
    CHECK(files.one(sparse(golden), linear(golden)).result == DiffResult::same);
    CHECK(files.one(sparse(golden), sparse(golden)).result == DiffResult::same);
  }
  const Tensor nibbles = random_tensor(DType::int4, {3, 5, 7}, random);
  const Tensor others = disturbed(nibbles, random);
  check_against(files.one(sparse(others), linear(nibbles)), others, nibbles, {});
  check_against(files.one(linear(others), sparse(nibbles)), others, nibbles, {});
  check_against(files.one(sparse(others), sparse(nibbles)), others, nibbles, {});
}

TEST_CASE("diff: where COO elements are, and where they are not") {
  const Files files;
  const Bytes actual = bytes::coo(DType::int8, {4, 4}, {{3, 3}, {0, 1}}, bytes::hex("05 06"));
  const Bytes golden = bytes::coo(DType::int8, {4, 4}, {{3, 3}, {2, 2}}, bytes::hex("07 08"));
  const TensorDiff diff = files.one(actual, golden);
  REQUIRE(diff.first.size() == 3);
  const std::uint64_t values = 16 + 32 + 16 + 32 + 8;
  CHECK(diff.first[0].index == Words{0, 1});
  CHECK(diff.first[0].actual_offset == values + 1);
  CHECK_FALSE(diff.first[0].golden_offset);
  CHECK(diff.first[1].index == Words{2, 2});
  CHECK_FALSE(diff.first[1].actual_offset);
  CHECK(diff.first[1].golden_offset == values + 1);
  CHECK(diff.first[2].index == Words{3, 3});
  CHECK(diff.first[2].actual_offset == values);
  CHECK(diff.first[2].golden_offset == values);
  CHECK(diff.compared == 16);
}

TEST_CASE("diff: a huge COO pair costs by its entries") {
  const Files files;
  constexpr std::uint64_t kSide = 1ULL << 31;
  const std::vector<Words> indices{{kSide - 1, kSide - 1}, {0, 5}, {7, 1234567890}, {1, 0}};
  const auto record = [&](float last) {
    return bytes::coo(DType::float32, {kSide, kSide}, indices,
                      bytes::values<float>({last, 2, 3, 4}));
  };
  // Element by element none of these would end before the limit of the test.
  CHECK(files.one(record(1), record(1)).result == DiffResult::same);
  const TensorDiff diff = files.one(record(1), record(1.5F));
  CHECK(diff.compared == 1ULL << 62);
  CHECK(diff.mismatched == 1);
  CHECK(diff.worst_abs->index == Words{kSide - 1, kSide - 1});
  const Bytes empty = bytes::coo(DType::int8, {kSide, kSide}, {}, {});
  CHECK(files.one(record(1), empty).mismatched == 4);
}

TEST_CASE("diff: an absent element of E8M0 is not zero") {
  const Files files;
  // All bits zero are 2^-127 there.
  const Bytes scales = bytes::coo(DType::float8_e8m0fnu, {1ULL << 20, 1ULL << 20}, {}, {});
  const Bytes zeros = bytes::coo(DType::float32, {1ULL << 20, 1ULL << 20}, {}, {});
  const TensorDiff diff = files.one(scales, zeros);
  CHECK(diff.mismatched == 1ULL << 40);
  CHECK(diff.first.size() == 5);
  CHECK(diff.first[4].index == Words{0, 4});
  CHECK(diff.max_abs == 0x1p-127);
}

TEST_CASE("diff: the golden files") {
  const auto same = [&](const std::string& actual, const std::string& golden) {
    const FileDiff diff = Files::diff_paths(kGood + actual, kGood + golden);
    CAPTURE(actual, golden);
    REQUIRE(diff.same);
    return *diff.same;
  };
  for (const char* name :
       {"layouts_f16", "layouts_f32", "layouts_i8", "layout_cdhw32_c", "layout_chw16_c",
        "layout_chw2_c", "layout_chw32_c", "layout_chw4_c", "layout_dhwc8_c", "layout_dhwc_c",
        "layout_dla_hwc4_c", "layout_dla_linear_c", "layout_hwc16_c", "layout_hwc8_c",
        "layout_hwc_c"}) {
    CHECK(same(name + std::string(".btf"), name + std::string(".linear.btf")));
    CHECK(same(name + std::string(".linear.btf"), name + std::string(".btf")));
  }
  CHECK(same("small_codes.btf", "small_codes.float32.btf"));
  CHECK(same("coo_code1.btf", "coo_code2.btf"));
  CHECK(same("coo_code2.btf", "coo_code2.dense.btf"));
  CHECK(same("coo_unsorted.btf", "coo_unsorted.canonical.btf"));
  CHECK(same("coo_unsorted.dense.btf", "coo_unsorted.btf"));

  // float64 holds every value but those of the 64-bit integers.
  for (const TensorDiff& tensor :
       Files::diff_paths(kGood + "dtypes.btf", kGood + "dtypes.float64.btf").tensors) {
    const bool wide = tensor.actual->dtype == DType::int64 || tensor.actual->dtype == DType::uint64;
    CAPTURE(btf::info(tensor.actual->dtype).name);
    CHECK((tensor.result == DiffResult::different) == wide);
    CHECK(tensor.max_rel <= 0x1p-53);
  }

  const FileDiff noisy = Files::diff_paths(kGood + "mixed_noisy.btf", kGood + "mixed.btf");
  REQUIRE(noisy.same);
  CHECK_FALSE(*noisy.same);
  REQUIRE(noisy.tensors.size() == 4);
  REQUIRE(noisy.tensors[0].first.size() == 3);
  CHECK(noisy.tensors[0].first[0].index == Words{0, 0, 2, 3});
  CHECK(noisy.tensors[0].first[1].index == Words{0, 1, 4, 4});
  CHECK(noisy.tensors[0].first[2].index == Words{0, 2, 7, 0});
  CHECK(noisy.tensors[0].max_rel == Approx(1e-3).epsilon(1e-3));
  CHECK(noisy.tensors[1].nan.actual == 1);
  CHECK(noisy.tensors[1].first.front().index == Words{5, 1, 1, 2});
  CHECK(noisy.tensors[2].result == DiffResult::same);
  CHECK(noisy.tensors[3].result == DiffResult::same);
}
