#include "fit/measure/numbers.h"

#include <algorithm>

#include "btf/try.h"

namespace btf {
namespace {

constexpr std::size_t kLeastRun = 1024;

}  // namespace

Status Numbers::read(std::uint64_t first, std::span<double> into) {
  // Single numbers are near one another: of a value that is broadcast, or a group's.
  if (into.size() < kLeastRun)
    stored_.numbers_at(first, into);
  else
    stored_.pass_over(first, into);
  if (stored_.trouble()) return std::unexpected(*stored_.trouble());
  return {};
}

PlacedNumbers::PlacedNumbers(Numbers& numbers, const Dims& dims, const Dims& result)
    : numbers_(numbers), place_(dims, result) {
  // Dims from the last on: all as the result has them, or all 1.
  const auto own = [&](std::size_t back) {
    return back < dims.size() ? dims[dims.size() - 1 - back] : 1;
  };
  std::size_t back = 0;
  for (; back < result.size() && result[result.size() - 1 - back] == 1; ++back) {
  }
  if (back == result.size()) return;
  inner_.stays = own(back) == 1;
  for (; back < result.size(); ++back) {
    const std::uint64_t size = result[result.size() - 1 - back];
    if (size != 1 && (own(back) == 1) != inner_.stays) break;
    inner_.count *= size;
  }
}

Status PlacedNumbers::read(std::uint64_t first, std::span<double> into) {
  while (!into.empty()) {
    const std::uint64_t within = first % inner_.count;
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(inner_.count - within, into.size()));
    const std::span<double> run = into.first(count);
    const std::uint64_t from = place_.number(first);
    if (inner_.stays) {
      BTF_TRY(numbers_.read(from, run.first(1)));
      std::ranges::fill(run, run[0]);
    } else {
      BTF_TRY(numbers_.read(from, run));
    }
    into = into.subspan(count);
    first += count;
  }
  return {};
}

bool PlacedNumbers::any(std::uint64_t begin, std::uint64_t end,
                        const std::vector<bool>& marked) const {
  while (begin < end) {
    const std::uint64_t count = std::min(inner_.count - begin % inner_.count, end - begin);
    const std::uint64_t from = place_.number(begin);
    const std::uint64_t numbers = inner_.stays ? 1 : count;
    for (std::uint64_t i = from; i < from + numbers; ++i)
      if (marked[i]) return true;
    begin += count;
  }
  return false;
}

}  // namespace btf
