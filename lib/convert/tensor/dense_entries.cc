#include "convert/tensor/dense_entries.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "btf/try.h"
#include "convert/tensor/ascending_index.h"
#include "core/checked_math.h"
#include "elements/parallel.h"
#include "formats/btf/wire.h"
#include "formats/io/byte_source.h"
#include "kernels/stats/nonzero_bits.h"

namespace btf {
namespace {

// Bytes that a worker collects before they are written.
constexpr std::uint64_t kEntryBytes = 256U << 10;

// The elements that are entries; returns how many.
std::uint64_t find_entries(const LinearSlab& slab, std::uint64_t code_bytes,
                           std::vector<std::uint64_t>& bits) {
  bits.resize(ceil_div(slab.count, 64));
  return nonzero_bits(slab.codes, code_bytes, slab.count, bits.data());
}

// Where a COO payload has its parts.
struct CooPlaces {
  std::uint64_t offset = 0;
  std::uint64_t nnz = 0;
  std::uint64_t rank = 0;
  std::uint64_t code_bytes = 0;

  std::uint64_t indices(std::uint64_t entry) const {
    return offset + (2 + entry * rank) * wire::kWord;
  }
  std::uint64_t values(std::uint64_t entry) const {
    return indices(nnz) + wire::kWord + entry * code_bytes;
  }
};

// Writes the entries of slabs, as a worker of its own.
class EntryWriter {
 public:
  EntryWriter(const CooPlaces& places, const Dims& dims, ByteSink& sink)
      : places_(places),
        index_(dims),
        sink_(sink),
        most_(std::max<std::uint64_t>(
            1, kEntryBytes / (places.rank * wire::kWord + places.code_bytes))) {}

  // Those of `slab`: `count` from number `first` of all on.
  Status write(const LinearSlab& slab, std::uint64_t first, std::uint64_t count) {
    if (find_entries(slab, places_.code_bytes, bits_) != count) return file_changed();
    first_ = first;
    count_ = 0;
    rows_.reserve(most_ * places_.rank * wire::kWord);
    values_.reserve(most_ * places_.code_bytes);
    for (std::uint64_t word = 0; word < bits_.size(); ++word)
      for (std::uint64_t left = bits_[word]; left != 0; left &= left - 1) {
        put(slab, word * 64 + static_cast<std::uint64_t>(std::countr_zero(left)));
        if (count_ == most_) BTF_TRY(flush());
      }
    return flush();
  }

 private:
  void put(const LinearSlab& slab, std::uint64_t element) {
    std::byte* row = rows_.data() + count_ * places_.rank * wire::kWord;
    for (const std::uint64_t one : index_.at(slab.first + element)) {
      wire::store_u64(row, one);
      row += wire::kWord;
    }
    std::memcpy(values_.data() + count_ * places_.code_bytes,
                slab.codes + element * places_.code_bytes, places_.code_bytes);
    ++count_;
  }

  Status flush() {
    BTF_TRY(sink_.write_at(places_.indices(first_),
                           {rows_.data(), count_ * places_.rank * wire::kWord}));
    BTF_TRY(sink_.write_at(places_.values(first_), {values_.data(), count_ * places_.code_bytes}));
    first_ += std::exchange(count_, 0);
    return {};
  }

  CooPlaces places_;
  AscendingIndex index_;
  ByteSink& sink_;
  std::uint64_t most_;
  std::vector<std::uint64_t> bits_;
  Buffer rows_;
  Buffer values_;
  std::uint64_t first_ = 0;  // of those collected
  std::uint64_t count_ = 0;
};

Status write_words(ByteSink& sink, std::uint64_t offset, std::span<const std::uint64_t> words) {
  std::vector<std::byte> bytes(words.size() * wire::kWord);
  for (std::size_t i = 0; i < words.size(); ++i)
    wire::store_u64(bytes.data() + i * wire::kWord, words[i]);
  return sink.write_at(offset, bytes);
}

}  // namespace

Result<std::unique_ptr<DenseEntries>> DenseEntries::open(const TensorConversion& work) {
  BTF_ASSIGN(CastSlabs slabs, CastSlabs::open(work, 1));
  return std::unique_ptr<DenseEntries>(new DenseEntries(work, std::move(slabs)));
}

DenseEntries::DenseEntries(const TensorConversion& work, CastSlabs slabs)
    : slabs_(std::move(slabs)), bytes_(info(work.target.job.to).buffer_bytes()), batch_(bytes_) {}

Result<CooRun> DenseEntries::next_run() {
  batch_.clear();
  for (;;) {
    collect();
    if (batch_.full() || next_ == slabs_.count()) return batch_.run();
    BTF_ASSIGN(slab_, slabs_.read(0, next_++));
    find_entries(slab_, bytes_, bits_);
    word_ = 0;
  }
}

// As far as there is room.
void DenseEntries::collect() {
  for (; word_ < bits_.size(); ++word_)
    for (std::uint64_t& left = bits_[word_]; left != 0; left &= left - 1) {
      if (batch_.full()) return;
      const std::uint64_t at = word_ * 64 + static_cast<std::uint64_t>(std::countr_zero(left));
      CooEntry entry{slab_.first + at, slab_.first + at, 0};
      std::memcpy(&entry.code, slab_.codes + at * bytes_, bytes_);
      batch_.add(entry);
    }
}

Status DenseEntries::rewind() {
  next_ = 0;
  bits_.clear();
  word_ = 0;
  slabs_.forget_account();
  return {};
}

Result<EntryCounts> count_dense_entries(const TensorConversion& work) {
  BTF_ASSIGN(CastSlabs slabs, CastSlabs::open(work));
  const std::uint64_t code_bytes = info(work.target.job.to).buffer_bytes();
  EntryCounts counts;
  counts.by_slab.resize(slabs.count());
  std::vector<std::vector<std::uint64_t>> bits(slabs.workers());
  BTF_TRY(for_each_slab(work.options.execution, slabs.workers(), slabs.count(),
                        [&](unsigned worker, std::uint64_t number) -> Status {
                          BTF_ASSIGN(const LinearSlab slab, slabs.read(worker, number));
                          counts.by_slab[number] = find_entries(slab, code_bytes, bits[worker]);
                          return {};
                        }));
  counts.all = std::accumulate(counts.by_slab.begin(), counts.by_slab.end(), std::uint64_t{0});
  return counts;
}

Result<Losses> write_dense_entries(const TensorConversion& work, ByteSink& sink,
                                   std::uint64_t offset, const EntryCounts& counts) {
  const ConvertTarget& target = work.target;
  const CooPlaces places{offset, counts.all, target.dims.size(),
                         info(target.job.to).buffer_bytes()};
  BTF_TRY(write_words(sink, offset, std::array{places.nnz, places.rank}));
  BTF_TRY(write_words(sink, places.indices(places.nnz), std::array{places.nnz}));
  BTF_ASSIGN(CastSlabs slabs, CastSlabs::open(work));
  if (slabs.count() != counts.by_slab.size()) return file_changed();
  std::vector<std::uint64_t> first(slabs.count());
  std::exclusive_scan(counts.by_slab.begin(), counts.by_slab.end(), first.begin(),
                      std::uint64_t{0});
  std::vector<EntryWriter> writers;
  writers.reserve(slabs.workers());
  for (unsigned i = 0; i < slabs.workers(); ++i) writers.emplace_back(places, target.dims, sink);
  BTF_TRY(for_each_slab(work.options.execution, slabs.workers(), slabs.count(),
                        [&](unsigned worker, std::uint64_t number) -> Status {
                          BTF_ASSIGN(const LinearSlab slab, slabs.read(worker, number));
                          return writers[worker].write(slab, first[number], counts.by_slab[number]);
                        }));
  return slabs.account();
}

}  // namespace btf
