// NumPy's .npy: the header, one array, and dtypes that a spec gives.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "btf/file.h"
#include "btf/layout.h"
#include "formats/format.h"
#include "formats/io/byte_source.h"

namespace btf {

// NumPy's .npy: one array, by its own name in a header.

Result<bool> recognizes_npy(const ByteSource& source, const OpenRequest& request);

// A spec tells the dtype of an array whose own says only how wide it is.
Result<std::unique_ptr<TensorReader>> open_npy(const ByteSource& source,
                                               const OpenRequest& request);
Status check_npy(const TensorFile& file, const FindingSink& report);

std::unique_ptr<TensorWriter> npy_writer(const WriteRequest& request);

std::unique_ptr<StreamBound> npy_bound();

// The header of NumPy's .npy: a line of Python that describes one array. Nothing of it is executed.

struct NpyHeader {
  // NumPy's type string with the byte order: "<f4". For a structured dtype the whole list.
  std::string descr;
  bool fortran_order = false;
  Dims shape;
  std::uint64_t data_offset = 0;
};

// Bytes of a source that are a .npy, and what is said to hold them.
struct NpyPlace {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string_view holder = "file";
};

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

// Versions 1.0, 2.0 and 3.0. Offsets are those of the source.
Result<NpyHeader> read_npy_header(const ByteSource& source, const NpyPlace& place);

// One array with its .npy header, wherever it stands in a source.

struct NpyType {
  DType dtype{};
  bool big_endian = false;
  bool spread = false;  // 4-bit codes in a byte each
};

// The spec may give the dtype where the descr has only a width.
Result<NpyType> npy_type(const std::string& descr, const std::optional<TensorSpec>& spec);

// The array must fill its range to the byte.
Result<TensorInfo> npy_tensor(const ByteSource& source, const NpyPlace& place,
                              const NpyHeader& header, const NpyType& type);

// The source of its elements; nothing: the file's source as it is.
std::unique_ptr<ByteSource> npy_elements(const ByteSource& source, const TensorInfo& tensor,
                                         const NpyType& type);

// The specs that a caller gives for the arrays of an archive.

class DtypeOverrides {
 public:
  explicit DtypeOverrides(const OpenOptions& options);

  const std::optional<TensorSpec>& of_all() const { return of_all_; }
  // The spec given by name; nullptr: there is none.
  const TensorSpec* of(const std::string& name) const;

  // The type of the array with this name. A spec given by name must fit; one given for all is used
  // where it fits.
  Result<NpyType> type_of(const std::string& name, const NpyHeader& header) const;

  // An error if something is said of all, and fits none of them. `fits` asks array by array and
  // gives the reason of one that it does not fit.
  Status check(std::uint64_t arrays, const std::function<Status(std::uint64_t)>& fits) const;
  // May it be said of this one?
  Status fits(const NpyHeader& header) const;

 private:
  std::optional<TensorSpec> of_all_;
  std::vector<NamedSpec> named_;
};

}  // namespace btf
