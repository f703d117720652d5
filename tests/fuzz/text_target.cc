// The small languages: specs of raw bytes, names of dumps, dtypes and layouts, selections, indices
// and slices. The first byte says which, the rest is the text.
#include <array>
#include <numeric>

#include "btf/tensor_spec.h"
#include "cli/arguments.h"
#include "input.h"
#include "sets/directory.h"

namespace fuzz {
namespace {

const btf::Dims kDims{4, 1, 7, 300};

std::uint64_t product(const btf::Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::uint64_t{1}, std::multiplies<>());
}

// What is read, said in the library's own words, reads the same.
void spec(std::string_view text) {
  const auto parsed = btf::parse_tensor_spec(text);
  if (!parsed) return require(!parsed.error().message.empty(), "an error says nothing");
  if (!parsed->storage) return;
  const btf::StridedLayout& storage = *parsed->storage;
  require(storage.dims.size() == storage.strides.size(), "a spec has other strides than dims");
  if (parsed->strided) return;
  const auto again =
      btf::parse_tensor_spec(btf::spec_text(parsed->dtype, parsed->layout, storage.dims));
  require(again && again->dtype == parsed->dtype && again->layout == parsed->layout &&
              again->storage && again->storage->dims == storage.dims &&
              again->storage->strides == storage.strides,
          "a spec that is written and read again is another");
}

void dump(std::string_view text) {
  const auto parsed = btf::parse_dump_name(text);
  if (!parsed) return;
  const auto again = btf::parse_dump_name(btf::dump_name("x.raw", parsed->dtype, parsed->dims));
  require(again && again->dtype == parsed->dtype && again->dims == parsed->dims,
          "a dump's name that is written and read again says something else");
}

void names(std::string_view text) {
  if (const auto dtype = btf::parse_dtype(text))
    require(btf::parse_dtype(btf::info(*dtype).name) == *dtype, "a dtype's own name is another's");
  if (const auto layout = btf::parse_layout(text))
    require(btf::find_layout(btf::spec(*layout).code()) != nullptr, "a layout without a code");
}

void selection(std::string_view text) {
  constexpr std::uint64_t kCount = 50;
  const auto name = [](std::uint64_t index) { return "a" + std::to_string(index); };
  const auto parsed = btf::select_tensors(text, {kCount, name, "the set"});
  if (!parsed) return require(!parsed.error().message.empty(), "an error says nothing");
  for (const std::uint64_t index : *parsed) require(index < kCount, "a selection goes too far");
}

void permute(std::string_view text) {
  if (const auto parsed = btftool::parse_permute(text))
    require(parsed->order.size() <= text.size(), "more dims than digits");
  const auto shape = btftool::parse_reshape(text);
  if (!shape) return;
  const std::array<btf::Edit, 1> edits{*shape};
  const auto dims = btf::edited_dims(kDims, edits);
  require(!dims || product(*dims) == product(kDims), "other elements");
}

void index(std::string_view text) {
  const auto parsed = btftool::parse_index(text, kDims);
  if (!parsed) return;
  require(parsed->size() == kDims.size(), "an index of another rank");
  for (std::size_t d = 0; d < kDims.size(); ++d)
    require((*parsed)[d] < kDims[d], "an index goes too far");
}

void slice(std::string_view text) {
  const auto words = btftool::parse_slice(text);
  if (!words) return;
  const auto parsed = btf::sliced_dims(*words, kDims);
  if (!parsed) return;
  require(parsed->size() == kDims.size(), "a slice of another rank");
  for (std::size_t d = 0; d < kDims.size(); ++d) {
    const btf::SlicedDim& dim = (*parsed)[d];
    if (dim.count == 0) continue;
    require(dim.start < kDims[d], "a slice begins too far");
    const auto size = static_cast<std::int64_t>(kDims[d]);
    require(dim.count <= kDims[d] && (dim.count == 1 || (-size < dim.step && dim.step < size)),
            "a slice has more than its dim");
    if (dim.count == 1) continue;
    const std::int64_t last =
        static_cast<std::int64_t>(dim.start) + static_cast<std::int64_t>(dim.count - 1) * dim.step;
    require(last >= 0 && last < size, "a slice goes too far");
  }
}

void numbers(std::string_view text) {
  const auto real = btftool::parse_real(text);
  require(!real || *real - *real == 0, "a number that is not finite");
  if (const auto integer = btftool::parse_integer(text)) {
    const auto placed = btf::resolve_index(*integer, product(kDims));
    require(!placed || *placed < product(kDims), "a place outside");
  }
}

}  // namespace
}  // namespace fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  static constexpr std::array kWhat{spec,    spec,  dump,  names,  selection,
                                    permute, index, slice, numbers};
  Input input(view(data, size));
  const std::uint64_t what = input.below(kWhat.size());
  // The text ends where its memory ends, which a sanitizer sees.
  const BytesView rest = input.rest();
  const std::vector<char> text(fuzz::text(rest).begin(), fuzz::text(rest).end());
  kWhat[what]({text.data(), text.size()});
  return 0;
}
