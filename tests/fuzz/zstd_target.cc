// Compressed files, as files and as streams that come in pieces: no bytes lead astray, and both
// ways give the same content. After two bytes comes the file; or, if the first byte is odd, what a
// file is built from, so that faults get behind checksums: content, cut into frames, and a seek
// table with bytes that are changed.
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "formats/byte_source.h"
#include "formats/spool.h"
#include "formats/zstd/unpack.h"
#include "os_file.h"
#include "well_formed.h"

namespace fuzz {
namespace {

void put(Bytes& to, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i, value >>= 8) to.push_back(static_cast<std::byte>(value));
}

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

// 16 bytes say how, the rest is the content.
Bytes built(Input& input) {
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
    const BytesView content = input.take(frame);
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

Bytes content(const btf::ByteSource& source) {
  Bytes bytes(std::min<std::uint64_t>(source.size(), 1U << 20));
  if (!source.read_at(0, bytes)) bytes.clear();
  return bytes;
}

// From front to back in pieces of that many bytes, as a slow pipe gives them.
btf::Result<btf::Spool> unpacked(BytesView bytes, std::size_t piece) {
  const auto pull = [&](std::span<std::byte> out) -> btf::Result<std::size_t> {
    const BytesView some = bytes.first(std::min({piece, out.size(), bytes.size()}));
    std::ranges::copy(some, out.begin());
    bytes = bytes.subspan(some.size());
    return some.size();
  };
  return btf::zstd::unpack(pull, std::nullopt);
}

void check_streams(BytesView bytes, const std::string& file, std::size_t piece) {
  const auto by_file = btf::open_source(file);
  if (bytes.size() <= 1U << 16) {
    const Pipe pipe(bytes);
    const auto by_pipe = btf::open_source(pipe.path());
    if (by_file && by_pipe) {
      require((*by_file)->compressed() == (*by_pipe)->compressed(),
              "a stream is recognised as another thing than a file");
      require((*by_file)->size() == (*by_pipe)->size(), "a stream has more or less than a file");
      const Bytes whole = content(**by_file);
      require(whole.empty() || whole == content(**by_pipe),
              "a stream has other content than a file");
    }
  }
  if (!by_file || !(*by_file)->compressed()) return;
  const auto pieces = unpacked(bytes, piece);
  if (!pieces) return;
  require(pieces->size() == (*by_file)->size(), "pieces have more or less than a file");
  const Bytes whole = content(**by_file);
  Bytes again(whole.size());
  require(pieces->read_at(0, again).has_value() && again == whole,
          "pieces have other content than a file");
}

}  // namespace
}  // namespace fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  Input input(view(data, size));
  const bool build = input.flag();
  const std::size_t piece = 1 + input.byte();
  const Bytes made = build ? built(input) : Bytes{};
  const BytesView bytes = build ? BytesView(made) : input.rest();
  const std::string file = file_with(bytes);
  check_file(file);
  check_streams(bytes, file, piece);
  return 0;
}
