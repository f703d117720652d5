// The C interface, with a file of any bytes and with structures of any content and any size: it
// answers with a status, and what it gives is what it said it would give. 64 bytes of options come
// first, the file behind them.
#include <array>
#include <cstring>
#include <memory>

#include "btf/btf.h"
#include "btf/dlpack_abi.h"
#include "os_file.h"

struct DLManagedTensor : btf::dlpack::DLManagedTensor {};

namespace fuzz {
namespace {

constexpr std::size_t kOptions = 64;
constexpr std::uint64_t kMax = 1 << 16;

struct Close {
  void operator()(btf_file* file) const { btf_close(file); }
  void operator()(btf_writer* writer) const { btf_writer_free(writer); }
};
using File = std::unique_ptr<btf_file, Close>;

// Names, right and wrong; most often none.
const char* name(Input& input, std::span<const char* const> names) {
  const std::uint64_t choice = input.below(2 * names.size());
  return choice < names.size() ? names[choice] : nullptr;
}

constexpr std::array kDtypes{"float32",       "float16", "int8", "uint4", "bool",
                             "float8_e4m3fn", "int64",   "e8m0", "bf16",  "none"};
constexpr std::array kLayouts{"linear", "khwc8", "chw32", "coo", "dla_linear", "shuffled", "no"};
constexpr std::array kOverflow{"saturate", "ieee", "wrap", "error", ""};
constexpr std::array kRounding{"nearest", "zero", "up", "down", "?"};
constexpr std::array kGates{
    "rmse", "mae",      "bias",  "max-abs", "max-mismatch", "max-mismatch-percent",
    "snr",  "quantile", "top-k", "none"};
constexpr std::array kDuplicates{"error", "sum", "first", "last", "??"};

// A structure as an older caller would have it: only so many bytes of it, and they end there.
template <typename Struct>
class Older {
 public:
  Older(Input& input, Struct known) {
    const std::size_t size = input.rarely(8) ? input.below(sizeof(Struct) + 1) : sizeof(Struct);
    known.size = size;
    memory_ = std::make_unique<std::byte[]>(std::max(size, sizeof(known.size)));
    std::memcpy(memory_.get(), &known, std::max(size, sizeof(known.size)));
  }
  Struct* get() { return reinterpret_cast<Struct*>(memory_.get()); }

 private:
  std::unique_ptr<std::byte[]> memory_;
};

void check(btf_status status) {
  require(btf_status_name(status) != nullptr, "a status without a name");
  require(status == BTF_OK || *btf_last_error() != '\0', "an error says nothing");
  require(status != BTF_INTERNAL, std::string("an internal error: ") + btf_last_error());
}

btf_read_options read_options(Input& input) {
  btf_read_options options{};
  options.dtype = name(input, kDtypes);
  options.layout = name(input, kLayouts);
  if (input.rarely(4)) {
    options.overflow = name(input, kOverflow);
    options.rounding = name(input, kRounding);
    options.duplicates = name(input, kDuplicates);
    options.lossless = static_cast<std::int32_t>(input.below(2));
  }
  options.jobs = 1;
  if (input.rarely(4)) {
    static std::array<std::array<std::uint64_t, 4>, 3> numbers;
    for (auto& all : numbers)
      for (std::uint64_t& number : all) number = input.rarely(8) ? UINT64_MAX : input.below(5);
    options.region_rank = input.below(5);
    options.begin = input.flag() ? numbers[0].data() : nullptr;
    options.end = input.flag() ? numbers[1].data() : nullptr;
    options.step = input.flag() ? numbers[2].data() : nullptr;
  }
  return options;
}

void read(btf_file* file, std::uint64_t index, Input& input) {
  Older<btf_read_options> options(input, read_options(input));
  std::uint64_t bytes = 0;
  const btf_status sized = btf_read_size(file, index, options.get(), &bytes);
  check(sized);
  if (sized != BTF_OK || bytes > kMax) return;
  // Exactly so large: a byte too many is written where a sanitizer sees it.
  const auto buffer = std::make_unique<std::byte[]>(bytes);
  btf_loss loss{};
  loss.size = sizeof(loss);
  check(btf_read(file, index, options.get(), buffer.get(), bytes, input.flag() ? &loss : nullptr));
  if (bytes > 0)
    require(btf_read(file, index, options.get(), buffer.get(), bytes - 1, nullptr) != BTF_OK,
            "a buffer that is too small is taken");
  std::array<std::uint64_t, 8> strides{};
  check(btf_read_strides(file, index, options.get(), strides.data(), strides.size()));
  ::DLManagedTensor* tensor = nullptr;
  const btf_status status = btf_read_dlpack(file, index, options.get(), &tensor);
  check(status);
  require((status == BTF_OK) == (tensor != nullptr), "a tensor and an error");
  if (tensor == nullptr) return;
  const std::unique_ptr<btf_writer, Close> writer(btf_writer_new());
  check(btf_writer_add_dlpack(writer.get(), &tensor->dl_tensor, nullptr));
  std::uint64_t written = 0;
  check(btf_writer_save(writer.get(), "/dev/null", nullptr, &written));
  tensor->deleter(tensor);
}

void convert(btf_file* file, Input& input) {
  btf_convert_options options{};
  options.dtype = name(input, kDtypes);
  options.layout = name(input, kLayouts);
  const std::array<std::uint64_t, 3> tensors{input.byte() % 4, input.byte() % 4, 0};
  options.tensors = tensors.data();
  options.tensor_count = input.below(4);
  const std::array<std::uint32_t, 4> permute{1, 0, static_cast<std::uint32_t>(input.below(4)), 3};
  options.permute = permute.data();
  options.permute_count = input.rarely(4) ? input.below(5) : 0;
  options.prune_zeros = static_cast<std::int32_t>(input.below(2));
  options.where_possible = static_cast<std::int32_t>(input.below(2));
  options.jobs = 1;
  constexpr std::array kFormats{"btf", "npy", "raw", "png"};
  options.format = name(input, kFormats);
  Older<btf_convert_options> given(input, options);
  std::uint64_t bytes = 0;
  check(btf_convert(file, "/dev/null", given.get(), &bytes, nullptr));
}

void write(Input& input, BytesView elements) {
  const std::unique_ptr<btf_writer, Close> writer(btf_writer_new());
  const Bytes memory(elements.begin(), elements.end());
  const std::uint64_t rank = input.below(4);
  const std::array<std::uint64_t, 4> dims{input.below(6), input.below(6), input.below(6), 1};
  const std::array<std::int64_t, 4> strides{static_cast<std::int8_t>(input.byte()),
                                            static_cast<std::int8_t>(input.byte()),
                                            static_cast<std::int8_t>(input.byte()), 1};
  btf_array array{};
  array.data = memory.data();
  array.bytes = memory.size();
  array.dtype = name(input, kDtypes);
  array.rank = rank;
  array.dims = dims.data();
  if (input.flag()) array.strides = strides.data();
  array.layout = name(input, kLayouts);
  Older<btf_array> given(input, array);
  btf_write_options options{};
  options.dtype = name(input, kDtypes);
  options.layout = name(input, kLayouts);
  Older<btf_write_options> wanted(input, options);
  check(btf_writer_add(writer.get(), given.get(), wanted.get()));
  std::uint64_t bytes = 0;
  check(btf_writer_save(writer.get(), "/dev/null", nullptr, &bytes));
}

void diff(btf_file* actual, btf_file* golden, Input& input) {
  btf_diff_options options{};
  options.rtol = double(input.byte()) / 256;
  options.nan_differs = static_cast<std::int32_t>(input.below(2));
  options.strict = static_cast<std::int32_t>(input.below(2));
  options.jobs = 1;
  const std::array<btf_gate, 2> gates{
      btf_gate{name(input, kGates), double(input.byte()) / 16 - 1, double(input.byte()) / 200},
      btf_gate{"cosine", double(input.byte()) / 256, 0}};
  if (input.rarely(4)) {
    options.gates = gates.data();
    options.gate_count = input.below(3);
    options.close = static_cast<std::int32_t>(input.below(2));
    options.close_as = name(input, kDtypes);
    options.ulp = input.below(3);
    options.hints = static_cast<std::int32_t>(input.below(2));
    options.report = [](void*, const btf_tensor_diff* diff) {
      require(diff->reason != nullptr && (diff->hint_count == 0 || diff->hints != nullptr),
              "a report without its parts");
    };
  }
  Older<btf_diff_options> given(input, options);
  btf_diff_result result{};
  Older<btf_diff_result> told(input, result);
  const btf_status status = btf_diff(actual, golden, given.get(), told.get());
  check(status);
}

void names(btf_file* file, std::uint64_t index) {
  const char* const name = btf_name(file, index);
  if (name == nullptr) return;
  std::uint64_t found = BTF_NONE;
  const btf_status status = btf_find(file, name, &found);
  check(status);
  require(status != BTF_OK || found == index, "another tensor has the name");
}

bool small(btf_file* file) {
  const std::uint64_t count = btf_count(file);
  if (count > 8) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    btf_tensor_info info{};
    info.size = sizeof(info);
    if (btf_info(file, i, &info) != BTF_OK) continue;
    std::uint64_t elements = 1;
    for (std::uint64_t d = 0; d < info.rank; ++d)
      if (__builtin_mul_overflow(elements, std::max<std::uint64_t>(info.dims[d], 1), &elements))
        return false;
    if (elements > kMax) return false;
  }
  return true;
}

}  // namespace
}  // namespace fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  if (size < kOptions) return 0;
  Input input(view(data, kOptions));
  const BytesView bytes = view(data, size).subspan(kOptions);
  const std::string path = file_with(bytes);
  const std::uint64_t what = input.below(4);
  if (what == 3) {
    write(input, bytes);
    return 0;
  }
  const File file(btf_open(path.c_str()));
  if (!file) {
    require(*btf_last_error() != '\0', "an error says nothing");
    return 0;
  }
  require(btf_format(file.get()) != nullptr, "a file without a format");
  const std::uint64_t index = input.below(5);
  btf_tensor_info info{};
  Older<btf_tensor_info> told(input, info);
  check(btf_info(file.get(), index, told.get()));
  if (!small(file.get())) return 0;
  names(file.get(), index);
  btf_tensor_stats stats{};
  Older<btf_tensor_stats> counts(input, stats);
  check(btf_stats(file.get(), index, 1, counts.get()));
  if (what == 0) read(file.get(), index, input);
  if (what == 1) convert(file.get(), input);
  if (what == 2) {
    const File other(btf_open(path.c_str()));
    diff(file.get(), other.get(), input);
  }
  return 0;
}
