#include "formats/onnx/values.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "btf/try.h"
#include "core/finding_table.h"
#include "core/little_endian.h"
#include "formats/onnx/messages.h"
#include "formats/protobuf/packed_varints.h"

namespace btf {
namespace {

using namespace onnx::tensor;

class ValueReader {
 public:
  ValueReader(const ByteSource& source, const OnnxTensor& tensor)
      : source_(source),
        tensor_(tensor),
        dtype_(info(*tensor.type->dtype)),
        width_(dtype_.bits < 8 ? 1 : dtype_.bits / 8U),
        signed_(dtype_.bits >= 8 && dtype_.kind == NumberKind::signed_integer),
        extends_(signed_ || dtype_.bits < 8 || (dtype_.floating() && dtype_.bits <= 16)),
        expected_(tensor.bytes / width_),
        what_(std::ranges::find(tensor.message->rules, tensor.field, &ProtoRule::number)->name) {}

  Result<Spool> run() {
    Window window(source_, source_.size());
    BTF_TRY(for_each_field(window, tensor_.place, *tensor_.message, [&](const ProtoField& field) {
      return field.number == tensor_.field ? take(field) : Status{};
    }));
    if (count_ != expected_)
      return malformed("onnx-tensor", tensor_.place.begin,
                       std::string(dtype_.name) + " " + dims_text(tensor_.dims) + " needs " +
                           std::to_string(expected_) + " numbers, " + what_ + " has " +
                           std::to_string(count_));
    BTF_TRY(flush());
    return std::move(spool_);
  }

 private:
  static constexpr std::size_t kBlock = 64U << 10;

  Status take(const ProtoField& field) {
    if (field.type == ProtoType::varint) return take_number(field.value);
    if (!tensor_.varints) return take_bytes(field.content);
    PackedVarints numbers(source_, field.content);
    for (;;) {
      BTF_ASSIGN(const auto number, numbers.next());
      if (!number) return {};
      BTF_TRY(take_number(*number));
    }
  }

  Status take_bytes(const ProtoRange& range) {
    for (std::uint64_t at = range.begin; at < range.end;) {
      if (block_.size() == kBlock) BTF_TRY(flush());
      const std::size_t had = block_.size();
      const std::uint64_t some = std::min<std::uint64_t>(kBlock - had, range.end - at);
      block_.resize(had + some);
      BTF_TRY(source_.read_at(at, std::span(block_).subspan(had)));
      at += some;
    }
    count_ += range.size() / width_;
    return {};
  }

  Status take_number(std::uint64_t number) {
    // An int32 that is negative is written as if it had 64 bits; not all programs do that.
    if (tensor_.field == kInt32s && number <= UINT32_MAX && extends_)
      number =
          static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(number)));
    if (!in_range(number))
      return malformed("onnx-tensor", tensor_.place.begin,
                       "number " + std::to_string(count_) + " of " + what_ + " is " +
                           number_text(number) + ", which is not a code of " +
                           std::string(dtype_.name));
    if (++count_ > expected_) return {};
    std::array<std::byte, 8> bytes;
    store_little(bytes.data(), number);
    if (block_.size() + width_ > kBlock) BTF_TRY(flush());
    block_.insert(block_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(width_));
    return {};
  }

  bool in_range(std::uint64_t number) const {
    if (width_ == 8) return true;
    const unsigned bits = static_cast<unsigned>(width_) * 8;
    if (dtype_.kind == NumberKind::boolean) return number <= 1;
    if (!signed_ && number >> bits == 0) return true;
    if (!extends_) return false;
    const std::uint64_t sign = number >> (bits - 1);
    return sign == 0 || sign == UINT64_MAX >> (bits - 1);
  }

  std::string number_text(std::uint64_t number) const {
    return tensor_.field == kUint64s ? std::to_string(number)
                                     : std::to_string(static_cast<std::int64_t>(number));
  }

  Status flush() {
    BTF_TRY(spool_.append(block_));
    block_.clear();
    return {};
  }

  const ByteSource& source_;
  const OnnxTensor& tensor_;
  const DTypeInfo& dtype_;
  std::uint64_t width_;  // bytes of a number; two 4-bit codes are one
  bool signed_;
  // May codes have been made wider as signed numbers are? Those of floats and two 4-bit codes in a
  // byte are numbers to nobody.
  bool extends_;
  std::uint64_t expected_;  // numbers
  std::string what_;
  std::uint64_t count_ = 0;
  std::vector<std::byte> block_;
  Spool spool_ = Spool::in_memory();
};

}  // namespace

Result<Spool> read_onnx_values(const ByteSource& source, const OnnxTensor& tensor) {
  return ValueReader(source, tensor).run();
}

}  // namespace btf
