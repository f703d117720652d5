// Evaluates models of one node, for operator_cases.py: in each folder below the one that is given,
// model.onnx on the tensors of inputs.npz. Writes got.json and the elements as pairs of doubles.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "btf/try.h"
#include "formats/onnx_model.h"
#include "formats/tensor_file.h"
#include "network/evaluation.h"
#include "network/network.h"

namespace {

namespace fs = std::filesystem;
using btf::Result;
using btf::TensorFile;
namespace network = btf::network;

constexpr std::uint64_t kMaxTerms = 1ULL << 26;

std::map<std::string, std::uint64_t> names_of(const TensorFile& file) {
  std::map<std::string, std::uint64_t> names;
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i)
    if (const auto name = file.name(i)) names[*name] = i;
  return names;
}

Result<nlohmann::json> evaluate(const fs::path& folder) {
  const std::string path = folder / "model.onnx";
  BTF_ASSIGN(const network::Network model, network::Network::read(path));
  std::shared_ptr<const TensorFile> inputs;
  std::map<std::string, std::uint64_t> names;
  if (fs::exists(folder / "inputs.npz")) {
    BTF_ASSIGN(TensorFile file, TensorFile::open(folder / "inputs.npz"));
    inputs = std::make_shared<const TensorFile>(std::move(file));
    names = names_of(*inputs);
  }
  const auto stored = [&](std::uint32_t value) -> Result<std::optional<network::StoredNumbers>> {
    const auto at = names.find(model.values()[value].name);
    if (at == names.end()) return std::nullopt;
    BTF_ASSIGN(btf::TensorInfo tensor, inputs->tensor(at->second));
    BTF_ASSIGN(network::StoredNumbers numbers,
               network::StoredNumbers::open(inputs, std::move(tensor)));
    return numbers;
  };
  network::Evaluation evaluation(model, stored, kMaxTerms);
  network::Arithmetic arithmetic;
  if (fs::exists(folder / "float16")) arithmetic.operand = arithmetic.result = 0x1p-11;
  evaluation.set(arithmetic);
  BTF_ASSIGN(const auto source, btf::open_source(path));
  BTF_ASSIGN(const btf::OnnxGraph graph, btf::read_onnx_graph(*source));
  nlohmann::json outputs = nlohmann::json::array();
  for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
    BTF_ASSIGN(network::Tensor* const tensor, evaluation.computed(model.find(graph.outputs[k])));
    std::vector<double> pairs;
    for (std::uint64_t number = 0; number < tensor->elements(); ++number) {
      const network::Estimate estimate = tensor->at(number);
      pairs.push_back(estimate.value);
      pairs.push_back(estimate.error);
    }
    const std::string name = std::to_string(k) + ".f64";
    std::ofstream(folder / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(pairs.data()),
               static_cast<std::streamsize>(pairs.size() * sizeof(double)));
    outputs.push_back({{"name", graph.outputs[k]},
                       {"dims", tensor->dims()},
                       {"dtype", btf::info(tensor->dtype()).name},
                       {"values", name}});
  }
  if (!evaluation.effort().trouble.empty())
    return std::unexpected(btf::Error{btf::ErrorCode::unsupported, evaluation.effort().trouble});
  return nlohmann::json{{"outputs", outputs}};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: evaluate_cases FOLDER\n";
    return 2;
  }
  for (const auto& entry : fs::directory_iterator(arguments[1])) {
    if (!fs::exists(entry.path() / "model.onnx")) continue;
    const auto found = evaluate(entry.path());
    std::ofstream(entry.path() / "got.json")
        << (found ? *found : nlohmann::json{{"unsupported", found.error().text()}});
  }
  return 0;
}
