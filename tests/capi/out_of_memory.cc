// Fails every allocation once, one in each round: the C interface must return an error each time
// (or succeed without), never let an exception out, and leave nothing behind.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "btf/btf.h"

namespace {

long allocations_left = -1;  // negative: no limit
bool failed = false;

// NULL once, when the count is down.
void* allocate(std::size_t bytes, std::size_t alignment) {
  if (allocations_left == 0) {
    allocations_left = -1;
    failed = true;
    return nullptr;
  }
  if (allocations_left > 0) --allocations_left;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* memory = allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

constexpr std::size_t kDefault = 16;

std::string scratch;
std::string output;  // in it

// Everything there is, once; the first status that is not BTF_OK.
btf_status all_of_it(const char* input) {
  btf_file* file = btf_open(input);
  if (file == nullptr) return BTF_NO_SPACE;
  btf_tensor_info info{};
  info.size = sizeof(info);
  btf_status status = btf_info(file, 0, &info);
  std::array<float, 192> values{};
  btf_read_options read{};
  read.size = sizeof(read);
  read.dtype = "float32";
  if (status == BTF_OK) status = btf_read(file, 0, &read, values.data(), sizeof(values), nullptr);
  if (status == BTF_OK) status = btf_read(file, 3, nullptr, nullptr, 0, nullptr);
  if (status == BTF_INVALID_ARGUMENT) status = BTF_OK;  // as it should be: no buffer
  DLManagedTensor* tensor = nullptr;
  if (status == BTF_OK) status = btf_read_dlpack(file, 3, nullptr, &tensor);
  if (tensor != nullptr) {
    // The deleter is the last of the structure's eight words.
    auto* const words = reinterpret_cast<void (**)(DLManagedTensor*)>(tensor);
    words[7](tensor);
  }
  btf_convert_options convert{};
  convert.size = sizeof(convert);
  convert.dtype = "float16";
  if (status == BTF_OK) status = btf_convert(file, output.c_str(), &convert, nullptr, nullptr);
  btf_diff_result result{};
  result.size = sizeof(result);
  btf_diff_options diff{};
  diff.size = sizeof(diff);
  diff.figures = diff.hints = 1;
  diff.report = [](void*, const btf_tensor_diff*) {};
  if (status == BTF_OK) status = btf_diff(file, file, &diff, &result);
  std::uint64_t index = 0;
  const char* const name = status == BTF_OK ? btf_name(file, 1) : nullptr;
  if (status == BTF_OK) status = name == nullptr ? BTF_NO_SPACE : btf_find(file, name, &index);
  btf_tensor_stats stats{};
  stats.size = sizeof(stats);
  if (status == BTF_OK) status = btf_stats(file, index, 1, &stats);
  if (status == BTF_OK) status = btf_validate(input, nullptr, nullptr, nullptr, nullptr);
  btf_set* set = status == BTF_OK ? btf_set_open(&input, 1) : nullptr;
  if (status == BTF_OK && set == nullptr) status = BTF_NO_SPACE;
  std::uint64_t number = 0;
  if (status == BTF_OK) status = btf_set_select(set, "1", &number, 1, &index);
  btf_set_diff_options sets{};
  sets.size = sizeof(sets);
  // Not JSON, nor pages, which hold it: the destructor of the JSON library takes memory, and ends the
  // process without.
  sets.formats = "text,junit";
  sets.file = [](void*, const btf_file_diff*) {};
  btf_report* report = nullptr;
  if (status == BTF_OK) status = btf_diff_sets(set, set, &diff, &sets, nullptr, &report);
  for (const char* const format : {"text", "junit"})
    if (status == BTF_OK && btf_report_text(report, format, nullptr) == nullptr)
      status = BTF_NO_SPACE;
  btf_report_free(report);
  btf_layers* layers =
      status == BTF_OK ? btf_layers_compare(set, set, nullptr, nullptr, nullptr) : nullptr;
  if (status == BTF_OK && layers == nullptr) status = BTF_NO_SPACE;
  btf_layer_info layer{};
  layer.size = sizeof(layer);
  if (status == BTF_OK) status = btf_layer(layers, 0, &layer);
  if (status == BTF_OK && btf_layers_text(layers, "text", nullptr) == nullptr)
    status = BTF_NO_SPACE;
  btf_layers_free(layers);
  btf_set_close(set);
  btf_writer* writer = status == BTF_OK ? btf_writer_new() : nullptr;
  if (status == BTF_OK && writer == nullptr) status = BTF_NO_SPACE;
  const std::array<std::uint64_t, 1> dims{192};
  btf_array array{};
  array.size = sizeof(array);
  array.data = values.data();
  array.bytes = sizeof(values);
  array.dtype = "float32";
  array.rank = 1;
  array.dims = dims.data();
  if (status == BTF_OK) status = btf_writer_add(writer, &array, nullptr);
  if (status == BTF_OK) status = btf_writer_save(writer, output.c_str(), nullptr, nullptr);
  btf_writer_free(writer);
  btf_close(file);
  return status;
}

int run(const char* input) {
  if (all_of_it(input) != BTF_OK) return std::printf("without failures: %s\n", btf_last_error()), 1;
  for (long n = 0;; ++n) {
    failed = false;
    allocations_left = n;
    const btf_status status = all_of_it(input);
    allocations_left = -1;
    if (!failed) {
      if (status != BTF_OK) return std::printf("round %ld: %s\n", n, btf_last_error()), 1;
      std::printf("%ld allocations, each failed once\n", n);
      return n > 100 ? 0 : 1;
    }
    // Where the library can do without the memory, all is well too.
    if (status != BTF_OK && status != BTF_NO_SPACE)
      return std::printf("round %ld: status %d: %s\n", n, status, btf_last_error()), 1;
  }
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, kDefault); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, kDefault);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  scratch = (std::filesystem::temp_directory_path() / "btf-oom-XXXXXX").string();
  if (::mkdtemp(scratch.data()) == nullptr) return 2;
  output = scratch + "/out.btf";
  const int code = run(argv[1]);
  std::filesystem::remove_all(scratch);
  return code;
}
