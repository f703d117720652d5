#include "btf/diff/picture.h"

#include <cmath>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "diff/loaded_pair.h"
#include "diff/picture/side_codes.h"
#include "diff/shape_edits.h"
#include "kernels/number/widen.h"
#include "picture/panels.h"

namespace btf {
namespace {

PartNumbers numbers_of(const PicturePart& part, DType dtype, const std::vector<std::byte>& codes) {
  PartNumbers numbers{part, std::vector<double>(part.elements())};
  widener<double>(dtype)(codes.data(), 1, part.elements(), numbers.numbers.data());
  return numbers;
}

// The error of two elements: what is not a number on both sides alike is none.
double error_of(long double actual, long double golden) {
  if ((std::isnan(actual) && std::isnan(golden)) || actual == golden) return 0;
  return static_cast<double>(actual - golden);
}

// Errors have all digits of 64-bit integers, as they are compared.
PartNumbers errors_of(const PicturePart& part, DType actual,
                      const std::vector<std::byte>& actual_codes, DType golden,
                      const std::vector<std::byte>& golden_codes) {
  PartNumbers errors{part, std::vector<double>(part.elements())};
  const auto left = widener<long double>(actual);
  const auto right = widener<long double>(golden);
  const std::uint64_t left_bytes = info(actual).buffer_bytes();
  const std::uint64_t right_bytes = info(golden).buffer_bytes();
  for (std::size_t i = 0; i < errors.numbers.size(); ++i) {
    long double a = 0;
    long double g = 0;
    left(actual_codes.data() + i * left_bytes, 1, 1, &a);
    right(golden_codes.data() + i * right_bytes, 1, 1, &g);
    errors.numbers[i] = error_of(a, g);
  }
  return errors;
}

Result<DrawnTensor> drawn(const DiffSide& actual, const DiffSide& golden,
                          const PictureOptions& options) {
  if (actual.dims() != golden.dims())
    return fail(ErrorCode::invalid_argument, "a picture of a difference needs equal dims, not " +
                                                 dims_text(actual.dims()) + " and " +
                                                 dims_text(golden.dims()));
  BTF_ASSIGN(const PicturePart part, picture_part(golden.dims(), options.part));
  BTF_ASSIGN(std::vector<std::byte> left, side_codes(actual, part, options.execution));
  BTF_ASSIGN(std::vector<std::byte> right, side_codes(golden, part, options.execution));
  const PartNumbers errors = errors_of(part, actual.dtype(), left, golden.dtype(), right);
  const PartNumbers left_numbers = numbers_of(part, actual.dtype(), std::exchange(left, {}));
  const PartNumbers right_numbers = numbers_of(part, golden.dtype(), std::exchange(right, {}));
  return draw_panels(left_numbers, right_numbers, errors, options);
}

}  // namespace

Result<DrawnTensor> draw_difference(const TensorFile& actual, const TensorFile& golden,
                                    const TensorPair& pair, const DiffOptions& options,
                                    const PictureOptions& picture) {
  if (!pair.actual || !pair.golden)
    return fail(ErrorCode::invalid_argument, "a picture of a difference needs both tensors");
  BTF_ASSIGN(const PairLoader loader, PairLoader::of(actual, golden, options));
  BTF_ASSIGN(const LoadedPair loaded, loader.load(pair));
  BTF_ASSIGN(const ShapeEdits edits, shape_edits(loaded.a.dims, loaded.b.dims, options));
  const auto draw_sides = [&]() -> Result<DrawnTensor> {
    BTF_ASSIGN(const auto left, loader.actual(loaded, edits.actual, picture.execution));
    BTF_ASSIGN(const auto right, loader.golden(loaded, edits.golden, picture.execution));
    return drawn(*left, *right, picture);
  };
  Result<DrawnTensor> result = draw_sides();
  if (!result) return std::unexpected(actual.about(loaded.a.index, result.error()));
  BTF_TRY(actual.check_unchanged());
  BTF_TRY(golden.check_unchanged());
  return result;
}

}  // namespace btf
