#include <array>
#include <bit>
#include <cstring>

#include "kernels/move/move.h"

namespace btf {
namespace {

// 16 bytes fit the vector registers of every CPU; separating even from odd bytes, and the reverse,
// takes one or two instructions.
constexpr std::size_t kLanes = 16;
using Lanes [[gnu::vector_size(kLanes)]] = unsigned char;

inline Lanes load(const std::byte* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, kLanes);
  return lanes;
}

inline void store(Lanes lanes, std::byte* to) { std::memcpy(to, &lanes, kLanes); }

inline Lanes even_bytes(Lanes a, Lanes b) {
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}

inline Lanes odd_bytes(Lanes a, Lanes b) {
  return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}

inline Lanes low_pairs(Lanes a, Lanes b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

inline Lanes high_pairs(Lanes a, Lanes b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                 31);
}

template <std::size_t Width>
using Group = std::array<Lanes, Width>;

// Each round separates even from odd bytes of the results of the previous one. So vector `p` ends
// up with the plane whose number has the bits of p in reverse order.
template <std::size_t Width>
constexpr std::size_t plane_of(std::size_t p) {
  std::size_t plane = 0;
  for (std::size_t bit = 1; bit < Width; bit *= 2) plane = plane * 2 + (p & bit ? 1 : 0);
  return plane;
}

template <std::size_t Width, std::size_t Half = Width / 2>
inline void part(Group<Width>& v) {
  if constexpr (Half > 0) {
    Group<Width> next;
    for (std::size_t g = 0; g < Width; g += 2 * Half)
      for (std::size_t j = 0; j < Half; ++j) {
        next[g + j] = even_bytes(v[g + 2 * j], v[g + 2 * j + 1]);
        next[g + Half + j] = odd_bytes(v[g + 2 * j], v[g + 2 * j + 1]);
      }
    v = next;
    part<Width, Half / 2>(v);
  }
}

template <std::size_t Width, std::size_t Half = 1>
inline void unite(Group<Width>& v) {
  if constexpr (Half < Width) {
    Group<Width> next;
    for (std::size_t g = 0; g < Width; g += 2 * Half)
      for (std::size_t j = 0; j < Half; ++j) {
        next[g + 2 * j] = low_pairs(v[g + j], v[g + Half + j]);
        next[g + 2 * j + 1] = high_pairs(v[g + j], v[g + Half + j]);
      }
    v = next;
    unite<Width, Half * 2>(v);
  }
}

template <std::size_t Width>
void split(const std::byte* elements, std::size_t count, std::byte* planes) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Group<Width> v;
    for (std::size_t k = 0; k < Width; ++k) v[k] = load(elements + i * Width + k * kLanes);
    part<Width>(v);
    for (std::size_t p = 0; p < Width; ++p) store(v[p], planes + plane_of<Width>(p) * count + i);
  }
  for (; i < count; ++i)
    for (std::size_t k = 0; k < Width; ++k) planes[k * count + i] = elements[i * Width + k];
}

template <std::size_t Width>
void join(const std::byte* const* planes, std::size_t count, std::byte* elements) {
  std::array<const std::byte*, Width> from;
  for (std::size_t k = 0; k < Width; ++k) from[k] = planes[k];
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Group<Width> v;
    for (std::size_t p = 0; p < Width; ++p) v[p] = load(from[plane_of<Width>(p)] + i);
    unite<Width>(v);
    for (std::size_t k = 0; k < Width; ++k) store(v[k], elements + i * Width + k * kLanes);
  }
  for (; i < count; ++i)
    for (std::size_t k = 0; k < Width; ++k) elements[i * Width + k] = from[k][i];
}

using Split = void (*)(const std::byte*, std::size_t, std::byte*);
using Join = void (*)(const std::byte* const*, std::size_t, std::byte*);

// By the logarithm of the width.
constexpr Split kSplit[] = {split<1>, split<2>, split<4>, split<8>};
constexpr Join kJoin[] = {join<1>, join<2>, join<4>, join<8>};

}  // namespace

void split_planes(const std::byte* elements, std::size_t count, std::size_t width,
                  std::byte* planes) {
  kSplit[std::countr_zero(width)](elements, count, planes);
}

void join_planes(const std::byte* const* planes, std::size_t count, std::size_t width,
                 std::byte* elements) {
  kJoin[std::countr_zero(width)](planes, count, elements);
}

}  // namespace btf
