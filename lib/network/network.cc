#include "network/network.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>

#include "btf/read.h"
#include "btf/try.h"
#include "formats/onnx_model.h"
#include "formats/onnx_values.h"
#include "formats/tensor_file.h"
#include "kernels/number/widen.h"
#include "network/node.h"
#include "network/operators/table.h"

namespace btf::network {
namespace {

constexpr std::uint64_t kMaxBlocks = 4096;  // in the cache
constexpr std::uint64_t kMaxInMemory = 1U << 20;

// Whether the element with number n is stored at place n.
bool is_plain(const StridedLayout& storage) {
  return !storage.split && storage.strides == row_major_strides(storage.dims);
}

}  // namespace

Result<StoredNumbers> StoredNumbers::open(std::shared_ptr<const TensorFile> file, TensorInfo tensor,
                                          QuantizePlan scales) {
  if (!tensor.known()) return not_computed("its elements cannot be read");
  if (scales.scaling == Scaling::dequantize && scales.scales.blocks != nullptr)
    return not_computed("its scales are those of blocks");
  BTF_ASSIGN(const ByteSource* const source, file->elements(tensor.index));
  StoredNumbers stored;
  stored.file_ = std::move(file);
  stored.tensor_ = std::make_unique<TensorInfo>(std::move(tensor));
  stored.scales_ = std::move(scales);
  const TensorInfo& own = *stored.tensor_;
  stored.elements_ = element_count(own.dims).value_or(0);
  if (own.storage && !info(*own.dtype).half_byte()) {
    stored.stored_ = std::make_unique<StoredElements>(*source, own);
    stored.plain_ = is_plain(*own.storage);
    stored.widen_ = widener<double>(*own.dtype);
    const std::uint64_t blocks = own.storage->storage_elements / kBlock + 1;
    const std::uint64_t sets = std::bit_ceil(std::min(blocks, kMaxBlocks) / kWays + 1);
    stored.next_.assign(std::min(sets, kMaxBlocks / kWays), 0);
    stored.slot_blocks_.assign(stored.next_.size() * kWays, UINT64_MAX);
    stored.numbers_ = std::make_unique_for_overwrite<double[]>(stored.slot_blocks_.size() * kBlock);
    stored.bytes_.resize(kMaxAtOnce * kBlock * info(*own.dtype).buffer_bytes());
    return stored;
  }
  if (stored.elements_ > kMaxInMemory) return not_computed("it is sparse, or of 4-bit elements");
  ReadOptions options;
  options.dtype = DType::float64;
  options.layout = Layout::linear;
  BTF_ASSIGN(const LoadedTensor loaded, read_tensor(*stored.file_, own, options));
  std::vector<double> numbers(stored.elements_);
  widener<double>(DType::float64)(loaded.tensor.bytes.data(), 1, stored.elements_, numbers.data());
  stored.whole_ = std::make_shared<const std::vector<double>>(std::move(numbers));
  return stored;
}

StoredNumbers StoredNumbers::of(std::shared_ptr<const std::vector<double>> numbers, Dims dims,
                                DType dtype) {
  StoredNumbers stored;
  stored.tensor_ = std::make_unique<TensorInfo>();
  stored.tensor_->dtype = dtype;
  stored.tensor_->dims = std::move(dims);
  stored.elements_ = numbers->size();
  stored.whole_ = std::move(numbers);
  return stored;
}

void StoredNumbers::give_up(const Error& error) {
  if (trouble_) return;
  trouble_ = error.in_file(file_->path());
  if (!name_.empty()) trouble_ = trouble_->within("'" + name_ + "'");
  if (recorder_) recorder_->note(*trouble_);
}

std::uint64_t StoredNumbers::stored_place(std::uint64_t number) const {
  return plain_ ? number : offset(*tensor_->storage, index_of(number, tensor_->dims));
}

std::uint64_t StoredNumbers::store_block(std::uint64_t block, const std::byte* bytes,
                                         std::uint64_t count) {
  const std::uint64_t set = set_of(block);
  const std::uint64_t slot = set * kWays + next_[set]++ % kWays;
  widen_(bytes, 1, count, &numbers_[slot * kBlock]);
  slot_blocks_[slot] = block;
  return slot;
}

std::optional<std::uint64_t> StoredNumbers::read_blocks(std::uint64_t block) {
  std::uint64_t blocks = 1;
  if (block > run_begin_ && block - run_begin_ < kMaxAtOnce) {
    run_blocks_ = std::max(run_blocks_, block - run_begin_ + 1);
  } else {
    run_begin_ = block;
    blocks = run_blocks_;
  }
  const std::uint64_t first = block * kBlock;
  const std::uint64_t count = std::min(blocks * kBlock, tensor_->storage->storage_elements - first);
  if (const Status read = stored_->read(first, count, bytes_.data()); !read) {
    give_up(read.error());
    return std::nullopt;
  }
  // The requested block is stored last, so that no other block takes its slot.
  const std::size_t bytes = info(*tensor_->dtype).buffer_bytes();
  for (std::uint64_t begin = kBlock; begin < count; begin += kBlock)
    store_block(block + begin / kBlock, &bytes_[begin * bytes], std::min(kBlock, count - begin));
  return store_block(block, bytes_.data(), std::min(kBlock, count));
}

void StoredNumbers::numbers_at(std::uint64_t first, std::span<double> into) {
  if (!plain_ || scaled()) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = number_at(first + i);
    return;
  }
  while (!into.empty()) {
    const std::uint64_t within = first % kBlock;
    const std::size_t count = std::min<std::uint64_t>(kBlock - within, into.size());
    if (const auto slot = slot_of(first / kBlock))
      std::copy_n(&numbers_[*slot * kBlock + within], count, into.begin());
    else
      std::fill_n(into.begin(), count, kNoNumber);
    into = into.subspan(count);
    first += count;
  }
}

void StoredNumbers::pass_over(std::uint64_t first, std::span<double> into) {
  if (!plain_ || scaled() || !stored_) return numbers_at(first, into);
  const std::byte* codes = stored_->held(first, into.size());
  if (codes == nullptr) {
    scratch_.resize(into.size() * info(*tensor_->dtype).buffer_bytes());
    if (const Status read = stored_->read(first, into.size(), scratch_.data()); !read) {
      give_up(read.error());
      std::ranges::fill(into, kNoNumber);
      return;
    }
    codes = scratch_.data();
  }
  widen_(codes, 1, into.size(), into.data());
}

std::uint64_t StoredNumbers::which_scale(std::uint64_t number) const {
  const Scales& scales = scales_.scales;
  std::uint64_t which = 0;
  if (scales.axis || scales.grid) {
    const Dims index = index_of(number, tensor_->dims);
    which = scales.grid ? scales.grid->number(index) : index[*scales.axis];
  }
  return std::min<std::uint64_t>(which, scales.values.size() - 1);
}

double StoredNumbers::scaled(double code, std::uint64_t number) const {
  const Scales& scales = scales_.scales;
  const std::uint64_t which = which_scale(number);
  const auto zero =
      which < scales.zero_points.size() ? scales.zero_points[which] : scales_.cast.zero_point;
  return (code - static_cast<double>(zero)) * scales.values[which];
}

double StoredNumbers::half_step(std::uint64_t number, double value) const {
  if (this->scaled()) return std::abs(scales_.scales.values[which_scale(number)]) / 2;
  const DTypeInfo& row = info(*tensor_->dtype);
  if (!row.floating()) return 0;
  return std::ldexp(std::abs(value), -static_cast<int>(row.fp.mantissa_bits + 1U)) +
         text_step(value);
}

Result<bool> StoredNumbers::at_end(std::uint64_t number) {
  if (!this->scaled()) return false;
  const DTypeInfo& row = info(*tensor_->dtype);
  const double codes = std::ldexp(1.0, row.bits);
  const bool with_sign = row.kind == NumberKind::signed_integer;
  const double code = code_at(number);
  if (trouble_) return std::unexpected(*trouble_);
  // Symmetric codes do not use the lowest one.
  return code <= (with_sign ? 1 - codes / 2 : 0) || code >= (with_sign ? codes / 2 : codes) - 1;
}

Result<double> StoredNumbers::at(std::uint64_t number) {
  const double value = number_at(number);
  if (trouble_) return std::unexpected(*trouble_);
  return value;
}

double StoredNumbers::text_step(double value) const {
  const auto digits = static_cast<double>(tensor_->text_digits);
  if (digits == 0 || value == 0 || !std::isfinite(value)) return 0;
  const double places =
      tensor_->text_fixed ? digits : digits - 1 - std::floor(std::log10(std::abs(value)));
  return std::pow(10.0, -places) / 2;
}

Result<double> StoredNumbers::peak() {
  if (peak_) return *peak_;
  double most = 0;
  for (std::uint64_t number = 0; number < elements_; ++number) {
    BTF_ASSIGN(const double value, at(number));
    if (std::isfinite(value)) most = std::max(most, std::abs(value));
  }
  peak_ = most;
  return most;
}

namespace {

bool is_own_domain(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

// "2", "1 to 3", "2 or more"
std::string count_text(CountRange range) {
  if (range.most == kAnyCount) return std::to_string(range.least) + " or more";
  if (range.most == range.least) return std::to_string(range.least);
  return std::to_string(range.least) + " to " + std::to_string(range.most);
}

}  // namespace

Result<Network> Network::read(const std::string& path) {
  auto model = open_source(path);
  if (!model) return std::unexpected(model.error().in_file(path));
  auto weights = TensorFile::open(path);
  // The model need not be a file of tensors, but read errors count.
  if (!weights && is_read_error(weights.error()) && weights.error().code != ErrorCode::malformed)
    return std::unexpected(weights.error());
  return of(*std::move(model),
            weights ? std::make_shared<const TensorFile>(*std::move(weights)) : nullptr, path);
}

Result<Network> Network::of(std::shared_ptr<const ByteSource> model,
                            std::shared_ptr<const TensorFile> weights, const std::string& path) {
  const auto in_file = [&](const Error& error) { return std::unexpected(error.in_file(path)); };
  Network network;
  network.path_ = path;
  network.model_ = std::move(model);
  network.weights_ = std::move(weights);
  if (const Status read = network.read_versions(); !read) return in_file(read.error());
  if (const Status read = network.read_nodes(); !read) return in_file(read.error());
  if (const Status taken = network.link_weights(); !taken) return in_file(taken.error());
  if (const Status read = network.read_inputs_and_outputs(); !read) return in_file(read.error());
  for (std::uint32_t node = 0; node < network.nodes_.size(); ++node) network.check_counts(node);
  return network;
}

Status Network::read_versions() {
  Window window(*model_, model_->size());
  return for_each_field(
      window, {0, model_->size()}, onnx::kModel, [&](const ProtoField& field) -> Status {
        if (field.number != onnx::model::kOperatorSet) return {};
        std::string domain;
        std::int64_t version = 1;
        BTF_TRY(for_each_field(window, field.content, onnx::kOperatorSetId,
                               [&](const ProtoField& part) -> Status {
                                 if (part.number == onnx::operator_set::kVersion)
                                   version = static_cast<std::int64_t>(part.value);
                                 if (part.number != onnx::operator_set::kDomain) return {};
                                 BTF_ASSIGN(domain, onnx_name(window, part));
                                 return {};
                               }));
        versions_[is_own_domain(domain) ? "" : domain] = version;
        return {};
      });
}

std::uint32_t Network::value(const std::string& name) {
  const auto [at, added] = numbers_.emplace(name, static_cast<std::uint32_t>(values_.size()));
  if (added) values_.push_back({.name = name});
  return at->second;
}

// Graph inputs have no producer. An output that is listed twice counts once.
Status Network::read_inputs_and_outputs() {
  BTF_ASSIGN(const OnnxGraph graph, read_onnx_graph(*model_));
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const std::string& name = graph.inputs[i];
    const std::uint32_t found = find(name);
    if (found == kNoValue) continue;
    unlink_from_node(values_[found], "'" + name + "' is an input of the graph too");
    values_[found].shape = graph.input_shapes[i];
  }
  for (const std::string& name : graph.outputs)
    if (const std::uint32_t found = find(name);
        found != kNoValue && std::ranges::find(outputs_, found) == outputs_.end())
      outputs_.push_back(found);
  return {};
}

Status Network::read_nodes() {
  return for_each_onnx_node(*model_, [&](const OnnxNode& read) -> Status {
    const auto number = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({.place = read.place,
                      .name = read.name,
                      .op = read.op_type,
                      .domain = is_own_domain(read.domain) ? "" : read.domain,
                      .inputs = {},
                      .outputs = {}});
    for (const std::string& name : read.inputs) {
      const std::uint32_t input = name.empty() ? kNoValue : value(name);
      nodes_[number].inputs.push_back(input);
    }
    for (const std::string& name : read.outputs) add_output(number, name);
    recurrent_nodes_ +=
        std::ranges::count(recurrent_rows(), std::string_view(read.op_type), &OperatorRow::name) > 0
            ? 1U
            : 0U;
    return {};
  });
}

// A name that an input or another output has already would make a cycle, so such an output is
// ignored.
void Network::add_output(std::uint32_t node, const std::string& name) {
  std::vector<std::uint32_t>& outputs = nodes_[node].outputs;
  outputs.push_back(kNoValue);
  if (name.empty()) return;
  if (const std::uint32_t known = find(name); known != kNoValue) {
    Value& other = values_[known];
    if (other.node != kNoNode) {
      unsound_.emplace(node, "'" + name + "' is made by " + node_text(other.node) +
                                 (other.node == node ? " twice" : " before it"));
      return;
    }
    const bool own = std::ranges::find(nodes_[node].inputs, known) != nodes_[node].inputs.end();
    const std::string why =
        own ? "'" + name + "' is an input and an output of " + node_text(node)
            : "'" + name + "' is read before " + node_text(node) +
                  " makes it: the graph has a cycle, or its nodes are out of order";
    unsound_.emplace(node, why);
    if (other.trouble.empty()) other.trouble = why;
    return;
  }
  outputs.back() = value(name);
  values_.back().node = node;
  values_.back().output = static_cast<std::uint32_t>(outputs.size() - 1);
}

void Network::unlink_from_node(Value& value, const std::string& why) {
  if (value.node == kNoNode) return;
  unsound_.emplace(value.node, why);
  nodes_[value.node].outputs[value.output] = kNoValue;
  value.node = kNoNode;
  value.output = 0;
}

void Network::check_counts(std::uint32_t number) {
  const Node& node = nodes_[number];
  const auto given = [](std::vector<std::uint32_t> list) {
    while (!list.empty() && list.back() == kNoValue) list.pop_back();
    return list.size();
  };
  if (node.outputs.empty() || node.outputs[0] == kNoValue)
    unsound_.emplace(number, "its first output has no name");
  const OperatorCounts* const counts = find_operator_counts(node.op, node.domain);
  if (counts == nullptr) return;
  const auto check = [&](const char* what, std::size_t found, CountRange wanted) {
    if (found >= wanted.least && found <= wanted.most) return;
    unsound_.emplace(number, node.op + " has " + count_text(wanted) + " " + what + ", not " +
                                 std::to_string(found));
  };
  // A required input may be omitted if another replaces it, as a scale replaces sizes; the operator
  // checks that. The first input is always required.
  check("inputs",
        node.inputs.size() >= counts->inputs.least
            ? std::max<std::size_t>(given(node.inputs), counts->inputs.least)
            : node.inputs.size(),
        counts->inputs);
  if (counts->inputs.least > 0 && !node.inputs.empty() && node.inputs[0] == kNoValue)
    unsound_.emplace(number, "its first input has no name");
  check("outputs",
        node.outputs.size() >= counts->outputs.least
            ? std::max<std::size_t>(given(node.outputs), counts->outputs.least)
            : node.outputs.size(),
        counts->outputs);
}

std::string Network::node_text(std::uint32_t node) const {
  const Node& own = nodes_[node];
  return own.name.empty() ? "node " + std::to_string(node) + " (" + own.op + ")"
                          : "'" + own.name + "'";
}

std::string Network::why_unsound(std::uint32_t node) const {
  const auto at = unsound_.find(node);
  return at == unsound_.end() ? "" : at->second;
}

Status Network::link_weights() {
  if (!weights_) return {};
  for (std::uint64_t i = 0; i < weights_->tensor_count(); ++i) {
    BTF_ASSIGN(const std::optional<std::string> name, weights_->own_name(i));
    if (!name) continue;
    const auto at = numbers_.find(*name);
    if (at == numbers_.end() || values_[at->second].weight) continue;
    values_[at->second].weight = i;
    // The value of a Constant is a tensor of the file, and also the output of that node.
    const std::uint32_t node = values_[at->second].node;
    if (node != kNoNode && nodes_[node].op == "Constant") continue;
    unlink_from_node(values_[at->second], "'" + *name + "' is a weight of the model too");
  }
  return {};
}

Result<StoredNumbers> Network::weight(const Value& value) const {
  Result<StoredNumbers> found = open_weight(value);
  if (found) {
    found->note_troubles(troubles_, value.name);
  } else {
    found = std::unexpected(found.error().in_file(path_).within("'" + value.name + "'"));
    // A model may lack the files of its weights, and its graph still gives the order. Whatever
    // needs the weights reports what is missing.
    if (found.error().system != ENOENT) troubles_->note(found.error());
  }
  return found;
}

Result<StoredNumbers> Network::open_weight(const Value& value) const {
  const std::scoped_lock lock(*weights_mutex_);
  BTF_ASSIGN(TensorInfo tensor, weights_->tensor(*value.weight));
  return StoredNumbers::open(weights_, std::move(tensor));
}

Status Network::check_unchanged() const {
  BTF_TRY(model_->check_unchanged());
  if (weights_ == nullptr) return {};
  BTF_TRY(weights_->check_unchanged());
  // Both are opened by the path of the model.
  if (model_->stamp() != weights_->source().stamp())
    return std::unexpected(file_changed().error().in_file(path_));
  return {};
}

std::uint32_t Network::find(std::string_view name) const {
  const auto at = numbers_.find(std::string(name));
  return at == numbers_.end() ? kNoValue : at->second;
}

std::int64_t Network::version(std::string_view domain) const {
  const auto at = versions_.find(domain);
  return at == versions_.end() ? 1 : at->second;
}

Result<Attributes> Network::attributes(const Node& node) const {
  Window window(*model_, model_->size());
  Result<Attributes> read = read_attributes(window, node.place);
  if (!read) {
    read = std::unexpected(read.error().in_file(path_));
    troubles_->note(read.error());
  }
  return read;
}

Result<std::vector<double>> Network::attribute_tensor(const ProtoRange& place, Dims& dims,
                                                      DType& dtype) const {
  Result<std::vector<double>> read = read_tensor(place, dims, dtype);
  if (!read) {
    read = std::unexpected(read.error().in_file(path_));
    troubles_->note(read.error());
  }
  return read;
}

Result<std::vector<double>> Network::read_tensor(const ProtoRange& place, Dims& dims,
                                                 DType& dtype) const {
  constexpr std::uint64_t kMax = 1U << 16;
  Window window(*model_, model_->size());
  BTF_ASSIGN(const OnnxTensor tensor, read_onnx_tensor(window, place));
  if (tensor.type == nullptr || !tensor.type->dtype || tensor.external || tensor.elements > kMax)
    return not_computed("the tensor among its attributes cannot be used");
  dims = tensor.dims;
  dtype = *tensor.type->dtype;
  if (info(dtype).half_byte()) return not_computed("the tensor among its attributes is of 4 bits");
  std::vector<std::byte> bytes(tensor.bytes);
  if (tensor.in_place()) {
    BTF_TRY(model_->read_at(tensor.first.begin, bytes));
  } else {
    BTF_ASSIGN(const Spool spool, read_onnx_values(*model_, tensor));
    BTF_TRY(spool.read_at(0, bytes));
  }
  std::vector<double> numbers(tensor.elements);
  widener<double>(dtype)(bytes.data(), 1, numbers.size(), numbers.data());
  return numbers;
}

}  // namespace btf::network
