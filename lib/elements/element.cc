#include <bitset>
#include <memory>
#include <string>
#include <unordered_map>

#include "btf/read.h"
#include "btf/try.h"
#include "elements/coo.h"
#include "elements/coo_record.h"
#include "elements/element_access.h"
#include "elements/stored_elements.h"
#include "formats/io/byte_source.h"

namespace btf {
namespace {

Status check_index(const Dims& dims, const Dims& index) {
  if (index.size() != dims.size())
    return fail(ErrorCode::invalid_argument, "an index of " + std::to_string(index.size()) +
                                                 " numbers, the tensor has rank " +
                                                 std::to_string(dims.size()));
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (index[d] >= dims[d])
      return fail(ErrorCode::invalid_argument, "index " + std::to_string(index[d]) +
                                                   " is outside dim " + std::to_string(d) +
                                                   " of size " + std::to_string(dims[d]));
  return {};
}

// Reads a value of COO, or an element of a 4-bit type.
Result<Element> read_stream(const ByteSource& source, std::uint64_t stream, std::uint64_t position,
                            DType dtype) {
  const unsigned bits = info(dtype).bits;
  Element element;
  element.offset = stream + (bits < 8 ? position / 2 : position * (bits / 8));
  element.high_nibble = bits < 8 && position % 2 != 0;
  const std::span bytes =
      std::as_writable_bytes(std::span(&element.code, 1)).first(bits < 8 ? 1 : bits / 8);
  BTF_TRY(source.read_at(*element.offset, bytes));
  if (bits < 8) element.code = element.code >> (element.high_nibble ? 4 : 0) & 0xf;
  return element;
}

// A bit rules out most entries that are not among the wanted ones.
class WantedKeys {
 public:
  void add(std::uint64_t key, std::size_t which) {
    perhaps_.set(key % perhaps_.size());
    wanted_[key].push_back(which);
  }
  // Which of the indices have this key.
  std::span<const std::size_t> find(std::uint64_t key) const {
    if (!perhaps_[key % perhaps_.size()]) return {};
    const auto found = wanted_.find(key);
    if (found == wanted_.end()) return {};
    return found->second;
  }

 private:
  std::bitset<(1U << 16)> perhaps_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> wanted_;
};

Result<std::vector<Element>> search_coo(const ByteSource& source, const TensorInfo& tensor,
                                        std::span<const Dims> indices) {
  std::vector<Element> elements(indices.size());
  const auto wanted = std::make_unique<WantedKeys>();
  for (std::size_t i = 0; i < indices.size(); ++i)
    wanted->add(linear_key(tensor.dims, indices[i]), i);
  const auto entries = file_entries(source, tensor, row_major_key(tensor.dims));
  for (;;) {
    BTF_ASSIGN(const CooRun run, entries->next_run());
    if (run.count == 0) return elements;
    for (std::uint64_t entry = 0; entry < run.count; ++entry)
      for (const std::size_t i : wanted->find(run.keys[entry])) {
        if (elements[i].offset)
          return fail(ErrorCode::refused, "COO entry " + std::to_string(run[entry].position) +
                                              " has the index of another entry: the element "
                                              "has several values");
        BTF_ASSIGN(elements[i], read_stream(source, tensor.coo->values_offset,
                                            run[entry].position, *tensor.dtype));
      }
  }
}

}  // namespace

Status check_known(const TensorInfo& record) {
  if (!record.dtype) return fail(ErrorCode::unsupported, record.unknown_dtype_text());
  if (!record.layout)
    return fail(ErrorCode::unsupported,
                "unknown layout code " + std::to_string(record.layout_code));
  return {};
}

Result<std::vector<Element>> elements_at(const ByteSource& source, const TensorInfo& tensor,
                                         std::span<const Dims> indices) {
  for (const Dims& index : indices) BTF_TRY(check_index(tensor.dims, index));
  if (tensor.coo) return search_coo(source, tensor, indices);
  std::vector<Element> elements;
  elements.reserve(indices.size());
  StoredElements stored(source, tensor);
  for (const Dims& index : indices) {
    const std::uint64_t position = offset(*tensor.storage, index);
    if (info(*tensor.dtype).bits >= 8) {
      Element& element = elements.emplace_back();
      BTF_TRY(stored.read(position, 1, reinterpret_cast<std::byte*>(&element.code)));
      element.offset = stored.place(position);
      continue;
    }
    BTF_ASSIGN(Element element, read_stream(source, tensor.data_offset, position, *tensor.dtype));
    if (tensor.unpacked) {
      element.offset = tensor.data_offset + position;
      element.high_nibble = false;
    }
    elements.push_back(element);
  }
  return elements;
}

Result<std::vector<Element>> read_elements(const TensorFile& file, const TensorInfo& tensor,
                                           std::span<const Dims> indices) {
  Status status = check_known(tensor);
  if (status) status = file.check_overlap(tensor);
  if (!status) return std::unexpected(file.about(tensor.index, status.error()));
  BTF_ASSIGN(const ByteSource* const source, file.elements(tensor.index));
  auto elements = elements_at(*source, tensor, indices);
  if (!elements) return std::unexpected(file.about(tensor.index, elements.error()));
  return elements;
}

}  // namespace btf
