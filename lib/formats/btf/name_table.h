// The names of tensors behind the last record, where a BTF file has some.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "btf/attributes.h"
#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/io/window.h"

namespace btf {

// The end of a record with its padding. An error with a finding: it cannot be read.
using RecordEnd = std::function<Result<std::uint64_t>(std::uint64_t index)>;

class NameTable {
 public:
  // Where the bytes say that one begins, wherever the records end; nothing: they do not. Looks at
  // the end of the file only where the record of the highest number does not reach it.
  static Result<std::optional<std::uint64_t>> claimed_begin(const ByteSource& source,
                                                            std::uint64_t tensors,
                                                            const RecordEnd& record_end);

  // Nothing: there is none. An error: the file cannot be read.
  static Result<std::optional<NameTable>> find(const ByteSource& source, std::uint64_t tensors,
                                               const RecordEnd& record_end);

  std::uint64_t begin() const { return begin_; }
  std::uint64_t tensors() const { return tensors_; }

  // Can the names be used? Reads all of the table, once.
  Status usable();
  // Nothing: the tensor has none.
  Result<std::optional<std::string>> name(std::uint64_t index);

  Result<FileAttributes> attributes();
  // Are the bytes zero that are to be?
  Result<bool> zeros_are_zero() const;

 private:
  NameTable(const ByteSource& source, std::uint64_t begin, std::uint64_t tensors)
      : source_(&source), begin_(begin), tensors_(tensors) {}

  std::uint64_t ends_begin() const;
  std::uint64_t names_begin() const;
  std::uint64_t attributes_begin() const { return names_begin() + name_bytes_; }
  std::uint64_t footer() const;
  Status read_header();
  Status check_sum() const;
  Status check_names();
  Status check_all();
  Result<std::string> text(std::uint64_t begin, std::uint64_t end);
  Result<std::uint64_t> name_end(std::uint64_t index);

  const ByteSource* source_;
  std::uint64_t begin_;  // in the file
  std::uint64_t tensors_;
  std::uint64_t name_bytes_ = 0;
  std::uint64_t attribute_bytes_ = 0;
  std::optional<Status> usable_;
  std::optional<Window> ends_;
  std::optional<Window> names_;
};

}  // namespace btf
