#include "well_formed.h"

#include <algorithm>
#include <array>

#include "btf/inspect.h"
#include "btf/read.h"
#include "core/numbers.h"
#include "inspect/validate.h"

namespace fuzz {
namespace {

constexpr std::uint64_t kMaxBytes = 1 << 16;  // of a tensor that is read whole
constexpr std::uint64_t kMaxElements = 1 << 16;
// A damaged compressed file of a few bytes may have any number of them, each with a finding.
constexpr std::uint64_t kMaxTensors = 1 << 10;

// A tensor whose dims are small enough to go through them all.
bool small(const btf::TensorInfo& tensor) {
  btf::Checked elements = std::uint64_t{1};
  for (const std::uint64_t dim : tensor.dims) {
    if (dim == 0) return true;
    elements = btf::checked_mul(*elements, dim);
    if (!elements || *elements > kMaxElements) return false;
  }
  return true;
}

void ask_elements(const btf::TensorFile& file, const btf::TensorInfo& tensor) {
  if (std::ranges::find(tensor.dims, 0U) != tensor.dims.end()) return;
  btf::Dims last = tensor.dims;
  for (std::uint64_t& dim : last) --dim;
  const std::array indices{btf::Dims(tensor.dims.size(), 0), last};
  const auto elements = read_elements(file, tensor, indices);
  if (elements) require(elements->size() == 2, "two elements were asked for");
}

// `sound`: nothing at all was found in the file.
void ask_tensor(const btf::TensorFile& file, const btf::TensorInfo& tensor, bool sound) {
  const auto shape = btf::read_shape(tensor);
  require(shape || shape.error().code != btf::ErrorCode::malformed || !sound,
          "a sound tensor has no shape to be read");
  if (!shape) return;
  if (!small(tensor) || btf::storage_bytes(shape->storage, shape->dtype) > kMaxBytes) return;
  ask_elements(file, tensor);
  const auto stats = btf::stats(file, tensor, alone());
  if (!stats) require(!sound, "a sound tensor has no statistics: " + stats.error().message);
  if (stats) {
    require(stats->elements == shape->storage.elements(), "statistics count other elements");
    require(
        stats->finite + stats->nan + stats->positive_inf + stats->negative_inf == stats->elements,
        "statistics do not add up");
  }
  const auto whole = btf::read_tensor(file, tensor, {.execution = alone()});
  if (!whole)
    require(!sound || tensor.coo, "a sound dense tensor cannot be read: " + whole.error().message);
}

}  // namespace

Findings findings(const btf::Result<btf::TensorFile>& file) {
  Findings found;
  const auto status = btf::validate_opened(
      file,
      [&](const btf::Finding& finding) {
        require(!finding.code.empty() && !finding.message.empty(), "a finding says nothing");
        // What a device takes, not how a file is made.
        if (finding.code == "tensorrt-limits") return;
        if (finding.severity == btf::Severity::warning) {
          ++found.warnings;
          if (finding.code == "bool-byte") ++found.bool_bytes;
        } else {
          ++found.errors;
          if (finding.tensor && *finding.tensor < kTensors) found.tensors[*finding.tensor] = true;
        }
        if (found.text.empty()) found.text = std::string(finding.code) + ": " + finding.message;
      },
      alone());
  if (status) return found;
  // All is in memory: there is no trouble but with what this library does not read, or was told.
  found.trouble = true;
  const btf::Error& error = status.error();
  require(!error.message.empty(), "an error says nothing");
  // Of members of an archive that are not read the file may have some.
  require(!file || error.code == btf::ErrorCode::unsupported,
          "validate() gives up: " + error.message);
  require(error.code == btf::ErrorCode::unsupported ||
              error.code == btf::ErrorCode::invalid_argument ||
              error.code == btf::ErrorCode::no_space,
          "an error of another kind: " + error.message);
  return found;
}

void check_file(BytesView bytes, const btf::OpenOptions& options, const std::string& name) {
  const auto file = open(bytes, options, name);
  if (file && file->tensor_count() > kMaxTensors) return;
  const Findings found = findings(file);
  if (!file) {
    require(found.errors == 1 || found.trouble, "a file that cannot be opened");
    return;
  }
  for (std::uint64_t i = 0; i < std::min(file->tensor_count(), kTensors); ++i) {
    const auto tensor = file->tensor(i);
    const bool usable = tensor && tensor->known() && file->check_overlap(*tensor);
    const bool told = tensor && !tensor->foreign_dtype.empty() && found.warnings > 0;
    if (!usable)
      require(found.tensors[i] || told || found.trouble,
              "a tensor cannot be used, and validate() says nothing");
    if (!tensor) continue;
    require(tensor->index == i, "another tensor was asked for");
    if (usable) ask_tensor(*file, *tensor, found.errors + found.warnings == 0 && !found.trouble);
  }
}

void check_canonical(BytesView bytes, const btf::OpenOptions& options) {
  const Findings found = findings(open(bytes, options));
  require(found.errors == 0 && !found.trouble,
          "what convert() wrote is not well-formed: " + found.text);
}

}  // namespace fuzz
