// Varints that stand one behind the other, of any number: read in blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "btf/error.h"
#include "core/finding_table.h"
#include "formats/io/byte_source.h"
#include "formats/protobuf/reader.h"

namespace btf {

class PackedVarints {
 public:
  PackedVarints(const ByteSource& source, ProtoRange range) : source_(source), range_(range) {}

  // Nothing: the range has ended.
  Result<std::optional<std::uint64_t>> next() {
    if (end_ - at_ < kLongestVarint && range_.size() > 0) {
      const Status filled = fill();
      if (!filled) return std::unexpected(filled.error());
    }
    if (at_ == end_) return std::nullopt;
    const auto varint = read_varint({block_.data() + at_, end_ - at_});
    if (!varint)
      return malformed(
          "protobuf", range_.begin - (end_ - at_),
          "the packed number at byte " + std::to_string(range_.begin - (end_ - at_)) +
              (varint.error() == ProtoFault::cut_off ? " is cut off" : " has more than 64 bits"));
    at_ += varint->bytes;
    return varint->value;
  }

 private:
  Status fill();

  const ByteSource& source_;
  ProtoRange range_;  // what is not in the block yet
  std::vector<std::byte> block_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
};

}  // namespace btf
