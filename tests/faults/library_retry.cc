// Every allocation of a call of the library fails, one in each round, and then from it on for ever:
// the call says so or does without, lets no exception out that is not std::bad_alloc, does not
// hang, and the same question asked again of the same object gets the right answer.
//
//   btf_library_retry TESTDATA
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/diff.h"
#include "btf/dlpack.h"
#include "btf/file.h"
#include "btf/inspect.h"
#include "btf/read.h"
#include "btf/validate.h"
#include "btf/write.h"
#include "faults/orders.h"

namespace {

namespace fs = std::filesystem;

// What a call gives, in a form that can be compared; nothing: an error or no memory.
using Answer = std::optional<std::string>;

struct Question {
  std::string name;
  std::function<Answer()> ask;
};

std::string scratch;
long failures = 0;
long rounds = 0;

void complain(const Question& question, long n, bool for_ever, const char* what) {
  std::printf("%s, allocation %ld %s: %s\n", question.name.c_str(), n,
              for_ever ? "and all after it" : "alone", what);
  ++failures;
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Asks with faults armed. Only what the library throws or returns can come out.
Answer ask_with_fault(const Question& question, long n, bool for_ever) {
  fault_orders& orders = *orders_of_faults();
  orders = {};
  orders.kind = FAULT_ALLOCATE;
  orders.error = ENOMEM;
  orders.first = n;
  orders.last = for_ever ? LONG_MAX : n;
  orders.step = 1;
  orders.armed = 1;
  ::alarm(60);  // what takes longer hangs
  Answer answer;
  try {
    answer = question.ask();
  } catch (const std::bad_alloc&) {
    answer.reset();
  }
  orders.armed = 0;
  return answer;
}

// All allocations, or so many of them.
void fail_each(const Question& question, long most) {
  const Answer right = question.ask();
  if (!right) return complain(question, 0, false, "no answer without a fault");
  ask_with_fault(question, LONG_MAX, false);
  const long count = orders_of_faults()->calls[FAULT_ALLOCATE];
  const long step = std::max(1L, count / most);
  for (long n = 1; n <= count; n += step) {
    for (const bool for_ever : {false, true}) {
      ++rounds;
      const Answer answer = ask_with_fault(question, n, for_ever);
      if (answer && *answer != *right) complain(question, n, for_ever, "a wrong answer");
      if (question.ask() != right) complain(question, n, for_ever, "asked again: a wrong answer");
      ::alarm(0);
    }
  }
}

template <typename T>
std::string bytes_of(std::span<T> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size_bytes()};
}

// ---- Of one file that stays open ----

Answer all_headers(const btf::TensorFile& file) {
  std::string text;
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const auto tensor = file.tensor(i);
    if (!tensor || !file.check_overlap(*tensor)) return std::nullopt;
    text += std::to_string(tensor->data_offset) + " ";
  }
  return text;
}

Answer all_elements(const btf::TensorFile& file) {
  std::string text;
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const auto tensor = file.tensor(i);
    if (!tensor) return std::nullopt;
    const auto loaded = btf::read_tensor(file, *tensor);
    if (!loaded) return std::nullopt;
    text += bytes_of(loaded->tensor.bytes);
  }
  return text;
}

Answer all_stats(const btf::TensorFile& file) {
  std::string text;
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const auto tensor = file.tensor(i);
    if (!tensor) return std::nullopt;
    const auto stats = btf::stats(file, *tensor);
    if (!stats) return std::nullopt;
    text += std::to_string(stats->finite) + " " + std::to_string(stats->mean.value_or(-1)) + " ";
  }
  return text;
}

Answer findings(const std::string& path) {
  std::string text;
  const auto status =
      btf::validate(path, [&](const btf::Finding& finding) { text += finding.message + "\n"; });
  if (!status) return std::nullopt;
  return text + "end";
}

Answer converted(const btf::TensorFile& file, const std::string& name, btf::DType dtype) {
  const std::string output = scratch + "/" + name;
  btf::ConvertOptions options;
  options.dtype = dtype;
  options.execution.jobs = 4;
  if (name.ends_with(".zst")) options.compression = btf::kDefaultCompression;
  const auto size = btf::convert(file, output, options);
  orders_of_faults()->armed = 0;  // streams keep it to themselves that they had no memory
  if (!size) return std::nullopt;
  return content(output);
}

Answer compared(const btf::TensorFile& actual, const btf::TensorFile& golden) {
  btf::DiffOptions options;
  options.execution.jobs = 4;
  std::string text;
  const auto same = btf::diff(actual, golden, options, [&](const btf::TensorDiff& pair) {
    text += std::to_string(pair.mismatched) + " " + std::to_string(pair.hints.size()) + " ";
  });
  if (!same) return std::nullopt;
  return text + (*same ? "same" : "different");
}

// ---- Tensors of others ----

// Taken or not, the deleter is called once in all, by whoever owns the tensor then.
Answer taken() {
  static int deleted = 0;
  deleted = 0;
  std::array<std::uint8_t, 8> data{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<std::int64_t, 1> shape{8};
  btf::dlpack::DLManagedTensor managed{};
  managed.dl_tensor = {
      data.data(), {btf::dlpack::kDLCPU, 0}, 1, {1, 8, 1}, shape.data(), nullptr, 0};
  managed.deleter = [](btf::dlpack::DLManagedTensor*) { ++deleted; };
  bool kept = false;
  try {
    const auto tensor = btf::take_dlpack(&managed);
    kept = tensor.has_value();
    if (deleted != 0) return "deleted while it is kept";
  } catch (const std::bad_alloc&) {
    kept = false;
  }
  if (deleted != (kept ? 1 : 0)) return "deleted though it was not taken";
  if (!kept) return std::nullopt;
  return "taken";
}

btf::TensorFile open(const std::string& path) {
  auto file = btf::TensorFile::open(path);
  if (!file) {
    std::printf("%s\n", file.error().text().c_str());
    std::exit(2);
  }
  return *std::move(file);
}

void of_file(const std::string& path, long most) {
  const std::string name = fs::path(path).filename().string() + ": ";
  const btf::TensorFile file = open(path);
  const btf::TensorFile other = open(path);
  fail_each({name + "open",
             [&]() -> Answer {
               const auto opened = btf::TensorFile::open(path);
               if (!opened) return std::nullopt;
               return std::to_string(opened->tensor_count());
             }},
            most);
  fail_each({name + "headers", [&] { return all_headers(file); }}, most);
  fail_each({name + "elements", [&] { return all_elements(file); }}, most);
  fail_each({name + "stats", [&] { return all_stats(file); }}, most);
  fail_each({name + "validate", [&] { return findings(path); }}, most);
  fail_each({name + "convert", [&] { return converted(file, "a.btf", btf::DType::float16); }},
            most);
  fail_each({name + "compress", [&] { return converted(file, "a.btf.zst", btf::DType::float16); }},
            most);
  fail_each({name + "diff", [&] { return compared(file, other); }}, most);
}

// A tensor that is large enough for several threads, and several frames.
std::string large_file(const std::string& name) {
  const std::string path = scratch + "/" + name;
  std::vector<float> values(1U << 21);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1000) / 8.0F;
  const std::array<std::uint64_t, 2> dims{1U << 11, 1U << 10};
  const auto layout = btf::resolve(btf::Layout::linear, dims, btf::DType::float32);
  btf::TensorToWrite tensor{
      .tensor = {btf::DType::float32, *layout, std::as_bytes(std::span(values))},
      .dtype = {},
      .layout = btf::Layout::linear};
  if (!btf::write_tensors(path, {&tensor, 1}, {})) std::exit(2);
  return path;
}

int run(const std::string& testdata) {
  fail_each({"take_dlpack", taken}, LONG_MAX);
  of_file(testdata + "/good/mixed.btf", 400);
  of_file(testdata + "/zstd/seekable.btf.zst", 400);
  of_file(testdata + "/zstd/one_frame.btf.zst", 400);
  const std::string large = large_file("large.btf");
  const std::string compressed = scratch + "/large.btf.zst";
  const auto plain = btf::TensorFile::open(large);
  if (!plain || !btf::convert(*plain, compressed, {.compression = btf::kDefaultCompression}))
    std::exit(2);
  of_file(large, 12);
  of_file(compressed, 12);
  std::printf("%ld rounds, %ld wrong\n", rounds, failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  scratch = (fs::temp_directory_path() / "btf-retry-XXXXXX").string();
  if (::mkdtemp(scratch.data()) == nullptr) return 2;
  const int code = run(argv[1]);
  fs::remove_all(scratch);
  return code;
}
