#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "btf/layout.h"
#include "btf/tensor_spec.h"
#include "btf/try.h"
#include "core/names.h"
#include "core/utf8.h"
#include "formats/io/compressed_name.h"
#include "formats/open_source.h"
#include "formats/other_kinds.h"
#include "formats/table/endings.h"

namespace btf {
namespace {

constexpr std::uint64_t kStart = 4096;
constexpr std::size_t kGlance = 8;
constexpr std::string_view kSpaces = " \t\r\n";

// Answers of servers that are no page and no JSON.
constexpr std::array<std::string_view, 9> kAnswers{
    "Entry not found", "Repository not found",          "404: Not Found", "404 page not found",
    "Not Found",       "Invalid username or password.", "Unauthorized",   "Forbidden",
    "Access denied"};

// With what JSON begins that says what went wrong.
constexpr std::array<std::string_view, 6> kErrorMembers{"error",  "errors", "message",
                                                        "detail", "status", "statusCode"};

Result<std::string> first_bytes(const ByteSource& source, std::uint64_t most = kStart) {
  std::string start(std::min({most, source.size(), source.read_ahead_end(0)}), '\0');
  BTF_TRY(source.read_at(0, std::as_writable_bytes(std::span(start))));
  return start;
}

std::string_view trimmed(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

bool begins_as(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() && same_name(text.substr(0, lower.size()), lower);
}

bool is_text(std::string_view start, bool whole) {
  const auto control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    // ESC colours what is said.
    return (byte < 0x20 && (c < '\t' || c > '\r') && byte != 0x1b) || byte == 0x7f;
  };
  if (start.empty() || std::ranges::any_of(start, control)) return false;
  // The last character may be cut off.
  for (unsigned cut = 0; cut < (whole ? 1U : 4U); ++cut)
    if (is_utf8(start.substr(0, start.size() - cut))) return true;
  return false;
}

std::string size_text(const ByteSource& source) {
  const std::uint64_t size = source.size();
  return (source.more_follows() ? "more than " : "") + std::to_string(size) +
         (size == 1 ? " byte" : " bytes");
}

FoundKind unread(std::string_view what, std::string_view advice, bool tensorless) {
  return {"is " + std::string(what) + ", which btftool does not read" +
              (advice.empty() ? "" : "; " + std::string(advice)),
          tensorless};
}

bool is_kind(const FileStart& start, const OtherKind& kind) {
  if (!kind.bytes.empty() && (start.bytes.size() < kind.offset ||
                              !start.bytes.substr(kind.offset).starts_with(kind.bytes)))
    return false;
  if (!kind.ending.empty() &&
      (start.name.size() < kind.ending.size() ||
       !same_name(start.name.substr(start.name.size() - kind.ending.size()), kind.ending)))
    return false;
  return kind.fits == nullptr || kind.fits(start);
}

std::optional<FoundKind> text_kind(std::string_view start, bool whole) {
  if (!is_text(start, whole)) return std::nullopt;
  for (const TextKind& kind : text_kinds())
    if (start.contains(kind.mark)) return FoundKind{"is " + std::string(kind.what), true};
  const std::size_t first = start.find_first_not_of(kSpaces);
  if (first == start.npos || (start[first] != '{' && start[first] != '['))
    return FoundKind{"is text; to read the numbers in it, give `spec` text:fp32:DIMS", true};
  for (const TextKind& kind : json_kinds())
    if (start.contains(kind.mark)) return FoundKind{"is " + std::string(kind.what), true};
  return FoundKind{"is JSON of a kind that btftool does not read", true};
}

// Raw weights of a model that is a file of its own: nothing in them says so.
struct ModelBeside {
  std::string_view ending;
  std::string_view mark;  // in its text
  std::string_view what;
};

constexpr std::array<ModelBeside, 2> kModelsBeside{
    {{".xml", "<net name=", "a file of the weights of an OpenVINO model"},
     {".param", "7767517", "a file of the weights of an ncnn net"}}};

Result<std::optional<FoundKind>> weights_of_model(std::string_view path) {
  constexpr std::string_view kBin = ".bin";
  if (!path.ends_with(kBin)) return std::nullopt;
  for (const ModelBeside& model : kModelsBeside) {
    std::string beside(path.substr(0, path.size() - kBin.size()));
    beside += model.ending;
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(beside, unknown)) continue;
    const auto source = open_source(beside, {});
    if (!source) continue;
    BTF_ASSIGN(const std::string text, first_bytes(**source));
    if (text.contains(model.mark))
      return unread(std::string(model.what) + " (" + beside + ")",
                    "export its tensors with np.savez or safetensors", false);
  }
  return std::nullopt;
}

// "version https://git-lfs..\noid sha256:..\nsize 438007537"
std::optional<FoundKind> lfs_pointer(std::string_view start, std::string_view bytes) {
  if (!start.starts_with("version https://git-lfs.github.com/spec/")) return std::nullopt;
  std::string text = "is a Git LFS pointer (" + std::string(bytes) + ") and not the file itself";
  constexpr std::string_view kSize = "\nsize ";
  if (const std::size_t at = start.find(kSize); at != start.npos) {
    const std::string_view rest = start.substr(at + kSize.size());
    const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
    constexpr std::size_t kMostDigits = 19;
    if (!digits.empty() && digits.size() <= kMostDigits)
      text += ", which has " + std::string(digits) + " bytes";
  }
  return FoundKind{text + "; run git lfs pull", false};
}

// `whole`: the start is all of it.
std::optional<FoundKind> answer_of_server(std::string_view start, bool whole,
                                          std::string_view bytes) {
  constexpr std::string_view kAgain = " in place of the file; download it again";
  const auto is = [&](std::string_view what) {
    return FoundKind{
        "is " + std::string(what) + " (" + std::string(bytes) + ")" + std::string(kAgain), false};
  };
  if (begins_as(start, "<!doctype html") || begins_as(start, "<html")) return is("an HTML page");
  if (start.starts_with("<?xml") && start.contains("<Error>"))
    return is("the error of a server in XML");
  if (!whole) return std::nullopt;
  if (std::ranges::find(kAnswers, start) != kAnswers.end())
    return is("the answer '" + std::string(start) + "' of a server");
  if (!start.starts_with('{')) return std::nullopt;
  const std::string_view name = trimmed(start.substr(1));
  for (const std::string_view member : kErrorMembers)
    if (name.starts_with("\"" + std::string(member) + "\""))
      return is("the error of a server in JSON");
  return std::nullopt;
}

// The side of a square image of three channels with this many elements; 0: there is none.
std::uint64_t side_of_image(std::uint64_t elements) {
  constexpr std::uint64_t kChannels = 3;
  constexpr std::uint64_t kLeastSide = 8;
  const std::uint64_t area = elements / kChannels;
  const auto side = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(area)) + 0.5);
  return elements % kChannels == 0 && side >= kLeastSide && side * side == area ? side : 0;
}

// For the usual dtypes: a square image where the number fits one, else a single dim.
std::vector<std::string> specs_of_bytes(std::uint64_t bytes) {
  constexpr std::array kUsual{DType::float32, DType::float16, DType::int8};
  std::vector<std::string> specs;
  for (const bool image : {true, false})
    for (const DType dtype : kUsual) {
      const std::uint64_t size = info(dtype).bits / 8;
      if (bytes == 0 || bytes % size != 0) continue;
      const std::uint64_t elements = bytes / size;
      const std::uint64_t side = image ? side_of_image(elements) : 0;
      if (image && side == 0) continue;
      const Dims dims = image ? Dims{1, 3, side, side} : Dims{elements};
      specs.push_back(spec_text(dtype, Layout::linear, dims));
    }
  return specs;
}

}  // namespace

Result<std::optional<FoundKind>> find_stand_in(const ByteSource& source) {
  // Most files are none, by their first byte.
  BTF_ASSIGN(std::string start, first_bytes(source, kGlance));
  const std::string_view begin = trimmed(start);
  if (!begin.empty() && !std::string_view("v<{4ERNIUFA").contains(begin.front()))
    return std::nullopt;
  BTF_ASSIGN(start, first_bytes(source));
  const std::string_view text = trimmed(start);
  const bool whole = start.size() == source.size() && !source.more_follows();
  if (!is_text(start, whole)) return std::nullopt;
  const std::string bytes = size_text(source);
  if (auto pointer = lfs_pointer(text, bytes)) return pointer;
  return answer_of_server(text, whole, bytes);
}

Result<std::optional<FoundKind>> find_other_kind(const ByteSource& source, std::string_view path) {
  BTF_ASSIGN(const std::string bytes, first_bytes(source));
  const FileStart start{bytes, source.size(), content_name(path)};
  for (const OtherKind& kind : other_kinds())
    if (is_kind(start, kind)) return unread(kind.what, kind.advice, kind.tensorless);
  // What is called BTF is a bad one. So are a few blanks, unless the file is called text: a BTF file
  // of 9 to 13 tensors begins with white space.
  const bool blank =
      bytes.size() < kGlance && bytes.find_first_not_of(" \t\r\n\v\f") == bytes.npos;
  const bool called_text = start.name.ends_with(".md") || start.name.ends_with(".txt");
  if (start.name.ends_with(".btf") || (blank && !called_text)) return std::nullopt;
  if (auto text = text_kind(bytes, bytes.size() == source.size())) return text;
  return weights_of_model(start.name);
}

std::string unknown_kind(const ByteSource& source, std::string_view path) {
  constexpr std::size_t kShown = 8;
  const auto ending = find_ending(content_name(path));
  std::string text =
      ending && !ending->tensorless
          ? "has the extension of " + std::string(ending->title) + ", but does not begin as one"
          : "is not BTF, nor a file of another kind that btftool knows";
  text += ": " + size_text(source);
  const auto start = first_bytes(source);
  if (start && !start->empty()) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += start->size() > kShown ? ", beginning with" : ",";
    for (const char c : start->substr(0, kShown)) {
      const auto byte = static_cast<unsigned char>(c);
      text += {' ', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  text += "; if these are raw bytes, say what they hold: ";
  const auto specs =
      source.more_follows() ? std::vector<std::string>() : specs_of_bytes(source.size());
  text +=
      specs.empty() ? "`spec` fp16:hwc8:1x3x224x224" : "its size is that of `spec` ";
  for (std::size_t i = 0; i < specs.size(); ++i) text += (i == 0 ? "" : ", ") + specs[i];
  return text;
}

}  // namespace btf
