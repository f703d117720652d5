#include "diff/byte_pairs.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

#include "btf/try.h"

namespace btftool {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::unexpected<btf::Error> trouble(const char* what, const std::string& path) {
  const std::string message = std::string(what) + ": " + std::strerror(errno);
  return std::unexpected(btf::Error{btf::ErrorCode::io, message}.in_file(path));
}

btf::Result<File> open(const std::string& path) {
  File file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (file == nullptr) return trouble("cannot open", path);
  return file;
}

}  // namespace

std::vector<FilePair> pair_others(const btf::TensorSet& actual, const btf::TensorSet& golden,
                                  const btf::MemberFilter& wanted) {
  std::map<std::string, FilePair> pairs;
  const auto take = [&](const btf::TensorSet& set, std::string FilePair::* side) {
    for (const btf::SetMember& other : set.others()) {
      if (wanted && !wanted(other)) continue;
      FilePair& pair = pairs[other.place];
      pair.name = other.place;
      pair.*side = other.path;
    }
  };
  take(actual, &FilePair::actual);
  take(golden, &FilePair::golden);
  std::vector<FilePair> list;
  for (auto& [place, pair] : pairs) list.push_back(std::move(pair));
  return list;
}

btf::Result<PairOutcome> compare_bytes(const FilePair& pair) {
  if (pair.actual.empty() || pair.golden.empty()) return PairOutcome{.result = PairResult::missing};
  BTF_ASSIGN(const File actual, open(pair.actual));
  BTF_ASSIGN(const File golden, open(pair.golden));
  std::array<char, 1U << 16> left;
  std::array<char, 1U << 16> right;
  for (std::uint64_t at = 0;;) {
    const std::size_t some = std::fread(left.data(), 1, left.size(), actual.get());
    if (std::ferror(actual.get()) != 0) return trouble("cannot read", pair.actual);
    const std::size_t other = std::fread(right.data(), 1, right.size(), golden.get());
    if (std::ferror(golden.get()) != 0) return trouble("cannot read", pair.golden);
    const std::size_t common = std::min(some, other);
    const auto end = left.begin() + static_cast<std::ptrdiff_t>(common);
    const auto differs = std::mismatch(left.begin(), end, right.begin()).first;
    if (differs != end)
      return PairOutcome{PairResult::bytes,
                         "no tensors; byte " +
                             std::to_string(at + static_cast<std::uint64_t>(
                                                     differs - left.begin())) +
                             " differs"};
    at += common;
    if (some != other)
      return PairOutcome{PairResult::bytes,
                         "no tensors; " + std::string(some < other ? "actual" : "golden") +
                             " ends at byte " + std::to_string(at)};
    if (some == 0) return PairOutcome{.result = PairResult::same};
  }
}

}  // namespace btftool
