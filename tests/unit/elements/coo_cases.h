// Sparse tensors as lists of cells, their records, and what becomes of them when they are
// converted.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "btf/convert.h"
#include "btf/file.h"
#include "elements/elements.h"
#include "support/btf_bytes.h"
#include "support/random_tensor.h"
#include "support/scratch_dir.h"
#include "support/shapes.h"

namespace btf {

inline bool operator==(const CooEntry& a, const CooEntry& b) {
  return a.key == b.key && a.position == b.position && a.code == b.code;
}

}  // namespace btf

namespace coo_cases {

using btf::ConvertOptions;
using btf::CooEntry;
using btf::DType;
using btf::Duplicates;
using btf::ErrorCode;
using btf::Layout;
using btf::TensorFile;
using btf::TensorInfo;
using bytes::Bytes;
using bytes::Words;
using shapes::number_of;
using shapes::product;

struct Cell {
  Words index;
  std::uint64_t code = 0;

  bool operator==(const Cell&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Cell& cell) {
    return out << Catch::StringMaker<Words>::convert(cell.index) << " = " << cell.code;
  }
};

inline Bytes coo_record(DType dtype, const Words& dims, const std::vector<Cell>& cells) {
  std::vector<Words> indices;
  Words codes;
  for (const Cell& cell : cells) {
    indices.push_back(cell.index);
    codes.push_back(cell.code);
  }
  return bytes::coo(dtype, dims, indices, bytes::pack(btf::info(dtype).bits, codes));
}

// Row-major, absent cells 0; of cells that occur twice the last.
inline Bytes dense_record(DType dtype, const Words& dims, const std::vector<Cell>& cells) {
  Words codes(product(dims), 0);
  for (const Cell& cell : cells) codes[number_of(dims, cell.index)] = cell.code;
  return bytes::dense(dtype, Layout::linear, dims, bytes::pack(btf::info(dtype).bits, codes));
}

// The entries as they stand in the file.
inline std::vector<Cell> stored_cells(const std::string& path, std::uint64_t tensor = 0) {
  const TensorFile file = bytes::open(path);
  const TensorInfo info = file.tensor(tensor).value();
  if (!info.coo) throw std::runtime_error("not COO");
  const Bytes all = read_file(path);
  const auto load = [&](std::uint64_t at, unsigned count) {
    std::uint64_t value = 0;
    std::memcpy(&value, all.data() + at, count);
    return value;
  };
  const unsigned bits = btf::info(*info.dtype).bits;
  std::vector<Cell> cells(info.coo->nnz);
  for (std::uint64_t k = 0; k < cells.size(); ++k) {
    for (std::size_t d = 0; d < info.dims.size(); ++d)
      cells[k].index.push_back(load(info.coo->indices_offset + 8 * (k * info.dims.size() + d), 8));
    cells[k].code = bits == 4 ? load(info.coo->values_offset + k / 2, 1) >> (k % 2 * 4) & 0xf
                              : load(info.coo->values_offset + k * (bits / 8), bits / 8);
  }
  return cells;
}

// Every converted file is removed with the scratch directory.
class Converter {
 public:
  // The path of the result, or the error.
  btf::Result<std::string> run(const std::vector<Bytes>& records, const ConvertOptions& options) {
    const std::string in = bytes::save(scratch_, "in.btf", bytes::file(records));
    const std::string out = scratch_ / "out" + std::to_string(++count_) + ".btf";
    const TensorFile file = bytes::open(in);
    const auto size = btf::convert(file, out, options);
    if (!size) {
      CHECK_FALSE(std::filesystem::exists(out));
      return std::unexpected(size.error());
    }
    CHECK(std::filesystem::file_size(out) == *size);
    return out;
  }

  Bytes bytes_of(const std::vector<Bytes>& records, const ConvertOptions& options) {
    const auto path = run(records, options);
    if (!path) throw std::runtime_error(path.error().text());
    return read_file(*path);
  }

  const ScratchDir& scratch() const { return scratch_; }

 private:
  ScratchDir scratch_;
  int count_ = 0;
};

inline std::vector<Cell> random_cells(const Words& dims, std::uint64_t count, unsigned bits,
                                      Random& random) {
  std::vector<Cell> cells;
  for (std::uint64_t k = 0; k < count; ++k) {
    Cell cell;
    for (const std::uint64_t dim : dims) cell.index.push_back(random.below(dim));
    cell.code = bits == 64 ? random.next() : random.below(1ULL << bits);
    cells.push_back(cell);
  }
  return cells;
}

// No cell twice.
inline std::vector<Cell> random_set(const Words& dims, std::uint64_t count, unsigned bits,
                                    Random& random) {
  std::map<std::uint64_t, Cell> by_number;
  for (Cell& cell : random_cells(dims, count, bits, random))
    by_number[number_of(dims, cell.index)] = cell;
  std::vector<Cell> cells;
  for (auto& [at, cell] : by_number) cells.push_back(cell);
  for (std::size_t i = cells.size(); i > 1; --i) std::swap(cells[i - 1], cells[random.below(i)]);
  return cells;
}

}  // namespace coo_cases
