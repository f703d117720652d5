#include "diff/hints/models/code_reading.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "btf/try.h"
#include "diff/hints/evidence/distinct.h"
#include "diff/hints/evidence/wording.h"
#include "diff/pairs/rows.h"
#include "elements/cast_slab.h"
#include "kernels/number/widen.h"

namespace btf::hints {
namespace {

std::uint64_t swap_parts(std::uint64_t code, unsigned bits, unsigned part) {
  const std::uint64_t mask = (std::uint64_t{1} << part) - 1;
  std::uint64_t swapped = 0;
  for (unsigned at = 0; at < bits; at += part) swapped |= (code >> at & mask) << (bits - part - at);
  return swapped;
}

constexpr auto kChanges = std::to_array<BitChange>({
    {"bytes reversed", Cause::byte_order, 16, 64,
     [](std::uint64_t code, unsigned bits) { return swap_parts(code, bits, 8); }},
    {"halves exchanged", Cause::byte_order, 32, 64,
     [](std::uint64_t code, unsigned bits) { return swap_parts(code, bits, bits / 2); }},
    {"nibbles exchanged", Cause::nibble_order, 8, 8,
     [](std::uint64_t code, unsigned bits) { return swap_parts(code, bits, 4); }},
});

void change_codes(const BitChange& change, const DTypeInfo& row, std::byte* codes,
                  std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t code = 0;
    std::memcpy(&code, codes + i * row.buffer_bytes(), row.buffer_bytes());
    code = change.apply(code, row.bits);
    std::memcpy(codes + i * row.buffer_bytes(), &code, row.buffer_bytes());
  }
}

// A number that `taken_as` cannot represent becomes NaN, which agrees with no number.
template <typename Real>
void blank_inexact(const Real* values, const Real* taken, std::uint64_t count, Real* out) {
  for (std::uint64_t i = 0; i < count; ++i)
    if (values[i] != taken[i] && !(std::isnan(values[i]) && std::isnan(taken[i])))
      out[i] = std::numeric_limits<Real>::quiet_NaN();
}

template <typename Real>
void read_codes(const CodeReading& reading, const Real* values, const std::byte* codes,
                std::uint64_t count, Real* out) {
  std::array<std::byte, kPairRun * sizeof(std::uint64_t)> bits;
  const DTypeInfo& row = info(reading.taken_as);
  const bool cast = reading.stored != reading.taken_as;
  if (cast) {
    LossAccount account;
    cast_run({reading.stored, reading.taken_as, {}}, codes, bits.data(), count, account);
  } else {
    std::memcpy(bits.data(), codes, count * row.buffer_bytes());
  }
  std::array<Real, kPairRun> taken;
  if (cast && !reading.rounded)
    widener<Real>(reading.taken_as)(bits.data(), 1, count, taken.data());
  if (reading.change != nullptr) change_codes(*reading.change, row, bits.data(), count);
  widener<Real>(reading.is)(bits.data(), 1, count, out);
  if (cast && !reading.rounded) blank_inexact(values, taken.data(), count, out);
}

std::string scale_text(const CodeReading& reading) {
  if (!only_scales(reading)) return "";
  const FloatGeometry& one = info(reading.taken_as).fp;
  const FloatGeometry& other = info(reading.is).fp;
  return " (" + number_text(std::ldexp(1.0L, one.bias - other.bias)) + " times the numbers)";
}

// Is one of the dtypes that of the side that is read, or of the other?
bool known_to_sides(const HintInput& input, const CodeReading& reading) {
  const DType other =
      reading.side == MovedSide::actual ? input.golden.dtype() : input.actual.dtype();
  return reading.stored == reading.taken_as || reading.is == other;
}

// Few different ones may be alike by chance.
constexpr std::size_t kLeastNumbers = 16;

bool many_numbers(const Moved& values) {
  DistinctNumbers<kLeastNumbers> numbers;
  for (const auto& value : values)
    if (value && !std::isnan(*value)) numbers.add(*value);
  return numbers.enough();
}

}  // namespace

std::span<const BitChange> bit_changes() { return kChanges; }

bool only_scales(const CodeReading& reading) {
  const DTypeInfo& one = info(reading.taken_as);
  const DTypeInfo& other = info(reading.is);
  return reading.change == nullptr && one.floating() && other.floating() &&
         one.fp.mantissa_bits == other.fp.mantissa_bits && one.fp.bias != other.fp.bias;
}

std::string reading_words(const CodeReading& reading) {
  const bool actual = reading.side == MovedSide::actual;
  const std::string side = actual ? "actual" : "golden";
  const std::string equal = actual ? " equals golden" : " equals actual";
  if (reading.rounded)
    return (actual ? "golden holds actual's " : "actual holds golden's ") +
           name_of(reading.taken_as) + " bits read as " + name_of(reading.is) +
           scale_text(reading);
  if (reading.change != nullptr && reading.stored == reading.taken_as)
    return side + equal + " with its " + std::string(reading.change->what);
  if (reading.change != nullptr)
    return side + equal + " with the " + std::string(reading.change->what) + " of its values as " +
           name_of(reading.taken_as);
  return side + equal + " when its " + name_of(reading.taken_as) + " bits are read as " +
         name_of(reading.is) + scale_text(reading);
}

ElementMap reading_map(const CodeReading& reading) {
  const auto apply = [reading](const auto* values, const std::byte* codes, std::uint64_t count,
                               auto* out) { read_codes(reading, values, codes, count, out); };
  return {.side = reading.side, .narrow = apply, .wide = apply};
}

SearchResult try_reading(const Inquiry& inquiry, const CodeReading& reading, double hypotheses) {
  const ElementMap map = reading_map(reading);
  constexpr std::size_t kFew = 16;
  const std::span few = std::span(inquiry.rarest).first(std::min(kFew, inquiry.rarest.size()));
  std::vector<Point> points;
  for (const std::size_t i : few) points.push_back(inquiry.mismatches[i]);
  if (!promising(inquiry, reading.side, few, mapped(inquiry, map, points))) return std::nullopt;
  if ((reading.rounded || !known_to_sides(inquiry.input, reading)) &&
      !many_numbers(mapped(inquiry, map, inquiry.mismatches)))
    return std::nullopt;
  if (!convincing(inquiry, reading.side, mapped(inquiry, map, inquiry.mismatches),
                  mapped(inquiry, map, inquiry.anywhere), hypotheses))
    return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(inquiry, map));
  if (!bears_out(inquiry, all)) return std::nullopt;
  const Cause cause = reading.change != nullptr ? reading.change->cause : Cause::dtype_misread;
  return Finding{
      {cause, reading_words(reading) + ": " + fitting_text(inquiry, all)},
      all.exceptions};
}

}  // namespace btf::hints
