#include "formats/pickle/values.h"

namespace btf {
namespace {

// A model of a hundred thousand tensors has a pickle of some 20 MB with 2 million values.
constexpr std::size_t kMostNodes = std::size_t{1} << 22;
constexpr std::size_t kMostParts = std::size_t{1} << 24;  // of all that holds values together
constexpr std::uint64_t kMostTextBytes = std::uint64_t{64} << 20;

}  // namespace

std::string_view Pickle::text(Node node) const {
  const Entry& entry = nodes_[node];
  return std::string_view(texts_).substr(entry.text.at, entry.text.bytes);
}

std::string_view Pickle::called(Node node) const {
  if (kind(node) != PickleKind::call || kind(call(node).called) != PickleKind::global) return {};
  return text(call(node).called);
}

bool PickleValues::too_many() const {
  return pickle_.nodes_.size() >= kMostNodes || part_count_ > kMostParts;
}

bool PickleValues::too_much_text(std::uint64_t more) const {
  return pickle_.texts_.size() + more > kMostTextBytes;
}

PickleValues::Node PickleValues::add(const Pickle::Entry& entry) {
  pickle_.nodes_.push_back(entry);
  return static_cast<Node>(pickle_.nodes_.size() - 1);
}

PickleValues::Node PickleValues::integer(PickleKind kind, std::int64_t value) {
  Pickle::Entry entry{};
  entry.kind = kind;
  entry.integer = value;
  return add(entry);
}

PickleValues::Node PickleValues::number(double value) {
  Pickle::Entry entry{};
  entry.kind = PickleKind::number;
  entry.number = value;
  return add(entry);
}

PickleValues::Node PickleValues::text(PickleKind kind, std::string_view text) {
  Pickle::Entry entry{};
  entry.kind = kind;
  entry.text = {static_cast<std::uint32_t>(pickle_.texts_.size()),
                static_cast<std::uint32_t>(text.size())};
  pickle_.texts_ += text;
  return add(entry);
}

PickleValues::Node PickleValues::parts(PickleKind kind, std::vector<Node> parts) {
  Pickle::Entry entry{};
  entry.kind = kind;
  // Nothing is ever put into a tuple, so those of nothing are one.
  const bool shared = kind == PickleKind::tuple && parts.empty();
  if (!shared || !empty_tuple_) {
    part_count_ += parts.size();
    pickle_.parts_.push_back(std::move(parts));
    entry.part = static_cast<std::uint32_t>(pickle_.parts_.size() - 1);
    if (shared) empty_tuple_ = entry.part;
  } else {
    entry.part = *empty_tuple_;
  }
  return add(entry);
}

PickleValues::Node PickleValues::call(const Pickle::Call& call) {
  pickle_.calls_.push_back(call);
  Pickle::Entry entry{};
  entry.kind = PickleKind::call;
  entry.part = static_cast<std::uint32_t>(pickle_.calls_.size() - 1);
  return add(entry);
}

void PickleValues::extend(Node holder, PickleKind as, const std::vector<Node>& more) {
  if (pickle_.kind(holder) == PickleKind::call) {
    const auto own = [&]() -> Node& {
      Pickle::Call& call = call_of(holder);
      return as == PickleKind::dict ? call.items : call.elements;
    };
    if (own() == Pickle::kNoNode) {
      const Node made = parts(as == PickleKind::dict ? as : PickleKind::list, {});
      own() = made;
    }
    holder = own();
  }
  std::vector<Node>& parts = pickle_.parts_[pickle_.nodes_[holder].part];
  parts.insert(parts.end(), more.begin(), more.end());
  part_count_ += more.size();
}

}  // namespace btf
