#include "elements/elements.h"

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <unordered_map>

#include "btf/read.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/numbers.h"
#include "elements/cast.h"
#include "elements/coo_record.h"
#include "formats/io/byte_source.h"
#include "kernels/move/move.h"

namespace btf {
namespace {

Status check_index(const Dims& dims, const Dims& index) {
  if (index.size() != dims.size())
    return fail(ErrorCode::invalid_argument, "the index has ", index.size(),
                " numbers, but the tensor has rank ", dims.size());
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (index[d] >= dims[d])
      return fail(ErrorCode::invalid_argument, "index ", index[d], " is outside dim ", d,
                  " of size ", dims[d]);
  return {};
}

// Reads a value of COO, or an element of a 4-bit type.
Result<Element> read_stream(const ByteSource& source, std::uint64_t stream, std::uint64_t position,
                            DType dtype) {
  const DTypeInfo& row = info(dtype);
  const bool half = row.half_byte();
  Element element;
  element.offset = stream + (half ? position / 2 : position * row.buffer_bytes());
  element.high_nibble = half && position % 2 != 0;
  const std::span bytes =
      std::as_writable_bytes(std::span(&element.code, 1)).first(row.buffer_bytes());
  BTF_TRY(source.read_at(*element.offset, bytes));
  if (half) element.code = element.code >> (element.high_nibble ? 4 : 0) & 0xf;
  return element;
}

// The keys of the wanted indices. A bitmap rules most other entries out.
class WantedKeys {
 public:
  void add(std::uint64_t key, std::size_t which) {
    perhaps_.set(key % perhaps_.size());
    wanted_[key].push_back(which);
  }
  // The indices that have this key.
  std::span<const std::size_t> find(std::uint64_t key) const {
    if (!perhaps_[key % perhaps_.size()]) return {};
    const auto found = wanted_.find(key);
    if (found == wanted_.end()) return {};
    return found->second;
  }

 private:
  std::bitset<(1U << 16)> perhaps_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> wanted_;
};

Result<std::vector<Element>> search_coo(const ByteSource& source, const TensorInfo& tensor,
                                        std::span<const Dims> indices) {
  std::vector<Element> elements(indices.size());
  const auto wanted = std::make_unique<WantedKeys>();
  for (std::size_t i = 0; i < indices.size(); ++i)
    wanted->add(linear_key(tensor.dims, indices[i]), i);
  const auto entries = file_entries(source, tensor, row_major_key(tensor.dims));
  for (;;) {
    BTF_ASSIGN(const CooRun run, entries->next_run());
    if (run.count == 0) return elements;
    for (std::uint64_t entry = 0; entry < run.count; ++entry)
      for (const std::size_t i : wanted->find(run.keys[entry])) {
        if (elements[i].offset)
          return fail(ErrorCode::refused, "COO entry ", run[entry].position,
                      " has the same index as another entry, so the "
                      "element has several values");
        BTF_ASSIGN(elements[i], read_stream(source, tensor.coo->values_offset, run[entry].position,
                                            *tensor.dtype));
      }
  }
}

}  // namespace

Status check_known(const TensorInfo& record) {
  if (!record.dtype) return fail(ErrorCode::unsupported, record.unknown_dtype_text());
  if (!record.layout)
    return fail(ErrorCode::unsupported, "unknown layout code ", record.layout_code);
  return {};
}

Result<std::vector<Element>> elements_at(const ByteSource& source, const TensorInfo& tensor,
                                         std::span<const Dims> indices) {
  for (const Dims& index : indices) BTF_TRY(check_index(tensor.dims, index));
  if (tensor.coo) return search_coo(source, tensor, indices);
  std::vector<Element> elements;
  elements.reserve(indices.size());
  StoredElements stored(source, tensor);
  for (const Dims& index : indices) {
    const std::uint64_t position = offset(*tensor.storage, index);
    if (!info(*tensor.dtype).half_byte()) {
      Element& element = elements.emplace_back();
      BTF_TRY(stored.read(position, 1, reinterpret_cast<std::byte*>(&element.code)));
      element.offset = stored.place(position);
      continue;
    }
    BTF_ASSIGN(Element element, read_stream(source, tensor.data_offset, position, *tensor.dtype));
    if (tensor.unpacked) {
      element.offset = tensor.data_offset + position;
      element.high_nibble = false;
    }
    elements.push_back(element);
  }
  return elements;
}

Result<std::vector<Element>> read_elements(const TensorFile& file, const TensorInfo& tensor,
                                           std::span<const Dims> indices) {
  Status status = check_known(tensor);
  if (status) status = file.check_overlap(tensor);
  if (!status) return std::unexpected(file.about(tensor.index, status.error()));
  BTF_ASSIGN(const ByteSource* const source, file.elements(tensor.index));
  auto elements = elements_at(*source, tensor, indices);
  if (!elements) return std::unexpected(file.about(tensor.index, elements.error()));
  return elements;
}

StoredElements::StoredElements(const ByteSource& source, std::uint64_t offset, DType dtype)
    : source_(source), offset_(offset), width_(info(dtype).buffer_bytes()) {}

StoredElements::StoredElements(const ByteSource& source, const TensorInfo& record)
    : StoredElements(source, record.data_offset, *record.dtype) {
  block_ = spec(*record.layout).shuffle_block;
  elements_ = record.storage->storage_elements;
}

StoredElements::Block StoredElements::block_of(std::uint64_t element) const {
  const std::uint64_t first = element - element % block_;
  return {first, std::min(block_, elements_ - first)};
}

Status StoredElements::read(std::uint64_t first, std::uint64_t count, std::byte* out) {
  if (block_ == 0) return source_.read_at(offset_ + first * width_, std::span(out, count * width_));
  while (count > 0) {
    const Block block = block_of(first);
    const std::uint64_t some = std::min(count, block.first + block.count - first);
    BTF_TRY(read_shuffled(block, first, some, out));
    first += some;
    count -= some;
    out += some * width_;
  }
  return {};
}

const std::byte* StoredElements::held(std::uint64_t first, std::uint64_t count) const {
  const std::span<const std::byte> bytes = source_.held();
  const std::uint64_t begin = offset_ + first * width_;
  if (block_ != 0 || !fits(begin, count * width_, bytes.size())) return nullptr;
  const std::byte* const found = bytes.data() + begin;
  return reinterpret_cast<std::uintptr_t>(found) % width_ == 0 ? found : nullptr;
}

Status StoredElements::read_shuffled(const Block& block, std::uint64_t first, std::uint64_t count,
                                     std::byte* out) {
  std::byte* bytes = planes_.reserve(count * width_);
  std::array<const std::byte*, sizeof(std::uint64_t)> planes{};
  for (std::uint64_t k = 0; k < width_; ++k) planes[k] = bytes + k * count;
  const std::uint64_t block_at = offset_ + block.first * width_;
  // The planes of a whole block are contiguous in the file as well.
  if (count == block.count) {
    BTF_TRY(source_.read_at(block_at, std::span(bytes, count * width_)));
  } else {
    for (std::uint64_t k = 0; k < width_; ++k)
      BTF_TRY(source_.read_at(block_at + k * block.count + (first - block.first),
                              std::span(bytes + k * count, count)));
  }
  join_planes(planes.data(), count, width_, out);
  return {};
}

std::uint64_t StoredElements::place(std::uint64_t element) const {
  if (block_ == 0) return offset_ + element * width_;
  const Block block = block_of(element);
  return offset_ + block.first * width_ + (element - block.first);
}

namespace {

// A part of a dim with plain strides on both sides.
struct DimPiece {
  std::uint64_t source_base = 0;
  std::uint64_t target_base = 0;
  std::vector<PlanAxis> axes;
};

// One side's view of one dim.
struct DimMap {
  std::uint64_t stride = 0;
  std::uint64_t lanes = 1;  // 1 if not split
  std::uint64_t lane_stride = 0;

  std::uint64_t offset(std::uint64_t i) const {
    return lanes == 1 ? i * stride : i / lanes * stride + i % lanes * lane_stride;
  }
  // The stride of `step` indices, if all steps stay inside a block or all are whole blocks.
  std::uint64_t step_stride(std::uint64_t step) const {
    if (lanes == 1) return step * stride;
    return step >= lanes ? step / lanes * stride : step * lane_stride;
  }
};

DimMap dim_map(const Mapping& mapping, std::uint32_t dim) {
  if (mapping.split && mapping.split->dim == dim)
    return {mapping.strides[dim], mapping.split->lanes, mapping.split->lane_stride};
  return {mapping.strides[dim], 1, 0};
}

// Cuts a dim that is split on at least one side into pieces. With a and b lanes these are whole
// periods of lcm(a, b), and the rest, each cut at every block boundary of either side. If one
// number divides the other, as in all named layouts, the boundaries inside a period are an
// additional axis instead of additional pieces.
class DimCutter {
 public:
  DimCutter(std::uint64_t count, const DimMap& source, const DimMap& target)
      : count_(count),
        source_(source),
        target_(target),
        period_(std::lcm(source.lanes, target.lanes)),
        fine_(source.lanes == 1   ? target.lanes
              : target.lanes == 1 ? source.lanes
                                  : std::gcd(source.lanes, target.lanes)) {}

  std::vector<DimPiece> cut() {
    const std::uint64_t periods = count_ / period_;
    if (periods > 0) cut_periods(periods);
    cut_rest(periods * period_);
    return std::move(pieces_);
  }

 private:
  struct Step {
    std::uint64_t count;
    std::uint64_t indices;  // logical indices per step
  };

  bool nested() const { return period_ == std::max(source_.lanes, target_.lanes); }

  void cut_periods(std::uint64_t periods) {
    if (nested()) {
      add(0, {{periods, period_}, {period_ / fine_, fine_}, {fine_, 1}});
      return;
    }
    for (std::uint64_t at = 0; at < period_; at += fine_) add(at, {{periods, period_}, {fine_, 1}});
  }

  void cut_rest(std::uint64_t at) {
    const std::uint64_t chunks = (count_ - at) / fine_;
    if (nested() && chunks > 0) {
      add(at, {{chunks, fine_}, {fine_, 1}});
      at += chunks * fine_;
    }
    for (; at < count_; at += fine_) add(at, {{std::min(fine_, count_ - at), 1}});
  }

  void add(std::uint64_t at, std::initializer_list<Step> steps) {
    DimPiece piece{source_.offset(at), target_.offset(at), {}};
    for (const Step& step : steps)
      if (step.count != 1)
        piece.axes.push_back(
            {step.count, source_.step_stride(step.indices), target_.step_stride(step.indices)});
    pieces_.push_back(std::move(piece));
  }

  std::uint64_t count_;
  DimMap source_;
  DimMap target_;
  std::uint64_t period_;
  std::uint64_t fine_;
  std::vector<DimPiece> pieces_;
};

void fold(std::vector<PlanAxis>& axes) {
  std::ranges::sort(axes, [](const PlanAxis& a, const PlanAxis& b) {
    return a.target_stride != b.target_stride ? a.target_stride > b.target_stride
                                              : a.source_stride > b.source_stride;
  });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < axes.size(); ++i) {
    PlanAxis& outer = axes[kept];
    const PlanAxis& inner = axes[i];
    if (outer.source_stride == inner.count * inner.source_stride &&
        outer.target_stride == inner.count * inner.target_stride)
      outer = {outer.count * inner.count, inner.source_stride, inner.target_stride};
    else
      axes[++kept] = inner;
  }
  if (!axes.empty()) axes.resize(kept + 1);
}

}  // namespace

std::vector<Region> make_plan(std::span<const std::uint64_t> counts, const Mapping& source,
                              const Mapping& target) {
  if (std::ranges::find(counts, 0U) != counts.end()) return {};
  std::vector<Region> regions(1);
  for (std::uint32_t d = 0; d < counts.size(); ++d) {
    const DimMap from = dim_map(source, d);
    const DimMap to = dim_map(target, d);
    if (from.lanes == 1 && to.lanes == 1) {
      if (counts[d] == 1) continue;
      for (Region& region : regions) region.axes.push_back({counts[d], from.stride, to.stride});
      continue;
    }
    const std::vector<DimPiece> pieces = DimCutter(counts[d], from, to).cut();
    std::vector<Region> grown;
    grown.reserve(regions.size() * pieces.size());
    for (const Region& region : regions) {
      for (const DimPiece& piece : pieces) {
        Region& next = grown.emplace_back(region);
        next.source_base += piece.source_base;
        next.target_base += piece.target_base;
        next.axes.insert(next.axes.end(), piece.axes.begin(), piece.axes.end());
      }
    }
    regions = std::move(grown);
  }
  for (Region& region : regions) fold(region.axes);
  return regions;
}

Tiling tile_region(const Region& region) {
  Tiling tiling{.inner = {1, 1, 1}, .outer = {1, 1, 1}, .loops = region.axes};
  std::vector<PlanAxis>& loops = tiling.loops;
  if (loops.empty()) return tiling;
  tiling.inner = loops.back();
  loops.pop_back();
  if (loops.empty()) return tiling;
  auto outer = loops.end() - 1;
  if (tiling.inner.source_stride != 1)
    outer = std::ranges::min_element(loops, {}, &PlanAxis::source_stride);
  tiling.outer = *outer;
  loops.erase(outer);
  return tiling;
}

namespace {

class CanonicalEntries final : public CooSource {
 public:
  CanonicalEntries(std::unique_ptr<CooSource> entries, Duplicates duplicates)
      : entries_(std::move(entries)), duplicates_(duplicates) {}

  Result<CooRun> next_run() override {
    BTF_TRY(fill());
    if (run_.count == 0) return run_;
    const std::uint64_t single = run_.first_duplicate(at_);
    if (single > at_) {
      const CooRun singles = run_.sub(at_, single - at_);
      at_ = single;
      return singles;
    }
    BTF_ASSIGN(kept_, take_one());
    return CooRun{1, &kept_.key, reinterpret_cast<const std::byte*>(&kept_.code), code_bytes_,
                  kept_.position};
  }

  Status rewind() override {
    run_ = {};
    at_ = 0;
    return entries_->rewind();
  }

 private:
  Status fill() {
    if (at_ < run_.count) return {};
    BTF_ASSIGN(run_, entries_->next_run());
    at_ = 0;
    return {};
  }

  // Takes the next entry and all that have the same key.
  Result<CooEntry> take_one() {
    CooEntry entry = run_[at_++];
    code_bytes_ = run_.code_bytes;
    for (;; ++at_) {
      BTF_TRY(fill());
      if (run_.count == 0 || run_.keys[at_] != entry.key) return entry;
      if (duplicates_ == Duplicates::last)
        entry.code = run_[at_].code;
      else if (duplicates_ != Duplicates::first)
        return duplicate(entry, run_[at_]);
    }
  }

  static std::unexpected<Error> duplicate(const CooEntry& one, const CooEntry& other) {
    return std::unexpected(
        Error{ErrorCode::refused,
              concat("COO entries ", one.position, " and ", other.position, " have the same index"),
              {},
              "coo-duplicate-index",
              0});
  }

  std::unique_ptr<CooSource> entries_;
  Duplicates duplicates_;
  CooRun run_;
  std::uint64_t at_ = 0;  // index into run_
  CooEntry kept_;
  std::uint64_t code_bytes_ = 0;
};

template <std::size_t kBytes>
void put_codes(const CooRun& run, std::uint64_t first, std::byte* codes) {
  for (std::uint64_t i = 0; i < run.count; ++i)
    std::memcpy(codes + (run.keys[i] - first) * kBytes, run.codes + i * kBytes, kBytes);
}

using PutFn = void (*)(const CooRun& run, std::uint64_t first, std::byte* codes);

// By the binary logarithm of a code's bytes.
constexpr PutFn kPut[] = {put_codes<1>, put_codes<2>, put_codes<4>, put_codes<8>};

}  // namespace

void CooBatch::add(const CooEntry& entry) {
  keys_[count_] = entry.key;
  positions_[count_] = entry.position;
  std::memcpy(reinterpret_cast<std::byte*>(codes_.data()) + count_ * code_bytes_, &entry.code,
              code_bytes_);
  ++count_;
}

CooRun CooBatch::run() const {
  return {count_, keys_.data(),     reinterpret_cast<const std::byte*>(codes_.data()), code_bytes_,
          0,      positions_.data()};
}

Result<std::uint64_t> CooFiller::fill(std::uint64_t first, std::uint64_t count, std::byte* codes) {
  std::uint64_t filled = 0;
  for (;;) {
    if (at_ == run_.count) {
      BTF_ASSIGN(run_, source_->next_run());
      at_ = 0;
      if (run_.count == 0) return filled;
    }
    const std::uint64_t* const keys = run_.keys + at_;
    const auto some = static_cast<std::uint64_t>(
        std::lower_bound(keys, run_.keys + run_.count, first + count) - keys);
    kPut[std::countr_zero(run_.code_bytes)](run_.sub(at_, some), first, codes);
    filled += some;
    at_ += some;
    if (at_ < run_.count) return filled;
  }
}

Result<std::optional<CooEntry>> CooEntries::next() {
  if (at_ == run_.count) {
    BTF_ASSIGN(run_, source_->next_run());
    at_ = 0;
    if (run_.count == 0) return std::nullopt;
  }
  return run_[at_++];
}

std::unique_ptr<CooSource> canonical_entries(std::unique_ptr<CooSource> entries,
                                             Duplicates duplicates) {
  return std::make_unique<CanonicalEntries>(std::move(entries), duplicates);
}

PlaceKey row_major_key(const Dims& dims) { return {row_major(dims)}; }

PlaceKey storage_key(const StridedLayout& storage) { return {{storage.strides, storage.split}}; }

std::uint64_t linear_key(std::span<const std::uint64_t> dims,
                         std::span<const std::uint64_t> index) {
  std::uint64_t key = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) key = key * dims[d] + index[d];
  return key;
}

Dims index_of(const Dims& dims, std::uint64_t key) {
  Dims index(dims.size());
  for (std::size_t d = dims.size(); d-- > 0;) {
    index[d] = key % dims[d];
    key /= dims[d];
  }
  return index;
}

CooKey edited_key(const EditChain& edits, CooKey key) {
  if (edits.empty()) return key;
  return [edits, key = std::move(key), index = Dims(), scratch = Dims()](
             std::span<const std::uint64_t> source) mutable -> std::optional<std::uint64_t> {
    index.assign(source.begin(), source.end());
    return edits.place(index, scratch) ? key(index) : std::nullopt;
  };
}

}  // namespace btf
