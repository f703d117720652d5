// Zip files as CPython's zipfile writes them for NumPy, to the byte: members stored as they are,
// each with a zip64 field; nothing says when they were written.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "formats/io/byte_sink.h"
#include "formats/zip/crc_sink.h"

namespace btf {

class ZipWriter {
 public:
  // All are announced before the first is written, in the same order.
  Status announce(std::string name, std::uint64_t size);
  // The size of the whole file: for a sink that can seek, and, from begin() on, for that one.
  Result<std::uint64_t> total_bytes() const;

  void begin(const ByteSink& sink) { streamed_ = !sink.random_access(); }
  // Where the content of the next member begins.
  Result<std::uint64_t> begin_member(ByteSink& sink);
  // It is written to this, at offsets in the whole file.
  ByteSink& content() { return *content_; }
  Status end_member(ByteSink& sink);
  // The directory.
  Status end(ByteSink& sink);

 private:
  struct Member {
    std::string name;
    std::uint64_t size = 0;
    std::uint32_t crc = 0;
  };

  std::uint64_t member_bytes(const Member& member) const;

  std::vector<Member> members_;
  std::set<std::string, std::less<>> names_;
  bool streamed_ = false;     // front to back: the crc stands behind the content
  std::size_t next_ = 0;      // member
  std::uint64_t offset_ = 0;  // of its local header
  std::unique_ptr<CrcSink> content_;
};

}  // namespace btf
