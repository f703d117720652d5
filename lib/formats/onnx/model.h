// Which tensors a model holds: its initializers, and those of its subgraphs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "btf/attributes.h"
#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/protobuf/reader.h"

namespace btf {

// A tensor, as small as can be: there may be millions. Names stay in the file.
struct OnnxEntry {
  ProtoRange place;
  ProtoRange name{};        // empty: it has none; in a sequence: its number, no range
  std::uint32_t scope = 0;  // a subgraph's
  bool sparse = false;      // place is that of a SparseTensorProto
  std::uint8_t form = 0;    // of a Constant's value that is no tensor: which (constants.cc)
};

// Initializers of the graph first, in the order of the file, and what its Constant nodes hold, in
// the order of these; then those of subgraphs and of functions likewise. Or the values of a
// sequence.
class OnnxModel {
 public:
  // Refuses tensors of the graph that have no name or the same one.
  static Result<OnnxModel> read(const ByteSource& source);

  const std::vector<OnnxEntry>& entries() const { return entries_; }
  // In subgraphs with the names of their nodes and attributes: "node/then_branch/name"; in
  // functions: "domain::function/name"; in a sequence: "name#0", or nothing if it has no name.
  Result<std::optional<std::string>> name(const ByteSource& source, const OnnxEntry& entry) const;

  // Producer and metadata; of tensors which node is the first to use them, and which scales and
  // zero points are said to be theirs.
  Result<FileAttributes> attributes(const ByteSource& source) const;

  // A sequence's own name and members. A member without a number is the only one.
  static constexpr std::uint64_t kUnnumbered = UINT64_MAX;
  static std::string number_text(std::uint64_t number);
  void name_values(std::string name) { scopes_.front().name = std::move(name); }
  std::uint32_t add_scope(std::uint32_t parent, std::string name);
  void add_value(const OnnxEntry& entry);
  bool is_sequence() const { return sequence_; }

 private:
  class Reader;
  struct Scope {
    std::uint32_t parent = 0;
    std::string name;
  };

  std::vector<OnnxEntry> entries_;
  std::vector<Scope> scopes_{{}};
  bool sequence_ = false;
};

// Where the values of a SparseTensorProto, their indices and its dims are.
struct OnnxSparse {
  ProtoRange values;
  ProtoRange indices;
  std::vector<std::uint64_t> dims;
};

Result<OnnxSparse> read_onnx_sparse(Window& window, const ProtoRange& place);

}  // namespace btf
