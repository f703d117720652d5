#include "diff/hints/padding.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "btf/try.h"
#include "core/checked_math.h"
#include "diff/hints/evidence/agreements.h"
#include "diff/hints/evidence/lookup.h"
#include "diff/hints/evidence/wording.h"
#include "elements/parallel.h"
#include "elements/row_major.h"
#include "elements/slab_io.h"
#include "kernels/number/widen.h"

namespace btf {
namespace {

using hints::Agreement;
using Numbers = std::vector<long double>;

constexpr std::uint64_t kPiece = 1U << 16;     // elements
constexpr std::uint64_t kSample = 64;          // elements of each part
constexpr std::uint64_t kLeastCommon = 8;      // elements
constexpr std::uint64_t kLeastDifferent = 4;   // of these, that are not what the padding is

// visit(box) for pieces of a box, each of at most kPiece elements.
template <typename Visit>
Status for_each_piece(const Box& whole, Visit&& visit) {
  const Dims counts = whole.counts();
  std::size_t split = counts.size() - 1;
  std::uint64_t inner = 1;
  while (split > 0 && inner * counts[split] <= kPiece) inner *= counts[split--];
  const std::uint64_t step = std::max<std::uint64_t>(1, kPiece / inner);
  Box piece = whole;
  for (std::size_t d = 0; d < split; ++d) piece.hi[d] = piece.lo[d] + 1;
  for (;;) {
    for (std::uint64_t at = whole.lo[split]; at < whole.hi[split]; at += step) {
      piece.lo[split] = at;
      piece.hi[split] = std::min(at + step, whole.hi[split]);
      BTF_ASSIGN(const bool go_on, visit(piece));
      if (!go_on) return {};
    }
    std::size_t d = split;
    for (; d > 0; --d) {
      ++piece.lo[d - 1];
      if (++piece.hi[d - 1] <= whole.hi[d - 1]) break;
      piece.lo[d - 1] = whole.lo[d - 1];
      piece.hi[d - 1] = piece.lo[d - 1] + 1;
    }
    if (d == 0) return {};
  }
}

class BoxReader {
 public:
  static Result<BoxReader> open(const DiffSide& side) {
    BoxReader reader(side);
    BTF_ASSIGN(reader.reader_, side.reader(*side.storage()));
    return reader;
  }

  Status read(const Box& box, Numbers& numbers) {
    BTF_ASSIGN(const SourceSlab slab, reader_->read(box));
    const Dims counts = box.counts();
    const std::byte* codes = in_row_major(slab, counts, side_->dtype(), buffer_).data;
    numbers.resize(*element_count(counts));
    widener<long double>(side_->dtype())(codes, 1, numbers.size(), numbers.data());
    return {};
  }

 private:
  explicit BoxReader(const DiffSide& side) : side_(&side) {}

  const DiffSide* side_;
  std::unique_ptr<SlabReader> reader_;
  Buffer buffer_;
};

bool same_number(long double a, long double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

// What a side has that the other has not, as boxes that have no element in common.
std::vector<Box> boxes_beyond(const Dims& dims, const Dims& common) {
  std::vector<Box> boxes;
  Box box{Dims(dims.size(), 0), dims};
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] > common[d]) {
      boxes.push_back(box);
      boxes.back().lo[d] = common[d];
    }
    box.hi[d] = common[d];
  }
  return boxes;
}

// Places from all over a box.
std::vector<Dims> sample_of(const Box& box) {
  const Dims counts = box.counts();
  const std::uint64_t elements = *element_count(counts);
  const std::uint64_t step = std::max<std::uint64_t>(1, elements / kSample);
  std::vector<Dims> places;
  for (std::uint64_t i = 0; i < elements && places.size() < kSample; i += step) {
    Dims place = index_of(counts, std::min(elements - 1, i + i / step * 7 % step));
    for (std::size_t d = 0; d < place.size(); ++d) place[d] += box.lo[d];
    places.push_back(std::move(place));
  }
  return places;
}

Result<Numbers> numbers_at(const DiffSide& side, const std::vector<Dims>& places) {
  BTF_ASSIGN(const std::vector<Element> elements, side.elements(places));
  Numbers numbers;
  for (const Element& element : elements)
    numbers.push_back(hints::value_of(side.dtype(), element.code));
  return numbers;
}

class Search {
 public:
  Search(const DiffSide& actual, const DiffSide& golden, const Judge& judge,
         const Execution& execution)
      : actual_(actual),
        golden_(golden),
        execution_(execution),
        agreement_(hints::strict_agreement(judge, actual.dtype(), golden.dtype())) {
    agreement_.judge = judge;
    for (std::size_t d = 0; d < actual.dims().size(); ++d)
      common_.push_back(std::min(actual.dims()[d], golden.dims()[d]));
  }

  Result<std::vector<Hint>> run() {
    elements_ = *element_count(common_);
    if (elements_ < kLeastCommon) return {};
    BTF_ASSIGN(const bool likely, sample_agrees());
    if (!likely) return {};
    for (const DiffSide* side : {&actual_, &golden_}) {
      BTF_ASSIGN(const bool constant, is_constant_beyond(*side));
      if (!constant) return {};
    }
    BTF_ASSIGN(const bool same, common_agrees());
    if (!same || different_ < std::min(kLeastDifferent, elements_)) return {};
    return {{{.cause = Cause::padded, .evidence = sentence()}}};
  }

 private:
  Box common_box() const { return {Dims(common_.size(), 0), common_}; }

  Result<bool> sample_agrees() const {
    const std::vector<Dims> places = sample_of(common_box());
    BTF_ASSIGN(const Numbers actual, numbers_at(actual_, places));
    BTF_ASSIGN(const Numbers golden, numbers_at(golden_, places));
    for (std::size_t i = 0; i < places.size(); ++i)
      if (!agree(actual[i], golden[i])) return false;
    for (const DiffSide* side : {&actual_, &golden_})
      for (const Box& box : boxes_beyond(side->dims(), common_)) {
        BTF_ASSIGN(const Numbers numbers, numbers_at(*side, sample_of(box)));
        for (const long double number : numbers)
          if (!same_number(number, numbers.front())) return false;
      }
    return true;
  }

  bool agree(long double actual, long double golden) const {
    return hints::sampled_agree(actual, golden, agreement_);
  }

  Result<bool> is_constant_beyond(const DiffSide& side) {
    BTF_ASSIGN(BoxReader reader, BoxReader::open(side));
    Numbers numbers;
    bool constant = true;
    for (const Box& box : boxes_beyond(side.dims(), common_))
      BTF_TRY(for_each_piece(box, [&](const Box& piece) -> Result<bool> {
        BTF_TRY(check_cancelled(execution_));
        BTF_TRY(reader.read(piece, numbers));
        if (!padding_) padding_ = numbers.front();
        constant = std::ranges::all_of(
            numbers, [&](long double number) { return same_number(number, *padding_); });
        padded_ += numbers.size();
        return constant;
      }));
    return constant;
  }

  Result<bool> common_agrees() {
    BTF_ASSIGN(BoxReader actual_reader, BoxReader::open(actual_));
    BTF_ASSIGN(BoxReader golden_reader, BoxReader::open(golden_));
    Numbers actual;
    Numbers golden;
    bool same = true;
    BTF_TRY(for_each_piece(common_box(), [&](const Box& piece) -> Result<bool> {
      BTF_TRY(check_cancelled(execution_));
      BTF_TRY(actual_reader.read(piece, actual));
      BTF_TRY(golden_reader.read(piece, golden));
      for (std::size_t i = 0; i < actual.size() && same; ++i) {
        same = agree(actual[i], golden[i]);
        if (!same_number(actual[i], *padding_)) ++different_;
        if (!hints::accepted(actual[i], golden[i], agreement_)) ++lenient_;
      }
      return same;
    }));
    return same;
  }

  // ":100" or ":, :100"
  std::string slice() const {
    std::string text;
    std::size_t last = 0;
    for (std::size_t d = 0; d < common_.size(); ++d)
      if (actual_.dims()[d] != golden_.dims()[d]) last = d;
    for (std::size_t d = 0; d <= last; ++d) {
      if (d > 0) text += ",";
      text += ":";
      if (actual_.dims()[d] != golden_.dims()[d]) text += std::to_string(common_[d]);
    }
    return text;
  }

  std::string sentence() const {
    std::string dims;
    bool actual_longer = false;
    bool golden_longer = false;
    for (std::size_t d = 0; d < common_.size(); ++d) {
      if (actual_.dims()[d] == golden_.dims()[d]) continue;
      (actual_.dims()[d] > golden_.dims()[d] ? actual_longer : golden_longer) = true;
      dims += (dims.empty() ? "" : " and ") +
              hints::dim_text(static_cast<std::uint32_t>(d), common_.size());
    }
    const std::string who = !golden_longer  ? "actual is golden padded"
                            : !actual_longer ? "golden is actual padded"
                                             : "both are padded";
    std::string text = who + " with " + std::to_string(padded_) + " elements of " +
                       hints::number_text(*padding_) + " along " + dims + ": the " +
                       std::to_string(elements_) + " that both have are equal";
    if (lenient_ > 0)
      text += ", " + std::to_string(lenient_) + " of them within " + agreement_.lenience;
    return text + " (`Slice` " + slice() + " takes these)";
  }

  const DiffSide& actual_;
  const DiffSide& golden_;
  const Execution& execution_;
  Agreement agreement_;
  Dims common_;
  std::uint64_t elements_ = 0;  // in common
  std::uint64_t padded_ = 0;
  std::uint64_t different_ = 0;  // of actual's in common, from the padding
  std::uint64_t lenient_ = 0;
  std::optional<long double> padding_;
};

}  // namespace

Result<std::vector<Hint>> find_padding(const DiffSide& actual, const DiffSide& golden,
                                       const Judge& judge, const Execution& execution) {
  const std::size_t rank = actual.dims().size();
  if (rank != golden.dims().size() || rank == 0 ||
      actual.storage() == nullptr || golden.storage() == nullptr || actual.rearranged() ||
      golden.rearranged())
    return {};
  return Search(actual, golden, judge, execution).run();
}

}  // namespace btf
