// A record whose elements are wanted in another order than they are packed in: unpacked once, to a
// temporary file, where short pieces are read as from any file.
#pragma once

#include <memory>
#include <optional>

#include "convert/tensor/tensor.h"

namespace btf {

class UnpackedRecord {
 public:
  // Nothing where it is not worth it, or there is no room. `random_access`: has the sink that?
  static Result<std::optional<UnpackedRecord>> make(const TensorConversion& work,
                                                    bool random_access);

  // Instead of that of the file.
  const ByteSource& source() const { return *source_; }
  const TensorInfo& record() const { return record_; }

 private:
  UnpackedRecord(std::unique_ptr<ByteSource> source, TensorInfo record)
      : source_(std::move(source)), record_(std::move(record)) {}

  std::unique_ptr<ByteSource> source_;
  TensorInfo record_;
};

}  // namespace btf
