// Writing zip files, and checking CRCs of members while they are written or read.
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

// Computes the CRC of bytes that are written in any order.

// Forwards everything. The CRC of a whole is the sum of contributions of its parts, which depend on
// their positions, so no bytes need to be kept. Several threads may write if the sink allows it.
class CrcSink final : public ByteSink {
 public:
  // Computes the CRC of bytes [begin, end) of the sink, which must outlive this object and is not
  // committed by it.
  CrcSink(ByteSink& sink, std::uint64_t begin, std::uint64_t end)
      : sink_(sink), end_(end), missing_(end - begin) {}

  bool random_access() const override { return sink_.random_access(); }
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override;
  Status begin_piece(std::uint64_t bytes) override { return sink_.begin_piece(bytes); }
  Status commit() override { return {}; }

  // Valid when every byte has been written once.
  Result<std::uint32_t> crc() const;

 private:
  ByteSink& sink_;
  std::uint64_t end_;
  std::atomic<std::uint64_t> missing_;
  std::atomic<std::uint32_t> sum_ = 0;
};

// A stored member whose CRC is checked while it is read.

// The source has the offsets of the whole file. Reads of the member are recorded, in pieces of any
// size and order and on several threads. The read that completes the member returns an error if the
// CRC differs, and so do all later ones; earlier reads succeed.
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
  // Reads the bytes of the member that precede its elements.
  Status read_up_to(std::uint64_t offset) const;

 private:
  struct CrcRange {
    std::uint64_t end = 0;
    std::uint32_t crc = 0;
  };

  std::uint64_t end() const { return place_.data_offset + place_.member.size; }
  Result<bool> begin_piece(std::uint64_t offset, std::uint64_t bytes) const;
  Status end_piece(std::uint64_t offset, std::span<const std::byte> bytes, std::uint32_t crc) const;
  bool known(std::uint64_t begin, std::uint64_t end) const;
  void add(std::uint64_t begin, std::uint64_t end, std::uint32_t crc) const;
  Status settle(const Status& verdict) const;
  Status check_whole_member() const;

  const ZipPlace place_;
  mutable std::atomic<bool> sound_ = false;
  mutable std::mutex mutex_;
  // By begin; no two ranges touch.
  mutable std::map<std::uint64_t, CrcRange> ranges_;
  mutable CrcJoin join_;
  mutable bool scattered_ = false;  // too many ranges: they are no longer kept
  mutable std::uint64_t read_ = 0;  // bytes of the member that were read, including repetitions
  mutable std::optional<Error> damage_;
};

// Writes zip files byte for byte like CPython's zipfile for NumPy: stored members, each with a
// zip64 field, and without times.

class ZipWriter {
 public:
  // All members are announced before the first one is written, in the same order.
  Status announce(std::string name, std::uint64_t size);
  // The size of the whole file: for a sink that can seek, or, after begin(), for that sink.
  Result<std::uint64_t> total_bytes() const;

  void begin(const ByteSink& sink) { streamed_ = !sink.random_access(); }
  // Returns where the content of the next member begins.
  Result<std::uint64_t> begin_member(ByteSink& sink);
  // The sink for the content, with offsets in the whole file.
  ByteSink& content() { return *content_; }
  Status end_member(ByteSink& sink);
  // Writes the directory.
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
  bool streamed_ = false;     // written front to back: the CRC follows the content
  std::size_t next_ = 0;      // number of the next member
  std::uint64_t offset_ = 0;  // of its local header
  std::unique_ptr<CrcSink> content_;
};

}  // namespace btf
