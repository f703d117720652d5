#include "packed_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include <memory>

namespace fuzz {
namespace {

void put(Bytes& to, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i, value >>= 8) to.push_back(static_cast<std::byte>(value));
}

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

constexpr std::uint64_t kMaxFrames = 64;

}  // namespace

Bytes packed_file(Input& input) {
  static const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  const std::uint64_t flags = input.byte();
  const std::size_t frame = 1 + 16 * input.below(64);
  const std::uint64_t changes = input.below(4);
  Input change(input.take(12));
  const bool sums = (flags & 1) != 0;
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, (flags & 2) != 0);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, (flags & 4) == 0);
  Bytes file;
  Bytes table;
  std::uint64_t frames = 0;
  while (input.size() > 0) {
    const BytesView content = frames < kMaxFrames ? input.take(frame) : input.rest();
    Bytes packed(ZSTD_compressBound(content.size()));
    const std::size_t size =
        ZSTD_compress2(context.get(), packed.data(), packed.size(), content.data(), content.size());
    require(ZSTD_isError(size) == 0, "libzstd does not compress");
    file.insert(file.end(), packed.begin(), packed.begin() + std::ptrdiff_t(size));
    put(table, size, 4);
    put(table, content.size(), 4);
    if (sums) put(table, XXH64(content.data(), content.size(), 0), 4);
    ++frames;
    if ((flags & 8) != 0 && frames == 1) {  // a skippable frame, which the table knows too
      put(file, 0x184D2A50, 4);
      put(file, 0, 4);
      put(table, 8, 4);
      put(table, 0, 4);
      if (sums) put(table, XXH64(nullptr, 0, 0), 4);
      ++frames;
    }
  }
  if ((flags & 16) != 0) return file;  // and no table
  const std::size_t begin = file.size();
  put(file, 0x184D2A5E, 4);
  put(file, table.size() + 9, 4);
  file.insert(file.end(), table.begin(), table.end());
  put(file, frames, 4);
  put(file, sums ? 0x80 : 0, 1);
  put(file, 0x8F92EAB1, 4);
  for (std::uint64_t i = 0; i < changes; ++i) {
    const std::uint64_t place = change.number(2);
    const bool anywhere = (flags & 32) != 0;
    const std::size_t first = anywhere ? 0 : begin;
    file[first + place % (file.size() - first)] ^= static_cast<std::byte>(change.byte());
  }
  return file;
}

}  // namespace fuzz
