// Which tensors a model holds: its initializers, and those of its subgraphs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "btf/attributes.h"
#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/protobuf/reader.h"

namespace btf {

// A tensor, as small as can be: there may be millions. Names stay in the file.
struct OnnxEntry {
  ProtoRange place;
  ProtoRange name{};        // empty: it has none
  std::uint32_t scope = 0;  // a subgraph's
  bool sparse = false;      // place is that of a SparseTensorProto
};

// Of the graph first, in the order of the file, then those of subgraphs in the order of their
// nodes.
class OnnxModel {
 public:
  // Refuses tensors of the graph that have no name or the same one.
  static Result<OnnxModel> read(const ByteSource& source);

  const std::vector<OnnxEntry>& entries() const { return entries_; }
  // Of tensors of subgraphs with those of their nodes and attributes: "node/then_branch/name".
  Result<std::string> name(const ByteSource& source, const OnnxEntry& entry) const;

  // Producer and metadata; of tensors which node is the first to use them, and which scales and
  // zero points are said to be theirs.
  Result<FileAttributes> attributes(const ByteSource& source) const;

 private:
  class Reader;
  struct Scope {
    std::uint32_t parent = 0;
    std::string name;
  };

  std::vector<OnnxEntry> entries_;
  std::vector<Scope> scopes_{{}};
};

// Where the values of a SparseTensorProto, their indices and its dims are.
struct OnnxSparse {
  ProtoRange values;
  ProtoRange indices;
  std::vector<std::uint64_t> dims;
};

Result<OnnxSparse> read_onnx_sparse(Window& window, const ProtoRange& place);

}  // namespace btf
