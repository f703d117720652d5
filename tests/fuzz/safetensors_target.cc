// Any bytes as a safetensors file, or, if the first byte says so, as the index of several. The rest
// is the file.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include "btf/file.h"
#include "formats/io/byte_source.h"
#include "formats/json.h"
#include "sets/index.h"
#include "well_formed.h"

namespace {

// What is read of a text is strict JSON: each string in it can be written, and is where it is said
// to be.
void check_json(const btf::ByteSource& source) {
  btf::JsonReader reader(source, {0, source.size()}, {.finding = "safetensors-index", .keep = 16});
  for (;;) {
    const auto token = reader.next();
    if (!token) {
      fuzz::require(token.error().offset <= source.size(), "an error behind the end");
      return;
    }
    if (token->kind == btf::JsonKind::end) return;
    if (token->kind != btf::JsonKind::string && token->kind != btf::JsonKind::name) continue;
    const auto text = btf::json_string_at(source, token->extent);
    fuzz::require(text.has_value(), "a string is not where it is said to be");
    fuzz::require(!token->complete || *text == token->text, "a string is another where it stands");
    fuzz::require(token->complete == (text->size() <= 16), "what is complete is not what fits");
    fuzz::require(btf::json_quoted(*text).has_value(), "a string cannot be written");
  }
}

void check_index(fuzz::BytesView bytes) {
  const btf::MemorySource source(bytes);
  check_json(source);
  const auto index = btf::read_safetensors_index(source, "index");
  if (!index) return;
  btf::OpenOptions options;
  options.spec = btf::parse_tensor_spec("u8:linear:1").value();
  constexpr std::byte kElement[1]{};
  const auto shard =
      btf::TensorFile::open(std::make_unique<btf::MemorySource>(kElement), "x", options);
  std::uint64_t missing = 0;
  for (std::size_t i = 0; i < (*index)->entries().size(); ++i) {
    const std::string& file = (*index)->entries()[i].file;
    fuzz::require(!file.contains('/') && !file.contains('\0') && file != "..", "a file elsewhere");
    std::size_t more = 0;
    const btf::Status checked = (*index)->check(i, *shard, [&](const btf::Finding& finding) {
      (finding.severity == btf::Severity::error ? missing : more) += 1;
    });
    fuzz::require(checked.has_value() && more <= 1, "an index cannot be compared");
  }
  fuzz::require(missing <= bytes.size(), "more tensors than an index has bytes");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(fuzz::view(data, size));
  const bool index = input.byte() % 4 == 1;
  index ? check_index(input.rest()) : fuzz::check_file(input.rest(), {});
  return 0;
}
