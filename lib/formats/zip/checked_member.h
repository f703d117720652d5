// A stored member whose crc is compared while it is read.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/zip/content.h"
#include "formats/zip/crc.h"

namespace btf {

// The file that holds the member, by offsets in the file. Reads of the member are recorded, in
// pieces of any size, in any order, by several threads. The read that completes it returns the
// error if the crc differs, and so does every later one; reads of a part return none.
class CheckedMember final : public ByteSource {
 public:
  explicit CheckedMember(const ZipPlace& place) : place_(place) {}

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

}  // namespace btf
