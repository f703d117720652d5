// Two files compared under any options: the verdict does not depend on what else is asked for,
// judging the result again by the same limits changes nothing, and a file is the same as itself.
// The options come first, then one file, then the other, or what distinguishes it from the first.
#include <algorithm>

#include "btf/diff.h"
#include "core/numbers.h"
#include "memory_file.h"

namespace fuzz {
namespace {

constexpr std::size_t kOptions = 32;

btf::DiffOptions request(BytesView bytes) {
  Input input(bytes);
  btf::DiffOptions options{.execution = alone()};
  const std::uint64_t flags = input.byte();
  btf::Tolerance& tolerance = options.tolerance;
  if (flags & 1) tolerance.rtol = double(input.byte()) / 1024;
  if (flags & 2) tolerance.atol = double(input.byte()) / 64;
  if (flags & 4) tolerance.ulp = input.byte();
  tolerance.close = (flags & 8) != 0;
  tolerance.equal_nan = (flags & 16) == 0;
  options.strict = (flags & 0x60) == 0x60;
  options.details = (flags & 0x80) == 0;
  const std::uint64_t more = input.byte();
  btf::Gates& gates = options.gates;
  if (more & 1) gates.max_mismatch = {{double(input.byte()), input.flag()}};
  if (more & 2) gates.cosine = 1 - double(input.byte()) / 256;
  if (more & 4) gates.psnr = double(input.byte());
  if (more & 8) gates.snr = double(input.byte());
  if (more & 16) gates.rmse = double(input.byte()) / 16;
  if (more & 32) gates.max_abs = double(input.byte()) / 16;
  if (more & 64) gates.quantiles.push_back({double(input.byte()) / 256, double(input.byte())});
  if (more & 128) gates.top_k = 1 + input.below(5);
  const std::uint64_t rest = input.byte();
  options.figures = rest & 1;
  options.hints = (rest & 6) == 6;
  options.show = (rest >> 3) % 8;
  if ((rest & 64) && options.details) {
    options.heatmap.emplace();
    options.heatmap->rows = static_cast<std::uint32_t>(1 + input.below(5));
    options.heatmap->columns = static_cast<std::uint32_t>(1 + input.below(9));
    if (input.rarely(2))
      options.heatmap->axes = {static_cast<std::int8_t>(input.byte()) % 4,
                               static_cast<std::int8_t>(input.byte()) % 4};
  }
  return options;
}

// A dense tensor has no more elements than the file has nibbles; a sparse one of a few bytes may
// have any number, and a comparison goes through them all.
bool small(const btf::TensorFile& file, std::uint64_t most) {
  if (file.tensor_count() > 8) return false;
  std::uint64_t elements = 0;
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const auto tensor = file.tensor(i);
    if (!tensor) continue;
    btf::Checked count = std::uint64_t{1};
    for (const std::uint64_t dim : tensor->dims)
      if (count) count = btf::checked_mul(*count, std::max<std::uint64_t>(dim, 1));
    if (!count || *count > most) return false;
    elements += *count;
  }
  return elements <= most;
}

struct Verdict {
  btf::Result<bool> same;
  std::vector<btf::TensorDiff> tensors;
};

Verdict compare(const btf::TensorFile& a, const btf::TensorFile& b,
                const btf::DiffOptions& options) {
  Verdict verdict;
  verdict.same = btf::diff(a, b, options,
                           [&](const btf::TensorDiff& diff) { verdict.tensors.push_back(diff); });
  return verdict;
}

void check(const Verdict& verdict, const btf::DiffOptions& options) {
  bool same = true;
  for (btf::TensorDiff diff : verdict.tensors) {
    same = same && diff.result == btf::DiffResult::same;
    require(diff.mismatched <= diff.compared, "more mismatches than elements");
    require(diff.first.size() <= options.show && diff.largest.size() <= options.show,
            "more mismatches are shown than were asked for");
    const btf::DiffResult before = diff.result;
    if (btf::rejudge(diff, diff.tolerance, options.gates))
      require(diff.result == before, "judged again by the same limits it is another verdict");
  }
  require(*verdict.same == same, "the tensors' verdicts are not the file's");
}

}  // namespace
}  // namespace fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  if (size < kOptions) return 0;
  const btf::DiffOptions options = request(view(data, kOptions - 4));
  Input input(view(data, size).subspan(kOptions - 4));
  const std::uint64_t split = input.number(2);
  const std::uint64_t place = input.number(2);
  const BytesView files = input.rest();
  const BytesView first = files.first(std::min<std::size_t>(split, files.size()));
  const BytesView second = files.subspan(first.size());
  // Of a short second part: the first file with some bytes changed.
  Bytes changed;
  if (second.size() < 16 && !first.empty()) {
    changed.assign(first.begin(), first.end());
    for (std::size_t i = 0; i < second.size(); ++i)
      changed[(place + i) % changed.size()] ^= second[i];
  }
  const auto a = open(first);
  const auto b = open(changed.empty() ? second : BytesView(changed));
  // Causes are looked for in many ways, over and over again.
  const std::uint64_t most = options.hints ? 1U << 8 : 1U << 11;
  if (!a || !b || !small(*a, most) || !small(*b, most)) return 0;
  const Verdict verdict = compare(*a, *b, options);
  if (!verdict.same) {
    require(!verdict.same.error().message.empty(), "an error says nothing");
    return 0;
  }
  check(verdict, options);
  btf::DiffOptions bare = options;
  bare.details = false;
  bare.hints = false;
  bare.figures = false;
  bare.heatmap.reset();
  const Verdict again = compare(*a, *b, bare);
  require(again.same && *again.same == *verdict.same, "the verdict depends on what else is asked");
  if (options.gates.given() || !options.tolerance.equal_nan) return 0;
  const Verdict itself = compare(*a, *a, options);
  // Tensors that were not looked at before may be malformed.
  require(!itself.same || *itself.same, "a file differs from itself");
  return 0;
}
