#include "diff/pairs/side.h"

#include "btf/try.h"
#include "elements/element_access.h"
#include "elements/records/record_boxes.h"
#include "formats/io/memory_bytes.h"

namespace btf {
namespace {

// Puts the tensor and the file into errors: with two files open it must be clear whose they are.
struct Naming {
  std::string file;
  std::uint64_t tensor = 0;

  template <typename T>
  Result<T> operator()(Result<T> result) const {
    if (!result) return std::unexpected(result.error().of_tensor(tensor).in_file(file));
    return result;
  }
};

class NamingReader final : public SlabReader {
 public:
  NamingReader(std::unique_ptr<SlabReader> reader, Naming name)
      : reader_(std::move(reader)), name_(std::move(name)) {}

  Result<SourceSlab> read(const Box& box) override { return name_(reader_->read(box)); }

 private:
  std::unique_ptr<SlabReader> reader_;
  Naming name_;
};

class NamingEntries final : public CooSource {
 public:
  NamingEntries(std::unique_ptr<CooSource> entries, Naming name)
      : entries_(std::move(entries)), name_(std::move(name)) {}

  Result<std::optional<CooEntry>> next() override { return name_(entries_->next()); }
  Status rewind() override { return name_(entries_->rewind()); }

 private:
  std::unique_ptr<CooSource> entries_;
  Naming name_;
};

class FileSide final : public DiffSide {
 public:
  FileSide(const TensorFile& file, const ByteSource& source, const TensorInfo& record,
           const Execution& execution)
      : source_(source),
        record_(record),
        execution_{.memory = execution.memory, .cancel = execution.cancel, .progress = {}},
        name_{file.path(), record.index} {}

  DType dtype() const override { return *record_.dtype; }
  const Dims& dims() const override { return record_.dims; }
  const StridedLayout* storage() const override {
    return record_.storage ? &*record_.storage : nullptr;
  }

  Result<std::unique_ptr<SlabReader>> reader(const StridedLayout& storage) const override {
    BTF_ASSIGN(auto reader, name_(open_slab_reader(source_, record_, {}, storage, Duplicates::error,
                                                   execution_)));
    return std::make_unique<NamingReader>(std::move(reader), name_);
  }

  Result<std::unique_ptr<CooSource>> entries() const override {
    const auto key = [this](std::span<const std::uint64_t> index) {
      return linear_key(record_.dims, index);
    };
    BTF_ASSIGN(auto sorted, name_(sorted_entries(source_, record_, key, execution_)));
    return std::make_unique<NamingEntries>(canonical_entries(std::move(sorted)), name_);
  }

  Result<std::vector<Element>> elements(std::span<const Dims> indices) const override {
    return name_(elements_at(source_, record_, indices));
  }

 private:
  const ByteSource& source_;
  const TensorInfo& record_;
  Execution execution_;  // who compares tells of progress
  Naming name_;
};

class MemorySide final : public DiffSide {
 public:
  explicit MemorySide(const TensorView& view) : view_(view), bytes_(view.bytes) {
    record_.dtype = view.dtype;
    record_.layout = Layout::linear;
    record_.dims = view.storage.dims;
    record_.storage = view.storage;
  }

  DType dtype() const override { return view_.dtype; }
  const Dims& dims() const override { return view_.storage.dims; }
  const StridedLayout* storage() const override { return &view_.storage; }

  Result<std::unique_ptr<SlabReader>> reader(const StridedLayout& storage) const override {
    if (info(view_.dtype).bits < 8) return file_reader(bytes_, 0, storage, view_.dtype);
    return memory_reader(view_.bytes.data(), storage, view_.dtype);
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

Result<std::unique_ptr<DiffSide>> file_side(const TensorFile& file, const TensorInfo& record,
                                            const Execution& execution) {
  BTF_ASSIGN(const ByteSource* const source, file.elements(record.index));
  return std::make_unique<FileSide>(file, *source, record, execution);
}

std::unique_ptr<DiffSide> memory_side(const TensorView& view) {
  return std::make_unique<MemorySide>(view);
}

}  // namespace btf
