#include <charconv>
#include <string_view>
#include <system_error>

#include "btf/dtype.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "formats/npy/header.h"
#include "formats/npy/npy.h"

namespace btf {
namespace {

// Does it say by its number alone how many bytes an element has, as "<f4" does and "bfloat16" does
// not?
bool says_bytes(std::string_view descr) {
  if (!descr.empty() && std::string_view("<>|=").contains(descr.front())) descr.remove_prefix(1);
  return descr.size() == 2 && std::string_view("biuf").contains(descr[0]) && descr[1] >= '1' &&
         descr[1] <= '9';
}

// Bytes of an element of "<f4" or "float32"; of what is no number, those of the widest that is one,
// complex256.
std::uint64_t element_bytes(std::string_view descr) {
  for (const DTypeInfo& row : dtypes())
    if (row.name == descr) return row.buffer_bytes();
  const std::size_t digits = descr.find_first_of("0123456789");
  std::uint64_t bytes = 0;
  if (digits == std::string_view::npos) return 32;
  const auto [end, error] =
      std::from_chars(descr.data() + digits, descr.data() + descr.size(), bytes);
  return error == std::errc{} && bytes < 32 ? bytes : 32;
}

class NpyBound final : public StreamBound {
 public:
  // The first bytes have all of the header, or it is too long for any.
  Status take(const ByteSource& content, ContentExtent& extent) override {
    if (taken_) return {};
    taken_ = true;
    BTF_ASSIGN(const NpyHeader header, read_npy_header(content, {0, content.size()}));
    guessed_ = !says_bytes(header.descr);
    const Checked bytes = checked_mul(element_count(header.shape), element_bytes(header.descr));
    if (const Checked end = checked_add(header.data_offset, bytes)) extent.need(*end);
    return {};
  }
  std::uint64_t needed(const ContentExtent& extent) const override {
    return guessed_ ? 0 : extent.least();
  }
  std::string_view whose() const override { return "the array in its .npy header"; }

 private:
  bool taken_ = false;
  bool guessed_ = false;  // the size of an element
};

}  // namespace

std::unique_ptr<StreamBound> npy_bound() { return std::make_unique<NpyBound>(); }

}  // namespace btf
