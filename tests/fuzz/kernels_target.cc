// Every fast kernel against the reference or a plain loop, at each instruction set of this CPU.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "input.h"
#include "kernels/cast/cast_runs.h"
#include "kernels/cast/kernel_table.h"
#include "kernels/compare/compare.h"
#include "kernels/compare/compare_runs.h"
#include "kernels/move/move.h"
#include "kernels/number/widen.h"
#include "support/forced_level.h"

namespace fuzz {
namespace {

constexpr std::byte kSentinel{0xA5};
constexpr std::size_t kMargin = 64;

// A target with sentinels around it, `off` bytes from where a vector would like it.
class Guarded {
 public:
  Guarded(std::size_t bytes, std::size_t off)
      : memory_(kMargin + off + bytes + kMargin, kSentinel), begin_(kMargin + off), bytes_(bytes) {}

  std::byte* data() { return memory_.data() + begin_; }
  BytesView bytes() const { return BytesView(memory_).subspan(begin_, bytes_); }
  void check() const {
    const auto untouched = [](std::byte byte) { return byte == kSentinel; };
    require(std::all_of(memory_.begin(), memory_.begin() + std::ptrdiff_t(begin_), untouched) &&
                std::all_of(memory_.begin() + std::ptrdiff_t(begin_ + bytes_), memory_.end(),
                            untouched),
            "a kernel wrote outside its target");
  }

 private:
  Bytes memory_;
  std::size_t begin_;
  std::size_t bytes_;
};

// The source ends where its memory ends, which a sanitizer sees.
class Source {
 public:
  Source(BytesView bytes, std::size_t off) : memory_(off + bytes.size()), off_(off) {
    std::ranges::copy(bytes, memory_.begin() + std::ptrdiff_t(off));
  }
  const std::byte* data() const { return memory_.data() + off_; }

 private:
  Bytes memory_;
  std::size_t off_;
};

bool same(const btf::LossAccount& a, const btf::LossAccount& b) {
  return a.elements == b.elements && a.overflowed == b.overflowed && a.nan_lost == b.nan_lost &&
         a.to_zero == b.to_zero && a.inexact == b.inexact && a.nan == b.nan &&
         std::bit_cast<std::uint64_t>(a.max_abs) == std::bit_cast<std::uint64_t>(b.max_abs) &&
         std::bit_cast<std::uint64_t>(a.max_rel) == std::bit_cast<std::uint64_t>(b.max_rel);
}

// The elements of a short input again and again, so that there is enough for whole vectors.
Bytes stretched(Input& input, std::size_t element) {
  const std::uint64_t times = input.rarely(16) ? 1 + input.below(40) : 1;
  const BytesView once = input.rest();
  const std::size_t whole = once.size() / element * element;
  Bytes all;
  for (std::uint64_t i = 0; i < times && all.size() < 8192; ++i)
    all.insert(all.end(), once.begin(), once.begin() + std::ptrdiff_t(whole));
  return all;
}

// 4-bit codes have a byte each, and its high half is clear.
void clean(btf::DType dtype, Bytes& codes) {
  if (btf::info(dtype).bits < 8)
    for (std::byte& code : codes) code &= std::byte{15};
}

void cast(Input& input) {
  const btf::DTypeInfo& from = input.row(btf::dtypes());
  const btf::DTypeInfo& to = input.row(btf::dtypes());
  if (from.dtype == to.dtype) return;  // a copy of bits, not a cast
  btf::CastJob job{from.dtype, to.dtype, {}};
  if (input.rarely(4)) {
    job.policy.overflow = static_cast<btf::Overflow>(input.below(4));
    job.policy.rounding = static_cast<btf::Rounding>(input.below(5));
    if (!btf::check_policy(from.dtype, to.dtype, job.policy)) return;
  }
  const std::size_t source_off = input.below(16);
  const std::size_t target_off = input.below(64);
  const bool apart = input.rarely(4);
  const std::uint64_t before = input.byte();
  Bytes codes = stretched(input, from.buffer_bytes());
  clean(from.dtype, codes);
  const std::size_t count = codes.size() / from.buffer_bytes();
  const std::size_t step = apart ? 2 : 1;  // elements that do not stand side by side
  const Source source(codes, source_off);
  btf::Tile tile{
      .source = source.data(), .n0 = count / step, .source_stride0 = step, .target_stride0 = 1};
  btf::LossAccount start;
  if (before % 4 == 1) start.max_abs = start.max_rel = double(before) / 256;
  Bytes expected(tile.n0 * to.buffer_bytes());
  tile.target = expected.data();
  btf::LossAccount expected_account = start;
  btf::cast_kernels().back().run(job, tile, expected_account);
  for (const btf::CpuLevel level : btf::test::cpu_levels()) {
    const btf::test::ForcedLevel forced(level);
    for (const btf::CastKernel& kernel : btf::cast_kernels()) {
      if (!kernel.applies(job) || &kernel == &btf::cast_kernels().back()) continue;
      Guarded target(expected.size(), target_off);
      tile.target = target.data();
      btf::LossAccount account = start;
      kernel.run(job, tile, account);
      target.check();
      require(std::ranges::equal(target.bytes(), expected), "a kernel casts to other bytes");
      require(same(account, expected_account), "a kernel keeps another account");
    }
  }
}

void transpose(Input& input) {
  const std::uint64_t bytes = 1U << input.below(4);
  const std::uint64_t rows = 1 + input.below(70);
  const std::uint64_t columns = 1 + input.below(70);
  const std::uint64_t source_stride = columns + input.below(5);
  const std::uint64_t pad = input.below(9);
  const std::uint64_t target_stride = rows + pad + input.below(5);
  const std::size_t target_off = input.below(64);
  const BytesView some = input.rest();
  if (some.empty()) return;
  Bytes cells(((rows - 1) * source_stride + columns) * bytes);
  for (std::size_t i = 0; i < cells.size(); ++i)
    cells[i] = some[i % some.size()] ^ static_cast<std::byte>(i / some.size());
  const std::size_t target_bytes = ((columns - 1) * target_stride + rows + pad) * bytes;
  Bytes expected(target_bytes);
  for (std::uint64_t r = 0; r < rows; ++r)
    for (std::uint64_t c = 0; c < columns; ++c)
      std::memcpy(expected.data() + (c * target_stride + r) * bytes,
                  cells.data() + (r * source_stride + c) * bytes, bytes);
  for (const btf::CpuLevel level : btf::test::cpu_levels()) {
    const btf::test::ForcedLevel forced(level);
    Guarded target(target_bytes, target_off);
    std::fill_n(target.data(), target_bytes, std::byte{0});
    btf::transpose({.element_bytes = bytes,
                    .source = cells.data(),
                    .source_stride = source_stride,
                    .target = target.data(),
                    .target_stride = target_stride,
                    .rows = rows,
                    .columns = columns,
                    .width = rows + pad});
    target.check();
    require(std::ranges::equal(target.bytes(), expected), "a transpose moves other bytes");
  }
}

void nibbles(Input& input) {
  const std::uint64_t first = input.below(40);
  const std::uint64_t shorter = input.below(3);
  const BytesView packed = input.rest();
  if (packed.size() * 2 < first + shorter) return;
  const std::uint64_t count = packed.size() * 2 - first - shorter;
  const Source source(packed, first % 7);
  for (const btf::CpuLevel level : btf::test::cpu_levels()) {
    const btf::test::ForcedLevel forced(level);
    Guarded codes(count, shorter);
    btf::unpack_nibbles(source.data(), first, count, codes.data());
    codes.check();
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::byte pair = packed[(first + i) / 2];
      require(codes.bytes()[i] == ((first + i) % 2 == 0 ? pair & std::byte{15} : pair >> 4),
              "a code is unpacked wrongly");
    }
    Guarded again((count + 1) / 2, shorter);
    btf::pack_nibbles(codes.data(), count, again.data());
    again.check();
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::byte pair = again.bytes()[i / 2];
      require(codes.bytes()[i] == (i % 2 == 0 ? pair & std::byte{15} : pair >> 4),
              "a code is packed wrongly");
    }
    if (count % 2 == 1)
      require((again.bytes().back() >> 4) == std::byte{0}, "the spare half of a byte is not clear");
  }
}

void planes(Input& input) {
  const std::size_t width = 1U << input.below(4);
  const Bytes elements = stretched(input, width);
  const std::size_t count = elements.size() / width;
  for (const btf::CpuLevel level : btf::test::cpu_levels()) {
    const btf::test::ForcedLevel forced(level);
    Guarded apart(elements.size(), width);
    btf::split_planes(elements.data(), count, width, apart.data());
    apart.check();
    std::array<const std::byte*, 8> plane{};
    for (std::size_t k = 0; k < width; ++k) {
      plane[k] = apart.data() + k * count;
      for (std::size_t i = 0; i < count; ++i)
        require(plane[k][i] == elements[i * width + k], "a byte is in another plane");
    }
    Guarded joined(elements.size(), 1);
    btf::join_planes(plane.data(), count, width, joined.data());
    joined.check();
    require(std::ranges::equal(joined.bytes(), elements), "planes are joined to other bytes");
  }
}

// Scores of runs with all their shortcuts against those of one pair after the other.
void compare(Input& input) {
  const btf::DTypeInfo& actual = input.row(btf::dtypes());
  const btf::DTypeInfo& golden = input.row(btf::dtypes());
  if (!btf::fits_double(actual.dtype) || !btf::fits_double(golden.dtype)) return;
  btf::Tolerance tolerance;
  const std::uint64_t which = input.byte();
  if (which & 1) tolerance.rtol = double(input.byte()) / 1024;
  if (which & 2) tolerance.atol = double(input.byte()) / 64;
  if (which & 4) tolerance.ulp = input.byte();
  tolerance.equal_nan = (which & 8) != 0;
  const bool near = (which & 16) != 0;
  const std::size_t a = actual.buffer_bytes();
  const std::size_t b = golden.buffer_bytes();
  Bytes codes = stretched(input, near ? a : a + b);
  const std::size_t count = codes.size() / (near ? a : a + b);
  clean(actual.dtype, codes);
  if (!near) clean(golden.dtype, codes);
  std::vector<double> x(count);
  std::vector<double> y(count);
  btf::widener<double>(actual.dtype)(codes.data(), 1, count, x.data());
  if (near) {
    y = x;  // the same but for a few
    for (std::size_t i = which % 7; i < count; i += 7) y[i] += 0.25;
  } else {
    btf::widener<double>(golden.dtype)(codes.data() + count * a, 1, count, y.data());
  }
  const btf::Judge judge = btf::judge_of(tolerance, actual.dtype, golden.dtype);
  btf::CompareScore expected;
  for (std::size_t i = 0; i < count; ++i) {
    btf::CompareScore one;
    btf::compare_many(x[i], y[i], 1, judge, one);
    require((one.mismatched == 0) == btf::accepts(x[i], y[i], judge), "a pair is judged twofold");
    expected.add(one);
  }
  for (const btf::CpuLevel level : btf::test::cpu_levels()) {
    const btf::test::ForcedLevel forced(level);
    btf::CompareScore score;
    btf::compare_run(x.data(), y.data(), count, judge, score);
    const auto key = [](const btf::CompareScore& s) {
      return std::array{
          double(s.compared),  double(s.mismatched), double(s.special),    s.max_abs,
          s.max_rel,           double(s.max_ulp),    s.least_atol,         s.least_rtol,
          double(s.tolerable), double(s.nan.both),   double(s.nan.actual), double(s.nan.golden)};
    };
    require(key(score) == key(expected), "a run is scored otherwise than its pairs");
  }
}

void same_bits(Input& input) {
  const btf::DTypeInfo& row = input.row(btf::dtypes());
  const std::size_t size = row.buffer_bytes();
  const std::uint64_t place = input.number(2);
  Bytes codes = stretched(input, size);
  clean(row.dtype, codes);
  const std::uint64_t count = codes.size() / size;
  if (count == 0 || !btf::fits_double(row.dtype)) return;
  Bytes other = codes;
  std::vector<double> values(count);
  btf::widener<double>(row.dtype)(codes.data(), 1, count, values.data());
  const bool finite = std::ranges::all_of(values, [](double v) { return v - v == 0; });
  other[place % other.size()] ^= std::byte{1};
  for (const btf::CpuLevel level : btf::test::cpu_levels()) {
    const btf::test::ForcedLevel forced(level);
    require(btf::same_finite_bits(row.dtype, codes.data(), codes.data(), count) == finite,
            "the same bits are judged wrongly");
    require(!btf::same_finite_bits(row.dtype, codes.data(), other.data(), count),
            "other bits are taken for the same");
  }
}

}  // namespace
}  // namespace fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  Input input(view(data, size));
  static constexpr std::array kWhat{cast,    cast,   cast,    transpose,
                                    nibbles, planes, compare, same_bits};
  kWhat[input.below(kWhat.size())](input);
  return 0;
}
