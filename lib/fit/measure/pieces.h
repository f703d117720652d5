// Tensors, nodes and the like, one by one on threads.
#pragma once

#include <cstdint>
#include <functional>

#include "btf/try.h"
#include "elements/parallel.h"

namespace btf {

inline Status for_each_piece(const Execution& execution, std::uint64_t pieces,
                             const std::function<Status(std::uint64_t)>& work) {
  constexpr std::uint64_t kBytesPerPiece = 1U << 20;  // so much work is worth a thread
  const unsigned workers = worker_count(execution, pieces, pieces * kBytesPerPiece);
  return for_each_slab(execution, workers, pieces, [&](unsigned, std::uint64_t piece) -> Status {
    BTF_TRY(check_cancelled(execution));
    return work(piece);
  });
}

}  // namespace btf
