// What every file format is made of: a reader, a check, a writer, and how it is recognized.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "btf/attributes.h"
#include "btf/file.h"
#include "btf/validate.h"
#include "formats/interface/tensor_writer.h"
#include "formats/io/byte_source.h"

namespace btf {

// The one neutral form in which every format hands out its tensors.
class TensorReader {
 public:
  virtual ~TensorReader() = default;
  virtual std::uint64_t tensor_count() const = 0;
  virtual Result<TensorInfo> tensor(std::uint64_t index) const = 0;
  // What the file itself calls the tensor; nothing: it does not name it. An error: that cannot be
  // told; the tensor may be sound.
  virtual Result<std::optional<std::string>> name(std::uint64_t) const { return std::nullopt; }
  // What the file says of its tensors besides. An error: that cannot be told.
  virtual Result<FileAttributes> attributes() const { return FileAttributes(); }
  // Where a record begins; not checked against the file. Nothing if that is not known beforehand.
  virtual std::optional<std::uint64_t> record_offset(std::uint64_t) const { return std::nullopt; }
  // Did open() see to it that tensors share no bytes, or may they? Else that is looked for.
  virtual bool overlap_is_settled() const { return false; }
  // Where the elements of a tensor are read from, if not from the source as it is; what its
  // TensorInfo says of places is then said of that. It may be made at the first question.
  virtual Result<const ByteSource*> elements(std::uint64_t) const { return nullptr; }
  // Of a format that keeps scales among the codes: the tensor as the numbers that they stand for,
  // which elements() then gives; what needs no scale is what it is. Nothing: of any other format.
  virtual Result<std::optional<TensorInfo>> dequantized(std::uint64_t) const {
    return std::nullopt;
  }
  // An error if the file holds numbers besides the tensors that it lists: where. Its finding is a
  // warning.
  virtual Status check_complete() const { return {}; }
  // An error if other files than the source, which it reads too, were changed meanwhile.
  virtual Status check_unchanged() const { return {}; }
};

struct OpenRequest {
  std::string_view path;
  const OpenOptions& options;
};

struct WriteRequest {
  std::string_view path;
  const TensorSpec* spec = nullptr;  // of raw bytes
  bool as_uint = false;
  std::string_view format = {};  // its name, if it was said
  bool compressed = false;
};

// What a format is, each a bit of its row's traits.
enum FormatTrait : unsigned {
  kSingle = 1,        // holds one tensor
  kRowMajorOnly = 2,  // tensors of any layout become kLINEAR if nothing else is said
  kShuffled = 4,      // holds the layouts that shuffle
  kNamed = 8,         // holds the names of tensors
  kNumpyArrays = 16,  // holds NumPy's arrays, which have no name for some dtypes
  kInOrder = 32,      // tensors stand in the order in which whoever wrote them had them
};

struct FormatRow {
  std::string_view name;
  std::string_view title;  // as people write it
  // Bytes that the file has if what is said of it is right; nullptr: it says itself.
  std::optional<std::uint64_t> (*expected_bytes)(const OpenRequest& request);
  Result<bool> (*recognizes)(const ByteSource& source, const OpenRequest& request);
  // The source outlives the reader.
  Result<std::unique_ptr<TensorReader>> (*open)(const ByteSource& source,
                                                const OpenRequest& request);
  // Reports what is wrong or odd with the structure of the file and of its records.
  Status (*check)(const TensorFile& file, const FindingSink& report);
  // nullptr: it is read only.
  std::unique_ptr<TensorWriter> (*writer)(const WriteRequest& request);
  unsigned traits = 0;

  bool has(FormatTrait trait) const { return (traits & trait) != 0; }
};

}  // namespace btf
