// Einsum: sums over the letters of an equation that its result does not name.
#include <algorithm>
#include <array>
#include <map>

#include "btf/try.h"
#include "core/checked_math.h"
#include "network/node/strides.h"
#include "network/operators/families.h"
#include "network/operators/products/product_makers.h"
#include "network/operators/products/products.h"

namespace btf::network {
namespace {

// Labels of an operand's dims. An ellipsis stands for labels of its own: '0' is its last dim, '1'
// the one before.
using Labels = std::string;

constexpr std::string_view kEllipsis = "...";
constexpr std::size_t kMostHidden = 10;  // dims of an ellipsis

Result<Labels> labels_of(std::string_view text, std::size_t hidden) {
  Labels labels;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at).starts_with(kEllipsis)) {
      for (std::size_t d = hidden; d-- > 0;) labels += static_cast<char>('0' + d);
      at += kEllipsis.size() - 1;
    } else if ((text[at] >= 'a' && text[at] <= 'z') || (text[at] >= 'A' && text[at] <= 'Z')) {
      labels += text[at];
    } else {
      return not_computed("its equation cannot be read");
    }
  }
  return labels;
}

struct EinsumTerm {
  Tensor* tensor = nullptr;
  Dims result_steps;  // in this operand, for each dim of the result
  Dims summed_steps;  // and for each label that is summed over
};

class Einsum final : public Operator {
 public:
  Einsum(std::vector<EinsumTerm> terms, Dims summed, std::uint64_t count, Output output,
         const Arithmetic& arithmetic)
      : Operator(std::move(output)),
        terms_(std::move(terms)),
        summed_(std::move(summed)),
        count_(count),
        arithmetic_(arithmetic) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const Dims index = index_of(number, outputs()[0].dims);
    std::vector<std::uint64_t> first;
    for (const EinsumTerm& term : terms_) first.push_back(along(index, term.result_steps));
    Sum sum;
    Dims at(summed_.size());
    for (std::uint64_t i = 0; i < count_; ++i) {
      index_into(i, summed_, at);
      Tensor::Operand product{1, 0, 0};
      for (std::size_t t = 0; t < terms_.size(); ++t) {
        const Tensor::Operand next =
            terms_[t].tensor->operand(first[t] + along(at, terms_[t].summed_steps));
        product = {product.value * next.value,
                   std::hypot(product.own * next.value, next.own * product.value),
                   product.error * std::abs(next.value) + next.error * std::abs(product.value)};
        // Three factors are two products, of which the first is rounded as any result.
        if (t > 0 && t + 1 < terms_.size())
          product.error += arithmetic_.result * std::abs(product.value);
      }
      add_term(sum, product);
    }
    return rounded(sum.result(arithmetic_.accumulator), arithmetic_);
  }

  double terms() const override { return static_cast<double>(count_); }

 private:
  static std::uint64_t along(const Dims& index, const Dims& steps) {
    std::uint64_t number = 0;
    for (std::size_t d = 0; d < index.size(); ++d) number += index[d] * steps[d];
    return number;
  }

  std::vector<EinsumTerm> terms_;
  Dims summed_;
  std::uint64_t count_;
  const Arithmetic& arithmetic_;
};

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == by)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// Without "->": what occurs once, in alphabetical order, behind the ellipsis.
std::string implied_result(const std::vector<std::string>& operands) {
  std::map<char, int> seen;
  bool hidden = false;
  for (const std::string& operand : operands)
    for (const char c : operand) {
      hidden |= c == '.';
      if (c != '.') ++seen[c];
    }
  std::string result = hidden ? std::string(kEllipsis) : "";
  for (const auto& [label, times] : seen)
    if (times == 1) result += label;
  return result;
}

Dims steps_of(const Labels& own, const Dims& dims, const Labels& wanted) {
  const Dims strides = row_major_strides(dims);
  Dims steps(wanted.size(), 0);
  for (std::size_t w = 0; w < wanted.size(); ++w)
    for (std::size_t d = 0; d < own.size(); ++d)
      if (own[d] == wanted[w] && dims[d] != 1) steps[w] += strides[d];
  return steps;
}

}  // namespace

MadeOperator make_einsum(const Call& call) {
  std::string equation = call.text("equation", "");
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  const std::vector<std::string> operands = split(equation.substr(0, arrow), ',');
  const std::string result =
      arrow == std::string::npos ? implied_result(operands) : equation.substr(arrow + 2);
  if (operands.size() != call.inputs.size())
    return not_computed("its equation has " + std::to_string(operands.size()) + " operands");
  std::map<char, std::uint64_t> sizes;
  std::vector<Labels> labels;
  std::size_t most_hidden = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    BTF_ASSIGN(Tensor* const tensor, call.input(i));
    const bool has_hidden = operands[i].contains(kEllipsis);
    const std::size_t named = operands[i].size() - (has_hidden ? kEllipsis.size() : 0);
    if (named > tensor->rank() || (!has_hidden && named != tensor->rank()) ||
        tensor->rank() - named > kMostHidden)
      return not_computed("its equation does not fit its inputs");
    const std::size_t hidden = tensor->rank() - named;
    most_hidden = std::max(most_hidden, hidden);
    BTF_ASSIGN(labels.emplace_back(), labels_of(operands[i], hidden));
    if (labels[i].size() != tensor->rank()) return not_computed("its equation cannot be read");
    for (std::size_t d = 0; d < tensor->rank(); ++d) {
      std::uint64_t& size = sizes.try_emplace(labels[i][d], 1).first->second;
      if (size != 1 && tensor->dims()[d] != 1 && size != tensor->dims()[d])
        return not_computed("its equation does not fit its inputs");
      if (size == 1) size = tensor->dims()[d];
    }
  }
  BTF_ASSIGN(const Labels wanted, labels_of(result, most_hidden));
  Labels summed;
  Dims dims;
  Dims summed_dims;
  for (const char label : wanted) {
    if (!sizes.contains(label) || std::ranges::count(wanted, label) > 1)
      return not_computed("its equation cannot be read");
    dims.push_back(sizes[label]);
  }
  for (const auto& [label, size] : sizes) {
    if (wanted.contains(label)) continue;
    summed += label;
    summed_dims.push_back(size);
  }
  const Checked count = element_count(summed_dims);
  BTF_TRY(check_terms(count.value_or(UINT64_MAX)));
  std::vector<EinsumTerm> terms;
  for (std::size_t i = 0; i < operands.size(); ++i)
    terms.push_back({call.inputs[i], steps_of(labels[i], call.inputs[i]->dims(), wanted),
                     steps_of(labels[i], call.inputs[i]->dims(), summed)});
  const DType dtype = call.inputs[0]->dtype();
  return std::make_unique<Einsum>(std::move(terms), std::move(summed_dims), *count,
                                  Operator::Output{std::move(dims), dtype}, call.arithmetic);
}

}  // namespace btf::network
