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
  SortedVector(std::vector<CooEntry> entries, std::uint64_t code_bytes)
      : entries_(std::move(entries)), batch_(code_bytes) {}

  Result<CooRun> next_run() override {
    batch_.clear();
    while (at_ < entries_.size() && !batch_.full()) batch_.add(entries_[at_++]);
    return batch_.run();
  }

  Status rewind() override {
    at_ = 0;
    return {};
  }

 private:
  std::vector<CooEntry> entries_;
  std::size_t at_ = 0;
  CooBatch batch_;
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
  MergedRuns(Spool spool, std::vector<std::uint64_t> counts, std::uint64_t code_bytes,
             std::uint64_t memory)
      : spool_(std::move(spool)), counts_(std::move(counts)), memory_(memory), batch_(code_bytes) {}

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

  Result<CooRun> next_run() override {
    batch_.clear();
    while (!heap_.empty() && !batch_.full()) BTF_TRY(take_lowest());
    return batch_.run();
  }

 private:
  Status take_lowest() {
    std::ranges::pop_heap(heap_, later());
    Run& run = runs_[heap_.back()];
    batch_.add(run.front());
    BTF_TRY(run.advance());
    if (run.done())
      heap_.pop_back();
    else
      std::ranges::push_heap(heap_, later());
    return {};
  }

  Spool spool_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t memory_;
  std::vector<Run> runs_;
  std::vector<std::size_t> heap_;
  CooBatch batch_;
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
  std::uint64_t code_bytes = 0;
  for (;;) {
    BTF_ASSIGN(const CooRun read, entries.next_run());
    if (read.count == 0) break;
    code_bytes = read.code_bytes;
    for (std::uint64_t i = 0; i < read.count; ++i) {
      run.push_back(read[i]);
      if (run.size() < most) continue;
      std::ranges::sort(run, before);
      BTF_TRY(spill());
    }
  }
  std::ranges::sort(run, before);
  if (!spool) return std::make_unique<SortedVector>(std::move(run), code_bytes);
  if (!run.empty()) BTF_TRY(spill());
  run = std::vector<CooEntry>();  // unlike {}, this gives the memory back
  auto merged =
      std::make_unique<MergedRuns>(*std::move(spool), std::move(counts), code_bytes, memory);
  BTF_TRY(merged->rewind());
  return merged;
}

}  // namespace btf
