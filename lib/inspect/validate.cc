// Checks of elements, frames and recipients, and validate() itself.
#include "inspect/validate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "btf/execution.h"
#include "btf/file.h"
#include "btf/try.h"
#include "btf/validate.h"
#include "core/dtype.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "core/numbers.h"
#include "core/resources.h"
#include "elements/cast.h"
#include "elements/coo_record.h"
#include "elements/elements.h"
#include "elements/records.h"
#include "elements/slabs.h"
#include "formats/btf_reader.h"
#include "formats/format_table.h"
#include "formats/io/byte_source.h"
#include "kernels/number/widen.h"

namespace btf {
namespace {

// Reads and checks every frame of a compressed file, including those that contain no elements.

// Knows the other findings, so that nothing is reported twice. The file must outlive it.
class FrameFindings {
 public:
  explicit FrameFindings(const TensorFile& file);

  // Must be called with all findings of the file before run(). Returns false if the tensor already
  // has that finding.
  bool note(const Finding& finding);

  // Reports each tensor with bytes in a damaged frame, unless that was noted, and damaged frames
  // without any.
  Status run(const FindingSink& report, const Execution& execution);

 private:
  Result<std::vector<bool>> find_damaged(const Execution& execution) const;

  const TensorFile& file_;
  std::vector<bool> reported_;        // by tensor; empty if the file has no frames
  std::vector<std::uint64_t> known_;  // offsets of damaged frames that were noted
};

// Records of a file that the recipient cannot read.

struct Special {
  std::string_view code;
  std::string_view name;
  std::uint64_t count = 0;
  std::uint64_t first = 0;  // row-major number
  std::uint64_t entry = 0;  // COO: position in the record, since entries may share an index
};

class FiniteCheck {
 public:
  explicit FiniteCheck(const TensorInfo& record)
      : record_(record), row_(info(*record.dtype)), widen_(widener<double>(*record.dtype)) {}

  Status run(const ByteSource& source, const Execution& execution) {
    if (record_.coo) return run_coo(source, execution);
    BTF_ASSIGN(LinearWalk walk, LinearWalk::open(source, record_, {}, execution));
    for (;;) {
      BTF_TRY(check_cancelled(execution));
      BTF_ASSIGN(const std::optional<LinearSlab> slab, walk.next());
      if (!slab) return {};
      take(slab->codes, slab->first, slab->count);
      if (execution.progress) execution.progress(slab->count * row_.bits / 8);
    }
  }

  Status report(const ByteSource& source, const FindingSink& sink) const {
    for (const Special& special : specials_) {
      if (special.count == 0) continue;
      const Dims index = index_of(record_.dims, special.first);
      BTF_ASSIGN(const std::uint64_t offset, offset_of(source, special, index));
      std::string text;
      for (const std::uint64_t i : index) text += concat(text.empty() ? "" : ", ", i);
      sink({.severity = Severity::error,
            .code = special.code,
            .tensor = record_.index,
            .offset = offset,
            .message = concat(special.count, " ", special.name, ", the first at [", text, "]"),
            .count = special.count,
            .index = index});
    }
    return {};
  }

 private:
  Result<std::uint64_t> offset_of(const ByteSource& source, const Special& special,
                                  const Dims& index) const {
    if (record_.coo) return record_.coo->values_offset + special.entry * row_.bits / 8;
    BTF_ASSIGN(const std::vector<Element> place, elements_at(source, record_, {{index}}));
    return place.front().offset.value_or(record_.data_offset);
  }

  // Elements without an entry have zero bits, which are a number in every dtype.
  Status run_coo(const ByteSource& source, const Execution& execution) {
    BTF_ASSIGN(const auto entries,
               sorted_entries(source, record_, row_major_key(record_.dims), execution));
    for (;;) {
      BTF_ASSIGN(const CooRun run, entries->next_run());
      if (run.count == 0) return {};
      for (std::uint64_t i = 0; i < run.count; ++i)
        take(run.code(i), run.keys[i], 1, run[i].position);
    }
  }

  void take(const std::byte* codes, std::uint64_t first, std::uint64_t count,
            std::uint64_t entry = 0) {
    std::array<double, 1024> values;
    for (std::uint64_t at = 0; at < count; at += values.size()) {
      const std::uint64_t n = std::min<std::uint64_t>(values.size(), count - at);
      widen_(codes + at * row_.buffer_bytes(), 1, n, values.data());
      for (std::uint64_t i = 0; i < n; ++i) {
        if (std::isfinite(values[i])) continue;
        Special& special = specials_[std::isnan(values[i]) ? 0 : 1];
        if (special.count++ > 0) continue;
        special.first = first + at + i;
        special.entry = entry;
      }
    }
  }

  const TensorInfo& record_;
  const DTypeInfo& row_;
  WidenFn<double> widen_;
  std::array<Special, 2> specials_{{{"element-nan", "NaN"}, {"element-inf", "Inf"}}};
};

// Reports the number of NaN and Inf, with the logical index of the first. Reads the payload in
// bounded memory. The indices of a COO record must have been checked.
Status check_finite(const ByteSource& source, const TensorInfo& record, const FindingSink& report,
                    const Execution& execution) {
  const DTypeInfo& row = info(*record.dtype);
  if (!row.floating() || row.fp.specials == FloatSpecials::none) return {};
  FiniteCheck check(record);
  BTF_TRY(check.run(source, execution));
  return check.report(source, report);
}

constexpr std::string_view kCode = "zstd-frame";

// Per thread: a frame of the size that this library writes, compressed and uncompressed.
constexpr std::uint64_t kThreadMemory = 2U << 20;

struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t tensor = 0;
};

std::uint64_t end_of(const TensorInfo& tensor) {
  return tensor.deflated() ? tensor.packed_end : std::max(tensor.end(), tensor.data_offset);
}

// Finds which usable tensors have bytes in a range.
class TensorExtents {
 public:
  static Result<TensorExtents> of(const TensorFile& file) {
    TensorExtents owners;
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

FrameFindings::FrameFindings(const TensorFile& file)
    : file_(file), reported_(file.source().frame_count() > 0 ? file.tensor_count() : 0) {}

bool FrameFindings::note(const Finding& finding) {
  if (reported_.empty() || finding.code != kCode) return true;
  known_.push_back(finding.offset);
  if (!finding.tensor) return true;
  const bool told = reported_[*finding.tensor];
  reported_[*finding.tensor] = true;
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
  BTF_ASSIGN(const TensorExtents owners, TensorExtents::of(file_));
  std::ranges::sort(known_);
  for (std::uint64_t frame = 0; frame < damaged.size(); ++frame) {
    if (!damaged[frame]) continue;
    BTF_ASSIGN(const FrameCheck check, source.check_frame(frame));
    if (check.status) continue;
    const Error& error = check.status.error();
    const auto tensors = owners.in(check.begin, check.end);
    for (const Extent& extent : tensors) {
      if (reported_[extent.tensor]) continue;
      reported_[extent.tensor] = true;
      report({Severity::error, error.finding, extent.tensor, error.offset, error.message});
    }
    if (tensors.empty() && !std::ranges::binary_search(known_, error.offset))
      report({Severity::error, error.finding, {}, error.offset, error.message});
  }
  return {};
}

// Checks records whose headers can be read; the others are reported anyway.
Status check_recipient(const TensorFile& file, Recipient recipient, const FindingSink& report) {
  const RecipientRow& row = info(recipient);
  const auto tell = [&](std::optional<Objection> objection, std::optional<std::uint64_t> tensor,
                        std::uint64_t offset) {
    if (objection)
      report({objection->code.severity(), objection->code, tensor, offset,
              std::move(objection->message)});
  };
  auto whole = format_objection(row, file.format(), file.format_title(), file.compressed());
  tell(std::move(whole), {}, 0);
  if (file.format() != row.format) return {};
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const auto record = file.tensor(i);
    if (!record && record.error().finding.empty()) return std::unexpected(record.error());
    if (!record) continue;
    const std::uint64_t at = record->record_offset;
    tell(offset_objection(row, at), i, at);
    tell(dtype_objection(row, record->dtype_code), i, at + wire::kDTypeAt);
    tell(layout_objection(row, record->layout_code), i, at + wire::kLayoutAt);
  }
  return {};
}

constexpr std::uint64_t kBlockBytes = 256U << 10;

class PayloadCheck {
 public:
  PayloadCheck(const ByteSource& source, const TensorInfo& record, const FindingSink& report,
               const Execution& execution)
      : source_(source),
        record_(record),
        report_(report),
        execution_(execution),
        row_(info(*record.dtype)) {}

  Status run() {
    if (record_.coo) {
      BTF_TRY(check_coo());
      BTF_TRY(check_stream(record_.coo->values_offset, record_.coo->nnz));
      return {};
    }
    if (record_.unpacked) return check_codes();
    if (record_.storage->padded()) return check_padded();
    return check_stream(record_.data_offset, record_.storage->storage_elements);
  }

  // Returns true if all elements could be found.
  bool sound() const { return sound_; }

 private:
  Status advance(std::uint64_t bytes) const {
    if (execution_.progress) execution_.progress(bytes);
    return check_cancelled(execution_);
  }

  void warn(FindingCode code, std::uint64_t offset, std::string message) {
    report_({code.severity(), code, record_.index, offset, std::move(message)});
  }

  // Contiguous elements.
  Status check_stream(std::uint64_t offset, std::uint64_t elements) {
    const std::uint64_t bytes = *stream_bytes(elements, row_.bits);
    if (row_.kind == NumberKind::boolean) BTF_TRY(check_bools(offset, bytes));
    if (row_.half_byte() && elements % 2 != 0) {
      std::array<std::byte, 1> last;
      BTF_TRY(source_.read_at(offset + bytes - 1, last));
      if ((last[0] >> 4) != std::byte{})
        warn("spare-nibble-not-zero", offset + bytes - 1,
             "the unused high nibble of the last byte is not zero");
    }
    return {};
  }

  // 4-bit codes with a byte each: the reader that packs them refuses invalid ones.
  Status check_codes() {
    const std::uint64_t bytes = ceil_div(record_.storage->storage_elements, 2);
    std::byte* block = block_.reserve(kBlockBytes);
    for (std::uint64_t at = 0; at < bytes; at += kBlockBytes) {
      const std::span part(block, std::min(kBlockBytes, bytes - at));
      BTF_TRY(advance(part.size()));
      const Status read = source_.read_at(record_.data_offset + at, part);
      if (read) continue;
      const Error& error = read.error();
      if (error.finding.empty()) return read;
      report_({Severity::error, error.finding, record_.index, error.offset, error.message});
      return {};
    }
    return {};
  }

  Status check_bools(std::uint64_t offset, std::uint64_t bytes) {
    std::byte* block = block_.reserve(kBlockBytes);
    for (std::uint64_t at = 0; at < bytes; at += kBlockBytes) {
      const std::span part(block, std::min(kBlockBytes, bytes - at));
      BTF_TRY(advance(part.size()));
      BTF_TRY(source_.read_at(offset + at, part));
      const auto odd = std::ranges::find_if(part, [](std::byte b) { return b > std::byte{1}; });
      if (odd == part.end()) continue;
      warn_of_bool(offset + at + static_cast<std::uint64_t>(odd - part.begin()), *odd);
      break;
    }
    return {};
  }

  void warn_of_bool(std::uint64_t where, std::byte odd) {
    warn("bool-byte", where,
         concat("a bool is stored as ", std::to_integer<unsigned>(odd),
                "; only 0 and 1 are well-defined"));
  }

  // Clears the bytes of the elements in a copy of the storage, box by box; what remains is padding.
  Status check_padded() {
    const StridedLayout& storage = *record_.storage;
    const std::uint64_t bytes = row_.buffer_bytes();
    const SlabSide side{&storage, bytes};
    const SlabGrid grid = choose_slabs(side, side, {.target_contiguous = true});
    const auto reader = record_reader(source_, record_, storage);
    bool lanes = true;  // still to be checked
    bool bools = row_.kind == NumberKind::boolean;
    for (std::uint64_t slab = 0; slab < grid.count() && (lanes || bools); ++slab) {
      const Box box = grid.box(slab);
      const Footprint from = footprint(storage, box);
      BTF_TRY(advance(from.elements * bytes));
      BTF_ASSIGN(const SourceSlab read, reader->read(box));
      std::byte* copy = block_.reserve(from.elements * bytes);
      std::copy_n(read.data, from.elements * bytes, copy);
      clear_elements(box.counts(), from.packed, copy);
      const std::uint64_t size = from.elements * bytes;
      const std::uint64_t begin = record_.data_offset + from.base * bytes;
      const std::span padding(copy, size);
      const auto odd = std::ranges::find_if(padding, [](std::byte b) { return b != std::byte{}; });
      if (lanes && odd != padding.end()) {
        lanes = false;
        warn("lane-padding-not-zero", begin + static_cast<std::uint64_t>(odd - padding.begin()),
             "padding of the layout is not zero");
      }
      for (std::uint64_t i = 0; bools && i < size; ++i) {
        if (read.data[i] <= std::byte{1} || copy[i] != std::byte{}) continue;
        bools = false;
        warn_of_bool(begin + i, read.data[i]);
      }
    }
    return {};
  }

  void clear_elements(const Dims& counts, const Mapping& mapping, std::byte* data) const {
    const std::uint64_t bytes = row_.buffer_bytes();
    for (const Region& region : make_plan(counts, mapping, mapping)) {
      const Tiling tiling = tile_region(region);
      for_each_tile(region, tiling, [&](std::uint64_t, std::uint64_t at) {
        for (std::uint64_t i1 = 0; i1 < tiling.outer.count; ++i1)
          for (std::uint64_t i0 = 0; i0 < tiling.inner.count; ++i0)
            std::fill_n(
                data + (at + i1 * tiling.outer.target_stride + i0 * tiling.inner.target_stride) *
                           bytes,
                bytes, std::byte{});
      });
    }
  }

  Status check_coo() {
    const Dims& dims = record_.dims;
    auto sorted = sorted_entries(source_, record_, row_major_key(dims), execution_);
    if (!sorted && sorted.error().code == ErrorCode::malformed) {
      sound_ = false;
      report_({Severity::error, sorted.error().finding, record_.index, sorted.error().offset,
               sorted.error().message});
      return {};
    }
    if (!sorted) return std::unexpected(std::move(sorted).error());
    CooEntries entries(*std::move(sorted));
    std::optional<CooEntry> last;
    for (;;) {
      BTF_ASSIGN(const std::optional<CooEntry> entry, entries.next());
      if (!entry) return {};
      if (last && last->key == entry->key) {
        warn("coo-duplicate-index", record_.coo->indices_offset + entry->position * dims.size() * 8,
             concat("COO entries ", last->position, " and ", entry->position,
                    " have the same index"));
        return {};
      }
      last = entry;
    }
  }

  const ByteSource& source_;
  const TensorInfo& record_;
  const FindingSink& report_;
  const Execution& execution_;
  const DTypeInfo& row_;
  Buffer block_;
  bool sound_ = true;
};

}  // namespace

Status check_payload(const ByteSource& source, const TensorInfo& record, const FindingSink& report,
                     const Execution& execution, const ValidateChecks& checks) {
  PayloadCheck check(source, record, report, execution);
  BTF_TRY(check.run());
  if (!checks.finite || !check.sound()) return {};
  return check_finite(source, record, report, execution);
}

namespace {

// Only for faults of the data, not for errors of reading.
Finding as_finding(const Error& error, std::optional<std::uint64_t> tensor,
                   Severity severity = Severity::error) {
  return {severity, error.finding, tensor, error.offset, error.message};
}

}  // namespace

Status validate(const std::string& path, const FindingSink& report, const OpenOptions& options,
                const Execution& execution, const ValidateChecks& checks) {
  return validate_opened(TensorFile::open(path, options), report, execution, checks);
}

Status validate_opened(const Result<TensorFile>& file, const FindingSink& report,
                       const Execution& execution, const ValidateChecks& checks) {
  if (!file && file.error().finding.empty()) return std::unexpected(file.error());
  if (!file) {
    report(as_finding(file.error(), {}));
    return {};
  }
  FrameFindings frames(*file);
  std::set<std::uint64_t> faulty;  // tensors whose elements are not checked any further
  const FindingSink take = [&](const Finding& finding) {
    if (finding.tensor && finding.severity == Severity::error) faulty.insert(*finding.tensor);
    if (frames.note(finding)) report(finding);
  };
  BTF_TRY(format_named(file->format()).check(*file, take));
  if (const Status complete = file->check_complete(); !complete)
    take(as_finding(complete.error(), {}, Severity::warning));
  if (checks.recipient) BTF_TRY(check_recipient(*file, *checks.recipient, take));
  for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
    const auto record = file->tensor(i);
    if (faulty.contains(i) || !record || !record->known() || !file->check_overlap(*record))
      continue;
    const auto source = file->elements(i);
    const Status status = source ? check_payload(**source, *record, take, execution, checks)
                                 : std::unexpected(source.error());
    if (!status && status.error().finding.empty()) return status;
    if (!status) take(as_finding(status.error(), i));
  }
  BTF_TRY(frames.run(report, execution));
  return file->check_unchanged();
}

}  // namespace btf
