// TVM's parameters (".params"): many named tensors, each with its own header. Dumps of TVM's debug
// executor have this format.
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
#include "formats/io/file_names.h"

namespace btf {

Result<bool> recognizes_tvm(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_tvm(const ByteSource& source,
                                               const OpenRequest& request);
Status check_tvm(const TensorFile& file, const FindingSink& report);

std::unique_ptr<TensorWriter> tvm_writer(const WriteRequest& request);

std::unique_ptr<StreamBound> tvm_bound();

// The header of a file of TVM's parameters.
//
//   FILE   = u64 magic, u64 reserved, u64 N, N names, u64 N, N tensors
//   NAME   = u64 length, bytes
//   TENSOR = u64 magic, u64 reserved, i32 device type, i32 device, i32 ndim, u8 code, u8 bits,
//            u16 lanes, i64 dims[ndim], i64 bytes, data

inline constexpr std::uint64_t kTvmMagic = 0xf7e58d4f05049cb7;
inline constexpr std::uint64_t kTvmTensorMagic = 0xdd5e40f096b4a13f;
inline constexpr std::uint64_t kTvmFileHeader = 24;    // size before the names
inline constexpr std::uint64_t kTvmTensorHeader = 32;  // size before the dims

// Programs have a few thousand. This bounds the memory.
inline constexpr std::uint64_t kMaxTvmTensors = 1U << 20;
inline constexpr std::uint64_t kLongestTvmName = 65535;

struct TvmTensor {
  dlpack::DLDataType type{};
  Dims dims;
  std::uint64_t data_offset = 0;
  std::uint64_t bytes = 0;  // size of the data according to type and dims
};

// TVM's name of the type, such as "float32x4".
std::string tvm_type_name(const dlpack::DLDataType& type);

// nullptr if there is no corresponding dtype.
const DTypeInfo* tvm_dtype(const dlpack::DLDataType& type);

// Reads the header at `offset`, which must fit before the window's end.
Result<TvmTensor> read_tvm_tensor(Window& window, std::uint64_t offset);

// Reads a file header by header, as far as it is there.
class TvmWalk {
 public:
  // The bytes that must be there for the next step; at the end, those of the whole file.
  std::uint64_t needs() const { return needs_; }
  bool finished() const { return stage_ == Stage::finished; }

  // An error if the file contradicts itself.
  Status step(Window& window);

  // As far as they have been read.
  const std::vector<NamePlace>& names() const { return names_; }
  const std::vector<std::uint64_t>& tensors() const { return tensors_; }  // offsets of headers

  // Describes the part that the next step reads.
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
  std::uint64_t at_ = 0;  // offset of the next part
  std::uint64_t needs_ = kTvmFileHeader;
  std::uint64_t count_ = 0;
  std::vector<NamePlace> names_;
  std::vector<std::uint64_t> tensors_;
};

}  // namespace btf
