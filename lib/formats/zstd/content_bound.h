// How much content a compressed file may have, by what its first bytes say: a few bytes of zstd
// can stand for terabytes of zeros.
#pragma once

#include <cstdint>
#include <string_view>

#include "btf/error.h"
#include "formats/spool.h"

namespace btf::zstd {

// Asked again and again while content arrives; goes through the records of a BTF file once.
class ContentBound {
 public:
  // False: the first bytes need not be a header.
  explicit ContentBound(bool by_header) : decided_(!by_header) {}

  // The content may grow to so many bytes as far as can be known from what is there.
  Result<std::uint64_t> most(const Spool& content);

  // What says how much it may be, in words.
  std::string_view whose() const;

  // Bytes of content that the records need; more than there are: it was cut off between `frames`
  // and the next. 0 if that is not known, as of what is no BTF. One frame may be a whole file with
  // a fault of its own, but not if it ends where the first record begins.
  Result<std::uint64_t> least(const Spool& content, std::uint64_t frames);

 private:
  Status begin(const Spool& content);
  Result<bool> take_record(const Spool& content);
  void allow(std::uint64_t end);

  bool decided_;  // most_ is final
  bool begun_ = false;
  bool npy_ = false;
  std::uint64_t count_ = 0;  // records
  std::uint64_t next_ = 0;   // the first of them that is not known yet
  std::uint64_t most_ = UINT64_MAX;
  std::uint64_t least_ = 0;
};

}  // namespace btf::zstd
