#include "sets/safetensors_index.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <tuple>

#include "btf/try.h"
#include "core/names.h"
#include "formats/json/json_string.h"
#include "formats/json/reader.h"
#include "sets/natural_order.h"

namespace btf {
namespace {

constexpr std::string_view kEnding = ".safetensors.index.json";

// Models of a hundred thousand tensors have indexes of a tenth of it.
constexpr std::uint64_t kLongestIndex = 100'000'000;

bool stays_in_folder(std::string_view file) {
  return !file.empty() && file != "." && file != ".." && !file.contains('/') &&
         !file.contains('\0');
}

}  // namespace

bool named_as_safetensors_index(std::string_view path) {
  return path.size() >= kEnding.size() &&
         same_name(kEnding, path.substr(path.size() - kEnding.size()));
}

Result<SafetensorsIndex> SafetensorsIndex::read(const ByteSource& source) {
  if (source.size() > kLongestIndex)
    return malformed("safetensors-index", 0,
                     "the index has " + std::to_string(source.size()) + " bytes; at most " +
                         std::to_string(kLongestIndex) + " are read");
  JsonReader reader(source, {0, source.size()},
                    {.finding = "safetensors-index", .whole = "the index"});
  SafetensorsIndex index;
  std::map<std::string, std::uint32_t, std::less<>> files;
  const auto take_tensor = [&](const JsonToken& name) -> Status {
    if (!name.kept) return reader.wrong(name.extent.offset, "a name is too long to be true");
    const std::string quoted = "'" + json_shown(name.text) + "'";
    index.tensors_.push_back({.file = 0,
                              .at = static_cast<std::uint32_t>(index.names_.size()),
                              .bytes = static_cast<std::uint32_t>(name.text.size())});
    index.names_ += name.text;
    BTF_ASSIGN(const JsonToken file, reader.expect(JsonKind::string, "the file of " + quoted));
    if (!stays_in_folder(file.text))
      return reader.wrong(file.extent.offset, "the file of " + quoted + ", '" +
                                                  json_shown(file.text) +
                                                  "', is no name of a file beside the index");
    const auto known = files.find(file.text);
    index.tensors_.back().file =
        known != files.end()
            ? known->second
            : files.emplace(file.text, static_cast<std::uint32_t>(files.size())).first->second;
    return {};
  };
  bool mapped = false;
  BTF_TRY(reader.expect(JsonKind::object_begin, "it"));
  BTF_TRY(reader.members([&](const JsonToken& name) -> Status {
    if (name.text != "weight_map") {
      BTF_TRY(reader.skip_value());
      return {};
    }
    mapped = true;
    BTF_TRY(reader.expect(JsonKind::object_begin, "'weight_map'"));
    return reader.members(take_tensor);
  }));
  BTF_TRY(reader.next());
  if (!mapped) return reader.wrong(0, "it has no 'weight_map', which says what is where");
  if (files.empty()) return reader.wrong(0, "its 'weight_map' names no file");
  index.files_.resize(files.size());
  for (const auto& [file, number] : files) index.files_[number] = file;
  index.put_in_order();
  return index;
}

void SafetensorsIndex::put_in_order() {
  std::vector<std::uint32_t> order(files_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, natural_less,
                    [&](std::uint32_t i) { return std::string_view(files_[i]); });
  std::vector<std::uint32_t> place(order.size());
  std::vector<std::string> sorted(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted[i] = std::move(files_[order[i]]);
  }
  files_ = std::move(sorted);
  for (Tensor& tensor : tensors_) tensor.file = place[tensor.file];
  std::ranges::sort(tensors_, {},
                    [&](const Tensor& tensor) { return std::tuple(tensor.file, name(tensor)); });
}

Result<SafetensorsIndex::Difference> SafetensorsIndex::compare(std::size_t file,
                                                               std::uint64_t tensors,
                                                               const NameOf& name_of) const {
  const std::span<const Tensor> own = std::ranges::equal_range(tensors_, file, {}, &Tensor::file);
  std::vector<bool> found(own.size());
  Difference difference;
  for (std::uint64_t i = 0; i < tensors; ++i) {
    BTF_ASSIGN(const std::string held, name_of(i));
    const auto at = std::ranges::lower_bound(own, std::string_view(held), {},
                                             [&](const Tensor& tensor) { return name(tensor); });
    if (at != own.end() && name(*at) == held)
      found[static_cast<std::size_t>(at - own.begin())] = true;
    else if (difference.more++ == 0)
      difference.first_more = json_shown(held);
  }
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!found[i] && difference.missing++ == 0) difference.first_missing = json_shown(name(own[i]));
  return difference;
}

}  // namespace btf
