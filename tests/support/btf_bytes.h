// BTF files put together byte by byte, as docs/format.md words them. Checks nothing, so it can
// write broken files too; shares no code with the library's reader and writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/file.h"
#include "btf/layout.h"
#include "support/scratch_dir.h"

namespace bytes {

using Bytes = std::vector<std::byte>;
using Words = std::vector<std::uint64_t>;

// A dtype or layout code: one of the library's, or any number.
struct Code {
  std::uint8_t value;
  Code(int number) : value(static_cast<std::uint8_t>(number)) {}
  Code(btf::DType dtype) : value(static_cast<std::uint8_t>(dtype)) {}
  Code(btf::Layout layout) : value(static_cast<std::uint8_t>(layout)) {}
};

inline Bytes join(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

inline Bytes little_endian(std::uint64_t value, unsigned count) {
  Bytes all;
  for (unsigned i = 0; i < count; ++i) all.push_back(static_cast<std::byte>(value >> (8 * i)));
  return all;
}

inline Bytes u64(const Words& words) {
  Bytes all;
  for (const std::uint64_t word : words)
    for (const std::byte byte : little_endian(word, 8)) all.push_back(byte);
  return all;
}

// "02 00 ff"
inline Bytes hex(const std::string& text) {
  Bytes all;
  for (std::size_t at = 0; (at = text.find_first_not_of(" \n", at)) != std::string::npos; at += 2)
    all.push_back(static_cast<std::byte>(std::stoul(text.substr(at, 2), nullptr, 16)));
  return all;
}

template <typename T>
Bytes values(const std::vector<T>& numbers) {
  Bytes all(numbers.size() * sizeof(T));
  if (!all.empty()) std::memcpy(all.data(), numbers.data(), all.size());
  return all;
}

// Codes of 4, 8, 16, 32 or 64 bits as one stream.
inline Bytes pack(unsigned bits, const Words& codes) {
  Bytes all;
  if (bits == 4) {
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (i % 2 == 0) all.push_back(static_cast<std::byte>(codes[i]));
      if (i % 2 == 1) all.back() |= static_cast<std::byte>(codes[i] << 4);
    }
    return all;
  }
  all.reserve(codes.size() * bits / 8);
  for (std::uint64_t code : codes)
    for (unsigned i = 0; i < bits / 8; ++i, code >>= 8) all.push_back(static_cast<std::byte>(code));
  return all;
}

inline Bytes header(std::uint64_t rank, Code dtype, Code layout) {
  return join({u64({rank}), {std::byte{dtype.value}, std::byte{layout.value}}, Bytes(6)});
}

inline Bytes dense(Code dtype, Code layout, const Words& dims, const Bytes& data) {
  return join({header(dims.size(), dtype, layout), u64(dims), data});
}

inline Bytes coo(Code dtype, const Words& dims, const std::vector<Words>& indices,
                 const Bytes& stream, Code layout = btf::Layout::coo) {
  Words flat;
  for (const Words& index : indices) flat.insert(flat.end(), index.begin(), index.end());
  return join({header(dims.size(), dtype, layout), u64(dims), u64({indices.size(), dims.size()}),
               u64(flat), u64({indices.size()}), stream});
}

inline Bytes padded(Bytes record) {
  record.resize((record.size() + 7) / 8 * 8);
  return record;
}

// The records one behind the other, as they are; the offset table says what it is told to.
inline Bytes file_with_table(const Words& table, const std::vector<Bytes>& records) {
  Bytes all = join({u64({table.size()}), u64(table)});
  for (const Bytes& record : records) all.insert(all.end(), record.begin(), record.end());
  return all;
}

inline Bytes file(std::vector<Bytes> records) {
  Words table;
  std::uint64_t offset = 8 + 8 * records.size();
  for (Bytes& record : records) {
    record = padded(std::move(record));
    table.push_back(offset);
    offset += record.size();
  }
  return file_with_table(table, records);
}

inline std::string save(const ScratchDir& scratch, const std::string& name, const Bytes& content) {
  std::string path = scratch / name;
  write_file(path, content);
  return path;
}

inline btf::TensorFile open(const std::string& path) {
  auto file = btf::TensorFile::open(path);
  if (!file) throw std::runtime_error(file.error().text());
  return *std::move(file);
}

}  // namespace bytes
