#include <algorithm>
#include <array>
#include <span>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/little_endian.h"
#include "formats/btf/reader.h"
#include "formats/onnx/kind.h"
#include "formats/onnx/onnx.h"
#include "formats/protobuf/wire.h"

namespace btf {
namespace {

class OnnxBound final : public StreamBound {
 public:
  // Nothing says how many fields there are, but each how long it is.
  Status take(const ByteSource& content, ContentExtent& extent) override {
    while (next_ < content.size()) {
      std::array<std::byte, kLongestProtoHead> start;
      const auto some =
          std::span(start).first(std::min<std::uint64_t>(start.size(), content.size() - next_));
      BTF_TRY(content.read_at(next_, some));
      const auto head = read_proto_head(some);
      if (!head) return {};
      // A tensor has so many dims at most, and one type; else this goes on and on, and is none.
      if (head->number == 1 && ++dims_ > kMaxRank) return {};
      if (head->number == 2 && ++types_ > 1) return {};
      const Checked end = checked_add(next_ + head->bytes, head->length);
      if (!end) return {};
      extent.need(*end);
      next_ = *end;
    }
    return {};
  }
  std::string_view whose() const override { return "the fields of its protocol buffer"; }
  std::uint64_t needed(const ContentExtent& extent) const override { return extent.least(); }

 private:
  std::uint64_t next_ = 0;  // where the next field begins
  std::uint64_t dims_ = 0;
  std::uint64_t types_ = 0;
};

}  // namespace

// With dims, a type or a version, but not with packed dims: those begin as an empty line does. The
// first eight bytes are more than any count of a BTF file's tensors.
Result<bool> begins_as_onnx(const ByteSource& beginning) {
  std::array<std::byte, sizeof(std::uint64_t)> start;
  if (beginning.size() < start.size()) return false;
  BTF_TRY(beginning.read_at(0, start));
  const auto first = load_little<std::uint64_t>(start.data());
  if (first <= kMostBtfTensors || ((first & 0xff) != 0x08 && (first & 0xff) != 0x10)) return false;
  return onnx_begins(beginning);
}

std::unique_ptr<StreamBound> onnx_bound() { return std::make_unique<OnnxBound>(); }

}  // namespace btf
