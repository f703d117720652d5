// Well-formed files of all kinds, put together without the library: it finds nothing wrong with
// them, and what it converts them to is, to the byte, what is put together in that layout.
#include <algorithm>
#include <array>

#include "support/btf_bytes.h"
#include "support/naive_layout.h"
#include "well_formed.h"

namespace fuzz {
namespace {

// A tensor as its row-major elements, 4-bit codes packed.
struct Plain {
  btf::DTypeInfo dtype;
  bytes::Words dims;
  Bytes elements;

  std::uint64_t count() const {
    std::uint64_t product = 1;
    for (const std::uint64_t dim : dims) product *= dim;
    return product;
  }
};

bool holds(const naive::Name& name, const Plain& tensor) {
  const std::uint64_t channels =
      name.channel_from_end != 0 && tensor.dims.size() >= name.channel_from_end
          ? tensor.dims[tensor.dims.size() - name.channel_from_end]
          : 1;
  if (!naive::can_hold(name, tensor.dims.size(), channels)) return false;
  return tensor.dtype.bits >= 8 || name.code == 0;
}

Bytes record(const naive::Name& name, const Plain& tensor) {
  const Bytes stored =
      name.code == 0
          ? tensor.elements
          : naive::store(naive::layout(name.name, tensor.dims, tensor.dtype.buffer_bytes()),
                         tensor.elements, tensor.dtype.buffer_bytes());
  return bytes::dense(tensor.dtype.dtype, int{name.code}, tensor.dims, stored);
}

Plain plain(Input& input) {
  Plain tensor{.dtype = input.row(btf::dtypes()), .dims = {}, .elements = {}};
  const std::uint64_t rank = input.below(6);
  const bool wide = input.rarely(3);
  for (std::uint64_t d = 0; d < rank; ++d)
    tensor.dims.push_back(input.rarely(32) ? 0
                          : wide && d == 1 ? 1 + input.below(70)
                                           : 1 + input.below(5));
  // What is large takes long, and is no other for it.
  const std::uint64_t most = input.rarely(16) ? 1U << 12 : 1U << 8;
  while (tensor.count() > most) *std::ranges::max_element(tensor.dims) = 2;
  const std::uint64_t seed = input.byte();
  const BytesView some = input.take(16);
  std::uint64_t count = tensor.count();
  tensor.elements.resize((count * tensor.dtype.bits + 7) / 8);
  for (std::size_t i = 0; i < tensor.elements.size(); ++i)
    tensor.elements[i] = (some.empty() ? std::byte{0} : some[i % some.size()]) ^
                         static_cast<std::byte>(seed * (i / 16));
  if (tensor.dtype.kind == btf::NumberKind::boolean)
    for (std::byte& element : tensor.elements) element &= std::byte{1};
  if (tensor.dtype.bits < 8 && count % 2 == 1) tensor.elements.back() &= std::byte{15};
  return tensor;
}

const naive::Name& some_layout(Input& input, const Plain& tensor) {
  const naive::Name& name = input.row(naive::names());
  return holds(name, tensor) ? name : *std::ranges::find(naive::names(), 0, &naive::Name::code);
}

Bytes converted(BytesView file, const btf::ConvertOptions& options, const std::string& name,
                bool random_access) {
  const auto input = open(file);
  if (!input) broken("a well-formed file cannot be opened: " + input.error().message);
  const Findings found = findings(input);
  require(found.errors + found.warnings == 0, "a well-formed file has a finding: " + found.text);
  const Converted output = fuzz::convert(*input, name, options, random_access, 1U << 22);
  if (!output.status) broken("cannot be converted: " + output.status.error().message);
  return output.bytes;
}

}  // namespace
}  // namespace fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  Input input(view(data, size));
  const bool random_access = input.flag();
  const std::uint64_t way = input.below(6);
  std::vector<Plain> tensors;
  std::vector<Bytes> before;
  std::vector<Bytes> after;
  std::vector<Bytes> linear;
  btf::ConvertOptions there;
  const std::uint64_t count = 1 + input.below(3);
  const std::uint64_t wanted = input.byte();
  const naive::Name& target = naive::names()[wanted % naive::names().size()];
  const naive::Name& plainly = *std::ranges::find(naive::names(), 0, &naive::Name::code);
  there.layout = btf::find_layout(target.code)->layout;
  there.where_possible = true;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Plain tensor = plain(input);
    const naive::Name& own = some_layout(input, tensor);
    before.push_back(record(own, tensor));
    after.push_back(record(holds(target, tensor) ? target : own, tensor));
    linear.push_back(record(plainly, tensor));
    tensors.push_back(tensor);
  }
  const Bytes begun = bytes::file(before);
  const auto expect = [&](BytesView file, const btf::ConvertOptions& options, const Bytes& expected,
                          std::string_view otherwise) {
    require(converted(file, options, "x.btf", random_access) == expected, otherwise);
  };
  btf::ConvertOptions back;
  back.layout = btf::Layout::linear;
  btf::ConvertOptions by;
  switch (way) {
    case 0:
      expect(begun, {}, begun, "a canonical file does not stay as it is");
      return 0;
    case 1:
      expect(begun, there, bytes::file(after), "a layout is written otherwise than it is defined");
      return 0;
    case 2:
      expect(bytes::file(after), back, bytes::file(linear),
             "what is converted there and back is another");
      return 0;
    case 3:
      by.shuffle = true;
      break;
    case 4:
      by.layout = btf::Layout::coo;
      break;
    default:
      by.tensors = {{wanted % count}};
      const Bytes between = converted(begun, by, "x.npy", random_access);
      const Plain& tensor = tensors[wanted % count];
      const auto told =
          btf::OpenOptions{.spec = btf::TensorSpec{.dtype = tensor.dtype.dtype, .storage = {}}};
      const auto file = open(between, told);
      if (!file) broken("a .npy that was written cannot be opened: " + file.error().message);
      const Converted again = fuzz::convert(*file, "x.btf", {}, random_access, 1U << 22);
      require(again.status && again.bytes == bytes::file({linear[wanted % count]}),
              "what went through a .npy is another");
      return 0;
  }
  expect(converted(begun, by, "x.btf", random_access), back, bytes::file(linear),
         "what was shuffled or sparse between is another");
  return 0;
}
