// Pieces of the sentences that evidence is made of.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "btf/dtype.h"
#include "btf/layout.h"
#include "kernels/number/steps.h"

namespace btf::hints {

// "dim 1 (C)"; dims have letters where the rank is 4.
std::string dim_text(std::uint32_t dim, std::size_t rank);

// Few digits; exact for integers.
std::string number_text(long double value);

// Three digits.
std::string short_number_text(long double value);

// "1000 of 1000 elements"
std::string share_text(std::uint64_t part, std::uint64_t whole);

// "1 mismatch", "12 mismatches"
std::string mismatches_text(std::uint64_t count);

std::string name_of(DType dtype);

// The one of the two dtypes whose steps these are; nothing if they are of neither.
std::optional<DType> owner_of(const StepGrid& grid, DType actual, DType golden);

// "0, 2, 3, 1"
std::string order_text(std::span<const std::uint32_t> order);

}  // namespace btf::hints
