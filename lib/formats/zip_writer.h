// Zip as it is written, and members that are checked against their crc as they are read.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/io/output.h"
#include "formats/zip.h"
#include "formats/zip_crc.h"

namespace btf {

// The crc of what is written, in whatever order it comes.

// Passes everything on. The crc of a whole is a sum of what its parts add to it, by where they
// stand, so nothing has to be kept of them. Threads may write at once where the sink lets them.
class CrcSink final : public ByteSink {
 public:
  // The crc of bytes [begin, end) of the sink, which outlives this and is not committed by it.
  CrcSink(ByteSink& sink, std::uint64_t begin, std::uint64_t end)
      : sink_(sink), end_(end), missing_(end - begin) {}

  bool random_access() const override { return sink_.random_access(); }
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override;
  Status begin_piece(std::uint64_t bytes) override { return sink_.begin_piece(bytes); }
  Status commit() override { return {}; }

  // When every byte was written once.
  Result<std::uint32_t> crc() const;

 private:
  ByteSink& sink_;
  std::uint64_t end_;
  std::atomic<std::uint64_t> missing_;
  std::atomic<std::uint32_t> sum_ = 0;
};

// A stored member whose crc is compared while it is read.

// The file that holds the member, by offsets in the file. Reads of the member are recorded, in
// pieces of any size, in any order, by several threads. The read that completes it returns the
// error if the crc differs, and so does every later one; reads of a part return none.
class CrcCheckedSource final : public ByteSource {
 public:
  explicit CrcCheckedSource(const ZipPlace& place) : place_(place) {}

  std::uint64_t size() const override { return place_.source.size(); }
  bool compressed() const override { return place_.source.compressed(); }
  bool more_follows() const override { return place_.source.more_follows(); }
  std::uint64_t read_ahead_end(std::uint64_t offset) const override {
    return place_.source.read_ahead_end(offset);
  }
  Status check_unchanged() const override { return place_.source.check_unchanged(); }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  // Reads the member's bytes that nobody reads with the elements.
  Status read_up_to(std::uint64_t offset) const;

 private:
  struct Stretch {
    std::uint64_t end = 0;
    std::uint32_t crc = 0;
  };

  std::uint64_t end() const { return place_.data_offset + place_.member.size; }
  Result<bool> begin_piece(std::uint64_t offset, std::uint64_t bytes) const;
  Status end_piece(std::uint64_t offset, std::span<const std::byte> bytes, std::uint32_t crc) const;
  bool known(std::uint64_t begin, std::uint64_t end) const;
  void add(std::uint64_t begin, std::uint64_t end, std::uint32_t crc) const;
  Status settle(const Status& verdict) const;
  Status settle_scattered() const;

  const ZipPlace place_;
  mutable std::atomic<bool> sound_ = false;
  mutable std::mutex mutex_;
  // By where they begin. No two touch.
  mutable std::map<std::uint64_t, Stretch> stretches_;
  mutable CrcJoin join_;
  mutable bool scattered_ = false;  // too many: not kept any more
  mutable std::uint64_t read_ = 0;  // bytes of the member, those read again too
  mutable std::optional<Error> damage_;
};

// Zip files as CPython's zipfile writes them for NumPy, to the byte: members stored as they are,
// each with a zip64 field; nothing says when they were written.

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
