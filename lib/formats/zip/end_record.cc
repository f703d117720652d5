#include "formats/zip/end_record.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "core/little_endian.h"
#include "formats/zip/wire.h"

namespace btf::zip {
namespace {

// Where the end record is. One whose comment ends elsewhere is part of a comment or of data.
Result<std::uint64_t> find_end(const ByteSource& source) {
  const std::uint64_t size = source.size();
  const std::uint64_t length = std::min(size, kEnd + kLongestComment);
  std::vector<std::byte> tail(length);
  BTF_TRY(source.read_at(size - length, tail));
  std::optional<std::uint64_t> found;
  std::optional<std::uint64_t> behind;  // bytes behind the last one that ends too early
  for (std::uint64_t at = length < kEnd ? 0 : length - kEnd + 1; at-- > 0;) {
    if (load_little<std::uint32_t>(tail.data() + at) != kEndMagic) continue;
    const std::uint64_t end = at + kEnd + load_little<std::uint16_t>(tail.data() + at + 20);
    if (end < length && !behind) behind = length - end;
    if (end != length) continue;
    if (found)
      return malformed("zip-directory", size - length + at,
                       "two records could be the end of the zip file, at bytes " +
                           std::to_string(size - length + at) + " and " + std::to_string(*found));
    found = size - length + at;
  }
  if (found) return *found;
  if (behind)
    return malformed("zip-directory", size - *behind,
                     "the zip file ends " + std::to_string(*behind) +
                         (*behind == 1 ? " byte" : " bytes") +
                         " after its directory, where nothing should follow");
  return malformed("zip-directory", size,
                   "a zip file ends with its directory, this one of " + std::to_string(size) +
                       " bytes does not: it is cut off, or more than that was appended");
}

std::unexpected<Error> several_disks(std::string_view record, std::uint64_t at) {
  return malformed("zip-directory", at,
                   "the zip file has several disks, says its " + std::string(record) + " at byte " +
                       std::to_string(at));
}

// The record's number, unless it is the mark that refers to the zip64 end.
Status agree(std::uint64_t said, std::uint64_t elsewhere, std::uint64_t zip64,
             const std::string& what, std::uint64_t at) {
  if (said == elsewhere || said == zip64) return {};
  return malformed("zip-directory", at,
                   "the end of the zip file says twice " + what + ": " + std::to_string(said) +
                       " and, in its zip64 form, " + std::to_string(zip64));
}

struct Numbers {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
};

// Nothing: there is no zip64 end in front of the end record.
Result<std::optional<std::uint64_t>> find_end64(const ByteSource& source, std::uint64_t end) {
  if (end < kLocator) return std::nullopt;
  std::array<std::byte, kLocator> locator;
  BTF_TRY(source.read_at(end - kLocator, locator));
  if (load_little<std::uint32_t>(locator.data()) != kLocatorMagic) return std::nullopt;
  if (load_little<std::uint32_t>(locator.data() + 4) != 0 ||
      load_little<std::uint32_t>(locator.data() + 16) > 1)
    return several_disks("zip64 locator", end - kLocator);
  const auto at = load_little<std::uint64_t>(locator.data() + 8);
  if (!fits(at, kEnd64, end - kLocator))
    return malformed("zip-directory", end - kLocator,
                     "the zip64 end should be at byte " + std::to_string(at) +
                         ", where there is no room for it");
  return at;
}

Result<Numbers> read_end64(const ByteSource& source, std::uint64_t at, std::uint64_t locator) {
  std::array<std::byte, kEnd64> record;
  BTF_TRY(source.read_at(at, record));
  if (load_little<std::uint32_t>(record.data()) != kEnd64Magic)
    return malformed("zip-directory", at,
                     "the zip64 end should be at byte " + std::to_string(at) + ", where it is not");
  const Checked end = checked_add(at + kEnd64Head, load_little<std::uint64_t>(record.data() + 4));
  if (end != locator)
    return malformed("zip-directory", at,
                     "the zip64 end at byte " + std::to_string(at) +
                         " does not reach to its locator at byte " + std::to_string(locator));
  const auto entries = load_little<std::uint64_t>(record.data() + 32);
  if (load_little<std::uint32_t>(record.data() + 16) != 0 ||
      load_little<std::uint32_t>(record.data() + 20) != 0 ||
      load_little<std::uint64_t>(record.data() + 24) != entries)
    return several_disks("zip64 end", at);
  return Numbers{entries, load_little<std::uint64_t>(record.data() + 40),
                 load_little<std::uint64_t>(record.data() + 48)};
}

}  // namespace

Result<EndRecord> read_end(const ByteSource& source) {
  BTF_ASSIGN(const std::uint64_t at, find_end(source));
  std::array<std::byte, kEnd> record;
  BTF_TRY(source.read_at(at, record));
  const auto entries = load_little<std::uint16_t>(record.data() + 10);
  Numbers numbers{entries, load_little<std::uint32_t>(record.data() + 12),
                  load_little<std::uint32_t>(record.data() + 16)};
  const auto disk = load_little<std::uint16_t>(record.data() + 4);
  const auto directory_disk = load_little<std::uint16_t>(record.data() + 6);
  const auto here = load_little<std::uint16_t>(record.data() + 8);
  std::uint64_t end = at;
  BTF_ASSIGN(const std::optional<std::uint64_t> end64, find_end64(source, at));
  const auto one_disk = [&](std::uint16_t number) {
    return number == 0 || (end64 && number == kElsewhere16);
  };
  if (!one_disk(disk) || !one_disk(directory_disk) || here != entries)
    return several_disks("end", at);
  if (end64) {
    BTF_ASSIGN(const Numbers zip64, read_end64(source, *end64, at - kLocator));
    BTF_TRY(agree(numbers.entries, kElsewhere16, zip64.entries, "how many members there are", at));
    BTF_TRY(agree(numbers.bytes, kElsewhere32, zip64.bytes, "how long the directory is", at));
    BTF_TRY(agree(numbers.offset, kElsewhere32, zip64.offset, "where the directory is", at));
    numbers = zip64;
    end = *end64;
  }
  const Checked directory_end = checked_add(numbers.offset, numbers.bytes);
  if (directory_end != end)
    return malformed("zip-directory", at,
                     "the directory should have " + std::to_string(numbers.bytes) +
                         " bytes from byte " + std::to_string(numbers.offset) +
                         " on and end where its end record begins, at byte " + std::to_string(end) +
                         ": something was put in front of the zip file, or into it");
  return EndRecord{numbers.entries, numbers.offset, end};
}

}  // namespace btf::zip
