// Files that were damaged in every way there is time for: whatever is done with them must return,
// in little memory, and all operations must agree about what is usable.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/diff.h"
#include "btf/inspect.h"
#include "btf/read.h"
#include "btf/validate.h"
#include "support/btf_bytes.h"
#include "support/scratch_dir.h"
#include "support/shortage.h"

namespace {

using btf::ErrorCode;
using btf::Layout;
using btf::TensorFile;
using bytes::Bytes;
using bytes::Words;

constexpr std::size_t kMaxMemory = 16U << 20;

// A file in memory that can be written over quickly and opened by name.
class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("btf-test", MFD_CLOEXEC)) {
    if (fd_ < 0) throw std::runtime_error("memfd_create");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(fd_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

  void write(std::span<const std::byte> content) const {
    if (::ftruncate(fd_, static_cast<off_t>(content.size())) != 0 ||
        ::pwrite(fd_, content.data(), content.size(), 0) != static_cast<ssize_t>(content.size()))
      throw std::runtime_error("write to a memory file");
  }

 private:
  int fd_;
};

// What validate() says, and what the other operations come to.
struct Verdict {
  bool readable = false;  // validate() returned
  bool whole_file_error = false;
  std::set<std::uint64_t> broken;  // tensors with an error
  std::set<std::string> codes;
};

Verdict verdict_of(const std::string& path) {
  Verdict verdict;
  verdict.readable = btf::validate(path, [&](const btf::Finding& finding) {
                       verdict.codes.emplace(finding.code);
                       if (finding.severity != btf::Severity::error) return;
                       if (finding.tensor)
                         verdict.broken.insert(*finding.tensor);
                       else
                         verdict.whole_file_error = true;
                     }).has_value();
  return verdict;
}

class Exerciser {
 public:
  explicit Exerciser(const ScratchDir& scratch) : out_(scratch / "out.btf") {}

  // Does everything there is to do with the file.
  void run(const Bytes& content) {
    file_.write(content);
    shortage::largest_request();
    std::string wrong;
    try {
      wrong = use(file_.path());
    } catch (const std::exception& exception) {
      wrong = exception.what();
    }
    const std::size_t largest = shortage::largest_request();
    if (largest > kMaxMemory) wrong += " allocated " + std::to_string(largest);
    if (!wrong.empty()) {
      INFO(wrong);
      CHECK(wrong.empty());
    }
    ++runs_;
  }

  std::uint64_t runs() const { return runs_; }
  std::uint64_t converted() const { return converted_; }

 private:
  std::string use(const std::string& path) {
    const Verdict verdict = verdict_of(path);
    if (!verdict.readable) return "validate refused";
    const auto file = TensorFile::open(path);
    if (file.has_value() == verdict.whole_file_error) return "open and validate disagree";
    if (!file) return {};

    bool small = true;
    bool clean = true;
    for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
      const auto info = file->tensor(i);
      bool usable = info && info->known() && file->check_overlap(*info);
      if (info && info->coo) {
        for (const std::uint64_t dim : info->dims) small = small && dim < 1U << 10;
        small = small && info->dims.size() < 4;
      }
      if (usable) {
        const auto stats = btf::stats(*file, *info);
        usable = stats || stats.error().code == ErrorCode::refused;
        if (stats && stats->elements > 0 &&
            !btf::read_elements(
                *file, *info,
                std::vector<Words>{stats->min ? stats->min->index : Words(info->dims.size(), 0)}))
          return "an element cannot be read";
      }
      clean = clean && usable;
      if (usable == verdict.broken.contains(i))
        return "tensor " + std::to_string(i) + ": stats and validate disagree";
    }

    btf::DiffOptions one_job;
    one_job.execution.jobs = 1;
    const auto same = btf::diff(*file, *file, one_job, {});
    if (same && !*same) return "not the same as itself";

    // By turns, to save time. Few sparse tensors are small enough to be made dense.
    const std::uint64_t turn = runs_ % 4;
    if (turn == 0) return convert_to(*file, {}, out_, clean, verdict);
    if (turn == 1) return convert_to(*file, Layout::coo, out_, clean, verdict);
    if (!small) return {};
    if (turn == 2) return convert_to(*file, Layout::hwc8, out_, clean, verdict);
    return convert_to(*file, Layout::chw32, "/dev/null", clean, verdict);
  }

  std::string convert_to(const TensorFile& file, std::optional<Layout> layout,
                         const std::string& out, bool clean, const Verdict& verdict) {
    btf::ConvertOptions options;
    options.layout = layout;
    options.where_possible = true;
    options.execution.jobs = 1;
    const auto size = btf::convert(file, out, options);
    if (size && !clean) return "a broken file was converted";
    const bool duplicates = verdict.codes.contains("coo-duplicate-index");
    if (!size && clean && !duplicates)
      return "a sound file was not converted: " + size.error().text();
    if (!size || out != out_) return {};
    ++converted_;
    Verdict result = verdict_of(out_);
    result.codes.erase("bool-byte");
    result.codes.erase("tensorrt-limits");
    return result.codes.empty() ? "" : "the result has " + *result.codes.begin();
  }

  MemoryFile file_;
  std::string out_;
  std::uint64_t runs_ = 0;
  std::uint64_t converted_ = 0;
};

struct Sample {
  std::string path;
  Bytes content;
};

std::vector<Sample> samples(const std::string& folder) {
  std::vector<Sample> all;
  for (const auto& entry : std::filesystem::directory_iterator(BTF_TESTDATA_DIR "/" + folder)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() == ".btf" && entry.file_size() < 4096)
      all.push_back({path.string(), read_file(path.string())});
  }
  std::ranges::sort(all, {}, &Sample::path);
  REQUIRE(all.size() > 15);
  return all;
}

// Where the words of headers and COO indices are.
std::vector<std::uint64_t> header_words(const Sample& sample) {
  std::vector<std::uint64_t> words;
  const auto add = [&](std::uint64_t begin, std::uint64_t end) {
    for (; begin + 8 <= end; begin += 8) words.push_back(begin);
  };
  const TensorFile file = bytes::open(sample.path);
  add(0, 8 + 8 * file.tensor_count());
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const auto info = file.tensor(i).value();
    add(info.record_offset, info.coo ? info.coo->values_offset : info.data_offset);
  }
  return words;
}

}  // namespace

TEST_CASE("robustness: files as they are") {
  const ScratchDir scratch;
  Exerciser exerciser(scratch);
  for (const char* folder : {"good", "odd", "bad"}) {
    for (const Sample& sample : samples(folder)) {
      INFO(sample.path);
      for (int turn = 0; turn < 4; ++turn) exerciser.run(sample.content);
    }
  }
  CHECK(exerciser.converted() > 50);
}

TEST_CASE("robustness: truncated anywhere") {
  const ScratchDir scratch;
  Exerciser exerciser(scratch);
  for (const Sample& sample : samples("good")) {
    // Behind the first headers an odd step meets every place in a word.
    for (std::size_t size = 0; size < sample.content.size(); size += size < 400 ? 1 : 5) {
      INFO(sample.path << " cut to " << size);
      exerciser.run(Bytes(sample.content.begin(),
                          sample.content.begin() + static_cast<std::ptrdiff_t>(size)));
    }
  }
}

TEST_CASE("robustness: any bit flipped") {
  const ScratchDir scratch;
  Exerciser exerciser(scratch);
  for (const char* folder : {"good", "odd"}) {
    for (Sample& sample : samples(folder)) {
      const std::size_t bits = 8 * std::min<std::size_t>(256, sample.content.size());
      // Odd files are like one another: a part of their bits will do.
      for (std::size_t bit = 0; bit < bits;
           bit += sample.path.find("/odd/") == std::string::npos ? 1 : 7) {
        INFO(sample.path << " bit " << bit);
        const auto mask = std::byte{1} << bit % 8;
        sample.content[bit / 8] ^= mask;
        exerciser.run(sample.content);
        sample.content[bit / 8] ^= mask;
      }
    }
  }
}

TEST_CASE("robustness: hostile numbers in headers") {
  const ScratchDir scratch;
  Exerciser exerciser(scratch);
  constexpr std::uint64_t k31 = 1ULL << 31;
  constexpr std::uint64_t k32 = 1ULL << 32;
  constexpr std::uint64_t k63 = 1ULL << 63;
  for (Sample& sample : samples("good")) {
    const std::uint64_t size = sample.content.size();
    std::size_t turn = 0;
    for (const std::uint64_t at : header_words(sample)) {
      // A long table says the same again and again.
      if (++turn > 100 && turn % 9 != 0) continue;
      std::uint64_t old = 0;
      std::memcpy(&old, &sample.content[at], 8);
      for (const std::uint64_t hostile :
           {std::uint64_t{0}, std::uint64_t{1}, k31 - 1, k31, k31 + 1, k32 - 1, k32, k32 + 1,
            k63 - 1, k63, k63 + 1, ~std::uint64_t{0}, size - 1, size, size + 1, old + 1, old - 1}) {
        INFO(sample.path << " byte " << at << " is " << hostile);
        std::memcpy(&sample.content[at], &hostile, 8);
        exerciser.run(sample.content);
      }
      std::memcpy(&sample.content[at], &old, 8);
    }
  }
}
