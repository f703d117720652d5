// Arrays of NumPy within a pickle, whose elements stand in it.
#pragma once

#include "btf/error.h"
#include "formats/pickle/pickle.h"
#include "formats/torch/tensors.h"

namespace btf {

// The array made by a call. Long ones, and types that no dtype stands for, are foreign.
Result<TorchTensor> read_numpy_array(const Pickle& pickle, Pickle::Node node);

}  // namespace btf
