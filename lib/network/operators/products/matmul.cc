// Products of matrices.
#include <array>

#include "btf/try.h"
#include "network/node/strides.h"
#include "network/operators/families.h"
#include "network/operators/products/product_makers.h"
#include "network/operators/products/products.h"

namespace btf::network {
namespace {

// Where a row or a column of an operand begins, and how far apart its elements are.
struct MatrixLine {
  std::uint64_t first = 0;
  std::uint64_t step = 1;
};

class MatMul final : public Operator {
 public:
  // `rows` and `columns` of 0: the operand is a vector there.
  MatMul(Tensor& a, Tensor& b, Output output, const Dims& batch, std::uint64_t rows,
         std::uint64_t columns, std::uint64_t inner, const Arithmetic& arithmetic)
      : Operator(std::move(output)),
        a_(a),
        b_(b),
        rows_(rows),
        columns_(columns),
        inner_(inner),
        arithmetic_(arithmetic),
        a_batch_(batch_of(a), batch),
        b_batch_(batch_of(b), batch) {}

  static Dims batch_of(const Tensor& tensor) {
    const std::size_t matrix = std::min<std::size_t>(tensor.rank(), 2);
    return {tensor.dims().begin(), tensor.dims().end() - static_cast<std::ptrdiff_t>(matrix)};
  }

  Estimate element(std::size_t, std::uint64_t number) override {
    const std::uint64_t columns = std::max<std::uint64_t>(columns_, 1);
    const std::uint64_t rows = std::max<std::uint64_t>(rows_, 1);
    const std::uint64_t column = number % columns;
    const std::uint64_t row = number / columns % rows;
    const std::uint64_t batch = number / columns / rows;
    const MatrixLine left{(a_batch_.number(batch) * rows + row) * inner_, 1};
    const MatrixLine right{b_batch_.number(batch) * inner_ * columns + column, columns};
    Sum sum;
    for (std::uint64_t k = 0; k < inner_; ++k)
      add_product(sum, a_.operand(left.first + k * left.step),
                  b_.operand(right.first + k * right.step));
    return rounded(sum.result(arithmetic_.accumulator), arithmetic_);
  }

  double terms() const override { return static_cast<double>(inner_); }

 private:
  Tensor& a_;
  Tensor& b_;
  std::uint64_t rows_;
  std::uint64_t columns_;
  std::uint64_t inner_;
  const Arithmetic& arithmetic_;
  Broadcast a_batch_;
  Broadcast b_batch_;
};

class Gemm final : public Operator {
 public:
  struct Form {
    bool left_turned = false;
    bool right_turned = false;
    double alpha = 1;
    double beta = 1;
  };

  Gemm(Tensor& a, Tensor& b, Tensor* c, Output output, const Form& form, std::uint64_t inner,
       const Arithmetic& arithmetic)
      : Operator(std::move(output)),
        a_(a),
        b_(b),
        c_(c),
        form_(form),
        rows_(outputs()[0].dims[0]),
        columns_(outputs()[0].dims[1]),
        inner_(inner),
        arithmetic_(arithmetic) {
    if (c_ != nullptr) c_place_ = Broadcast(c_->dims(), outputs()[0].dims);
  }

  Estimate element(std::size_t, std::uint64_t number) override {
    const std::uint64_t row = number / columns_;
    const std::uint64_t column = number % columns_;
    const MatrixLine left =
        form_.left_turned ? MatrixLine{row, rows_} : MatrixLine{row * inner_, 1};
    const MatrixLine right =
        form_.right_turned ? MatrixLine{column * inner_, 1} : MatrixLine{column, columns_};
    Sum sum;
    for (std::uint64_t k = 0; k < inner_; ++k) {
      Tensor::Operand a = a_.operand(left.first + k * left.step);
      a.value *= form_.alpha;
      a.own *= form_.alpha;
      a.error *= std::abs(form_.alpha);
      add_product(sum, a, b_.operand(right.first + k * right.step));
    }
    if (c_ != nullptr) {
      const Tensor::Operand c = c_->operand(c_place_.number(number));
      sum.add(form_.beta * c.value, form_.beta * c.own, std::abs(form_.beta) * c.error);
    }
    return rounded(sum.result(arithmetic_.accumulator), arithmetic_);
  }

  double terms() const override { return static_cast<double>(inner_); }

 private:
  Tensor& a_;
  Tensor& b_;
  Tensor* c_;
  Form form_;
  std::uint64_t rows_;
  std::uint64_t columns_;
  std::uint64_t inner_;
  const Arithmetic& arithmetic_;
  Broadcast c_place_;
};

std::unexpected<Error> no_product(const Tensor& a, const Tensor& b) {
  return not_computed("its inputs " + dims_text(a.dims()) + " and " + dims_text(b.dims()) +
                      " are no product");
}

}  // namespace

MadeOperator make_matmul(const Call& call) {
  BTF_ASSIGN(Tensor* const a, call.input(0));
  BTF_ASSIGN(Tensor* const b, call.input(1));
  if (a->rank() == 0 || b->rank() == 0) return no_product(*a, *b);
  const bool vector_left = a->rank() == 1;
  const bool vector_right = b->rank() == 1;
  const std::uint64_t inner = a->dims().back();
  if ((vector_right ? b->dims()[0] : b->dims()[b->rank() - 2]) != inner) return no_product(*a, *b);
  BTF_ASSIGN(const Dims batch, broadcast(MatMul::batch_of(*a), MatMul::batch_of(*b)));
  BTF_TRY(check_terms(inner));
  Dims dims = batch;
  const std::uint64_t rows = vector_left ? 0 : a->dims()[a->rank() - 2];
  const std::uint64_t columns = vector_right ? 0 : b->dims().back();
  if (!vector_left) dims.push_back(rows);
  if (!vector_right) dims.push_back(columns);
  return std::make_unique<MatMul>(*a, *b, Operator::Output{dims, a->dtype()}, batch, rows, columns,
                                  inner, call.arithmetic);
}

MadeOperator make_gemm(const Call& call) {
  BTF_ASSIGN(Tensor* const a, call.input(0));
  BTF_ASSIGN(Tensor* const b, call.input(1));
  if (a->rank() != 2 || b->rank() != 2) return no_product(*a, *b);
  const Gemm::Form form{call.integer("transA", 0) != 0, call.integer("transB", 0) != 0,
                        call.real("alpha", 1), call.real("beta", 1)};
  const std::uint64_t inner = a->dims()[form.left_turned ? 0 : 1];
  if (b->dims()[form.right_turned ? 1 : 0] != inner) return no_product(*a, *b);
  BTF_TRY(check_terms(inner));
  const Dims dims{a->dims()[form.left_turned ? 1 : 0], b->dims()[form.right_turned ? 0 : 1]};
  Tensor* const c = call.has_input(2) ? call.inputs[2] : nullptr;
  if (c != nullptr) {
    BTF_ASSIGN(const Dims all, broadcast(c->dims(), dims));
    if (all != dims) return no_product(*a, *c);
  }
  return std::make_unique<Gemm>(*a, *b, c, Operator::Output{dims, a->dtype()}, form, inner,
                                call.arithmetic);
}

}  // namespace btf::network
