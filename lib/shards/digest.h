// XXH3 of 128 bits over what belongs together, and of 64 over single texts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace btf {

class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void bytes(std::string_view bytes);
  // With its length, so that where one ends and the next begins counts.
  void text(std::string_view text);
  void number(std::uint64_t number);

  std::string hexadecimal() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::uint64_t hash_of(std::string_view text);
std::string hexadecimal_of(std::uint64_t hash);

}  // namespace btf
