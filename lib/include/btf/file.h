// A file of tensors, opened for reading. Headers only: nothing here reads elements.
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

// Where a COO record keeps its parts. Offsets from the start of the file, in bytes.
struct CooParts {
  std::uint64_t nnz = 0;
  std::uint64_t indices_offset = 0;  // u64 indices[nnz][rank]
  std::uint64_t values_offset = 0;   // dtype values[nnz]
};

struct TensorInfo {
  std::uint64_t index = 0;
  // Its own, else that of its file, with "#2" behind it where the file holds several.
  std::string name;
  bool named = false;  // by the file itself
  std::uint8_t dtype_code = 0;
  std::uint8_t layout_code = 0;
  std::optional<DType> dtype;    // nothing: a code, or a type of the file, that this library lacks
  std::optional<Layout> layout;  // likewise
  // The name of a type that no dtype stands for, in a file without type codes.
  std::string foreign_dtype;
  std::string foreign_reason;  // in words, if there is more to say
  Dims dims;                   // logical
  std::uint64_t record_offset = 0;
  std::uint64_t data_offset = 0;         // behind the dims
  std::uint64_t data_bytes = 0;          // of the payload behind the dims, without record padding
  std::optional<StridedLayout> storage;  // dense records
  // End of elements that are deflated in the file; else 0. The offsets and sizes of data are then
  // those of the inflated member.
  std::uint64_t packed_end = 0;
  bool unpacked = false;  // 4-bit elements take a byte each in the file; elements() packs them
  std::optional<CooParts> coo;  // COO records
  // Digits of values that are text in the file, rounded to them: significant ones, or those behind
  // the point; 0: no text, or as many as it takes.
  unsigned text_digits = 0;
  bool text_fixed = false;  // behind the point

  bool known() const { return dtype && layout; }
  // Without a dtype: why it cannot be used.
  BTF_API std::string unknown_dtype_text() const;
  std::uint64_t end() const { return data_offset + data_bytes; }
  bool deflated() const { return packed_end != 0; }
};

// Programs that files are made for, where they take less than this library does.
enum class Recipient : std::uint8_t {
  tfrt,  // the TensorFlow runtime: its reader and its btf_info
};

BTF_API std::span<const Named<Recipient>> recipient_names();

// An entry of a manifest, for one of a file's tensors.
struct FileEntry {
  // The tensor: a name from the file, or a number; nothing: all, or the only one.
  std::optional<std::string> tensor_name{};
  std::optional<std::uint64_t> tensor_number{};
  std::optional<std::string> name{};     // its name
  std::optional<std::uint64_t> order{};  // of execution
  std::string role{};                    // "input", "output", ...
  std::optional<std::uint64_t>
      offset{};  // where raw bytes begin in the file, which may hold others
};

// Facts that a file does not hold itself.
// Files of a directory, by their paths below it.
struct FileList {
  std::string path{};  // of the list; for messages
  std::vector<std::string> files{};
};

struct OpenOptions {
  std::optional<TensorSpec> spec{};   // raw bytes; dtype only: a .npy without one
  // By name, instead of `spec`; the last match counts.
  std::vector<NamedSpec> named_specs{};
  // The specs of raw files in a set that are called as tensors of an engine, and of outputs of
  // trtexec that are (btf/tensorrt/engine_list.h). A spec counts before it.
  std::shared_ptr<const EngineSpecs> engine{};
  std::optional<Layout> layout_in{};  // of a file that trtexec dumped; nothing: kLINEAR
  // Base of the names of tensors without one; empty: the name of the file without known
  // endings.
  std::string name{};
  std::optional<FileEntry> entry{};  // of a manifest
  // The files of a set that is a directory, in place of all.
  std::shared_ptr<const FileList> listed{};
  bool may_lack = false;  // some of these; else they are trouble
};

// Properties of a file format, each a bit.
enum FormatTrait : unsigned {
  kSingle = 1,         // holds one tensor
  kRowMajorOnly = 2,   // tensors of any layout become kLINEAR by default
  kShuffled = 4,       // holds the layouts that shuffle
  kNamed = 8,          // holds the names of tensors
  kNumpyArrays = 16,   // holds NumPy's arrays, which have no name for some dtypes
  kInOrder = 32,       // tensors stand in the order in which whoever wrote them had them
  kBtfCodes = 64,      // dtypes and layouts are BTF's codes
  kUndescribed = 128,  // bytes alone, described by a spec or the name of the file
  kSaysDims = 256,     // says the dims of its tensors: a spec may add the dtype alone
  kText = 512,         // numbers in text, if a spec says so; a list unless they say their dims
  kDataBeside = 1024,  // elements may be in other files, which it names
};

// A property of the format with this name ("btf", "npy", ...); false for an unknown name.
BTF_API bool format_has(std::string_view format, FormatTrait trait);

// Not for several threads at once.
class BTF_API TensorFile {
 public:
  // "-" is stdin. Reads the header only.
  static Result<TensorFile> open(const std::string& path, const OpenOptions& options = {});

  // For the library's own operations: bytes that are no file of the system. `name` stands for the
  // path.
  static Result<TensorFile> open(std::unique_ptr<ByteSource> bytes, const std::string& name,
                                 const OpenOptions& options = {});

  TensorFile(TensorFile&&) noexcept;
  TensorFile& operator=(TensorFile&&) noexcept;
  ~TensorFile();

  const std::string& path() const;
  std::string_view format() const;        // "btf", "npy", ...
  std::string_view format_title() const;  // as people write it: "BTF"
  bool has(FormatTrait trait) const;
  // A spec without dims is enough, or none is needed: NumPy's arrays, outputs of trtexec, and text
  // whose numbers are more than a list.
  bool says_dims() const;
  bool compressed() const;     // the file is zstd; sizes and offsets are of its content
  std::uint64_t size() const;  // bytes
  // It came through a pipe, of which no more is read than can be needed: more follows after
  // size().
  bool more_follows() const;
  std::uint64_t tensor_count() const;

  // The error, with this file and the tensor named where nothing below has named them.
  Error about(std::uint64_t tensor, const Error& error) const;

  // The name of a tensor in the file itself, if there is one. An error: names cannot be read.
  Result<std::optional<std::string>> own_name(std::uint64_t index) const;
  // Its own name, else the one made of the file's.
  Result<std::string> name(std::uint64_t index) const;

  // Attributes of the tensors in the file. An error: they cannot be read.
  Result<FileAttributes> attributes() const;

  // One record's header, checked against the file. O(1) in the number of records. A record whose
  // dtype or layout is unknown is no error here; using its data is. Nor are names that cannot be
  // read: then it is named after its file.
  Result<TensorInfo> tensor(std::uint64_t index) const;

  // The tensor as the numbers that its codes stand for, in a file that keeps scales among the codes
  // (GGUF); unchanged if it needs no scales. Nothing: any other file.
  Result<std::optional<TensorInfo>> dequantized(std::uint64_t index) const;

  // Refuses records that share bytes with others of this file. O(records) at the first question;
  // in order over all tensors it does not read headers again.
  Status check_overlap(const TensorInfo& tensor) const;

  // An error if the file holds numbers besides the tensors that it lists, which whoever wants all
  // of it would miss in silence: where they are.
  Status check_complete() const;

  // Paths of the other files that the elements of its tensors are read from: external data.
  std::vector<std::string> other_files() const;

  // An error if the file, or another that its elements are read from, was changed since it was
  // opened. Ask after the last read.
  Status check_unchanged() const;

  // For the library's own operations: the bytes of the file, and those that the elements of a
  // tensor are read from.
  const ByteSource& source() const;
  Result<const ByteSource*> elements(std::uint64_t index) const;

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
