// Two COO tensors side by side, against maps from number to code that know neither runs nor slabs.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "btf/diff.h"
#include "diff/sides/rows.h"
#include "support/btf_bytes.h"
#include "support/random_tensor.h"
#include "support/said.h"
#include "support/scratch_dir.h"

using btf::DType;
using btf::PairOrder;
using btf::PairRun;
using btf::SparsePairs;
using bytes::Bytes;
using bytes::Words;

namespace {

using Entries = std::map<std::uint64_t, std::uint64_t>;  // number to code

Words index_of_number(const Words& dims, std::uint64_t number) {
  Words index(dims.size());
  for (std::size_t d = dims.size(); d-- > 0; number /= dims[d]) index[d] = number % dims[d];
  return index;
}

class Side {
 public:
  Side(const std::string& name, DType dtype, const Words& dims, const Entries& entries,
       bool backwards = false, std::optional<std::uint64_t> twice = {}) {
    std::vector<Words> indices;
    Words codes;
    for (const auto& [number, code] : entries) {
      const int times = twice == number ? 2 : 1;
      for (int i = 0; i < times; ++i) {
        indices.push_back(index_of_number(dims, number));
        codes.push_back(code);
      }
    }
    if (backwards) {
      std::ranges::reverse(indices);
      std::ranges::reverse(codes);
    }
    const Bytes stream = bytes::pack(btf::info(dtype).bits, codes);
    file_.emplace(bytes::open(
        bytes::save(scratch_, name, bytes::file({bytes::coo(dtype, dims, indices, stream)}))));
    record_ = file_->tensor(0).value();
  }

  std::unique_ptr<btf::DiffSide> open(const btf::Execution& execution) const {
    return btf::file_side(*file_, record_, execution).value();
  }

 private:
  ScratchDir scratch_;
  std::optional<btf::TensorFile> file_;
  btf::TensorInfo record_;
};

Entries random_entries(std::uint64_t total, std::uint64_t every, unsigned bits, Random& random) {
  Entries entries;
  for (std::uint64_t number = random.below(every); number < total;
       number += 1 + random.below(2 * every - 1))
    entries[number] = random.next() >> (64 - bits);
  return entries;
}

std::uint64_t code_at(const Entries& entries, std::uint64_t number) {
  const auto found = entries.find(number);
  return found == entries.end() ? 0 : found->second;
}

std::uint64_t load(const std::byte* codes, std::uint64_t i, std::uint64_t width) {
  std::uint64_t code = 0;
  std::memcpy(&code, codes + i * width, width);
  return code;
}

// What a walk gave: the codes of every number, and how many equal pairs came without numbers.
struct Walked {
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> codes;
  std::uint64_t pairs = 0;
  std::uint64_t repeated = 0;
  std::uint64_t out_of_order = 0;
  std::map<std::uint64_t, unsigned> slabs;  // and who walked them
};

Walked walk(const Side& left, const Side& right, DType a, DType g, unsigned jobs, PairOrder order,
            SparsePairs sparse) {
  const btf::Execution execution{.jobs = jobs};
  const auto actual = left.open(execution);
  const auto golden = right.open(execution);
  const btf::PairRows rows(*actual, *golden, execution, order);
  Walked walked;
  std::mutex mutex;
  std::map<std::uint64_t, std::uint64_t> next;  // in a slab
  REQUIRE(rows.walk<double>(
      [&](unsigned worker, std::uint64_t slab, const PairRun<double>& run) {
        const std::scoped_lock lock(mutex);
        walked.pairs += run.count;
        walked.slabs.emplace(slab, worker);
        if (run.alike && sparse == SparsePairs::gathered && run.actual[0] == run.golden[0]) return;
        for (std::uint64_t i = 0; i < run.count; ++i) {
          const std::uint64_t at = run.alike ? 0 : i;
          const auto codes = std::pair(load(run.actual_codes, at, btf::info(a).buffer_bytes()),
                                       load(run.golden_codes, at, btf::info(g).buffer_bytes()));
          const std::uint64_t number = run.number(i);
          if (number < next[slab]) ++walked.out_of_order;
          next[slab] = number + 1;
          if (!walked.codes.emplace(number, codes).second) ++walked.repeated;
        }
      },
      sparse));
  return walked;
}

void check_walk(const Walked& walked, const Entries& left, const Entries& right,
                std::uint64_t total, bool gathered) {
  CHECK(walked.pairs == total);
  CHECK(walked.repeated == 0);
  CHECK(walked.out_of_order == 0);
  std::uint64_t wrong = 0;
  for (const auto& [number, codes] : walked.codes)
    if (codes != std::pair(code_at(left, number), code_at(right, number))) ++wrong;
  CHECK(wrong == 0);
  if (!gathered) {
    CHECK(walked.codes.size() == total);
    return;
  }
  std::uint64_t missing = 0;
  for (const Entries* entries : {&left, &right})
    for (const auto& [number, code] : *entries) missing += walked.codes.contains(number) ? 0 : 1;
  CHECK(missing == 0);
}

}  // namespace

TEST_CASE("sparse pairs: every pair comes once with its codes, whatever is stored") {
  struct Case {
    DType actual, golden;
    std::uint64_t actual_every, golden_every;
    bool same_places;
    bool backwards;
  };
  const Words dims{7, 300, 101};
  const std::uint64_t total = 7 * 300 * 101;
  Random random(1);
  for (const Case& c :
       std::initializer_list<Case>{{DType::float32, DType::float32, 2, 2, true, false},
                                   {DType::float32, DType::float32, 2, 2, false, false},
                                   {DType::int4, DType::uint16, 1, 9, false, false},
                                   {DType::float16, DType::float64, 5000, 2, false, false},
                                   {DType::float8_e8m0fnu, DType::float32, 30, 2, false, false},
                                   {DType::float32, DType::int8, 2, 2, true, true}}) {
    CAPTURE(btf::info(c.actual).name, btf::info(c.golden).name, c.actual_every);
    const Entries left = random_entries(total, c.actual_every, btf::info(c.actual).bits, random);
    Entries right = random_entries(total, c.golden_every, btf::info(c.golden).bits, random);
    if (c.same_places) {
      right.clear();
      for (const auto& [number, code] : left)
        right[number] = code >> (64 - btf::info(c.golden).bits) % 64 & 0x7f;
    }
    const Side a("a.btf", c.actual, dims, left, c.backwards);
    const Side g("g.btf", c.golden, dims, right);
    std::optional<std::size_t> slabs;
    for (const unsigned jobs : {1U, 3U}) {
      for (const SparsePairs sparse : {SparsePairs::in_order, SparsePairs::gathered}) {
        const Walked walked = walk(a, g, c.actual, c.golden, jobs, PairOrder::any, sparse);
        check_walk(walked, left, right, total, sparse == SparsePairs::gathered);
        if (slabs) CHECK(walked.slabs.size() == *slabs);
        slabs = walked.slabs.size();
      }
    }
    CHECK((*slabs > 1) == (!c.backwards && std::min(left.size(), right.size()) > 1 &&
                           std::max(left.size(), right.size()) > 65536));
  }
}

TEST_CASE("sparse pairs: a walk by rows has whole rows in a slab, one in row-major order all") {
  const Words dims{700, 301};
  const std::uint64_t total = 700 * 301;
  Random random(2);
  const Entries left = random_entries(total, 1, 16, random);
  const Entries right = random_entries(total, 2, 16, random);
  const Side a("a.btf", DType::uint16, dims, left);
  const Side g("g.btf", DType::uint16, dims, right);
  const btf::Execution execution{.jobs = 2};
  const auto actual = a.open(execution);
  const auto golden = g.open(execution);
  std::map<std::uint64_t, std::uint64_t> slab_of_row;
  std::uint64_t torn = 0;
  std::mutex mutex;
  REQUIRE(btf::PairRows(*actual, *golden, execution, PairOrder::rows)
              .walk<double>([&](unsigned, std::uint64_t slab, const PairRun<double>& run) {
                const std::scoped_lock lock(mutex);
                for (std::uint64_t i = 0; i < run.count; ++i)
                  torn += slab_of_row.emplace(run.number(i) / 301, slab).first->second != slab;
              }));
  CHECK(torn == 0);
  CHECK(slab_of_row.size() == 700);
  CHECK(slab_of_row.rbegin()->second > 0);
  std::uint64_t next = 0;
  const btf::PairRows in_order(*actual, *golden, execution, PairOrder::row_major);
  CHECK(in_order.workers().value() == 1);
  REQUIRE(in_order.walk<double>([&](unsigned, std::uint64_t, const PairRun<double>& run) {
    if (run.first == next) next += run.count;
  }));
  CHECK(next == total);
}

TEST_CASE("sparse pairs: an index that occurs twice is an error wherever slabs are cut") {
  const Words dims{400'000};
  Random random(3);
  const Entries entries = random_entries(400'000, 2, 8, random);
  REQUIRE(entries.size() > 3 * 65536);
  const Side good("g.btf", DType::int8, dims, entries);
  Words numbers;
  for (const auto& [number, code] : entries) numbers.push_back(number);
  // Around the entry at which a slab begins and its neighbours, and at either end.
  for (const std::uint64_t at :
       {Words::value_type{0}, Words::value_type{65534}, Words::value_type{65535},
        Words::value_type{65536}, Words::value_type{131071},
        Words::value_type{numbers.size() - 1}}) {
    CAPTURE(at);
    const Side bad("b.btf", DType::int8, dims, entries, false, numbers[at]);
    for (const unsigned jobs : {1U, 2U}) {
      const btf::Execution execution{.jobs = jobs};
      for (const bool first : {false, true}) {
        const auto actual = (first ? bad : good).open(execution);
        const auto golden = (first ? good : bad).open(execution);
        const auto status = btf::PairRows(*actual, *golden, execution)
                                .walk<double>([](unsigned, std::uint64_t, const auto&) {});
        REQUIRE_FALSE(status);
        CHECK(said(status.error())
                  .find("COO entries " + std::to_string(at) + " and " + std::to_string(at + 1) +
                        " have the same index") != std::string::npos);
      }
    }
  }
}
