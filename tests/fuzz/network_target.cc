// Any bytes as a model: elements of all that its nodes give are computed from small inputs.
#include "formats/onnx_model.h"
#include "memory_file.h"
#include "network/evaluation.h"
#include "network/network.h"

namespace {

using fuzz::Bytes;
using fuzz::BytesView;
namespace network = btf::network;

constexpr std::uint64_t kTerms = 20000;

// A .npy of float32 or int64, of small numbers.
Bytes array_file(bool floats) {
  const std::string head = std::string("{'descr': '") + (floats ? "<f4" : "<i8") +
                           "', 'fortran_order': False, 'shape': (2, 3, 4, 4), }";
  std::string text = "\x93NUMPY";
  text += std::string("\x01\x00", 2);
  const std::size_t length = (10 + head.size() + 1 + 63) / 64 * 64 - 10;
  text += static_cast<char>(length & 0xff);
  text += static_cast<char>(length >> 8);
  text += head + std::string(length - head.size() - 1, ' ') + "\n";
  Bytes file;
  for (const char c : text) file.push_back(static_cast<std::byte>(c));
  for (int i = 0; i < 96; ++i) {
    const float real = static_cast<float>(i % 7) / 2 - 1;
    const std::int64_t whole = i % 3;
    const auto* const bytes = floats ? reinterpret_cast<const std::byte*>(&real)
                                     : reinterpret_cast<const std::byte*>(&whole);
    file.insert(file.end(), bytes, bytes + (floats ? sizeof(real) : sizeof(whole)));
  }
  return file;
}

std::shared_ptr<const btf::TensorFile> array(bool floats) {
  static const Bytes kFloats = array_file(true);
  static const Bytes kIntegers = array_file(false);
  auto file = fuzz::open(floats ? kFloats : kIntegers);
  if (!file) fuzz::broken("the array cannot be opened");
  return std::make_shared<const btf::TensorFile>(*std::move(file));
}

void evaluate(const network::Network& model) {
  // What no node makes is one of the arrays.
  const auto stored =
      [&](std::uint32_t value) -> btf::Result<std::optional<network::StoredNumbers>> {
    const network::Value& wanted = model.values()[value];
    if (wanted.node != network::kNoNode || wanted.weight) return std::nullopt;
    const auto file = array(wanted.name.empty() || wanted.name.back() != 'i');
    auto tensor = file->tensor(0);
    if (!tensor) return std::unexpected(tensor.error());
    auto numbers = network::StoredNumbers::open(file, *std::move(tensor));
    if (!numbers) return std::unexpected(numbers.error());
    return std::optional(*std::move(numbers));
  };
  for (std::uint32_t value = 0; value < std::min<std::size_t>(model.values().size(), 64); ++value) {
    if (model.values()[value].node == network::kNoNode) continue;
    network::Evaluation evaluation(model, stored, kTerms);
    const auto tensor = evaluation.computed(value);
    if (!tensor || (*tensor)->elements() == 0) continue;
    const std::uint64_t last = (*tensor)->elements() - 1;
    for (const std::uint64_t number : {std::uint64_t{0}, last / 3, last / 2, last})
      (void)(*tensor)->at(number);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BytesView bytes = fuzz::view(data, size);
  auto weights = fuzz::open(bytes, {}, "/dev/onnx");
  const auto model = network::Network::of(
      std::make_shared<const btf::MemorySource>(bytes),
      weights ? std::make_shared<const btf::TensorFile>(*std::move(weights)) : nullptr, "input");
  if (model) evaluate(*model);
  return 0;
}
