#include "faults/scenarios.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include "faults/child.h"

namespace faults {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOut = "out.btf";

// Scenarios with one output, the last argument.
Scenario converts(std::string name, std::vector<std::string> arguments, std::string output = kOut) {
  arguments.insert(arguments.begin(), {"convert", "-j", "4"});
  arguments.push_back(output);
  return {std::move(name), std::move(arguments), {std::move(output)}};
}

Scenario reads(std::string name, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"-j", "4"});
  return {std::move(name), std::move(arguments), {}};
}

std::vector<Scenario> all() {
  std::vector<Scenario> list{
      reads("inspect", {"inspect", "../in/mixed.btf"}),
      reads("inspect-json-stats", {"inspect", "--json", "--stats", "../in/big.btf"}),
      reads("inspect-values-zst", {"inspect", "--values", "../in/mixed.btf.zst"}),
      reads("inspect-stats-zst", {"inspect", "--stats", "../in/big.btf.zst"}),
      reads("inspect-npy", {"inspect", "--at", "0,0", "../in/dense.npy"}),
      reads("inspect-directory", {"inspect", "--tensor", "*", "../in/a"}),
      reads("validate", {"validate", "../in/big.btf", "../in/sparse.btf"}),
      reads("validate-zst", {"validate", "--json", "../in/big.btf.zst"}),
      reads("validate-odd", {"validate", "../in/odd.btf"}),
      converts("cast-and-layout", {"--layout", "kCHW4", "--dtype", "int8", "../in/big.btf"}),
      converts("copy", {"../in/mixed.btf"}),
      converts("json", {"--json", "--dtype", "fp16", "../in/big.btf"}),
      converts("fsync", {"--fsync", "--dtype", "fp16", "../in/mixed.btf"}),
      converts("transpose-fp4", {"--permute", "3,1,2,0", "--dtype", "fp4", "../in/big.btf"}),
      converts("compress", {"../in/big.btf"}, "out.btf.zst"),
      converts("compress-shuffled", {"--shuffle", "../in/big.btf"}, "out.btf.zst"),
      converts("decompress", {"--dtype", "fp16", "../in/big.btf.zst"}),
      converts("decompress-one-frame", {"../in/one_frame.btf.zst"}),
      converts("compressed-tensor", {"--tensor", "2", "../in/mixed.btf.zst"}),
      converts("to-coo", {"--layout", "coo", "../in/dense.btf"}),
      converts("sort-coo",
               {"--max-memory", "16M", "--permute", "1,0", "--layout", "coo", "../in/sparse.btf"}),
      converts("coo-to-dense", {"--max-memory", "16M", "--permute", "1,0", "--layout", "linear",
                                "../in/sparse.btf"}),
      converts("coo-sum", {"--duplicates", "sum", "../in/duplicates.btf"}),
      converts("npy-to-btf", {"../in/dense.npy"}),
      converts("btf-to-npy", {"../in/dense.btf"}, "out.npy"),
      converts("npz-to-npz", {"--force", "../in/spooled.npz", "../in/dense.npy"}, "out.npz"),
      reads("validate-npz", {"validate", "../in/spooled.npz"}),
      converts("btf-to-raw", {"--tensor", "0", "../in/big.btf"}, "out.raw"),
      converts("raw-to-btf", {"--input-spec", "fp32:linear:8x16x96x96", "../in/big.raw"}),
      converts("quantise",
               {"--dtype", "int8", "--scale", "auto", "--scale-axis", "1", "../in/big.btf"}),
      converts("quantise-blocks", {"--block-scale", "mxfp8", "../in/big.btf"}),
      converts("dequantise", {"--dequantize", "../in/blocks.btf"}),
      converts("pack", {"--force", "../in/a", "../in/dense.npy"}),
      {"unpack", {"convert", "--dtype", "fp16", "../in/b", "./"}, {"x.btf", "y.btf", "z.btf"}},
      {"append", {"convert", kOut, "../in/dense.npy", kOut}, {kOut}, {}, "mixed.btf"},
      {"repair", {"repair", "-j", "4", "../in/cut.btf", kOut}, {kOut}},
      {"repair-zst", {"repair", "-j", "4", "../in/cut.btf.zst", kOut}, {kOut}},
      reads("diff-same", {"diff", "../in/big.btf", "../in/big.btf.zst"}),
      reads("diff-different", {"diff", "--heatmap", "2,3", "../in/other.btf", "../in/big.btf"}),
      reads("diff-figures", {"diff", "--close", "--psnr", "20", "--quantile", "0.99=1",
                             "../in/half.btf", "../in/big.btf"}),
      reads("diff-coo", {"diff", "../in/sparse.btf", "../in/dense.btf"}),
      reads("diff-permuted", {"diff", "--json", "../in/permuted.btf", "../in/square.btf"}),
      reads("diff-directories", {"diff", "../in/a", "../in/b"}),
      reads("diff-from-json", {"diff", "--from-json", "../in/report.json", "--atol", "100"}),
      reads("diff-tied", {"diff", "../in/untied", "../in/tied"}),
      reads("layers-tied", {"layers", "../in/untied", "../in/tied"}),
      reads("layers-map", {"layers", "--map", "../in/map.txt", "../in/layers/healthy.npz",
                           "../in/layers/golden.npz"}),
      reads("diff-map", {"diff", "--map", "../in/map.txt", "../in/a", "../in/b"}),
      reads("diff-rules", {"diff", "--rules", "../in/rules.json", "../in/a", "../in/b"}),
      reads("diff-list", {"diff", "--files-from", "../in/list.txt", "../in/a", "../in/b"}),
      reads("diff-models",
            {"diff", "--strict", "../in/fit/model.onnx", "../in/layers/weights.onnx"}),
      reads("diff-models-tensors", {"diff", "../in/fit/model.onnx", "../in/layers/weights.onnx"}),
      reads("layers", {"layers", "../in/layers/dead_channel.npz", "../in/layers/golden.npz"}),
      reads("layers-graph", {"layers", "--json", "--graph", "../in/layers/weights.onnx",
                             "../in/layers/dead_channel.npz", "../in/layers/golden.npz"}),
      reads("layers-order", {"layers", "--order", "../in/layers/order.txt", "--baseline",
                             "../in/layers/dead_channel.npz", "../in/layers/healthy.npz",
                             "../in/layers/golden.npz"}),
      reads("layers-zst", {"layers", "--graph", "../in/layers/weights.onnx",
                           "../in/dead_channel.btf.zst", "../in/layers/golden.npz"}),
      reads("fit", {"fit", "--graph", "../in/fit/model.onnx", "../in/fit/golden.npz"}),
      reads("fit-zst", {"fit", "--json", "--graph", "../in/fit/model.onnx", "../in/fit.btf.zst"}),
      reads("fit-scales", {"fit", "--dtype", "int8", "--json", "--graph", "../in/fit/model.onnx",
                           "../in/fit/golden.npz"}),
      reads("merge", {"merge", "../in/layers.part"}),
      {"diff-reports",
       {"diff", "--junit", "report.xml", "--html", "report.html", "../in/permuted.btf",
        "../in/square.btf"},
       {"report.xml", "report.html"},
       {},
       {},
       true},
      {"in-place", {"convert", "--dtype", "fp16", kOut, kOut}, {kOut}, {}, "mixed.btf"},
      {"pipe", {"convert", "--layout", "linear", "-", kOut}, {kOut}, "../in/mixed.btf"},
      {"pipe-zst", {"convert", "-", kOut}, {kOut}, "../in/mixed.btf.zst"},
      {"to-stdout", {"convert", "--dtype", "fp16", "../in/mixed.btf", "-"}, {}},
      {"help", {"convert", "--help"}, {}},
      {"page", {"help", "--man", "convert"}, {}},
      {"completion", {"completion", "zsh"}, {}},
      {"explain", {"explain"}, {}},
  };
  return list;
}

// Of one command with files of one kind each: what is read beside the operand, too.
std::vector<Scenario> of_each_kind() {
  std::vector<Scenario> list;
  const auto add = [&](const std::string& name, const std::vector<std::string>& words) {
    list.push_back(reads(name, words));
  };
  // Each format, and what is beside its file.
  for (const char* const file :
       {"deflated.npz", "types.safetensors", "sharded", "sharded/model.safetensors.index.json",
        "blocks.gguf", "tiny-00001-of-00003.gguf", "views.pt", "single.pt", "odd.params",
        "ext/model.onnx", "quantized.onnx", "onnx-set", "outputs.json", "msprobe/row", "a.json",
        "quantised"})
    add("stats-" + std::string(file), {"inspect", "--stats", "../in/" + std::string(file)});
  for (const char* const file :
       {"deflated.npz", "sharded", "blocks.gguf", "tiny-00001-of-00003.gguf", "types.pth",
        "odd.params", "ext/model.onnx", "onnx-set", "outputs.json", "msprobe/row", "a.json",
        "quantised"})
    add("validate-" + std::string(file), {"validate", "--nan", "../in/" + std::string(file)});
  add("inspect-raw", {"inspect", "--stats", "--input-spec", "fp32:8x16x96x96", "../in/big.raw"});
  add("inspect-trt", {"inspect", "--input-spec", "@../in/trt.json", "../in/trt"});
  add("inspect-manifest", {"inspect", "--manifest", "../in/a"});
  add("inspect-codes", {"inspect", "--by-axis", "0", "../in/blocks.btf"});
  add("validate-list", {"validate", "--files-from", "../in/list.txt", "../in/a"});
  add("validate-directory", {"validate", "../in/a", "../in/quantised"});
  list.push_back({"inspect-html",
                  {"inspect", "--html", "page.html", "../in/a", "../in/deflated.npz"},
                  {"page.html"},
                  {},
                  {},
                  true});
  list.push_back({"inspect-image",
                  {"inspect", "--image", "out.png", "--tensor", "0", "../in/deflated.npz"},
                  {"out.png"}});
  list.push_back(converts("sharded-to-btf", {"../in/sharded"}));
  list.push_back(converts("gguf-to-npz", {"--force", "../in/tiny-00001-of-00003.gguf"}, "out.npz"));
  list.push_back(converts("torch-to-safetensors", {"../in/views.pt"}, "out.safetensors"));
  list.push_back(converts("external-to-npz", {"../in/ext/model.onnx"}, "out.npz"));
  list.push_back(
      converts("dequantise-config", {"--dequantize", "../in/quantised/codes.safetensors"}));
  list.push_back(converts("dequantise-onnx", {"--dequantize", "../in/quantized.onnx"}));
  list.push_back(
      converts("rename-file", {"--rename-file", "../in/renames.txt", "../in/deflated.npz"}));
  list.push_back(converts("names-file", {"--names", "../in/names.txt", "../in/square.btf"}));
  list.push_back(
      converts("convert-list", {"--force", "--files-from", "../in/list.txt", "../in/a"}));
  list.push_back(converts("convert-manifest", {"../in/a.json"}));
  list.push_back(
      converts("set-scales", {"--force", "--dtype", "int8", "--scale", "auto", "../in/dumped"}));
  list.push_back(
      {"convert-part",
       {"convert", "--dtype", "fp16", "--shard", "1/1", "--part", "out.part", "../in/b", "./"},
       {"x.btf", "y.btf", "z.btf", "out.part"}});
  const std::string actual = "../in/layers/dead_channel.npz";
  const std::string golden = "../in/layers/golden.npz";
  const std::string graph = "../in/layers/weights.onnx";
  add("diff-gguf", {"diff", "../in/blocks.gguf", "../in/blocks.gguf"});
  add("diff-sharded",
      {"diff", "--json", "../in/sharded", "../in/sharded/model.safetensors.index.json"});
  add("diff-torch", {"diff", "../in/msprobe/row", "../in/msprobe/golden"});
  add("diff-statistics", {"diff", "../in/checksums/row", "../in/checksums/golden"});
  add("diff-dequantise",
      {"diff", "--dequantize", "../in/quantised/codes.safetensors", "../in/quantised/numbers.npz"});
  add("diff-trt",
      {"diff", "--actual-spec", "@../in/trt.json", "--close", "../in/trt", "../in/trt.npz"});
  add("diff-split", {"diff", "../in/pieces", "../in/pieces.npz"});
  add("diff-split-map", {"diff", "--map", "../in/map.txt", "../in/pieces", "../in/pieces.npz"});
  add("diff-raw", {"diff", "--actual-spec", "fp32", "../in/square.raw", "../in/square.btf"});
  add("diff-specs", {"diff", "--actual-spec", "*.raw=fp32:3x40x50", "--golden-spec", "fp32:3x40x50",
                     "../in/raws", "../in/raws"});
  add("diff-external", {"diff", "--strict", "../in/ext/model.onnx", "../in/ext/model.onnx"});
  add("diff-sets", {"diff", "--sort", "error", "../in/layers/dead_channel.npz", golden});
  add("diff-names", {"diff", "--pair-by", "name", "../in/dumped", golden});
  list.push_back({"diff-image",
                  {"diff", "--image", "out.png", "../in/other.btf", "../in/big.btf"},
                  {"out.png"}});
  list.push_back({"diff-html",
                  {"diff", "--html", "page.html", "../in/a", "../in/b"},
                  {"page.html"},
                  {},
                  {},
                  true});
  list.push_back({"diff-part",
                  {"diff", "--shard", "1/1", "--part", "out.part", "../in/a", "../in/b"},
                  {"out.part"}});
  list.push_back(
      {"diff-part-tensors",
       {"diff", "--shard", "1/1", "--shard-by", "tensor", "--part", "out.part", actual, golden},
       {"out.part"}});
  list.push_back(
      {"diff-resume",
       {"diff", "--shard", "1/1", "--resume", "--part", "out.part", "../in/a", "../in/b"},
       {"out.part"},
       {},
       "diff.part"});
  list.push_back({"validate-part",
                  {"validate", "--shard", "1/1", "--part", "out.part", "../in/a"},
                  {"out.part"}});
  add("layers-trt", {"layers", "--graph", "../in/trt.json", "--actual-spec", "@../in/trt.json",
                     "../in/trt", "../in/trt.npz"});
  add("layers-msprobe", {"layers", "../in/msprobe/row", "../in/msprobe/golden"});
  add("layers-statistics", {"layers", "../in/statistics/row", "../in/statistics/golden"});
  add("layers-qdq", {"layers", "--graph", "../in/layers/qdq.onnx", "../in/layers/qdq_dead.npz",
                     "../in/layers/qdq_golden.npz"});
  add("layers-actual-graph",
      {"layers", "--graph", "../in/layers/qdq_float.onnx", "--actual-graph",
       "../in/layers/qdq.onnx", "../in/layers/qdq_scale.npz", "../in/layers/qdq_golden.npz"});
  add("layers-isolated", {"layers", "--isolated", "--graph", graph, actual, golden});
  add("layers-expected", {"layers", "--expect-output", actual, "--graph", graph, actual, golden});
  add("layers-directory", {"layers", "--graph", graph, "../in/dumped", "../in/dumped_golden"});
  add("layers-shared-names", {"layers", "--map", "../in/map.txt", "../in/dumped", golden});
  add("layers-pairs", {"layers", "--pairs", "../in/dumped", golden});
  add("layers-list", {"layers", "--files-from", "../in/dumped.txt", "../in/dumped", golden});
  add("layers-external", {"layers", "--graph", "../in/layers/external.onnx", actual, golden});
  add("layers-from-json", {"layers", "--from-json", "../in/layers.json"});
  list.push_back({"layers-html",
                  {"layers", "--html", "page.html", "--graph", graph, actual, golden},
                  {"page.html"},
                  {},
                  {},
                  true});
  list.push_back(
      {"layers-part",
       {"layers", "--graph", graph, "--shard", "1/1", "--part", "out.part", actual, golden},
       {"out.part"}});
  add("fit-runs", {"fit", "--dtype", "fp16,bf16", "--graph", "../in/fit/model.onnx",
                   "../in/fit/golden.npz", "../in/fit.btf.zst"});
  add("fit-weights", {"fit", "--json", "--graph", graph, golden});
  add("fit-external", {"fit", "--graph", "../in/layers/external.onnx", golden});
  add("fit-bare", {"fit", "../in/dumped"});
  add("fit-directory", {"fit", "--dtype", "fp16,int8", "--graph", graph, "../in/dumped_golden"});
  list.push_back({"fit-emit",
                  {"fit", "--graph", "../in/fit/model.onnx", "--emit", "names", "stay.txt",
                   "--html", "page.html", "../in/fit/golden.npz"},
                  {"stay.txt", "page.html"},
                  {},
                  {},
                  true});
  list.push_back({"fit-part",
                  {"fit", "--graph", "../in/fit/model.onnx", "--shard", "1/1", "--part", "out.part",
                   "../in/fit/golden.npz"},
                  {"out.part"}});
  for (const char* const part : {"diff", "validate", "convert", "fit"})
    add("merge-" + std::string(part), {"merge", "../in/" + std::string(part) + ".part"});
  add("merge-two", {"merge", "--expect", "2", "../in/1.part", "../in/2.part"});
  list.push_back({"merge-html",
                  {"merge", "--html", "page.html", "../in/diff.part"},
                  {"page.html"},
                  {},
                  {},
                  true});
  return list;
}

// Numbers from -4 to 4, some zero; the same everywhere.
std::string floats(std::size_t count, unsigned zeros) {
  std::string bytes(count * sizeof(float), '\0');
  std::uint64_t state = 12345;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto number = static_cast<std::uint32_t>(state >> 40);
    const float value = number % 8 < zeros ? 0.0F : static_cast<float>(number) / 2097152.0F - 4.0F;
    std::memcpy(bytes.data() + i * sizeof(value), &value, sizeof(value));
  }
  return bytes;
}

// Without the last records.
void cut(const std::string& from, const std::string& to) {
  const std::string whole = read_file(from);
  write_file(to, whole.substr(0, whole.size() * 3 / 4));
}

// Codes of float8 with scales of 2 x 2, of which the file does not tell.
void write_codes(const std::string& path) {
  std::string header =
      R"({"layer.weight": {"dtype": "F8_E4M3", "shape": [8, 8], "data_offsets": [0, 64]}, )"
      R"("layer.weight_scale_inv": {"dtype": "F32", "shape": [4, 4], "data_offsets": [64, 128]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  std::string data;
  for (char code = 0; code < 64; ++code) data += code;
  std::string scales;
  for (int n = 0; n < 16; ++n) scales += std::string("\0\0\0\x3f", 4);  // 0.5
  write_file(path, bytes + header + data + scales);
}

using Btf = std::function<void(std::vector<std::string>, int)>;

// Files of of_each_kind().
void write_other_kinds(const std::string& directory, const std::string& testdata, const Btf& btf) {
  const auto take = [&](const std::string& from, const std::string& to) {
    fs::copy(testdata + "/" + from, directory + "/" + to, fs::copy_options::recursive);
  };
  take("npz/arrays.deflated.npz", "deflated.npz");
  take("safetensors/types.safetensors", "types.safetensors");
  take("safetensors/sharded_whole.safetensors", "whole.safetensors");
  take("safetensors-sharded", "sharded");
  take("gguf/blocks.gguf", "blocks.gguf");
  for (const char* const number : {"1", "2", "3"}) {
    const std::string name = "tiny-0000" + std::string(number) + "-of-00003.gguf";
    take("gguf-split/" + name, name);
  }
  for (const char* const name : {"views.pt", "single.pt", "types.pth"})
    take("torch/" + std::string(name), name);
  take("tvm/odd.params", "odd.params");
  take("onnx-external", "ext");
  take("onnx/quantized.onnx", "quantized.onnx");
  take("onnx-set", "onnx-set");
  take("polygraphy/outputs.json", "outputs.json");
  take("msprobe/tensors", "msprobe");
  take("msprobe/checksums", "checksums");
  take("msprobe/statistics", "statistics");
  take("tensorrt/engine.json", "trt.json");
  take("tensorrt/model.onnx", "trt.onnx");
  take("tensorrt/golden.npz", "trt.npz");
  take("tensorrt/trt", "trt");
  // Codes with scales of blocks, whose size only the file beside them tells.
  fs::create_directories(directory + "/quantised");
  write_file(
      directory + "/quantised/config.json",
      R"({"quantization_config": {"weight_block_size": [2, 2]}, "tie_word_embeddings": true})");
  write_codes(directory + "/quantised/codes.safetensors");
  btf({"convert", "--dequantize", "quantised/codes.safetensors", "quantised/numbers.npz"}, 0);
  // Sets of files, each one tensor.
  for (const auto& [from, to] :
       {std::pair("layers/dead_channel.npz", "dumped/"),
        std::pair("layers/golden.npz", "dumped_golden/"), std::pair("deflated.npz", "pieces/")})
    btf({"convert", "--format", "npy", "--as-uint", from, to}, 0);
  btf({"convert", "--as-uint", "deflated.npz", "pieces.npz"}, 0);
  std::string list;
  for (const auto& entry : fs::directory_iterator(directory + "/dumped"))
    if (entry.path().filename().string().find("relu") != std::string::npos)
      list += entry.path().filename().string() + "\n";
  write_file(directory + "/dumped.txt", list);
  fs::create_directories(directory + "/raws");
  fs::copy(directory + "/square.raw", directory + "/raws/square.raw");
  fs::copy(directory + "/permuted.raw", directory + "/raws/permuted.raw");
  write_file(directory + "/renames.txt", "zeros=zeroes\n");
  write_file(directory + "/names.txt", "square\n");
  btf({"inspect", "--manifest", "a"}, 0);
  fs::rename(directory + "/report.json", directory + "/a.json");
}

}  // namespace

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> list = [] {
    std::vector<Scenario> both = all();
    for (Scenario& scenario : of_each_kind()) {
      scenario.only_inputs = true;
      both.push_back(std::move(scenario));
    }
    return both;
  }();
  return list;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

void write_inputs(const std::string& directory, const std::string& btftool,
                  const std::string& testdata) {
  const auto btf = [&](std::vector<std::string> arguments, int expected = 0) {
    arguments.insert(arguments.begin(), btftool);
    Run what{.arguments = arguments, .directory = directory};
    what.out = directory + "/report.json";
    what.temporary = directory;
    const Outcome outcome = run(what);
    if (outcome.code != expected)
      throw std::runtime_error("btftool " + arguments[1] +
                               " failed while inputs were made: " + outcome.err);
  };
  fs::create_directories(directory + "/a");
  fs::create_directories(directory + "/b");
  fs::copy(testdata + "/good/mixed.btf", directory + "/mixed.btf");
  fs::copy(testdata + "/odd/gap_between_records.btf", directory + "/odd.btf");
  fs::copy(testdata + "/odd/coo_duplicate_index.btf", directory + "/duplicates.btf");
  fs::copy(testdata + "/zstd/one_frame.btf.zst", directory + "/one_frame.btf.zst");
  fs::copy(testdata + "/npz/spooled.npz", directory + "/spooled.npz");
  const std::string big = floats(8 * 16 * 96 * 96, 0);
  write_file(directory + "/big.raw", big);
  // One channel of zeros.
  std::string other = big;
  constexpr std::size_t kChannel = 96 * 96 * sizeof(float);
  std::memset(other.data() + 5 * kChannel, 0, kChannel);
  write_file(directory + "/other.raw", other);
  write_file(directory + "/dense.raw", floats(400 * 500, 4));
  write_file(directory + "/square.raw", floats(3 * 40 * 50, 0));
  for (const char* const name : {"big", "other"})
    btf({"convert", "--input-spec", "fp32:linear:8x16x96x96", name + std::string(".raw"),
         name + std::string(".btf")});
  btf({"convert", "--input-spec", "fp32:linear:400x500", "dense.raw", "dense.btf"});
  btf({"convert", "--input-spec", "fp32:linear:3x40x50", "square.raw", "square.btf"});
  // The numbers of the transposed array with the old shape.
  btf({"convert", "--permute", "0,2,1", "--format", "raw", "square.btf", "permuted.raw"});
  btf({"convert", "--input-spec", "fp32:linear:3x40x50", "permuted.raw", "permuted.btf"});
  btf({"convert", "big.btf", "big.btf.zst"});
  btf({"convert", "mixed.btf", "mixed.btf.zst"});
  btf({"convert", "--dtype", "fp16", "big.btf", "half.btf"});
  btf({"convert", "--layout", "coo", "dense.btf", "sparse.btf"});
  btf({"convert", "dense.btf", "dense.npy"});
  btf({"convert", "--block-scale", "mxfp8", "big.btf", "blocks.btf"});
  cut(directory + "/mixed.btf", directory + "/cut.btf");
  cut(directory + "/mixed.btf.zst", directory + "/cut.btf.zst");
  for (const char* const name : {"a/x.btf", "a/y.btf", "b/x.btf", "b/y.btf"})
    btf({"convert", "mixed.btf", name});
  btf({"convert", "square.btf", "b/z.btf"});
  btf({"convert", "permuted.btf", "a/z.btf"});
  for (const char* const name : {"fit", "layers"})
    fs::copy(testdata + "/" + name, directory + "/" + name);
  btf({"convert", "fit/golden.npz", "fit.btf.zst"});
  btf({"convert", "layers/dead_channel.npz", "dead_channel.btf.zst"});
  // Merging reads them once more, as they are called from where a scenario runs.
  const auto shard = [&](const std::string& part, std::vector<std::string> words,
                         const std::string& number = "1/1") {
    words.insert(words.begin() + 1, {"--shard", number, "--part", part + ".part"});
    btf(words);
  };
  shard("layers", {"layers", "--graph", "../in/layers/weights.onnx",
                   "../in/layers/dead_channel.npz", "../in/layers/golden.npz"});
  shard("fit", {"fit", "--graph", "../in/fit/model.onnx", "../in/fit/golden.npz"});
  shard("validate", {"validate", "../in/a"});
  shard("convert", {"convert", "--dtype", "fp16", "../in/b", "../in/converted/"});
  shard("diff", {"diff", "../in/a", "../in/b"});
  for (const char* const number : {"1", "2"})
    shard(number, {"diff", "../in/a", "../in/b"}, number + std::string("/2"));
  // Weights that one side stores twice and the other once, as its config.json says.
  fs::create_directories(directory + "/untied");
  fs::create_directories(directory + "/tied");
  const auto safetensors = [](std::initializer_list<std::string_view> names) {
    constexpr std::size_t kNumbers = 32;
    std::string head = "{";
    std::string data;
    for (const std::string_view name : names) {
      if (!data.empty()) head += ',';
      head += '"' + std::string(name) + R"(":{"dtype":"F32","shape":[8,4],"data_offsets":[)" +
              std::to_string(data.size()) + ',';
      data += floats(kNumbers, 0);
      head += std::to_string(data.size()) + "]}";
    }
    head += '}';
    head.resize((head.size() + 7) / 8 * 8, ' ');
    std::string size(sizeof(std::uint64_t), '\0');
    for (std::size_t i = 0; i < size.size(); ++i)
      size[i] = static_cast<char>(head.size() >> (8 * i));
    return size + head + data;
  };
  constexpr std::string_view kEmbedding = "model.embed_tokens.weight";
  write_file(directory + "/untied/m.safetensors", safetensors({kEmbedding, "lm_head.weight"}));
  write_file(directory + "/tied/m.safetensors", safetensors({kEmbedding}));
  write_file(directory + "/tied/config.json", R"({"tie_word_embeddings": true})");
  write_file(directory + "/map.txt", "/(.*)/$1/\n");
  write_file(directory + "/rules.json",
             R"({"schema": "btftool/rules/1", "rules": [{"tensor": "*", "atol": 0.5}]})");
  write_file(directory + "/list.txt", "x.btf\nz.btf\n");
  write_other_kinds(directory, testdata, btf);
  btf({"layers", "--json", "layers/dead_channel.npz", "layers/golden.npz"}, 1);
  fs::rename(directory + "/report.json", directory + "/layers.json");
  btf({"diff", "--json", "--atol", "100", "permuted.btf", "square.btf"});  // leaves report.json
}

}  // namespace faults
