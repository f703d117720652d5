#include "elements/coo_sort.h"

#include <algorithm>
#include <vector>

#include "btf/try.h"
#include "formats/io/spool.h"

namespace btf {
namespace {

// An object and not a function, so that sorting can inline it.
constexpr auto before = [](const CooEntry& a, const CooEntry& b) {
  return a.key != b.key ? a.key < b.key : a.position < b.position;
};

class SortedVector final : public CooSource {
 public:
  explicit SortedVector(std::vector<CooEntry> entries) : entries_(std::move(entries)) {}

  Result<std::optional<CooEntry>> next() override {
    if (at_ == entries_.size()) return std::nullopt;
    return entries_[at_++];
  }

  Status rewind() override {
    at_ = 0;
    return {};
  }

 private:
  std::vector<CooEntry> entries_;
  std::size_t at_ = 0;
};

// One sorted run in the spool, read through a buffer.
class Run {
 public:
  Run(const Spool& spool, std::uint64_t begin, std::uint64_t count, std::uint64_t buffer_entries)
      : spool_(&spool), begin_(begin), count_(count), buffer_(buffer_entries) {}

  Status advance() {
    if (++at_ < filled_) return {};
    begin_ += filled_ * sizeof(CooEntry);
    count_ -= filled_;
    filled_ = std::min<std::uint64_t>(buffer_.size(), count_);
    at_ = 0;
    return spool_->read_at(begin_, std::as_writable_bytes(std::span(buffer_).first(filled_)));
  }

  bool done() const { return filled_ == 0; }
  const CooEntry& front() const { return buffer_[at_]; }

 private:
  const Spool* spool_;
  std::uint64_t begin_;
  std::uint64_t count_;
  std::vector<CooEntry> buffer_;
  std::uint64_t filled_ = 0;
  std::uint64_t at_ = 0;
};

class MergedRuns final : public CooSource {
  // Before its first use, for its type is deduced.
  auto later() const {
    return [&](std::size_t a, std::size_t b) { return before(runs_[b].front(), runs_[a].front()); };
  }

 public:
  MergedRuns(Spool spool, std::vector<std::uint64_t> counts, std::uint64_t memory)
      : spool_(std::move(spool)), counts_(std::move(counts)), memory_(memory) {}

  Status rewind() override {
    runs_.clear();
    heap_.clear();
    const std::uint64_t buffer =
        std::max<std::uint64_t>(16, memory_ / sizeof(CooEntry) / counts_.size());
    std::uint64_t begin = 0;
    for (const std::uint64_t count : counts_) {
      runs_.emplace_back(spool_, begin, count, std::min(buffer, count));
      begin += count * sizeof(CooEntry);
      BTF_TRY(runs_.back().advance());
      heap_.push_back(runs_.size() - 1);
    }
    std::ranges::make_heap(heap_, later());
    return {};
  }

  Result<std::optional<CooEntry>> next() override {
    if (heap_.empty()) return std::nullopt;
    std::ranges::pop_heap(heap_, later());
    Run& run = runs_[heap_.back()];
    const CooEntry entry = run.front();
    BTF_TRY(run.advance());
    if (run.done())
      heap_.pop_back();
    else
      std::ranges::push_heap(heap_, later());
    return entry;
  }

 private:
  Spool spool_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t memory_;
  std::vector<Run> runs_;
  std::vector<std::size_t> heap_;
};

}  // namespace

Result<std::unique_ptr<CooSource>> sort_entries(CooSource& entries, std::uint64_t count,
                                                std::uint64_t memory) {
  const std::uint64_t most = std::max<std::uint64_t>(64, memory / sizeof(CooEntry));
  std::vector<CooEntry> run;
  run.reserve(std::min(count, most));  // growing would take half as much again
  std::optional<Spool> spool;
  std::vector<std::uint64_t> counts;
  const auto spill = [&]() -> Status {
    if (!spool) {
      BTF_ASSIGN(spool, Spool::create());
    }
    counts.push_back(run.size());
    BTF_TRY(spool->append(std::as_bytes(std::span(run))));
    run.clear();
    return {};
  };
  for (;;) {
    BTF_ASSIGN(const std::optional<CooEntry> entry, entries.next());
    if (entry) run.push_back(*entry);
    if (entry && run.size() < most) continue;
    std::ranges::sort(run, before);
    if (!entry && !spool) return std::make_unique<SortedVector>(std::move(run));
    if (!run.empty()) BTF_TRY(spill());
    if (!entry) break;
  }
  run = std::vector<CooEntry>();  // unlike {}, this gives the memory back
  auto merged = std::make_unique<MergedRuns>(*std::move(spool), std::move(counts), memory);
  BTF_TRY(merged->rewind());
  return merged;
}

}  // namespace btf
