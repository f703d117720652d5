// Elements whose place other tensors say: Gather and its kin.
#include <limits>

#include "btf/try.h"
#include "core/checked_math.h"
#include "network/node/strides.h"
#include "network/operators/moving/moving.h"

namespace btf::network {
namespace {

constexpr double kNoIndex = std::numeric_limits<double>::quiet_NaN();

// An index out of a tensor, which counts from the end if it is negative. Nothing: it is outside.
std::optional<std::uint64_t> index_in(double index, std::uint64_t size) {
  const auto all = static_cast<double>(size);
  const double at = index < 0 ? index + all : index;
  if (!(at >= 0 && at < all)) return std::nullopt;
  return static_cast<std::uint64_t>(at);
}

class Gathered final : public Operator {
 public:
  Gathered(Tensor& data, Tensor& indices, std::size_t axis, Output output)
      : Operator(std::move(output)), data_(data), indices_(indices), axis_(axis) {
    for (std::size_t d = axis + 1; d < data.rank(); ++d) inner_ *= data.dims()[d];
  }

  Estimate element(std::size_t, std::uint64_t number) override {
    const std::uint64_t inner = number % inner_;
    const std::uint64_t which = number / inner_ % indices_.elements();
    const std::uint64_t outer = number / inner_ / indices_.elements();
    const std::uint64_t size = data_.dims()[axis_];
    const auto at = index_in(indices_.value(which), size);
    return at ? data_.at((outer * size + *at) * inner_ + inner) : Estimate{kNoIndex, 0};
  }

 private:
  Tensor& data_;
  Tensor& indices_;
  std::size_t axis_;
  std::uint64_t inner_ = 1;
};

class GatheredElements final : public Operator {
 public:
  GatheredElements(Tensor& data, Tensor& indices, std::size_t axis)
      : Operator({indices.dims(), data.dtype()}), data_(data), indices_(indices), axis_(axis) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    Dims index = index_of(number, indices_.dims());
    const auto at = index_in(indices_.value(number), data_.dims()[axis_]);
    if (!at) return {kNoIndex, 0};
    index[axis_] = *at;
    return data_.at(number_of(index, data_.dims()));
  }

 private:
  Tensor& data_;
  Tensor& indices_;
  std::size_t axis_;
};

class GatheredNd final : public Operator {
 public:
  GatheredNd(Tensor& data, Tensor& indices, std::size_t batch, Output output)
      : Operator(std::move(output)),
        data_(data),
        indices_(indices),
        batch_(batch),
        depth_(indices.dims().back()) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const Dims index = index_of(number, outputs()[0].dims);
    const std::size_t tuples = indices_.rank() - 1;
    Dims place(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(batch_));
    const std::uint64_t tuple = number_of(std::span(index).first(tuples),
                                          Dims(indices_.dims().begin(), indices_.dims().end() - 1));
    for (std::uint64_t k = 0; k < depth_; ++k) {
      const auto at = index_in(indices_.value(tuple * depth_ + k), data_.dims()[batch_ + k]);
      if (!at) return {kNoIndex, 0};
      place.push_back(*at);
    }
    place.insert(place.end(), index.begin() + static_cast<std::ptrdiff_t>(tuples), index.end());
    return data_.at(number_of(place, data_.dims()));
  }

 private:
  Tensor& data_;
  Tensor& indices_;
  std::size_t batch_;
  std::uint64_t depth_;
};

class Reversed final : public Operator {
 public:
  Reversed(Tensor& data, Tensor& lengths, std::size_t batch, std::size_t time)
      : Operator({data.dims(), data.dtype()}),
        data_(data),
        lengths_(lengths),
        batch_(batch),
        time_(time) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    Dims index = index_of(number, data_.dims());
    const double length = lengths_.value(index[batch_]);
    const auto at = static_cast<double>(index[time_]);
    if (std::isnan(length)) return {kNoIndex, 0};
    if (at < length && length <= static_cast<double>(data_.dims()[time_]))
      index[time_] = static_cast<std::uint64_t>(length - 1 - at);
    return data_.at(number_of(index, data_.dims()));
  }

 private:
  Tensor& data_;
  Tensor& lengths_;
  std::size_t batch_;
  std::size_t time_;
};

class Triangle final : public Operator {
 public:
  Triangle(Tensor& data, bool upper, double shift)
      : Operator({data.dims(), data.dtype()}), data_(data), upper_(upper), shift_(shift) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const Dims index = index_of(number, data_.dims());
    const auto row = static_cast<double>(index[index.size() - 2]);
    const auto column = static_cast<double>(index.back());
    const bool kept = upper_ ? column - row >= shift_ : column - row <= shift_;
    return kept ? data_.at(number) : Estimate{};
  }

 private:
  Tensor& data_;
  bool upper_;
  double shift_;
};

}  // namespace

MadeOperator make_gather(const Call& call) {
  BTF_ASSIGN(Tensor* const data, call.input(0));
  BTF_ASSIGN(Tensor* const indices, call.input(1));
  BTF_ASSIGN(const std::size_t axis, axis_of(call.integer("axis", 0), data->rank()));
  Dims dims(data->dims().begin(), data->dims().begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), indices->dims().begin(), indices->dims().end());
  dims.insert(dims.end(), data->dims().begin() + static_cast<std::ptrdiff_t>(axis) + 1,
              data->dims().end());
  return std::make_unique<Gathered>(*data, *indices, axis,
                                    Operator::Output{std::move(dims), data->dtype()});
}

MadeOperator make_gather_elements(const Call& call) {
  BTF_ASSIGN(Tensor* const data, call.input(0));
  BTF_ASSIGN(Tensor* const indices, call.input(1));
  BTF_ASSIGN(const std::size_t axis, axis_of(call.integer("axis", 0), data->rank()));
  if (indices->rank() != data->rank()) return not_computed("its indices have another rank");
  for (std::size_t d = 0; d < data->rank(); ++d)
    if (d != axis && indices->dims()[d] > data->dims()[d])
      return not_computed("its indices reach beyond its data");
  return std::make_unique<GatheredElements>(*data, *indices, axis);
}

MadeOperator make_gather_nd(const Call& call) {
  BTF_ASSIGN(Tensor* const data, call.input(0));
  BTF_ASSIGN(Tensor* const indices, call.input(1));
  const std::int64_t batch = call.integer("batch_dims", 0);
  if (indices->rank() == 0 || batch < 0 ||
      static_cast<std::uint64_t>(batch) >= std::min(data->rank(), indices->rank()))
    return not_computed("its indices do not fit its data");
  const auto lead = static_cast<std::size_t>(batch);
  const std::uint64_t depth = indices->dims().back();
  if (depth > data->rank() - lead) return not_computed("its indices do not fit its data");
  for (std::size_t d = 0; d < lead; ++d)
    if (data->dims()[d] != indices->dims()[d])
      return not_computed("its indices do not fit its data");
  Dims dims(indices->dims().begin(), indices->dims().end() - 1);
  dims.insert(dims.end(), data->dims().begin() + static_cast<std::ptrdiff_t>(lead + depth),
              data->dims().end());
  return std::make_unique<GatheredNd>(*data, *indices, lead,
                                      Operator::Output{std::move(dims), data->dtype()});
}

MadeOperator make_reverse_sequence(const Call& call) {
  BTF_ASSIGN(Tensor* const data, call.input(0));
  BTF_ASSIGN(Tensor* const lengths, call.input(1));
  BTF_ASSIGN(const std::size_t batch, axis_of(call.integer("batch_axis", 1), data->rank()));
  BTF_ASSIGN(const std::size_t time, axis_of(call.integer("time_axis", 0), data->rank()));
  if (batch == time || lengths->elements() != data->dims()[batch])
    return not_computed("its lengths do not fit its data");
  return std::make_unique<Reversed>(*data, *lengths, batch, time);
}

MadeOperator make_trilu(const Call& call) {
  BTF_ASSIGN(Tensor* const data, call.input(0));
  if (data->rank() < 2) return not_computed("its input is no matrix");
  const double shift =
      call.has_input(1) && call.inputs[1]->elements() == 1 ? call.inputs[1]->value(0) : 0;
  return std::make_unique<Triangle>(*data, call.integer("upper", 1) != 0, shift);
}

}  // namespace btf::network
