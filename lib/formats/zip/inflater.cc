#include "formats/zip/inflater.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "btf/try.h"
#include "core/finding_table.h"

namespace btf {
namespace {

// Headers need few bytes, all else many.
constexpr std::size_t kFirstBlock = 512;
constexpr std::size_t kPackedBlock = 128U << 10;

}  // namespace

struct Inflater::State {
  State(const ByteSource& from, std::uint64_t offset, std::uint64_t packed)
      : source(from), next(offset), end(offset + packed) {
    // No header of zlib: a zip file has its own.
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { inflateEnd(&stream); }

  std::unexpected<Error> damaged(const std::string& what) const {
    const std::uint64_t at = next - stream.avail_in;
    return malformed("zip-member", at,
                     "its deflated data " + what + " at byte " + std::to_string(at));
  }

  Status fill() {
    const std::size_t wanted = input.empty() ? kFirstBlock : kPackedBlock;
    input.resize(std::min<std::uint64_t>(wanted, end - next));
    BTF_TRY(source.read_at(next, input));
    next += input.size();
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
    return {};
  }

  const ByteSource& source;
  std::uint64_t next;  // packed byte that is not in `input` yet
  std::uint64_t end;
  std::vector<std::byte> input;
  z_stream stream{};
  bool ended = false;
};

Inflater::Inflater(const ByteSource& source, std::uint64_t offset, std::uint64_t packed)
    : state_(std::make_unique<State>(source, offset, packed)) {}
Inflater::Inflater(Inflater&&) noexcept = default;
Inflater& Inflater::operator=(Inflater&&) noexcept = default;
Inflater::~Inflater() = default;

std::uint64_t Inflater::left() const {
  return state_->end - state_->next + state_->stream.avail_in;
}

Result<std::size_t> Inflater::read(std::span<std::byte> out) {
  State& state = *state_;
  z_stream& stream = state.stream;
  std::size_t done = 0;
  while (done < out.size() && !state.ended) {
    if (stream.avail_in == 0) {
      if (state.next == state.end) return state.damaged("end too early,");
      BTF_TRY(state.fill());
    }
    const std::size_t some = std::min<std::size_t>(out.size() - done, 1U << 30);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    stream.avail_out = static_cast<uInt>(some);
    const int code = inflate(&stream, Z_NO_FLUSH);
    done += some - stream.avail_out;
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
      return state.damaged("are wrong");
    state.ended = code == Z_STREAM_END;
  }
  return done;
}

}  // namespace btf
