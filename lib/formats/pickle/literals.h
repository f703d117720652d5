// Operations of a pickle that make one value of what stands behind them.
#pragma once

#include <cstdint>
#include <string_view>

#include "btf/error.h"
#include "formats/pickle/bytes.h"
#include "formats/pickle/values.h"

namespace btf {

class PickleLiterals {
 public:
  using Node = Pickle::Node;

  PickleLiterals(PickleBytes& bytes, PickleValues& values) : bytes_(bytes), values_(values) {}

  Result<Node> constant(std::uint64_t number);  // None, False and True are 0 to 2
  // Little-endian, this many bytes; long ones have their length in this many bytes before them.
  Result<Node> integer(std::uint64_t bytes);
  Result<Node> long_integer(std::uint64_t length_bytes);
  Result<Node> number(std::uint64_t);
  Result<Node> text(std::uint64_t length_bytes);
  Result<Node> bytes(std::uint64_t length_bytes);
  // Protocol 0: one line each.
  Result<Node> integer_line(std::uint64_t);
  Result<Node> number_line(std::uint64_t);
  Result<Node> text_line(std::uint64_t);
  Result<Node> quoted_line(std::uint64_t);
  // Two lines: the module, and what is in it.
  Result<Node> global_lines(std::uint64_t);

  Result<Node> global(std::string_view module, std::string_view name);

 private:
  Result<Node> named(PickleKind kind, std::string_view text);
  Result<Node> run_of(PickleKind kind, std::uint64_t length_bytes);

  PickleBytes& bytes_;
  PickleValues& values_;
};

}  // namespace btf
