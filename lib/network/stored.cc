#include "network/stored.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "btf/read.h"
#include "btf/try.h"
#include "kernels/number/widen.h"
#include "network/node/call.h"
#include "network/node/strides.h"

namespace btf::network {
namespace {

constexpr std::uint64_t kMostBlocks = 4096;  // that are kept
constexpr std::uint64_t kMostInMemory = 1U << 20;

// Does the element with the number n stand at place n?
bool is_plain(const StridedLayout& storage) {
  return !storage.split && storage.strides == row_major_strides(storage.dims);
}

}  // namespace

Result<StoredNumbers> StoredNumbers::open(std::shared_ptr<const TensorFile> file, TensorInfo tensor,
                                          QuantizePlan scales) {
  if (!tensor.known()) return not_computed("its elements cannot be read");
  if (scales.scaling == Scaling::dequantize && scales.scales.blocks != nullptr)
    return not_computed("its scales are those of blocks");
  BTF_ASSIGN(const ByteSource* const source, file->elements(tensor.index));
  StoredNumbers stored;
  stored.file_ = std::move(file);
  stored.tensor_ = std::make_unique<TensorInfo>(std::move(tensor));
  stored.scales_ = std::move(scales);
  const TensorInfo& own = *stored.tensor_;
  stored.elements_ = element_count(own.dims).value_or(0);
  if (own.storage && info(*own.dtype).bits >= 8) {
    stored.stored_ = std::make_unique<StoredElements>(*source, own);
    stored.plain_ = is_plain(*own.storage);
    stored.widen_ = widener<double>(*own.dtype);
    const std::uint64_t blocks = own.storage->storage_elements / kBlock + 1;
    const std::uint64_t sets = std::bit_ceil(std::min(blocks, kMostBlocks) / kWays + 1);
    stored.next_.assign(std::min(sets, kMostBlocks / kWays), 0);
    stored.held_.assign(stored.next_.size() * kWays, UINT64_MAX);
    stored.numbers_ = std::make_unique_for_overwrite<double[]>(stored.held_.size() * kBlock);
    stored.bytes_.resize(kMostAtOnce * kBlock * info(*own.dtype).buffer_bytes());
    return stored;
  }
  if (stored.elements_ > kMostInMemory) return not_computed("it is sparse, or of 4-bit elements");
  ReadOptions options;
  options.dtype = DType::float64;
  options.layout = Layout::linear;
  BTF_ASSIGN(const LoadedTensor loaded, read_tensor(*stored.file_, own, options));
  std::vector<double> numbers(stored.elements_);
  widener<double>(DType::float64)(loaded.tensor.bytes.data(), 1, stored.elements_, numbers.data());
  stored.whole_ = std::make_shared<const std::vector<double>>(std::move(numbers));
  return stored;
}

StoredNumbers StoredNumbers::of(std::shared_ptr<const std::vector<double>> numbers, Dims dims,
                                DType dtype) {
  StoredNumbers stored;
  stored.tensor_ = std::make_unique<TensorInfo>();
  stored.tensor_->dtype = dtype;
  stored.tensor_->dims = std::move(dims);
  stored.elements_ = numbers->size();
  stored.whole_ = std::move(numbers);
  return stored;
}

void StoredNumbers::give_up(const Error& error) {
  if (trouble_) return;
  trouble_ = error.in_file(file_->path());
  if (!name_.empty()) trouble_ = trouble_->within("'" + name_ + "'");
  if (noted_) noted_->note(*trouble_);
}

std::uint64_t StoredNumbers::stored_place(std::uint64_t number) const {
  return plain_ ? number : offset(*tensor_->storage, index_of(number, tensor_->dims));
}

std::uint64_t StoredNumbers::hold(std::uint64_t block, const std::byte* bytes,
                                  std::uint64_t count) {
  const std::uint64_t set = set_of(block);
  const std::uint64_t slot = set * kWays + next_[set]++ % kWays;
  widen_(bytes, 1, count, &numbers_[slot * kBlock]);
  held_[slot] = block;
  return slot;
}

std::optional<std::uint64_t> StoredNumbers::read_blocks(std::uint64_t block) {
  std::uint64_t blocks = 1;
  if (block > run_begin_ && block - run_begin_ < kMostAtOnce) {
    run_blocks_ = std::max(run_blocks_, block - run_begin_ + 1);
  } else {
    run_begin_ = block;
    blocks = run_blocks_;
  }
  const std::uint64_t first = block * kBlock;
  const std::uint64_t count = std::min(blocks * kBlock, tensor_->storage->storage_elements - first);
  if (const Status read = stored_->read(first, count, bytes_.data()); !read) {
    give_up(read.error());
    return std::nullopt;
  }
  // The one that is wanted comes last, where none of the others takes its slot.
  const std::size_t bytes = info(*tensor_->dtype).buffer_bytes();
  for (std::uint64_t begin = kBlock; begin < count; begin += kBlock)
    hold(block + begin / kBlock, &bytes_[begin * bytes], std::min(kBlock, count - begin));
  return hold(block, bytes_.data(), std::min(kBlock, count));
}

void StoredNumbers::numbers_at(std::uint64_t first, std::span<double> into) {
  if (!plain_ || scaled()) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = number_at(first + i);
    return;
  }
  while (!into.empty()) {
    const std::uint64_t within = first % kBlock;
    const std::size_t count = std::min<std::uint64_t>(kBlock - within, into.size());
    if (const auto slot = slot_of(first / kBlock))
      std::copy_n(&numbers_[*slot * kBlock + within], count, into.begin());
    else
      std::fill_n(into.begin(), count, kNoNumber);
    into = into.subspan(count);
    first += count;
  }
}

void StoredNumbers::pass_over(std::uint64_t first, std::span<double> into) {
  if (!plain_ || scaled() || !stored_) return numbers_at(first, into);
  const std::byte* codes = stored_->held(first, into.size());
  if (codes == nullptr) {
    run_.resize(into.size() * info(*tensor_->dtype).buffer_bytes());
    if (const Status read = stored_->read(first, into.size(), run_.data()); !read) {
      give_up(read.error());
      std::ranges::fill(into, kNoNumber);
      return;
    }
    codes = run_.data();
  }
  widen_(codes, 1, into.size(), into.data());
}

std::uint64_t StoredNumbers::which_scale(std::uint64_t number) const {
  const Scales& scales = scales_.scales;
  std::uint64_t which = 0;
  if (scales.axis || scales.grid) {
    const Dims index = index_of(number, tensor_->dims);
    which = scales.grid ? scales.grid->number(index) : index[*scales.axis];
  }
  return std::min<std::uint64_t>(which, scales.values.size() - 1);
}

double StoredNumbers::scaled(double code, std::uint64_t number) const {
  const Scales& scales = scales_.scales;
  const std::uint64_t which = which_scale(number);
  const auto zero =
      which < scales.zero_points.size() ? scales.zero_points[which] : scales_.cast.zero_point;
  return (code - static_cast<double>(zero)) * scales.values[which];
}

double StoredNumbers::half_step(std::uint64_t number, double value) const {
  if (this->scaled()) return std::abs(scales_.scales.values[which_scale(number)]) / 2;
  const DTypeInfo& row = info(*tensor_->dtype);
  if (!row.floating()) return 0;
  return std::ldexp(std::abs(value), -static_cast<int>(row.fp.mantissa_bits + 1U)) +
         text_step(value);
}

Result<bool> StoredNumbers::at_end(std::uint64_t number) {
  if (!this->scaled()) return false;
  const DTypeInfo& row = info(*tensor_->dtype);
  const double codes = std::ldexp(1.0, row.bits);
  const bool with_sign = row.kind == NumberKind::signed_integer;
  const double code = code_at(number);
  if (trouble_) return std::unexpected(*trouble_);
  // Symmetric codes do without the lowest one.
  return code <= (with_sign ? 1 - codes / 2 : 0) || code >= (with_sign ? codes / 2 : codes) - 1;
}

Result<double> StoredNumbers::at(std::uint64_t number) {
  const double value = number_at(number);
  if (trouble_) return std::unexpected(*trouble_);
  return value;
}

double StoredNumbers::text_step(double value) const {
  const auto digits = static_cast<double>(tensor_->text_digits);
  if (digits == 0 || value == 0 || !std::isfinite(value)) return 0;
  const double places =
      tensor_->text_fixed ? digits : digits - 1 - std::floor(std::log10(std::abs(value)));
  return std::pow(10.0, -places) / 2;
}

Result<double> StoredNumbers::peak() {
  if (peak_) return *peak_;
  double most = 0;
  for (std::uint64_t number = 0; number < elements_; ++number) {
    BTF_ASSIGN(const double value, at(number));
    if (std::isfinite(value)) most = std::max(most, std::abs(value));
  }
  peak_ = most;
  return most;
}

}  // namespace btf::network
