#include "inspect/frame_findings.h"

#include <algorithm>
#include <mutex>

#include "btf/try.h"
#include "elements/parallel.h"
#include "formats/io/byte_source.h"

namespace btf {
namespace {

constexpr std::string_view kCode = "zstd-frame";
// Per thread: a frame as this library writes them, compressed and not.
constexpr std::uint64_t kThreadMemory = 2U << 20;

struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t tensor = 0;
};

std::uint64_t end_of(const TensorInfo& tensor) {
  return tensor.deflated() ? tensor.packed_end : std::max(tensor.end(), tensor.data_offset);
}

// Which tensors have bytes where; of those that can be used.
class Owners {
 public:
  static Result<Owners> of(const TensorFile& file) {
    Owners owners;
    for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
      const auto info = file.tensor(i);
      if (!info && info.error().finding.empty()) return std::unexpected(info.error());
      if (info && info->known() && file.check_overlap(*info))
        owners.whole_.push_back({info->record_offset, end_of(*info), i});
    }
    std::ranges::sort(owners.whole_, {}, &Extent::begin);
    return owners;
  }

  // They share no bytes, so they end in the order in which they begin.
  std::span<const Extent> in(std::uint64_t begin, std::uint64_t end) const {
    const auto first = std::ranges::upper_bound(whole_, begin, {}, &Extent::end);
    const auto last = std::ranges::lower_bound(first, whole_.end(), end, {}, &Extent::begin);
    return {first, last};
  }

 private:
  std::vector<Extent> whole_;
};

}  // namespace

FrameFindings::FrameFindings(const TensorFile& file)
    : file_(file), told_(file.source().frame_count() > 0 ? file.tensor_count() : 0) {}

bool FrameFindings::note(const Finding& finding) {
  if (told_.empty() || finding.code != kCode) return true;
  known_.push_back(finding.offset);
  if (!finding.tensor) return true;
  const bool told = told_[*finding.tensor];
  told_[*finding.tensor] = true;
  return !told;
}

Result<std::vector<bool>> FrameFindings::find_damaged(const Execution& execution) const {
  const ByteSource& source = file_.source();
  std::vector<bool> damaged(source.frame_count());
  std::mutex mutex;
  const unsigned workers = static_cast<unsigned>(
      std::clamp<std::uint64_t>(execution.memory / kThreadMemory, 1,
                                worker_count(execution, source.frame_count(), source.size())));
  BTF_TRY(for_each_slab(execution, workers, source.frame_count(),
                        [&](unsigned, std::uint64_t frame) -> Status {
                          BTF_ASSIGN(const FrameCheck check, source.check_frame(frame));
                          const bool sound = check.status.has_value();
                          if (!sound && check.status.error().finding.empty()) return check.status;
                          if (sound && !execution.progress) return {};
                          const std::scoped_lock lock(mutex);
                          if (!sound) damaged[frame] = true;
                          if (execution.progress) execution.progress(check.end - check.begin);
                          return {};
                        }));
  return damaged;
}

Status FrameFindings::run(const FindingSink& report, const Execution& execution) {
  const ByteSource& source = file_.source();
  if (source.frame_count() == 0) return {};
  BTF_ASSIGN(const std::vector<bool> damaged, find_damaged(execution));
  if (std::ranges::find(damaged, true) == damaged.end()) return {};
  BTF_ASSIGN(const Owners owners, Owners::of(file_));
  std::ranges::sort(known_);
  for (std::uint64_t frame = 0; frame < damaged.size(); ++frame) {
    if (!damaged[frame]) continue;
    BTF_ASSIGN(const FrameCheck check, source.check_frame(frame));
    if (check.status) continue;
    const Error& error = check.status.error();
    const auto tensors = owners.in(check.begin, check.end);
    for (const Extent& extent : tensors) {
      if (told_[extent.tensor]) continue;
      told_[extent.tensor] = true;
      report({Severity::error, error.finding, extent.tensor, error.offset, error.message});
    }
    if (tensors.empty() && !std::ranges::binary_search(known_, error.offset))
      report({Severity::error, error.finding, {}, error.offset, error.message});
  }
  return {};
}

}  // namespace btf
