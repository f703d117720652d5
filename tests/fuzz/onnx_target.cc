// Any bytes as an ONNX model or tensor; or a tensor whose type, dims and fields are chosen. The
// first byte says which of the two it is. There is no directory with external data.
#include "well_formed.h"

namespace {

using fuzz::Bytes;
using fuzz::BytesView;

void put_varint(Bytes& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<std::byte>(value | 0x80));
  to.push_back(static_cast<std::byte>(value));
}

void put_bytes(Bytes& to, std::uint64_t field, BytesView content) {
  put_varint(to, field << 3 | 2);
  put_varint(to, content.size());
  to.insert(to.end(), content.begin(), content.end());
}

Bytes tensor(fuzz::Input& input) {
  Bytes file;
  const std::uint64_t type = input.below(30);
  const std::uint64_t how = input.below(4);
  std::uint64_t elements = 1;
  for (std::uint64_t dims = input.below(4); dims > 0; --dims) {
    const std::uint64_t dim = input.below(6);
    elements *= dim;
    put_varint(file, 8);
    put_varint(file, dim);
  }
  put_varint(file, 16);
  put_varint(file, type);
  if (how == 0) {
    put_bytes(file, 9, input.rest());
    return file;
  }
  // As many numbers as there are elements, or as bytes of two.
  const std::uint64_t field = std::array{5, 7, 11}[type == 7                  ? 1
                                                   : type == 12 || type == 13 ? 2
                                                                              : 0];
  if (type >= 21 && type <= 23) elements = (elements + 1) / 2;
  Bytes numbers;
  for (std::uint64_t i = 0; i < elements; ++i) {
    const std::uint64_t number = input.number(how == 1 ? 1 : 8);
    if (how == 3) {
      put_varint(file, field << 3);
      put_varint(file, number & 0xff);
    } else {
      put_varint(numbers, number);
    }
  }
  if (how != 3) put_bytes(file, field, numbers);
  return file;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(fuzz::view(data, size));
  const bool built = input.flag();
  const Bytes file = built ? tensor(input) : Bytes();
  fuzz::check_file(built ? BytesView(file) : input.rest(), {}, "/dev/onnx");
  return 0;
}
