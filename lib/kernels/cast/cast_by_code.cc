#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "kernels/cast/cast_reference.h"
#include "kernels/cast/cast_rows.h"
#include "kernels/cast/cast_tile.h"
#include "kernels/cast/few_codes.h"
#include "kernels/move/move.h"

namespace btf {
namespace {

constexpr std::size_t kCodes = 256;
// Elements that are cast at a time, so that their codes are counted while in the first-level cache.
constexpr std::size_t kPart = 4096;

class Counts {
 public:
  Counts() {
    for (auto& some : counts_) some.fill(0);
  }
  // Four sets of counts, to hide the latency if a code is repeated.
  void add(const std::byte* codes, std::size_t count) {
    const auto at = [&](std::size_t i) { return std::to_integer<std::size_t>(codes[i]); };
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
      ++counts_[0][at(i)];
      ++counts_[1][at(i + 1)];
      ++counts_[2][at(i + 2)];
      ++counts_[3][at(i + 3)];
    }
    for (; i < count; ++i) ++counts_[0][at(i)];
  }
  std::uint64_t of(std::size_t code) const {
    return counts_[0][code] + counts_[1][code] + counts_[2][code] + counts_[3][code];
  }

 private:
  std::array<std::array<std::uint64_t, kCodes>, 4> counts_;
};

class CodeTable final : public RunCast {
 public:
  explicit CodeTable(const CastJob& job) : job_(job), target_bytes_(info(job.to).buffer_bytes()) {
    for (std::size_t code = 0; code < kCodes; ++code) {
      const auto source = static_cast<std::byte>(code);
      LossAccount& one = accounts_[code];
      cast_reference_tile(
          job, {.source = &source, .target = reinterpret_cast<std::byte*>(&codes_[code]), .n0 = 1},
          one);
      changes_ = changes_ || one.changed() != 0 || one.nan != 0;
    }
    is_few_ = has_few_codes(info(job.from));
    if (is_few_) set_few();
  }

  bool is_for(const CastJob& job) const {
    return job.from == job_.from && job.to == job_.to &&
           job.policy.overflow == job_.policy.overflow &&
           job.policy.rounding == job_.policy.rounding;
  }

  void operator()(const CastRuns& work, LossAccount& account) const override {
    Counts counts;
    const bool few = is_few_ && has_code_lookup();
    for (std::size_t run = 0; run < work.runs; ++run) {
      const std::byte* source = work.source + run * work.source_pitch;
      std::byte* target = work.target + run * work.target_pitch;
      for (std::size_t at = 0; at < work.count; at += kPart) {
        const std::size_t n = std::min(kPart, work.count - at);
        if (few) {
          cast_few({source + at, target + at * target_bytes_, n, work.ahead, work.stream}, account);
          continue;
        }
        cast(source + at, target + at * target_bytes_, n, work.stream);
        if (changes_) counts.add(source + at, n);
      }
    }
    account.elements += work.runs * work.count;
    if (changes_ && !few) settle(counts, account);
  }

 private:
  template <typename Code>
  void look_up(const std::byte* source, std::byte* target, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) {
      const auto code = static_cast<Code>(codes_[std::to_integer<std::size_t>(source[i])]);
      std::memcpy(target + i * sizeof(code), &code, sizeof(code));
    }
  }

  void look_up(const std::byte* source, std::byte* target, std::size_t count) const {
    if (target_bytes_ == 1) return look_up<std::uint8_t>(source, target, count);
    if (target_bytes_ == 2) return look_up<std::uint16_t>(source, target, count);
    if (target_bytes_ == 4) return look_up<std::uint32_t>(source, target, count);
    look_up<std::uint64_t>(source, target, count);
  }

  void cast(const std::byte* source, std::byte* target, std::size_t count, bool stream) const {
    constexpr std::size_t kStreamed = 512;
    if (!stream) return look_up(source, target, count);
    alignas(64) std::array<std::byte, kStreamed * 8> codes;
    for (std::size_t at = 0; at < count; at += kStreamed) {
      const std::size_t n = std::min(kStreamed, count - at);
      look_up(source + at, codes.data(), n);
      stream_copy(codes.data(), target + at * target_bytes_, n * target_bytes_);
    }
  }

  void set_few() {
    few_.target_bytes = target_bytes_;
    // Any byte except 0 is true.
    if (info(job_.from).kind == NumberKind::boolean) few_.most = 1;
    for (std::size_t code = 0; code <= few_.most; ++code)
      for (std::size_t byte = 0; byte < target_bytes_; ++byte)
        few_.planes[byte][code] = static_cast<std::uint8_t>(codes_[code] >> (8 * byte));
    for (const auto count :
         {&LossAccount::overflowed, &LossAccount::nan_lost, &LossAccount::to_zero,
          &LossAccount::inexact, &LossAccount::nan, &LossAccount::sign_lost}) {
      Marked marked{count, {}};
      for (std::size_t code = 0; code <= few_.most; ++code)
        marked.codes[code] = static_cast<std::uint8_t>(accounts_[code].*count);
      if (marked.codes != CodeMarks{}) marked_.push_back(marked);
    }
  }

  void cast_few(const FewCodesRun& run, LossAccount& account) const {
    cast_few_codes(few_, run);
    if (!changes_) return;
    for (const Marked& marked : marked_)
      account.*marked.count += count_marked(few_, run, marked.codes);
    const std::uint32_t seen = seen_codes(few_, run);
    for (std::size_t code = 0; code <= few_.most; ++code)
      if ((seen >> code & 1U) != 0) keep_errors(accounts_[code], account);
  }

  static void keep_errors(const LossAccount& one, LossAccount& account) {
    account.max_abs = std::max(account.max_abs, one.max_abs);
    account.max_rel = std::max(account.max_rel, one.max_rel);
  }

  void settle(const Counts& counts, LossAccount& account) const {
    for (std::size_t code = 0; code < kCodes; ++code) {
      const std::uint64_t times = counts.of(code);
      if (times == 0) continue;
      const LossAccount& one = accounts_[code];
      account.overflowed += times * one.overflowed;
      account.nan_lost += times * one.nan_lost;
      account.to_zero += times * one.to_zero;
      account.inexact += times * one.inexact;
      account.nan += times * one.nan;
      account.sign_lost += times * one.sign_lost;
      keep_errors(one, account);
    }
  }

  // Codes that add 1 to a count.
  struct Marked {
    std::uint64_t LossAccount::* count;
    CodeMarks codes;
  };

  CastJob job_;
  std::size_t target_bytes_;
  std::array<std::uint64_t, kCodes> codes_{};
  std::array<LossAccount, kCodes> accounts_;
  bool changes_ = false;
  bool is_few_ = false;  // the codes are few enough to look them up in vectors
  FewCodes few_;
  std::vector<Marked> marked_;
};

}  // namespace

bool cast_by_code_applies(const CastJob& job) {
  return job.from != job.to && info(job.from).bits <= 8 && !cast_by_floats_applies(job) &&
         !cast_by_integers_applies(job);
}

void cast_by_code_tile(const CastJob& job, const Tile& tile, LossAccount& account) {
  // The last table of this thread, since tensors consist of many tiles of the same job.
  thread_local std::unique_ptr<const CodeTable> table;
  if (!table || !table->is_for(job)) {
    if (tile.n0 * tile.n1 < kCodes) return cast_reference_tile(job, tile, account);
    table = std::make_unique<const CodeTable>(job);
  }
  cast_tile(*table, job, tile, account);
}

}  // namespace btf
