// ONNX: tensors and models against their twins in BTF, what is written against what onnx writes,
// and every way in which a message can lie.
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/tensor_set.h"
#include "btf/validate.h"
#include "formats/io/byte_source.h"
#include "formats/onnx_model.h"
#include "support/btf_bytes.h"
#include "support/said.h"
#include "support/scratch_dir.h"
#include "support/tensor_files.h"

namespace fs = std::filesystem;

using btf::TensorFile;
using bytes::Bytes;
using files::for_each_bad_file;
using files::open;
using files::write;

namespace {

const std::string kTestdata = BTF_TESTDATA_DIR;
const std::string kFolder = kTestdata + "/onnx/";
const std::string kBadFolder = kTestdata + "/onnx-bad/";

std::vector<std::string> names_of(const TensorFile& file) {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i)
    names.push_back(file.own_name(i).value().value_or("(none)"));
  return names;
}

std::vector<std::string> findings_of(const std::string& path) {
  std::vector<std::string> found;
  const auto status =
      btf::validate(path, [&](const btf::Finding& f) { found.emplace_back(f.code); });
  if (!status) found.push_back("not read");
  return found;
}

void check_twin(const std::string& path, const std::string& twin) {
  CAPTURE(path);
  const ScratchDir scratch;
  const TensorFile file = open(path);
  CHECK(file.format() == "onnx");
  write(file, scratch / "out.btf", {.layout = btf::Layout::linear, .drop_names = true});
  CHECK(read_file(scratch / "out.btf") == read_file(twin));
  CHECK(findings_of(path).empty());
}

}  // namespace

TEST_CASE("onnx: what is read is its twin to the bit, wherever the values stand") {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const std::string name = entry.path().filename().string();
    const std::string twin = kFolder + name.substr(0, name.find('.')) + ".btf";
    if (name.ends_with(".btf") || !fs::exists(twin)) continue;
    ++count;
    check_twin(kFolder + name, twin);
  }
  CHECK(count == 14);
  check_twin(kTestdata + "/onnx-external/model.onnx", kFolder + "external.btf");
}

TEST_CASE("onnx: what onnx itself wrote is the same, and is read so") {
  const std::string oracle = kTestdata + "/oracle/onnx/";
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(oracle)) {
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    if (name.starts_with("tensor_")) {
      ++count;
      CHECK(read_file(oracle + name) == read_file(kFolder + name));
    }
  }
  CHECK(count == 21);
  check_twin(oracle + "types.typed.onnx", kFolder + "types.btf");
}

TEST_CASE("onnx: a tensor is written as onnx writes it") {
  const ScratchDir scratch;
  const TensorFile types = open(kFolder + "types.raw.onnx");
  REQUIRE(types.tensor_count() == 21);
  for (std::uint64_t i = 0; i < types.tensor_count(); ++i) {
    const std::string dtype(btf::info(*types.tensor(i)->dtype).name);
    CAPTURE(dtype);
    const std::string path = scratch / dtype + ".pb";
    write(types, path, {.tensors = std::vector<std::uint64_t>{i}});
    CHECK(read_file(path) == read_file(kFolder + "tensor_" + dtype + ".pb"));
  }
  // A name that is made of the file's is none of its own.
  write(open(kFolder + "scalar.btf"), scratch / "bare.pb");
  CHECK(names_of(open(scratch / "bare.pb")) == std::vector<std::string>{"(none)"});
  CHECK(open(scratch / "bare.pb").tensor(0)->name == "bare");
  write(open(kFolder + "empty.btf"), scratch / "empty.pb");
  CHECK(read_file(scratch / "empty.pb") == bytes::hex("0800080308051001"
                                                      "4a00"));

  // Through zstd too.
  write(open(kFolder + "tensor_int4.pb"), scratch / "x.pb.zst");
  CHECK(open(scratch / "x.pb.zst").format() == "onnx");
  CHECK(names_of(open(scratch / "x.pb.zst")) == std::vector<std::string>{"x.int4"});
}

TEST_CASE("onnx: what a tensor cannot be written as") {
  const ScratchDir scratch;
  const TensorFile types = open(kFolder + "types.raw.onnx");
  const auto message = [&](const TensorFile& file, const btf::ConvertOptions& options) {
    const auto size = btf::convert(file, scratch / "out.pb", options);
    CHECK_FALSE(fs::exists(scratch / "out.pb"));
    return size ? std::string() : said(size.error());
  };
  using Selection = std::vector<std::uint64_t>;
  CHECK(message(types, {}) ==
        "tensor 1: an ONNX tensor file (.pb) holds one tensor, the result has more: select one");
  CHECK(message(types, {.dtype = btf::DType::float8_e3m4, .tensors = Selection{0}}) ==
        "tensor 0: ONNX has no type for float8_e3m4");
  CHECK(message(types, {.layout = btf::Layout::coo, .tensors = Selection{0}}) ==
        "tensor 0: an ONNX tensor is row-major: kLINEAR, or the stored array as it is (plain)");
  CHECK(message(types, {.tensors = Selection{0}, .names = std::vector<std::string>{"\xc3"}}) ==
        "tensor 0: its name is not UTF-8, as ONNX demands");
  const auto onnx = btf::convert(types, scratch / "out.onnx", {.tensors = Selection{0}});
  CHECK(said(onnx.error()).starts_with("ONNX models are not written; these are: npy, "));
}

TEST_CASE("onnx: a model's tensors, those of subgraphs, what they are for") {
  const TensorFile file = open(kFolder + "graph.onnx");
  CHECK(names_of(file) == std::vector<std::string>{"bias", "weight", "scale", "zero", "1017",
                                                   "choose/then_branch/w", "choose/then_branch/v",
                                                   "choose/then_branch/z/then_branch/w",
                                                   "m1/all/0/a", "m1/all/1/a"});
  const btf::FileAttributes attributes = file.attributes().value();
  CHECK(attributes.producer == "generator 1.0");
  CHECK(attributes.metadata ==
        std::map<std::string, std::string>{{"author", "caf\xc3\xa9"}, {"empty", ""}});
  CHECK(attributes.tensors.size() == 4);
  CHECK(attributes.tensors.at(0).order == 2U);
  CHECK(attributes.tensors.at(1).order == 0U);
  CHECK(attributes.tensors.at(1).quantized ==
        btf::QuantizedBy{.scale = 2, .kind = btf::ScaleOf::channel, .axis = 1, .zero_point = 3});
  CHECK(attributes.tensors.at(2).role == "scale");
  CHECK(attributes.tensors.at(3).role == "zero_point");

  const ScratchDir scratch;
  write(file, scratch / "out.btf");
  CHECK(open(scratch / "out.btf").attributes() == attributes);
}

TEST_CASE("onnx: the order of execution") {
  const Bytes model = read_file(kFolder + "graph.onnx");
  const btf::MemorySource source(model);
  const auto graph = btf::read_onnx_graph(source).value();
  using Names = std::vector<std::string>;
  CHECK(graph.name == "g");
  CHECK(graph.inputs == Names{"in", "bias"});
  CHECK(graph.outputs == Names{"out"});
  std::vector<btf::OnnxNode> nodes;
  REQUIRE(btf::for_each_onnx_node(source, [&](const btf::OnnxNode& node) -> btf::Status {
    nodes.push_back(node);
    return {};
  }));
  REQUIRE(nodes.size() == 4);
  CHECK(nodes[0].name == "conv_1");
  CHECK(nodes[0].op_type == "Conv");
  CHECK(nodes[0].inputs == Names{"in", "weight", ""});
  CHECK(nodes[2].name.empty());
  CHECK(nodes[2].outputs == Names{"m1", "", "m2"});
  CHECK(nodes[3].number == 3);
  Names values;
  REQUIRE(btf::for_each_onnx_value(source, [&](const std::string& name) -> btf::Status {
    values.push_back(name);
    return {};
  }));
  CHECK(values == Names{"in", "bias", "c1", "i1", "m1", "m2", "out"});
  const auto stopped = btf::for_each_onnx_node(source, [](const btf::OnnxNode&) {
    return btf::Status(btf::fail(btf::ErrorCode::cancelled, "enough"));
  });
  CHECK(said(stopped.error()) == "enough");
}

TEST_CASE("onnx: types that no dtype stands for do not sink the model") {
  const TensorFile file = open(kFolder + "foreign.onnx");
  const std::vector<std::string> types{"", "STRING", "COMPLEX64", "UINT2", "FLOAT6E2M3", "77", ""};
  REQUIRE(file.tensor_count() == types.size());
  for (std::uint64_t i = 0; i < types.size(); ++i) CHECK(file.tensor(i)->foreign_dtype == types[i]);
  CHECK(file.tensor(1)->dims == btf::Dims{2});
  CHECK(said(file.elements(1).error()) ==
        "tensor 1: it has strings (STRING), for which there is no dtype");
  CHECK(said(file.elements(5).error()) == "tensor 5: its data_type is 77, which is unknown");
  CHECK(findings_of(kFolder + "foreign.onnx") == std::vector<std::string>(5, "foreign-dtype"));
  CHECK(findings_of(kTestdata + "/onnx-external/unknown-key.onnx") ==
        std::vector<std::string>{"onnx-unknown-key"});
}

TEST_CASE("onnx: the test data of a model are a set") {
  const auto set = btf::TensorSet::open(kTestdata + "/onnx-set");
  REQUIRE(set);
  REQUIRE(set->tensor_count() == 4);
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < 4; ++i) {
    const btf::SetTensor tensor = set->tensor(i).value();
    names.push_back(set->file(tensor.member).value()->name(tensor.index).value());
  }
  CHECK(names == std::vector<std::string>{"data", "input_2", "mask", "softmax/out:0"});
}

TEST_CASE("onnx: external data may be where links lead, within the model's directory only") {
  const ScratchDir scratch;
  const std::string external = kTestdata + "/onnx-external/";
  const auto verdict = [](const std::string& path) {
    const TensorFile file = open(path);
    const auto tensor = file.tensor(0);
    return tensor ? std::string("read") : said(tensor.error());
  };
  fs::create_directories(scratch / "blobs");
  fs::create_directories(scratch / "snapshots/1");
  fs::copy_file(external + "model.onnx", scratch / "blobs/aa");
  fs::copy_file(external + "weights.bin", scratch / "blobs/bb");
  // As caches of downloads have them: both are links into another directory.
  fs::create_symlink("../../blobs/aa", scratch / "snapshots/1/model.onnx");
  fs::create_symlink("../../blobs/bb", scratch / "snapshots/1/weights.bin");
  CHECK(verdict(scratch / "snapshots/1/model.onnx") == "read");
  // The model itself is here, its weights are not.
  fs::create_directories(scratch / "own");
  fs::copy_file(external + "model.onnx", scratch / "own/model.onnx");
  fs::create_symlink("../blobs/bb", scratch / "own/weights.bin");
  CHECK(verdict(scratch / "own/model.onnx").ends_with("/blobs/bb', outside the model's directory"));
  fs::remove(scratch / "own/weights.bin");
  CHECK(verdict(scratch / "own/model.onnx") ==
        "tensor 0: its external data are in 'weights.bin': cannot open: No such file or directory");
  fs::create_directory(scratch / "own/weights.bin");
  CHECK(verdict(scratch / "own/model.onnx") ==
        "tensor 0: its external data are in 'weights.bin', which is not a regular file");
  fs::remove(scratch / "own/weights.bin");
  REQUIRE(::mkfifo((scratch / "own/weights.bin").c_str(), 0600) == 0);
  CHECK(verdict(scratch / "own/model.onnx") ==
        "tensor 0: its external data are in 'weights.bin', which is not a regular file");
}

TEST_CASE("onnx: every bad file has its own error") {
  std::set<std::string> texts;
  const auto judge = [&](const std::string& path, const std::string& finding) {
    CHECK(findings_of(path) == std::vector<std::string>{finding.empty() ? "not read" : finding});
    const ScratchDir scratch;
    const auto file = TensorFile::open(path);
    const auto size = file ? btf::convert(*file, scratch / "out.btf", {.drop_names = true})
                           : std::unexpected(file.error());
    // The entries of a sparse tensor are copied as they are.
    if (finding == "coo-index-out-of-range") return;
    REQUIRE_FALSE(size);
    texts.insert(said(size.error()));
  };
  const std::size_t count = for_each_bad_file(kBadFolder, judge, {"four.bin"});
  // Two are copied, seven are faults of the same kind at the same byte as another.
  CHECK(texts.size() == count - 2 - 7);
}

TEST_CASE("onnx: a file cut anywhere is refused, and one with any byte changed or read") {
  const ScratchDir scratch;
  const std::string path = scratch / "x.onnx";
  const Bytes whole = read_file(kFolder + "graph.onnx");
  const auto ask = [&] {
    const auto file = TensorFile::open(path);
    if (!file) return false;
    (void)file->attributes();
    for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
      const auto tensor = file->tensor(i);
      (void)file->name(i);
      if (!tensor || !tensor->known()) continue;
      const auto source = file->elements(i);
      Bytes all(tensor->data_bytes);
      if (!source) continue;
      const auto read = (*source)->read_at(tensor->data_offset, all);
      CHECK((read || !read.error().finding.empty()));
    }
    return true;
  };
  // The graph ends before what follows it does.
  const std::size_t graph_end = whole.size() - 44;
  for (std::size_t size = 0; size < graph_end; ++size) {
    write_file(path, std::span(whole).first(size));
    CHECK_FALSE(ask());
  }
  Bytes changed = whole;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int value : {0, 1, 2, 8, 10, 42, 74, 127, 128, 255}) {
      changed[at] = static_cast<std::byte>(value);
      write_file(path, changed);
      ask();
    }
    changed[at] = whole[at];
  }
}

TEST_CASE("onnx: other files called .pb or .onnx are none") {
  const ScratchDir scratch;
  const auto message = [&](const std::string& name, const Bytes& content) {
    write_file(scratch / name, content);
    const auto file = TensorFile::open(scratch / name);
    return file ? std::string(file->format()) : said(file.error());
  };
  for (const char* const folder : {"/good", "/odd"})
    for (const auto& entry : fs::directory_iterator(kTestdata + folder))
      CHECK(message("x.pb", read_file(entry.path().string())) == "btf");
  const std::string other =
      "is a protocol buffer or text of another kind than ONNX's models and tensors, which btftool "
      "does not read";
  // A graph of TensorFlow: its first field is a node, its third a number.
  CHECK(message("frozen.pb", bytes::hex("0a0412024162180122020865")) == other);
  // A model of TensorFlow: a number, and a graph.
  CHECK(message("saved_model.pb", bytes::hex("080112040a020a00"))
            .starts_with("is a TensorFlow SavedModel, which btftool does not read"));
  CHECK(message("text.onnx", bytes::hex("69725f76657273696f6e3a2038")) == other);
  CHECK(message("image.pb", bytes::hex("89504e470d0a1a0a0000000d49484452")) ==
        "is a PNG image, which btftool does not read; np.save and np.savez write arrays that it "
        "does");
  // By its content it is one; only its name does not say so.
  CHECK(message("x.bin", read_file(kFolder + "tensor_int8.pb")) != "onnx");
}
