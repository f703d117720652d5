// Any text as a file of tensors in JSON (trtexec's, Polygraphy's), with a dtype that is said or
// without, or as a manifest or summary of files. The first byte says which.
#include <string>

#include "formats/io/byte_source.h"
#include "sets/index.h"
#include "sets/manifest.h"
#include "well_formed.h"

namespace {

void check_index(const btf::Result<std::unique_ptr<btf::SetIndex>>& index, bool manifest) {
  if (!index) {
    fuzz::require(!index.error().finding.empty(), "an index is refused without a finding");
    return;
  }
  btf::ManifestText text;
  for (const btf::IndexEntry& entry : (*index)->entries()) {
    fuzz::require(!entry.file.empty() && !entry.file.contains('\0'), "an entry without a file");
    fuzz::require(entry.place().starts_with(entry.file), "an entry's place is another file's");
    if (manifest) fuzz::require(text.add(entry).has_value(), "an entry cannot be written");
  }
  if (!manifest) return;
  // What is written says the same.
  const std::string again = std::move(text).finish();
  const btf::MemorySource source(std::as_bytes(std::span(again)));
  const auto read = btf::read_manifest(source, "again");
  fuzz::require(read.has_value(), "a manifest that was written cannot be read");
  fuzz::require((*read)->entries().size() == (*index)->entries().size(), "entries are missing");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(fuzz::view(data, size));
  const std::uint64_t kind = input.below(5);
  btf::OpenOptions options;
  if (kind == 4) {
    btf::TensorSpec spec;
    spec.dtype = btf::dtypes()[input.below(btf::dtypes().size())].dtype;
    options.named_specs = {{"*", spec}};
  }
  const fuzz::BytesView text = input.rest();
  const btf::MemorySource source(text);
  if (kind == 0) check_index(btf::read_manifest(source, "manifest.json"), true);
  if (kind == 1) check_index(btf::read_trtexec_summary(source, "tensor_summary.json"), false);
  if (kind > 1) fuzz::check_file(text, options);
  return 0;
}
