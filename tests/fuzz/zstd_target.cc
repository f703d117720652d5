// Compressed files, as files and as streams that come in pieces: no bytes lead astray, and both
// ways give the same content; some by way of the system. After two bytes comes the file; or, if the
// first byte is odd, what a file is built from, so that faults get behind checksums: content, cut
// into frames, and a seek table with bytes that are changed.
#include <algorithm>
#include <memory>

#include "formats/io/byte_source.h"
#include "formats/tensor_file.h"
#include "formats/zstd.h"
#include "os_file.h"
#include "packed_file.h"
#include "well_formed.h"

namespace fuzz {
namespace {

// From front to back in pieces of that many bytes, as a slow pipe gives them.
btf::Result<btf::zstd::Unpacked> unpacked(BytesView bytes, std::size_t piece) {
  const auto pull = [&](std::span<std::byte> out) -> btf::Result<std::size_t> {
    const BytesView some = bytes.first(std::min({piece, out.size(), bytes.size()}));
    std::ranges::copy(some, out.begin());
    bytes = bytes.subspan(some.size());
    return some.size();
  };
  return btf::zstd::unpack(pull, std::nullopt);
}

btf::Result<std::unique_ptr<btf::ByteSource>> opened(BytesView bytes) {
  return btf::unpacked_source("input", std::make_unique<btf::MemorySource>(bytes), std::nullopt);
}

Bytes bytes_of(const btf::ByteSource& source) {
  Bytes bytes(std::min<std::uint64_t>(source.size(), 1U << 20));
  if (!source.read_at(0, bytes)) bytes.clear();
  return bytes;
}

// By the system: a file, and a pipe with all of it.
void check_pipe(BytesView bytes) {
  if (bytes.size() > 1U << 16) return;
  const auto by_file = btf::open_source(file_with(bytes));
  const Pipe pipe(bytes);
  const auto by_pipe = btf::open_source(pipe.path());
  if (!by_file || !by_pipe) return;
  require((*by_file)->compressed() == (*by_pipe)->compressed(),
          "a stream is recognised as another thing than a file");
  require((*by_file)->size() == (*by_pipe)->size(), "a stream has more or less than a file");
  const Bytes whole = bytes_of(**by_file);
  require(whole.empty() || whole == bytes_of(**by_pipe), "a stream has other content than a file");
}

void check_pieces(BytesView bytes, std::size_t piece) {
  const auto whole = opened(bytes);
  if (!whole || !(*whole)->compressed()) return;
  const auto pieces = unpacked(bytes, piece);
  // Of what is of no known kind only the beginning is kept.
  if (!pieces || pieces->more_follows || (*whole)->more_follows()) return;
  const Bytes expected = bytes_of(**whole);
  // A seek table that says something else than the frames is an error of the file alone: a stream
  // has gone by before the table comes.
  if (expected.empty() && (*whole)->size() > 0) return;
  require(pieces->content.size() == (*whole)->size(), "pieces have more or less than a file");
  Bytes again(expected.size());
  require(pieces->content.read_at(0, again).has_value() && again == expected,
          "pieces have other content than a file");
}

}  // namespace
}  // namespace fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  Input input(view(data, size));
  const std::uint64_t how = input.byte();
  const std::size_t piece = 1 + input.byte();
  const Bytes made = (how & 1) != 0 ? packed_file(input) : Bytes{};
  const BytesView bytes = (how & 1) != 0 ? BytesView(made) : input.rest();
  check_file(bytes);
  check_pieces(bytes, piece);
  if ((how & 14) == 14) check_pipe(bytes);
  return 0;
}
