// TVM's parameters (".params"): many tensors with names, each behind a header of its own. What
// TVM's debug executor dumps is such a file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "btf/dlpack_abi.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layout.h"
#include "formats/format.h"
#include "formats/io/byte_source.h"
#include "formats/io/names.h"

namespace btf {

Result<bool> recognizes_tvm(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_tvm(const ByteSource& source,
                                               const OpenRequest& request);
Status check_tvm(const TensorFile& file, const FindingSink& report);

std::unique_ptr<TensorWriter> tvm_writer(const WriteRequest& request);

std::unique_ptr<StreamBound> tvm_bound();

// The header of a file of TVM's parameters, from front to back.
//
//   FILE   = u64 magic, u64 reserved, u64 N, N names, u64 N, N tensors
//   NAME   = u64 length, bytes
//   TENSOR = u64 magic, u64 reserved, i32 device type, i32 device, i32 ndim, u8 code, u8 bits,
//            u16 lanes, i64 dims[ndim], i64 bytes, data

inline constexpr std::uint64_t kTvmMagic = 0xf7e58d4f05049cb7;
inline constexpr std::uint64_t kTvmTensorMagic = 0xdd5e40f096b4a13f;
inline constexpr std::uint64_t kTvmFileHeader = 24;    // bytes up to the names
inline constexpr std::uint64_t kTvmTensorHeader = 32;  // bytes up to the dims

// A program has some thousands of them. This bounds the memory for each.
inline constexpr std::uint64_t kMaxTvmTensors = 1U << 20;
inline constexpr std::uint64_t kLongestTvmName = 65535;

struct TvmTensor {
  dlpack::DLDataType type{};
  Dims dims;
  std::uint64_t data_offset = 0;
  std::uint64_t bytes = 0;  // of the data; those that type and dims need
};

// TVM's own name of it, such as "float32x4".
std::string tvm_type_name(const dlpack::DLDataType& type);

// nullptr: no dtype stands for it.
const DTypeInfo* tvm_dtype(const dlpack::DLDataType& type);

// The header at `offset`. It must fit before the window's end.
Result<TvmTensor> read_tvm_tensor(Window& window, std::uint64_t offset);

// Goes through the file by its headers, one at a time, for as much of it as there is.
class TvmWalk {
 public:
  // Bytes that must be there for the next step; when all is known, those of the whole file.
  std::uint64_t needs() const { return needs_; }
  bool finished() const { return stage_ == Stage::finished; }

  // An error: the file contradicts itself.
  Status step(Window& window);

  // As far as they are known.
  const std::vector<NamePlace>& names() const { return names_; }
  const std::vector<std::uint64_t>& tensors() const { return tensors_; }  // where headers begin

  // The part that the next step reads, in words.
  std::string next() const;

 private:
  enum class Stage : std::uint8_t { file, name, count, tensor, dims, finished };

  void expect(Stage stage, std::uint64_t at, std::uint64_t bytes);
  Status begin_file(Window& window);
  Status take_name(Window& window);
  Status take_count(Window& window);
  Status begin_tensor(Window& window);
  Status take_tensor(Window& window);
  void next_name(std::uint64_t at);
  void next_tensor(std::uint64_t at);
  Error in_tensor(const Error& error) const;

  Stage stage_ = Stage::file;
  std::uint64_t at_ = 0;  // where what comes next begins
  std::uint64_t needs_ = kTvmFileHeader;
  std::uint64_t count_ = 0;
  std::vector<NamePlace> names_;
  std::vector<std::uint64_t> tensors_;
};

}  // namespace btf
