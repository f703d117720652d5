#include "repair/find_records.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "formats/btf/wire.h"

namespace btf {
namespace {

using State = SalvagedRecord::State;
using wire::kRecordHeader;
using wire::kWord;

// Entries that are looked at to find out how many there are.
constexpr std::uint64_t kMostEntries = 1U << 16;

// Where the next record may begin: behind the padding to a multiple of 8 of the record's size, or
// of the offset, or without any.
std::array<std::uint64_t, 3> next_begins(std::uint64_t begin, std::uint64_t end) {
  return {begin + round_up(end - begin, kWord).value_or(end - begin),
          round_up(end, kWord).value_or(end), end};
}

}  // namespace

Result<BtfSalvage> BtfSalvage::find(const ByteSource& source) {
  BtfSalvage salvage(source);
  BTF_TRY(salvage.choose_count());
  BTF_TRY(salvage.locate());
  salvage.resolve_overlaps();
  BTF_TRY(salvage.look_behind());
  return salvage;
}

bool BtfSalvage::in_file(std::uint64_t offset) const {
  return offset >= table_end() && fits(offset, kRecordHeader, source_->size());
}

// The record that begins there, if it can be read and its size is known.
std::optional<BtfSalvage::Extent> BtfSalvage::probe(std::uint64_t offset) {
  if (trouble_) return std::nullopt;
  const auto info = headers_->at(0, offset);
  if (!info && info.error().code != ErrorCode::malformed) trouble_ = info.error();
  if (!info || !info->known()) return std::nullopt;
  return Extent{offset, info->end()};
}

// Does a table of so many entries, and every record, end where the next record begins? Records
// that were cut off, and those behind, need only ascend.
bool BtfSalvage::contiguous(std::uint64_t count) const {
  const auto headers = btf_records(*source_, count);
  std::uint64_t last = 0;
  std::uint64_t next = (count + 1) * kWord;  // 0: not known
  for (std::uint64_t i = 0; i < std::min(count, kMostEntries); ++i) {
    const auto entry = headers->entry(i);
    if (!entry || (next > 0 ? *entry != next : *entry <= last)) return false;
    last = *entry;
    const auto info = headers->at(i, last);
    next = info && info->known() ? next_begins(last, info->end()).front() : 0;
  }
  return count > 0;
}

// The count may be what is damaged. In a canonical file the first record begins where the table
// ends, so the first entry says the count once more.
Status BtfSalvage::choose_count() {
  const std::uint64_t size = source_->size();
  if (size < kWord)
    return malformed("file-too-short", 0,
                     "a BTF file has at least 8 bytes, this one has " + std::to_string(size));
  const std::uint64_t most = (size - kWord) / kWord;
  std::array<std::byte, kWord> word;
  const Status readable = source_->read_at(0, word);
  if (!readable && readable.error().code != ErrorCode::malformed) return readable;
  if (readable) stated_count_ = wire::load_u64(word.data());
  std::optional<std::uint64_t> count;
  if (stated_count_ && *stated_count_ <= most) count = stated_count_;
  if (most > 0 && (!count || !contiguous(*count))) {
    const auto first = btf_records(*source_, 1)->entry(0);
    if (!first && first.error().code != ErrorCode::malformed)
      return std::unexpected(first.error());
    const std::uint64_t implied = first && *first >= 2 * kWord ? *first / kWord - 1 : 0;
    if (implied > 0 && implied <= most && *first % kWord == 0 && contiguous(implied))
      count = implied;
  }
  if (!count)
    return readable ? malformed("offset-table-too-long", 0,
                                "an offset table of " + std::to_string(*stated_count_) +
                                    " tensors is longer than the " +
                                    std::to_string(size) + " bytes of the file")
                    : readable;
  records_.resize(*count);
  opens_.resize(*count);
  headers_ = btf_records(*source_, *count);
  return {};
}

Status BtfSalvage::locate() {
  for (std::uint64_t i = 0; i < records_.size(); ++i)
    if (const auto entry = headers_->entry(i); entry && in_file(*entry)) table_.push_back(*entry);
  std::ranges::sort(table_);
  std::optional<std::uint64_t> behind = table_end();
  for (std::uint64_t i = 0; i < records_.size(); ++i) {
    const auto entry = headers_->entry(i);
    locate_one(i, behind, entry ? std::optional(*entry) : std::nullopt);
    if (trouble_) return std::unexpected(*std::move(trouble_));
    const SalvagedRecord& record = records_[i];
    behind.reset();
    if (record.state == State::sound) behind = next_begins(record.begin, record.end).front();
  }
  return {};
}

void BtfSalvage::locate_one(std::uint64_t index, std::optional<std::uint64_t> behind,
                            std::optional<std::uint64_t> entry) {
  SalvagedRecord& record = records_[index];
  record.begin = entry.value_or(UINT64_MAX);
  std::optional<Extent> found = entry ? probe(*entry) : std::nullopt;
  const bool unique = entry && times_in_table(*entry) == 1;
  opens_[index] = entry && behind == entry;
  // The offset behind the record before is taken if no other entry claims it, and if it fits into
  // the file better than the one in the table.
  if (behind && behind != entry && in_file(*behind) && times_in_table(*behind) == 0) {
    const std::optional<Extent> candidate = probe(*behind);
    const bool better = candidate && closes(*candidate) > (found && unique ? closes(*found) : 0);
    const bool pointless = !unique || !in_file(*entry);
    if (candidate && (better || (!found && pointless))) {
      found = candidate;
      record.begin = *behind;
      record.followed = opens_[index] = true;
    }
  }
  if (!found) return;
  record.end = found->end;
  record.state = State::sound;
}

std::uint64_t BtfSalvage::times_in_table(std::uint64_t offset) const {
  const auto [first, last] = std::ranges::equal_range(table_, offset);
  return static_cast<std::uint64_t>(last - first);
}

// 2: it ends where the next record or the end of the file is. 1: it does so behind entries that
// point into it. 0: it does not.
unsigned BtfSalvage::closes(const Extent& extent) const {
  const auto ends = next_begins(extent.begin, extent.end);
  const auto next = std::ranges::upper_bound(table_, extent.begin);
  if (next == table_.end()) return *std::ranges::max_element(ends) >= source_->size() ? 2 : 0;
  if (std::ranges::find(ends, *next) != ends.end()) return 2;
  const bool last = *std::ranges::max_element(ends) >= source_->size();
  return last || std::ranges::any_of(ends, [&](std::uint64_t end) { return times_in_table(end) > 0; })
             ? 1
             : 0;
}

unsigned BtfSalvage::score(const SalvagedRecord& record, bool opens) const {
  return 2 * closes({record.begin, record.end}) + (opens ? 1 : 0);
}

// If two records share bytes, the one that fits its neighbours better is sound. If neither does,
// neither is.
void BtfSalvage::resolve_overlaps() {
  std::vector<std::uint64_t> order;
  for (std::uint64_t i = 0; i < records_.size(); ++i)
    if (records_[i].state == State::sound) order.push_back(i);
  std::ranges::sort(order, {}, [&](std::uint64_t i) { return std::pair(records_[i].begin, i); });
  std::optional<std::uint64_t> before;
  std::uint64_t reach = 0;  // of `before`, and of what was lost together with it
  const auto lose = [&](std::uint64_t index, std::uint64_t to) {
    records_[index].state = State::overlapping;
    records_[index].detail = to;
  };
  for (const std::uint64_t index : order) {
    const SalvagedRecord& record = records_[index];
    if (before && record.begin < reach) {
      const unsigned mine = score(record, opens_[index]);
      const unsigned other = score(records_[*before], opens_[*before]);
      if (mine <= other) lose(index, *before);
      if (mine >= other && records_[*before].state == State::sound) lose(*before, index);
      if (mine <= other) {
        if (mine == other) reach = std::max(reach, record.end);
        continue;
      }
    }
    before = index;
    reach = record.end;
  }
}

// Bytes behind a record that belong to none: perhaps they are the record's own, and its header has
// lost them. Not if the next record has no offset: it may stand there.
Status BtfSalvage::look_behind() {
  std::vector<std::uint64_t> begins;
  for (const SalvagedRecord& record : records_)
    if (in_file(record.begin)) begins.push_back(record.begin);
  std::ranges::sort(begins);
  for (std::uint64_t i = 0; i < records_.size(); ++i) {
    SalvagedRecord& record = records_[i];
    if (record.state != State::sound) continue;
    const auto ends = next_begins(record.begin, record.end);
    const std::uint64_t next = *std::ranges::max_element(ends);
    const auto found = std::ranges::lower_bound(begins, record.end);
    const std::uint64_t limit = found == begins.end() ? source_->size() : *found;
    if (next >= limit) continue;
    if (i + 1 < records_.size() && !in_file(records_[i + 1].begin)) continue;
    record.state = State::in_doubt;
    record.detail = limit - next;
    std::array<std::byte, kRecordHeader> header;
    BTF_TRY(source_->read_at(record.begin, header));
    record.blank = std::ranges::all_of(header, [](std::byte b) { return b == std::byte{}; });
  }
  return {};
}

Error BtfSalvage::fault(std::uint64_t index) const {
  const SalvagedRecord& record = records_[index];
  const auto error = [&](FindingCode code, std::string message) {
    return Error{ErrorCode::malformed, std::move(message), {}, code, record.begin};
  };
  switch (record.state) {
    case State::overlapping:
      return error("records-overlap",
                   "the record overlaps that of tensor " + std::to_string(record.detail));
    case State::in_doubt:
      return error("gap-behind-record",
                   std::to_string(record.detail) +
                       " bytes behind it belong to no record, so its header may be damaged" +
                       (record.blank ? "; all its bytes are zero" : ""));
    default:
      break;
  }
  if (const auto entry = headers_->entry(index); !entry) return entry.error();
  const auto info = tensor(index);
  if (!info) return info.error();
  if (!info->dtype) return error("unknown-dtype", info->unknown_dtype_text());
  return error("unknown-layout", "unknown layout code " + std::to_string(info->layout_code));
}

}  // namespace btf
