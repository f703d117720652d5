// Errors for tensors that DLPack can describe and this library cannot, or the other way round.
#pragma once

#include <string>
#include <utility>

#include "btf/error.h"

namespace btf {

inline std::unexpected<Error> dlpack_unsupported(std::string message) {
  return fail(ErrorCode::unsupported, "DLPack: " + std::move(message));
}

}  // namespace btf
