#include "core/finding_table.h"

#include <utility>

namespace btf {

std::unexpected<Error> malformed(FindingCode finding, std::uint64_t offset, std::string message) {
  return std::unexpected(Error{ErrorCode::malformed, std::move(message), {}, finding, offset});
}

}  // namespace btf
