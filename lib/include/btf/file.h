// A file of tensors, opened for reading. Only headers are read here; btf/read.h reads elements.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/attributes.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layout.h"
#include "btf/tensor_spec.h"

namespace btf {

class ByteSource;
class TensorReader;
struct EngineSpecs;

// Where the parts of a COO tensor are, in bytes from the start of the file.
struct CooParts {
  std::uint64_t nnz = 0;
  std::uint64_t indices_offset = 0;  // u64 indices[nnz][rank]
  std::uint64_t values_offset = 0;   // dtype values[nnz]
};

// What the header of a tensor says. Offsets and sizes are in bytes. Of a tensor that can be used,
// dtype and layout are set, and either `storage` (dense) or `coo` (sparse).
struct TensorInfo {
  std::uint64_t index = 0;  // in the file
  // The name in the file or, without one, a name made from that of the file: with "#2" for tensor 2
  // if there are several.
  std::string name;
  bool named = false;  // the name is in the file
  std::uint8_t dtype_code = 0;
  std::uint8_t layout_code = 0;
  std::optional<DType> dtype;    // unset if this library does not know the type
  std::optional<Layout> layout;  // unset if this library does not know the layout
  // In files that name their types: the name of a type that this library does not have, and why.
  std::string foreign_dtype;
  std::string foreign_reason;
  Dims dims;  // logical
  std::uint64_t record_offset = 0;
  std::uint64_t data_offset = 0;         // of the data after the dims
  std::uint64_t data_bytes = 0;          // of the data, without padding at the end of the record
  std::optional<StridedLayout> storage;  // set for dense tensors
  // If the elements are deflated in the file: where they end; `data_offset` and `data_bytes` are
  // then those after inflating. Else 0.
  std::uint64_t packed_end = 0;
  bool unpacked = false;  // 4-bit elements take a byte each in the file; elements() packs them
  std::optional<CooParts> coo;  // set for COO tensors
  // For values that are text in the file: the number of digits to which they were rounded. 0: not
  // text, or not rounded.
  unsigned text_digits = 0;
  bool text_fixed = false;  // true: `text_digits` counts decimals; false: significant digits

  bool known() const { return dtype && layout; }
  // Why the tensor cannot be used if it has no dtype.
  BTF_API std::string unknown_dtype_text() const;
  std::uint64_t end() const { return data_offset + data_bytes; }
  bool deflated() const { return packed_end != 0; }
};

// Programs that read less than this library writes, for which files can be made.
enum class Recipient : std::uint8_t {
  tfrt,  // the TensorFlow runtime: its reader and its btf_info
};

BTF_API std::span<const Named<Recipient>> recipient_names();

// What a manifest says of a file, or of one of its tensors.
struct FileEntry {
  // The tensor, by its name or number in the file. Both unset: all tensors.
  std::optional<std::string> tensor_name{};
  std::optional<std::uint64_t> tensor_number{};
  std::optional<std::string> name{};     // the name that the manifest gives it
  std::optional<std::uint64_t> order{};  // position in the order of execution
  std::string role{};                    // "input", "output", ...
  // Where the tensor begins in a file of raw bytes, which may hold several.
  std::optional<std::uint64_t> offset{};
};

// Which files of a directory to read, as paths below it.
struct FileList {
  std::string path{};  // of the list, for messages
  std::vector<std::string> files{};
};

// What the caller knows of a file that the file itself does not say. Files that describe themselves
// need none of it.
struct OpenOptions {
  // Dtype, layout and dims of raw bytes. A spec that is a dtype alone serves .npy files whose type
  // NumPy has no name for.
  std::optional<TensorSpec> spec{};
  // Specs by name of file or tensor, in place of `spec`. If several match, the last one applies.
  std::vector<NamedSpec> named_specs{};
  // Specs for raw files that have the names of an engine's tensors, and for outputs of trtexec
  // (btf/tensorrt.h). Other specs take precedence.
  std::shared_ptr<const EngineSpecs> engine{};
  // Layout of a file that trtexec dumped, whose name does not say it. Unset: kLINEAR.
  std::optional<Layout> layout_in{};
  // Base for the names of tensors without one. Empty: the name of the file without known
  // extensions.
  std::string name{};
  std::optional<FileEntry> entry{};
  // For a directory: the files to read, in place of all of them.
  std::shared_ptr<const FileList> listed{};
  // Ignores listed files that do not exist. By default they are errors.
  bool may_lack = false;
};

// Properties of a file format, each a bit.
enum FormatTrait : unsigned {
  kSingle = 1,         // holds one tensor
  kRowMajorOnly = 2,   // tensors of any layout become kLINEAR by default
  kShuffled = 4,       // holds shuffled layouts
  kNamed = 8,          // holds names of tensors
  kNumpyArrays = 16,   // holds NumPy arrays, which lack a name for some dtypes
  kInOrder = 32,       // keeps tensors in the order in which they were written
  kBtfCodes = 64,      // uses BTF's codes of dtypes and layouts
  kUndescribed = 128,  // bytes alone: a spec or the name of the file describes them
  kSaysDims = 256,     // holds dims: a spec that is a dtype alone is enough
  kText = 512,         // numbers in text, if a spec says so; one dim unless the text shows more
  kDataBeside = 1024,  // elements may be in other files, which it names
};

// Returns true if the format with this name ("btf", "npy", ...) has the property.
BTF_API bool format_has(std::string_view format, FormatTrait trait);

// An open file of tensors. An object may be used by one thread at a time.
class BTF_API TensorFile {
 public:
  // Opens a file and reads its header. "-" is stdin.
  static Result<TensorFile> open(const std::string& path, const OpenOptions& options = {});

  // For the library's own use: bytes that are not a file. `name` takes the place of the path.
  static Result<TensorFile> open(std::unique_ptr<ByteSource> bytes, const std::string& name,
                                 const OpenOptions& options = {});

  TensorFile(TensorFile&&) noexcept;
  TensorFile& operator=(TensorFile&&) noexcept;
  ~TensorFile();

  const std::string& path() const;
  std::string_view format() const;        // "btf", "npy", ...
  std::string_view format_title() const;  // as in a sentence: "BTF"
  bool has(FormatTrait trait) const;
  // Returns true if the file holds the dims, so that a spec needs at most a dtype: NumPy arrays,
  // outputs of trtexec, and text in rows and columns.
  bool says_dims() const;
  bool compressed() const;     // with zstd; sizes and offsets are those of the content
  std::uint64_t size() const;  // in bytes
  // Returns true for a pipe that has more bytes after size(), which were not read.
  bool more_follows() const;
  std::uint64_t tensor_count() const;

  // The error with this file and the tensor added, unless it names them already.
  Error about(std::uint64_t tensor, const Error& error) const;

  // The name that the file has for a tensor; unset if it has none. An error if names cannot be
  // read.
  Result<std::optional<std::string>> own_name(std::uint64_t index) const;
  // The same, or a name made from that of the file (TensorInfo::name).
  Result<std::string> name(std::uint64_t index) const;

  // What the file says of its tensors besides their headers. An error if it cannot be read.
  Result<FileAttributes> attributes() const;

  // The header of a tensor, checked against the file. O(1) in the number of tensors. An unknown
  // dtype or layout is no error here, only its use is. If names cannot be read, the tensor is named
  // after its file.
  Result<TensorInfo> tensor(std::uint64_t index) const;

  // For files that keep scales among the codes (GGUF): the tensor as the numbers that its codes
  // stand for, or unchanged if it has no codes. Unset for all other files.
  Result<std::optional<TensorInfo>> dequantized(std::uint64_t index) const;

  // An error if the tensor shares bytes with another of the file. The first call is O(tensors);
  // calls for all tensors in order do not read headers again.
  Status check_overlap(const TensorInfo& tensor) const;

  // An error if the file holds numbers outside of the tensors that it lists, so that converting all
  // tensors would silently skip them. It says where they are.
  Status check_complete() const;

  // Paths of other files that elements are read from: external data.
  std::vector<std::string> other_files() const;

  // An error if the file, or another one that elements are read from, has changed since it was
  // opened. Call it after the last read.
  Status check_unchanged() const;

  // For the library's own use: the bytes of the file, and those that hold the elements of a tensor.
  const ByteSource& source() const;
  Result<const ByteSource*> elements(std::uint64_t index) const;
  // The same for its stored bytes, whatever their dtype is.
  Result<const ByteSource*> stored(std::uint64_t index) const;

 private:
  struct State;
  explicit TensorFile(std::unique_ptr<State> state);
  std::string derived_name(std::uint64_t index) const;
  Status check_index(std::uint64_t index) const;
  Status name(TensorInfo& tensor, std::uint64_t index) const;
  static Result<TensorFile> open_content(Result<std::unique_ptr<ByteSource>> source,
                                         const std::string& path, const OpenOptions& options);
  std::unique_ptr<State> state_;
};

}  // namespace btf
