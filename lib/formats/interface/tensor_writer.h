// The one way in which every format takes tensors: all are announced first, so that the size of the
// file is known before it is created; then they are written, in the same order if the format has
// none of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "btf/attributes.h"
#include "btf/layout.h"
#include "formats/io/byte_sink.h"

namespace btf {

// A record's dtype, dims and layout, and the payload's size in bytes.
struct RecordShape {
  DType dtype{};
  std::uint8_t layout_code = 0;
  Dims dims;
  std::uint64_t payload = 0;
  std::string name{};
  bool named = false;  // the tensor's own; else made of its file's, for formats that need one
};

class TensorWriter {
 public:
  virtual ~TensorWriter() = default;

  // Announces a tensor. An error says that the format cannot hold it, or not with the others.
  Status add(const RecordShape& record) {
    ++announced_;
    if (record.dims.size() <= kMaxRank) return announce(record);
    return fail(ErrorCode::unsupported, "the result has rank " +
                                            std::to_string(record.dims.size()) +
                                            ", files hold at most " + std::to_string(kMaxRank));
  }
  // After the last one: in which order they are written, by the numbers of their announcements.
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> order = own_order();
    if (!order.empty()) return order;
    order.resize(announced_);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  // Attributes of the tensors, by index in the order of add(). A format leaves out those that it
  // cannot hold.
  virtual void describe(const FileAttributes&) {}
  // Size of the whole file.
  virtual Result<std::uint64_t> total_bytes() const = 0;

  // Writes the bytes before the first record.
  virtual Status begin(ByteSink& sink) = 0;
  // Writes the bytes before the payload of the next record; returns the payload's offset.
  virtual Result<std::uint64_t> begin_record(ByteSink& sink, const RecordShape& record) = 0;
  // Where its elements are written, if not to the sink as they are.
  virtual ByteSink* elements() { return nullptr; }
  // Bytes that its elements take in the file.
  virtual std::uint64_t data_bytes(const RecordShape& record) const { return record.payload; }
  // Writes the bytes after the payload.
  virtual Status end_record(ByteSink& sink) = 0;
  // Writes the bytes after the last record.
  virtual Status end(ByteSink&) { return {}; }

 private:
  virtual Status announce(const RecordShape& record) = 0;
  // Empty: as announced.
  virtual std::vector<std::size_t> own_order() const { return {}; }

  std::size_t announced_ = 0;
};

}  // namespace btf
