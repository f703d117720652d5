#include "shards/digest.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

namespace btf {

struct Digest::State {
  XXH3_state_t of;
};

Digest::Digest() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->of); }
Digest::~Digest() = default;

void Digest::bytes(std::string_view bytes) {
  XXH3_128bits_update(&state_->of, bytes.data(), bytes.size());
}

void Digest::text(std::string_view text) {
  number(text.size());
  bytes(text);
}

// The same on machines of any byte order.
void Digest::number(std::uint64_t number) {
  char bytes_of[sizeof number];
  for (char& byte : bytes_of) {
    byte = static_cast<char>(number & 0xFF);
    number >>= 8;
  }
  bytes({bytes_of, sizeof bytes_of});
}

std::string Digest::hexadecimal() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->of);
  return hexadecimal_of(hash.high64) + hexadecimal_of(hash.low64);
}

std::uint64_t hash_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

std::string hexadecimal_of(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace btf
