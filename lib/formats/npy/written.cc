#include "formats/npy/written.h"

#include "btf/layout.h"
#include "core/checked_math.h"
#include "formats/npy/header.h"

namespace btf {
namespace {

constexpr std::uint64_t kAlignment = 64;  // of the data, as NumPy has it
constexpr std::uint64_t kGrowth = 21;     // digits that the first dim may come to have
constexpr std::uint64_t kBefore = 10;     // magic, version 1.0, the header's length

// A dtype that NumPy has not is called as ml_dtypes registers it: void of its width, which
// numpy.save() makes of such an array, nobody could read back.
std::string descr_of(DType dtype, bool as_uint) {
  const DTypeInfo& row = info(dtype);
  if (row.npy.empty() && !as_uint) return std::string(row.name);
  const std::size_t width = row.buffer_bytes();
  const std::string type = !row.npy.empty() ? std::string(row.npy) : "u" + std::to_string(width);
  return (width == 1 ? "|" : "<") + type;
}

}  // namespace

Status check_npy_record(const RecordShape& record) {
  if (record.layout_code == spec(Layout::linear).code()) return {};
  return fail(ErrorCode::unsupported,
              "a .npy file holds row-major arrays: kLINEAR, or the stored array as it is (plain)");
}

// With room for the first dim to grow, and never without padding.
std::string npy_header_text(const RecordShape& record, bool as_uint) {
  std::string shape;
  for (const std::uint64_t dim : record.dims)
    shape += (shape.empty() ? "" : ", ") + std::to_string(dim);
  if (record.dims.size() == 1) shape += ",";
  std::string text = "{'descr': '" + descr_of(record.dtype, as_uint) +
                     "', 'fortran_order': False, 'shape': (" + shape + "), }";
  if (!record.dims.empty())
    text.resize(text.size() + kGrowth - std::to_string(record.dims.front()).size(), ' ');
  const std::uint64_t size = ((kBefore + text.size() + 1) / kAlignment + 1) * kAlignment;
  text.resize(size - kBefore - 1, ' ');
  text += '\n';
  std::string header(kNpyMagic);
  header += '\1';
  header += '\0';
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

std::uint64_t npy_data_bytes(const RecordShape& record) {
  return info(record.dtype).bits < 8 ? *element_count(record.dims) : record.payload;
}

}  // namespace btf
