// Deflated bytes of a source as a stream of what they stand for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "btf/error.h"
#include "formats/io/byte_source.h"

namespace btf {

class Inflater {
 public:
  // `packed` bytes from `offset` on, which lie inside the source; it outlives this.
  Inflater(const ByteSource& source, std::uint64_t offset, std::uint64_t packed);
  Inflater(Inflater&&) noexcept;
  Inflater& operator=(Inflater&&) noexcept;
  ~Inflater();

  // The next bytes; fewer than wanted only where the stream ends.
  Result<std::size_t> read(std::span<std::byte> out);

  // Packed bytes that were not used, known when read() has come to the end.
  std::uint64_t left() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace btf
