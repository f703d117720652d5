#include "diff/layers/spot/sample.h"

#include <algorithm>
#include <unordered_set>

#include "core/checked_math.h"
#include "network/node/strides.h"

namespace btf {
namespace {

// Each place costs reading what an element is computed from, which channels there share.
constexpr std::size_t kWorstPlaces = 8;  // those of the worst elements
constexpr std::size_t kLeastPlaces = 8;  // with others, of which there are
constexpr std::size_t kOtherPlaces = 4;  // at least so many
constexpr std::size_t kAtPlaces = 168;   // elements there, of the same channels everywhere
constexpr std::size_t kEvery = 64;       // channels that are looked at once

// Numbers that follow from a name (splitmix64 over its FNV hash).
class Chance {
 public:
  explicit Chance(std::string_view name) {
    for (const char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  std::uint64_t below(std::uint64_t end) {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % end;
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

// The dim of channels: the second of three and more, else the last.
std::size_t channel_dim(const Dims& dims) { return dims.size() >= 3 ? 1 : dims.size() - 1; }

// Indices of which the channel does not matter: of the worst elements, whose inputs are read
// anyway, and of others.
std::vector<Dims> places_of(const Dims& dims, std::size_t channel_dim,
                            const std::vector<std::uint64_t>& worst, Chance& chance) {
  std::vector<Dims> places;
  for (const std::uint64_t number : worst) {
    Dims place = network::index_of(number, dims);
    place[channel_dim] = 0;
    if (places.size() < kWorstPlaces && std::ranges::find(places, place) == places.end())
      places.push_back(std::move(place));
  }
  const std::size_t count = std::max(places.size() + kOtherPlaces, kLeastPlaces);
  std::vector<Dims> others;
  while (places.size() + others.size() < count) {
    Dims& place = others.emplace_back();
    for (const std::uint64_t size : dims) place.push_back(chance.below(size));
  }
  std::ranges::sort(others);
  places.insert(places.end(), others.begin(), others.end());
  return places;
}

}  // namespace

std::vector<std::uint64_t> spot_sample(const Dims& dims, std::string_view name,
                                       const std::vector<std::uint64_t>& worst) {
  const std::uint64_t elements = element_count(dims).value_or(0);
  std::vector<std::uint64_t> sample;
  std::unordered_set<std::uint64_t> seen;
  const auto take = [&](std::uint64_t number) {
    if (sample.size() < kSpotElements && seen.insert(number).second) sample.push_back(number);
  };
  for (const std::uint64_t number : worst) take(number);
  if (elements <= kSpotElements) {
    for (std::uint64_t number = 0; number < elements; ++number) take(number);
    return sample;
  }
  Chance chance(name);
  const std::size_t dim = channel_dim(dims);
  const std::uint64_t channels = dims[dim];
  const std::vector<Dims> places = places_of(dims, dim, worst, chance);
  std::vector<std::uint64_t> chosen;
  for (std::size_t c = 0; c < kAtPlaces / places.size(); ++c)
    chosen.push_back(chance.below(channels));
  std::ranges::sort(chosen);
  const auto take_at = [&](Dims place, std::uint64_t channel) {
    place[dim] = channel;
    take(network::number_of(place, dims));
  };
  for (const Dims& place : places)
    for (const std::uint64_t channel : chosen) take_at(place, channel);
  for (std::size_t c = 0; c < std::min<std::uint64_t>(channels, kEvery); ++c)
    take_at(places[c % places.size()],
            channels <= kEvery ? c : c * channels / kEvery + chance.below(channels / kEvery));
  constexpr std::size_t kTries = 2 * kSpotElements;
  for (std::size_t i = 0; i < kTries && sample.size() < kSpotElements; ++i)
    take_at(places[i % places.size()], chance.below(channels));
  for (std::size_t i = 0; i < kTries && sample.size() < kSpotElements; ++i)
    take(chance.below(elements));
  // One place after the other: what is read for one channel is there for the next.
  const auto place_of = [&](std::uint64_t number) {
    Dims index = network::index_of(number, dims);
    index[dim] = 0;
    return network::number_of(index, dims);
  };
  std::ranges::stable_sort(
      sample.begin() + static_cast<std::ptrdiff_t>(std::min(worst.size(), sample.size())),
      sample.end(), {}, place_of);
  return sample;
}

std::vector<std::uint64_t> spot_around(std::uint64_t number, const Dims& dims,
                                       std::string_view name) {
  constexpr std::size_t kOfEach = 24;
  Chance chance(name);
  const Dims index = network::index_of(number, dims);
  std::vector<std::uint64_t> found;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] < 2) continue;
    for (std::size_t i = 0; i < kOfEach; ++i) {
      Dims place = index;
      for (std::size_t other = 0; other < dims.size(); ++other)
        if (other != d) place[other] = chance.below(dims[other]);
      found.push_back(network::number_of(place, dims));
    }
  }
  std::ranges::sort(found);
  const auto [first, last] = std::ranges::unique(found);
  found.erase(first, last);
  return found;
}

std::vector<std::uint64_t> spot_shadow(std::uint64_t number, const Dims& from, const Dims& to) {
  const std::uint64_t elements = element_count(to).value_or(0);
  const std::uint64_t own = element_count(from).value_or(0);
  if (elements == 0 || own == 0) return {};
  if (from == to) return {number};
  std::vector<std::uint64_t> found;
  // In the order of the elements, as a reshape leaves it.
  const auto part = static_cast<long double>(number) / static_cast<long double>(own);
  found.push_back(std::min(elements - 1,
                           static_cast<std::uint64_t>(part * static_cast<long double>(elements))));
  if (from.size() != to.size()) return found;
  const Dims index = network::index_of(number, from);
  Dims at(to.size());
  for (std::size_t d = 0; d < to.size(); ++d) at[d] = index[d] * to[d] / from[d];
  const std::size_t dim = channel_dim(to);
  for (const std::uint64_t channel : {std::uint64_t{0}, to[dim] / 3, to[dim] - 1, at[dim]}) {
    at[dim] = channel;
    found.push_back(network::number_of(at, to));
  }
  return found;
}

}  // namespace btf
