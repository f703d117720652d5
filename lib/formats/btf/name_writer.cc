#include "formats/btf/name_writer.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstring>
#include <span>

#include "btf/try.h"
#include "core/little_endian.h"
#include "core/utf8.h"
#include "formats/btf/name_wire.h"

namespace btf {
namespace {

using wire::kNameEnd;
using wire::kWord;

}  // namespace

Status NameWriter::add(const std::string& name) {
  if (name.size() > wire::kLongestName)
    return fail(ErrorCode::unsupported, "its name has " + std::to_string(name.size()) +
                                            " bytes, names in BTF have at most " +
                                            std::to_string(wire::kLongestName));
  if (!is_utf8(name) || name.find('\0') != name.npos)
    return fail(ErrorCode::unsupported, "its name '" + name +
                                            "' is not UTF-8 without zero bytes, as names in BTF "
                                            "are");
  if (names_.size() + name.size() > wire::kMostNameBytes)
    return fail(ErrorCode::unsupported,
                "the names have more than " + std::to_string(wire::kMostNameBytes) + " bytes");
  names_ += name;
  ends_.push_back(static_cast<std::uint32_t>(names_.size()));
  return {};
}

Checked NameWriter::bytes() const {
  if (names_.empty() && attributes_.empty()) return 0;
  return wire::name_table_bytes(ends_.size(), names_.size(), attributes_.size());
}

Status NameWriter::write(ByteSink& sink, std::uint64_t offset) const {
  const Checked length = bytes();
  if (!length || *length == 0) return {};
  std::vector<std::byte> table(*length);
  std::byte* at = table.data();
  const auto put = [&](const void* bytes, std::size_t size) {
    if (size > 0) std::memcpy(at, bytes, size);
    at += size;
  };
  const auto put_u64 = [&](std::uint64_t value) {
    wire::store_u64(at, value);
    at += kWord;
  };
  put(wire::kNamesBegin.data(), wire::kNamesBegin.size());
  store_little(at, wire::kNamesVersion);
  store_little(at + kNameEnd, std::uint32_t{0});  // flags
  at += 2 * kNameEnd;
  put_u64(ends_.size());
  put_u64(names_.size());
  put_u64(attributes_.size());
  put_u64(0);
  for (const std::uint32_t end : ends_) {
    store_little(at, end);
    at += kNameEnd;
  }
  put(names_.data(), names_.size());
  put(attributes_.data(), attributes_.size());
  at = table.data() + *length - wire::kNamesFooter;
  put_u64(*length);
  put_u64(XXH64(table.data(), *length - 2 * kWord, 0));
  put(wire::kNamesEnd.data(), wire::kNamesEnd.size());
  BTF_TRY(sink.begin_piece(table.size()));
  return sink.write_at(offset, table);
}

}  // namespace btf
