#include "diff/sides/side.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <ranges>
#include <utility>
#include <variant>

#include "btf/try.h"
#include "core/edit_chain.h"
#include "core/numbers.h"
#include "elements/elements.h"
#include "elements/records.h"
#include "formats/io/byte_source.h"

namespace btf {
namespace {

// Adds the tensor and the file to errors, since two files are open.
struct ErrorSource {
  const TensorFile* file = nullptr;
  std::uint64_t tensor = 0;

  template <typename T>
  Result<T> operator()(Result<T> result) const {
    if (!result) return std::unexpected(result.error().of_tensor(tensor).in_file(file->path()));
    return result;
  }
};

class ErrorContextReader final : public SlabReader {
 public:
  ErrorContextReader(std::unique_ptr<SlabReader> reader, ErrorSource name)
      : reader_(std::move(reader)), name_(name) {}

  Result<SourceSlab> read(const Box& box) override { return name_(reader_->read(box)); }

 private:
  std::unique_ptr<SlabReader> reader_;
  ErrorSource name_;
};

class ErrorContextEntries final : public CooSource {
 public:
  ErrorContextEntries(std::unique_ptr<CooSource> entries, ErrorSource name)
      : entries_(std::move(entries)), name_(name) {}

  Result<CooRun> next_run() override { return name_(entries_->next_run()); }
  Status rewind() override { return name_(entries_->rewind()); }

 private:
  std::unique_ptr<CooSource> entries_;
  ErrorSource name_;
};

// A record with the dims in which it is compared, and how to find its elements. The record must
// outlive it.
class EditedRecord {
 public:
  static Result<EditedRecord> make(const TensorInfo& record, std::span<const Edit> edits) {
    EditedRecord edited;
    edited.original_ = &record;
    if (edits.empty()) return edited;
    BTF_ASSIGN(edited.chain_, EditChain::make(record.dims, edits));
    if (!record.storage || edited.chain_.empty()) return edited;
    edited.views_ = edited_views(*record.storage, edited.chain_);
    const EditedView& view = edited.views_.front();
    if (edited.views_.size() > 1 || view.base != 0 || !view.by_strides() || view.has_reversed_dims())
      return edited;
    // Strides express all edits, so it is a record like any other.
    TensorInfo& like = edited.strided_.emplace(record);
    like.dims = edited.dims();
    like.storage = view.storage;
    edited.chain_ = {};
    return edited;
  }

  const TensorInfo& record() const { return strided_ ? *strided_ : *original_; }
  const EditChain& chain() const { return chain_; }
  const Dims& dims() const { return chain_.empty() ? record().dims : chain_.steps().back().to; }
  const StridedLayout* storage() const {
    if (!record().storage) return nullptr;
    return chain_.empty() ? &*record().storage : &views_.back().storage;
  }

  std::unique_ptr<SlabReader> reader(const ByteSource& source) const {
    return edited_reader(source, record(), views_);
  }

  // Orders COO entries by their numbers after the edits.
  CooKey key() const { return edited_key(chain_, row_major_key(dims())); }

  Result<std::vector<Element>> elements(const ByteSource& source,
                                        std::span<const Dims> indices) const {
    if (chain_.empty()) return elements_at(source, record(), indices);
    std::vector<Dims> before(indices.begin(), indices.end());
    for (Dims& index : before)
      for (const EditStep& step : chain_.steps() | std::views::reverse) index = origin(step, index);
    return elements_at(source, record(), before);
  }

 private:
  // The index of the element before the step.
  static Dims origin(const EditStep& step, const Dims& index) {
    if (!std::holds_alternative<EditStep::Order>(step.what))
      return index_of(step.from, linear_key(step.to, index));
    const auto& order = std::get<EditStep::Order>(step.what).order;
    Dims before(index.size());
    for (std::size_t d = 0; d < order.size(); ++d) before[order[d]] = index[d];
    return before;
  }

  const TensorInfo* original_ = nullptr;
  std::optional<TensorInfo> strided_;  // if strides express the edits
  EditChain chain_;                    // edits that strides cannot express
  std::vector<EditedView> views_;      // of a dense record with such edits
};

class FileSide final : public DiffSide {
 public:
  FileSide(const TensorFile& file, const ByteSource& source, EditedRecord edited,
           const Execution& execution)
      : source_(source),
        edited_(std::move(edited)),
        execution_(execution),
        name_{&file, edited_.record().index} {
    execution_.progress = {};
  }

  DType dtype() const override { return *edited_.record().dtype; }
  Grid grid() const override {
    const TensorInfo& record = edited_.record();
    if (!info(dtype()).floating()) return {.dtype = dtype()};
    return {.dtype = dtype(), .digits = record.text_digits, .fixed = record.text_fixed};
  }
  const Dims& dims() const override { return edited_.dims(); }
  const StridedLayout* storage() const override { return edited_.storage(); }
  bool has_no_stored_array() const override { return !edited_.chain().empty(); }

  Result<std::unique_ptr<SlabReader>> reader(const StridedLayout& storage) const override {
    BTF_ASSIGN(auto reader, name_(open_slab_reader(source_, edited_.record(), edited_.chain(),
                                                   storage, Duplicates::error, execution_)));
    return std::make_unique<ErrorContextReader>(std::move(reader), name_);
  }

  Result<std::unique_ptr<CooSource>> entries(KeyRange range) const override {
    BTF_ASSIGN(const CooRecord* const coo, opened());
    BTF_ASSIGN(auto sorted, name_(coo->entries(range)));
    return std::make_unique<ErrorContextEntries>(canonical_entries(std::move(sorted)), name_);
  }

  Result<std::span<const std::uint64_t>> entry_marks() const override {
    BTF_ASSIGN(const CooRecord* const coo, opened());
    return coo->marks();
  }

  Result<std::vector<Element>> elements(std::span<const Dims> indices) const override {
    return name_(edited_.elements(source_, indices));
  }

 private:
  // The first caller examines the entries.
  Result<const CooRecord*> opened() const {
    const std::scoped_lock lock(mutex_);
    if (!coo_) {
      BTF_ASSIGN(coo_,
                 name_(CooRecord::open(source_, edited_.record(), edited_.key(), execution_)));
    }
    return &*coo_;
  }

  const ByteSource& source_;
  EditedRecord edited_;
  Execution execution_;  // progress is reported by the comparison
  ErrorSource name_;
  mutable std::mutex mutex_;
  mutable std::optional<CooRecord> coo_;
};

class MemorySide final : public DiffSide {
 public:
  explicit MemorySide(const TensorView& view) : view_(view), bytes_(view.bytes) {}

  Status edit(std::span<const Edit> edits) {
    record_.dtype = view_.dtype;
    record_.layout = Layout::linear;
    record_.dims = view_.storage.dims;
    record_.storage = view_.storage;
    BTF_ASSIGN(edited_, EditedRecord::make(record_, edits));
    return {};
  }

  DType dtype() const override { return view_.dtype; }
  const Dims& dims() const override { return edited_.dims(); }
  const StridedLayout* storage() const override { return edited_.storage(); }
  bool has_no_stored_array() const override { return !edited_.chain().empty(); }

  Result<std::unique_ptr<SlabReader>> reader(const StridedLayout& storage) const override {
    if (!edited_.chain().empty()) return edited_.reader(bytes_);
    if (info(view_.dtype).half_byte()) return file_reader(bytes_, 0, storage, view_.dtype);
    return memory_reader(view_.bytes.data(), storage, view_.dtype);
  }

  Result<std::unique_ptr<CooSource>> entries(KeyRange) const override {
    return fail(ErrorCode::unsupported, "a tensor in memory is dense");
  }

  Result<std::vector<Element>> elements(std::span<const Dims> indices) const override {
    return edited_.elements(bytes_, indices);
  }

 private:
  const TensorView& view_;
  MemorySource bytes_;
  TensorInfo record_;
  EditedRecord edited_;
};

// Whether every dim occurs in the stored array. Edits leave out dims of size 1.
bool counts_every_dim(const StridedLayout& storage) {
  Dims counted(storage.dims.size(), 0);
  for (const StorageAxis& axis : storage.axes)
    counted[axis.dim] = std::max<std::uint64_t>(counted[axis.dim], 1) * axis.extent;
  return std::ranges::equal(counted, storage.dims, std::ranges::greater_equal{});
}

}  // namespace

Result<StridedLayout> dense_layout_for_coo(const DiffSide& actual, const DiffSide& golden) {
  const StridedLayout* storage = (actual.storage() == nullptr ? golden : actual).storage();
  const bool usable = storage != nullptr && counts_every_dim(*storage) &&
                      distinct_elements(*storage) &&
                      element_count(storage->storage_shape()) == storage->storage_elements;
  if (usable) return *storage;
  return resolve(Layout::linear, golden.dims(), DType::uint8);
}

Result<std::unique_ptr<DiffSide>> file_side(const TensorFile& file, const TensorInfo& record,
                                            std::span<const Edit> edits,
                                            const Execution& execution) {
  // Elements of a type that only this format has are compared as they are stored.
  BTF_ASSIGN(const ByteSource* const source, record.foreign_dtype.empty()
                                                 ? file.elements(record.index)
                                                 : file.stored(record.index));
  auto edited = EditedRecord::make(record, edits);
  if (!edited) return std::unexpected(file.about(record.index, edited.error()));
  return std::make_unique<FileSide>(file, *source, *std::move(edited), execution);
}

Result<std::unique_ptr<DiffSide>> memory_side(const TensorView& view, std::span<const Edit> edits) {
  auto side = std::make_unique<MemorySide>(view);
  BTF_TRY(side->edit(edits));
  return side;
}

}  // namespace btf
