#include "inspect/payload_check.h"

#include <algorithm>
#include <array>
#include <vector>

#include "btf/try.h"
#include "core/buffer.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "elements/coo_record.h"
#include "elements/parallel.h"
#include "elements/slab_io.h"
#include "inspect/finite_check.h"

namespace btf {
namespace {

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

  // Could all elements be found?
  bool sound() const { return sound_; }

 private:
  Status advance(std::uint64_t bytes) const {
    if (execution_.progress) execution_.progress(bytes);
    return check_cancelled(execution_);
  }

  void warn(FindingCode code, std::uint64_t offset, std::string message) {
    report_({code.severity(), code, record_.index, offset, std::move(message)});
  }

  // Elements that stand one behind the other.
  Status check_stream(std::uint64_t offset, std::uint64_t elements) {
    const std::uint64_t bytes = *stream_bytes(elements, row_.bits);
    if (row_.kind == NumberKind::boolean) BTF_TRY(check_bools(offset, bytes));
    if (row_.bits < 8 && elements % 2 != 0) {
      std::array<std::byte, 1> last;
      BTF_TRY(source_.read_at(offset + bytes - 1, last));
      if ((last[0] >> 4) != std::byte{})
        warn("spare-nibble-not-zero", offset + bytes - 1,
             "the unused high nibble of the last byte is not zero");
    }
    return {};
  }

  // 4-bit codes in a byte each: who packs them for reading refuses what is none.
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
         "a bool is stored as " + std::to_string(std::to_integer<unsigned>(odd)) +
             "; only 0 and 1 are well-defined");
  }

  // Clears the bytes of the elements in a copy of the storage, box by box; what stays is padding.
  Status check_padded() {
    const StridedLayout& storage = *record_.storage;
    const std::uint64_t bytes = row_.buffer_bytes();
    const SlabSide side{&storage, bytes};
    const SlabGrid grid = choose_slabs(side, side, {.target_contiguous = true});
    const auto reader = record_reader(source_, record_, storage);
    bool lanes = true;  // still looked at
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
             "COO entries " + std::to_string(last->position) + " and " +
                 std::to_string(entry->position) + " have the same index");
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

}  // namespace btf
