#include "ops/diff_side.h"

#include "core/try.h"
#include "formats/memory_bytes.h"
#include "ops/element_access.h"

namespace btf {
namespace {

class FileSide final : public DiffSide {
 public:
  FileSide(const ByteSource& source, const TensorInfo& record, std::uint64_t memory)
      : source_(source), record_(record), memory_(memory) {}

  DType dtype() const override { return *record_.dtype; }
  const Dims& dims() const override { return record_.dims; }
  const Resolved* storage() const override {
    return record_.storage ? &*record_.storage : nullptr;
  }

  Result<std::unique_ptr<SlabReader>> reader(const Resolved& layout) const override {
    return open_slab_reader(source_, record_, {}, layout, {}, memory_);
  }

  Result<std::unique_ptr<CooSource>> entries() const override {
    BTF_ASSIGN(auto sorted, sorted_entries(
                                source_, record_,
                                [this](std::span<const std::uint64_t> index) {
                                  return linear_key(record_.dims, index);
                                },
                                memory_));
    return canonical_entries(std::move(sorted), *record_.dtype, {});
  }

  Result<std::vector<Element>> elements(std::span<const Dims> indices) const override {
    return elements_at(source_, record_, indices);
  }

 private:
  const ByteSource& source_;
  const TensorInfo& record_;
  std::uint64_t memory_;
};

class MemorySide final : public DiffSide {
 public:
  explicit MemorySide(const TensorView& view)
      : view_(view), bytes_(view.bytes) {
    record_.dtype = view.dtype;
    record_.layout = Layout::linear;
    record_.dims = view.layout.dims;
    record_.storage = view.layout;
  }

  DType dtype() const override { return view_.dtype; }
  const Dims& dims() const override { return view_.layout.dims; }
  const Resolved* storage() const override { return &view_.layout; }

  Result<std::unique_ptr<SlabReader>> reader(const Resolved& layout) const override {
    if (info(view_.dtype).bits < 8) return file_reader(bytes_, 0, layout, view_.dtype);
    return memory_reader(view_.bytes.data(), layout, view_.dtype);
  }

  Result<std::unique_ptr<CooSource>> entries() const override {
    return fail(ErrorCode::unsupported, "a tensor in memory is dense");
  }

  Result<std::vector<Element>> elements(std::span<const Dims> indices) const override {
    return elements_at(bytes_, record_, indices);
  }

 private:
  const TensorView& view_;
  MemorySource bytes_;
  TensorInfo record_;
};

}  // namespace

std::unique_ptr<DiffSide> file_side(const ByteSource& source, const TensorInfo& record,
                                    std::uint64_t memory) {
  return std::make_unique<FileSide>(source, record, memory);
}

std::unique_ptr<DiffSide> memory_side(const TensorView& view) {
  return std::make_unique<MemorySide>(view);
}

}  // namespace btf
