#include "core/xxh64.h"

#include <array>
#include <bit>
#include <cstring>

namespace btf {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5;

template <typename Word>
Word load(const std::byte* from) {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

constexpr std::uint64_t mix(std::uint64_t lane, std::uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

// Whole stripes of 32 bytes, in four lanes.
std::uint64_t hash_stripes(const std::byte* at, std::size_t stripes) {
  std::array<std::uint64_t, 4> lanes{kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
  for (; stripes > 0; --stripes)
    for (std::uint64_t& lane : lanes) {
      lane = mix(lane, load<std::uint64_t>(at));
      at += 8;
    }
  std::uint64_t hash = 0;
  for (unsigned i = 0; i < 4; ++i) {
    constexpr std::array<int, 4> kTurns{1, 7, 12, 18};
    hash += std::rotl(lanes[i], kTurns[i]);
  }
  for (const std::uint64_t lane : lanes) hash = (hash ^ mix(0, lane)) * kPrime1 + kPrime4;
  return hash;
}

}  // namespace

std::uint64_t xxh64(std::span<const std::byte> bytes) {
  const std::size_t stripes = bytes.size() / 32;
  std::uint64_t hash = stripes > 0 ? hash_stripes(bytes.data(), stripes) : kPrime5;
  hash += bytes.size();
  const std::byte* at = bytes.data() + stripes * 32;
  std::size_t left = bytes.size() % 32;
  for (; left >= 8; left -= 8, at += 8)
    hash = std::rotl(hash ^ mix(0, load<std::uint64_t>(at)), 27) * kPrime1 + kPrime4;
  if (left >= 4) {
    hash = std::rotl(hash ^ load<std::uint32_t>(at) * kPrime1, 23) * kPrime2 + kPrime3;
    left -= 4;
    at += 4;
  }
  for (; left > 0; --left, ++at)
    hash = std::rotl(hash ^ load<std::uint8_t>(at) * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

}  // namespace btf
