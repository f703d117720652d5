// NumPy's .npy: the header, the array, and dtypes that specs override.
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

Result<bool> recognizes_npy(const ByteSource& source, const OpenRequest& request);

// A spec gives the dtype of an array whose own type only has a width.
Result<std::unique_ptr<TensorReader>> open_npy(const ByteSource& source,
                                               const OpenRequest& request);
Status check_npy(const TensorFile& file, const FindingSink& report);

std::unique_ptr<TensorWriter> npy_writer(const WriteRequest& request);

std::unique_ptr<StreamBound> npy_bound();

// The header of a .npy file: a line of Python that describes one array. It is parsed and never
// executed.

struct NpyHeader {
  // NumPy's type string with the byte order: "<f4"; for a structured dtype the whole list.
  std::string descr;
  bool fortran_order = false;
  Dims shape;
  std::uint64_t data_offset = 0;
};

// The range of a source that is a .npy file, and its name in messages.
struct NpyPlace {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string_view holder = "file";
};

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

// Reads versions 1.0, 2.0 and 3.0. Offsets are those of the source.
Result<NpyHeader> read_npy_header(const ByteSource& source, const NpyPlace& place);

// An array with a .npy header, anywhere in a source.

struct NpyType {
  DType dtype{};
  bool big_endian = false;
  bool spread = false;  // 4-bit codes with one byte each
};

// The spec may give the dtype if `descr` only has a width.
Result<NpyType> npy_type(const std::string& descr, const std::optional<TensorSpec>& spec);

// The array must exactly fill its range.
Result<TensorInfo> npy_tensor(const ByteSource& source, const NpyPlace& place,
                              const NpyHeader& header, const NpyType& type);

// The source of its elements; nullptr if it is the file's source.
std::unique_ptr<ByteSource> npy_elements(const ByteSource& source, const TensorInfo& tensor,
                                         const NpyType& type);

// The specs that a caller gives for the arrays of an archive.

class DtypeOverrides {
 public:
  explicit DtypeOverrides(const OpenOptions& options);

  const std::optional<TensorSpec>& of_all() const { return of_all_; }
  // The spec given for this name; nullptr if there is none.
  const TensorSpec* of(const std::string& name) const;

  // The type of the array with this name. A spec for the name must fit; one for all arrays is used
  // where it fits.
  Result<NpyType> type_of(const std::string& name, const NpyHeader& header) const;

  // An error if there is a spec for all arrays that fits none of them. `fits` is called for each
  // array and returns why it does not fit.
  Status check(std::uint64_t arrays, const std::function<Status(std::uint64_t)>& fits) const;
  // An error if the spec for all arrays does not fit this one.
  Status fits(const NpyHeader& header) const;

 private:
  std::optional<TensorSpec> of_all_;
  std::vector<NamedSpec> named_;
};

}  // namespace btf
