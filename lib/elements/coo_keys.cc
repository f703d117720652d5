#include "elements/coo_keys.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "btf/try.h"
#include "core/finding_table.h"
#include "formats/btf/wire.h"

namespace btf {
namespace {

constexpr std::uint64_t kBlockBytes = 256U << 10;

// The number of entries before one that is out of range; the offsets of these by strides.
using PlacesFn = std::uint64_t (*)(const std::byte* indices, std::uint64_t count, const Dims& dims,
                                   const Dims& strides, std::uint64_t* places);

// A rank that the compiler knows is worth twice the speed.
template <std::size_t kRank>
std::uint64_t places_of_rank(const std::byte* indices, std::uint64_t count, const Dims& dims,
                             const Dims& strides, std::uint64_t* places) {
  std::array<std::uint64_t, kRank> dim;
  std::array<std::uint64_t, kRank> stride;
  std::ranges::copy_n(dims.begin(), kRank, dim.begin());
  std::ranges::copy_n(strides.begin(), kRank, stride.begin());
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t place = 0;
    bool outside = false;
    for (std::size_t d = 0; d < kRank; ++d, indices += wire::kWord) {
      const std::uint64_t index = wire::load_u64(indices);
      outside |= index >= dim[d];
      place += index * stride[d];
    }
    if (outside) return i;
    places[i] = place;
  }
  return count;
}

constexpr PlacesFn kPlacesOfRank[] = {nullptr,           places_of_rank<1>, places_of_rank<2>,
                                      places_of_rank<3>, places_of_rank<4>, places_of_rank<5>};

std::uint64_t any_places(const std::byte* indices, std::uint64_t count, const Dims& dims,
                         const PlaceKey& key, std::uint64_t* places) {
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t place = 0;
    for (std::size_t d = 0; d < dims.size(); ++d, indices += wire::kWord) {
      const std::uint64_t index = wire::load_u64(indices);
      if (index >= dims[d]) return i;
      place += key.along(d, index);
    }
    places[i] = place;
  }
  return count;
}

}  // namespace

CooKeys::CooKeys(const ByteSource& source, const TensorInfo& record, CooKey key)
    : source_(source),
      parts_(*record.coo),
      dims_(record.dims),
      key_(std::move(key)),
      place_(key_.target<PlaceKey>()),
      // An even number: blocks of 4-bit codes begin at whole bytes.
      block_entries_(
          std::max<std::uint64_t>(2, kBlockBytes / (wire::kWord * (dims_.size() + 1)) / 2 * 2)),
      index_(dims_.size()) {}

Status CooKeys::load(std::uint64_t position, std::uint64_t count) {
  position_ = position;
  const std::uint64_t row = dims_.size() * wire::kWord;
  BTF_TRY(source_.read_at(parts_.indices_offset + position * row,
                          std::span(indices_.reserve(count * row), count * row)));
  keys_.resize(count);
  if (place_ != nullptr)
    find_places(count);
  else
    ask_for_keys(count);
  return {};
}

void CooKeys::find_places(std::uint64_t count) {
  const std::size_t rank = dims_.size();
  const PlacesFn places =
      rank < std::size(kPlacesOfRank) && !place_->mapping.split ? kPlacesOfRank[rank] : nullptr;
  sound_ = places != nullptr
               ? places(indices_.data(), count, dims_, place_->mapping.strides, keys_.data())
               : any_places(indices_.data(), count, dims_, *place_, keys_.data());
  count_ = sound_;
}

void CooKeys::ask_for_keys(std::uint64_t count) {
  chosen_.resize(count);
  count_ = 0;
  const std::byte* at = indices_.data();
  for (sound_ = 0; sound_ < count; ++sound_) {
    for (std::size_t d = 0; d < dims_.size(); ++d, at += wire::kWord) {
      index_[d] = wire::load_u64(at);
      if (index_[d] >= dims_[d]) return;
    }
    const std::optional<std::uint64_t> key = key_(index_);
    if (!key) continue;
    keys_[count_] = *key;
    chosen_[count_++] = sound_;
  }
}

std::unexpected<Error> CooKeys::out_of_range() const {
  const std::byte* row = indices_.data() + sound_ * dims_.size() * wire::kWord;
  std::uint64_t index = 0;
  std::size_t d = 0;
  for (; d < dims_.size(); ++d) {
    index = wire::load_u64(row + d * wire::kWord);
    if (index >= dims_[d]) break;
  }
  const std::uint64_t position = position_ + sound_;
  const std::uint64_t at = parts_.indices_offset + (position * dims_.size() + d) * wire::kWord;
  return malformed("coo-index-out-of-range", at,
                   "COO entry " + std::to_string(position) + " has index " + std::to_string(index) +
                       " in dim " + std::to_string(d) + " of size " + std::to_string(dims_[d]) +
                       " (byte " + std::to_string(at) + ")");
}

}  // namespace btf
