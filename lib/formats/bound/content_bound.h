// How much content a stream may have, by what its first bytes say: a pipe need not end, and a few
// bytes of zstd can stand for terabytes of zeros.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "btf/error.h"
#include "formats/io/spool.h"
#include "formats/tvm/header.h"

namespace btf {

// Bytes behind the last record are odd, but no reason not to read the others. So many are taken.
inline constexpr std::uint64_t kContentSlack = 1U << 20;

// Instead of a size that is expected: there is none.
inline constexpr std::uint64_t kUnlimited = UINT64_MAX;

// Asked again and again while content arrives; goes through the records of a BTF file once.
class ContentBound {
 public:
  // `expected`: so many bytes are there if what was said of the file is right; nothing: its first
  // bytes are a header. More than `room` cannot be kept.
  ContentBound(std::optional<std::uint64_t> expected, std::uint64_t room);

  // The content can be wanted up to so many bytes, as far as can be known from what is there.
  Result<std::uint64_t> most(const Spool& content);

  // Without so many bytes nothing of it can be used, as far as is known from what is there; 0:
  // parts can be, or it is not known.
  std::uint64_t needed() const;

  // False: a record is of an unknown kind, whose size is not known either. Nobody can use it.
  bool complete() const { return complete_; }

  // Is it of no kind that says how much of it there is? What is there tells what it is, or nothing
  // does.
  bool foreign() const { return kind_ == Kind::foreign; }

  // Bytes that are wanted and more than there is room for; 0: none.
  std::uint64_t beyond_room() const { return beyond_room_; }

  // What says how much it may be, in words.
  std::string_view whose() const;

  // Bytes of content that the records need; more than there are: it was cut off between `frames`
  // and the next. 0 if that is not known, as of what is no BTF. One frame may be a whole file with
  // a fault of its own, but not if it ends where the first record begins.
  Result<std::uint64_t> least(const Spool& content, std::uint64_t frames);

 private:
  Status begin(const Spool& content);
  Result<bool> begin_safetensors(const Spool& content);
  Status take_safetensors(const Spool& content);
  Status take_tvm(const Spool& content);
  Status take_gguf(const Spool& content);
  Result<bool> begin_protobuf(const Spool& content);
  Status take_protobuf(const Spool& content);
  Result<bool> take_record(const Spool& content);
  Status take_names(const Spool& content);
  void allow(std::uint64_t end);

  // whole: only its end says what it is.
  enum class Kind : std::uint8_t {
    unknown,
    given,
    npy,
    whole,
    protobuf,
    safetensors,
    tvm,
    gguf,
    btf,
    foreign
  };

  Kind kind_ = Kind::unknown;
  bool complete_ = true;
  bool names_taken_ = false;  // whether names follow the records is known
  std::uint64_t room_;
  std::uint64_t header_bytes_ = 0;  // of safetensors, with the length in front; 0: it is read
  TvmWalk tvm_;
  std::uint64_t gguf_next_ = 0;  // so much is wanted before its header is looked at again
  std::uint64_t count_ = 0;      // records
  std::uint64_t next_ = 0;       // the first of them that is not known yet
  std::uint64_t dims_ = 0;       // of a tensor, and how often its type was said
  std::uint64_t types_ = 0;
  std::uint64_t field_ = 0;  // of a message: where the next begins
  std::uint64_t most_ = kContentSlack;
  std::uint64_t least_ = 0;
  std::uint64_t beyond_room_ = 0;
  bool guessed_ = false;                  // least_ may be too much
  std::uint64_t sound_ = 0;               // records
  std::uint64_t first_end_ = UINT64_MAX;  // of these, the first byte behind one
};

}  // namespace btf
