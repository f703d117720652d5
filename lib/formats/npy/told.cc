#include "formats/npy/told.h"

#include "btf/try.h"
#include "formats/io/globs.h"

namespace btf {
namespace {

Result<NpyType> told_type(const TensorSpec& spec, const NpyHeader& header) {
  if (spec.as_text)
    return fail(ErrorCode::invalid_argument, "is a NumPy array, its spec describes text");
  if (spec.storage && (spec.strided || spec.layout != Layout::linear))
    return fail(ErrorCode::invalid_argument,
                "is a NumPy array; a spec may give its dtype and dims only");
  if (spec.storage && spec.storage->dims != header.shape)
    return fail(ErrorCode::invalid_argument, "the file says the shape " + dims_text(header.shape) +
                                                 ", the spec " + dims_text(spec.storage->dims));
  return npy_type(header.descr, spec);
}

// The dtype, for a spec that a program made.
std::string said_text(const TensorSpec& spec) {
  return spec.text.empty() ? std::string(info(spec.dtype).name) : spec.text;
}

}  // namespace

ToldTypes::ToldTypes(const OpenOptions& options)
    : of_all_(options.spec), named_(options.named_specs) {}

const TensorSpec* ToldTypes::of(const std::string& name) const {
  return spec_by_name(named_, name);
}

Result<NpyType> ToldTypes::type_of(const std::string& name, const NpyHeader& header) const {
  if (const TensorSpec* const named = of(name)) return told_type(*named, header);
  if (of_all_)
    if (const auto type = told_type(*of_all_, header)) return type;
  return npy_type(header.descr, std::nullopt);
}

Status ToldTypes::fits(const NpyHeader& header) const {
  BTF_TRY(told_type(*of_all_, header));
  return {};
}

Status ToldTypes::check(std::uint64_t arrays,
                        const std::function<Status(std::uint64_t)>& fits) const {
  if (!of_all_) return {};
  std::string why;
  for (std::uint64_t i = 0; i < arrays; ++i) {
    const Status status = fits(i);
    if (status) return {};
    if (why.empty()) why = ": of the first, " + status.error().message;
  }
  return fail(ErrorCode::invalid_argument, "the spec '" + said_text(*of_all_) +
                                               "' fits none of its " + std::to_string(arrays) +
                                               (arrays == 1 ? " array" : " arrays") + why);
}

}  // namespace btf
