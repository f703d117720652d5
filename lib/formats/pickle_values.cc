#include "formats/pickle_values.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "formats/pickle.h"

namespace btf {

std::unexpected<Error> PickleBytes::wrong_at(std::uint64_t at, const std::string& what) {
  return malformed(kPickleFinding, at, "the pickle: ", what, ", at its byte ", at);
}

Result<std::uint64_t> PickleBytes::next_operation() {
  at_ = next_;
  return number(1);
}

Result<std::uint64_t> PickleBytes::number(std::uint64_t bytes) {
  if (left() < bytes) return wrong_behind("it ends without a STOP");
  BTF_ASSIGN(const std::byte* const from, window_.at(next_, bytes));
  next_ += bytes;
  std::uint64_t value = 0;
  for (std::uint64_t i = 0; i < bytes; ++i)
    value |= std::to_integer<std::uint64_t>(from[i]) << 8 * i;
  return value;
}

Result<std::string> PickleBytes::line() {
  std::string text;
  while (true) {
    BTF_ASSIGN(const std::uint64_t c, number(1));
    if (c == '\n') return text;
    text += static_cast<char>(c);
    if (text.size() > kLongestPickleText) return wrong("a line of it is too long");
  }
}

Result<std::string> PickleBytes::text(std::uint64_t bytes) {
  std::string text(bytes, '\0');
  const auto to = std::as_writable_bytes(std::span(text));
  if (bytes <= Window::kBytes) {
    BTF_ASSIGN(const std::byte* const from, window_.at(next_, bytes));
    std::copy_n(from, bytes, to.begin());
  } else {
    BTF_TRY(source_.read_at(next_, to));
  }
  next_ += bytes;
  return text;
}

Status PickleBytes::check_length(std::uint64_t bytes, std::string_view what) const {
  if (bytes <= left()) return {};
  return wrong(concat(what, " has ", bytes, " bytes, and ", left(), " are left"));
}

Status PickleBytes::skip(std::uint64_t bytes, bool utf8) {
  if (!utf8) {
    next_ += bytes;
    return {};
  }
  constexpr std::size_t kLongestCharacter = 4;
  std::string block;
  while (bytes > 0) {
    const std::uint64_t count = std::min(bytes, Window::kBytes);
    BTF_ASSIGN(const std::string more, text(count));
    block += more;
    bytes -= count;
    // The last character may continue in the next block.
    std::size_t cut = 0;
    while (!is_utf8(std::string_view(block).substr(0, block.size() - cut)))
      if (++cut == std::min(kLongestCharacter, block.size()) || bytes == 0)
        return wrong("a text is not UTF-8");
    block.erase(0, block.size() - cut);
  }
  return {};
}

std::optional<std::string> latin_1_of(const Pickle& pickle, Pickle::Node node) {
  if (pickle.called(node) != "_codecs encode" || pickle.arguments(node).empty() ||
      pickle.kind(pickle.arguments(node)[0]) != PickleKind::text)
    return std::nullopt;
  const std::string_view utf8 = pickle.text(pickle.arguments(node)[0]);
  std::string bytes;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto lead = static_cast<std::uint8_t>(utf8[i]);
    // Characters from 0x80 to 0xff take two bytes; larger ones represent no byte.
    if (lead > 0xc3) return std::nullopt;
    bytes += lead < 0x80 ? utf8[i] : static_cast<char>(lead << 6 | (utf8[++i] & 0x3f));
  }
  return bytes;
}

namespace {

// A model with a hundred thousand tensors has a pickle of about 20 MB with 2 million values.
constexpr std::size_t kMaxNodes = std::size_t{1} << 22;
constexpr std::size_t kMaxParts = std::size_t{1} << 24;  // of all containers together
constexpr std::uint64_t kMaxTextBytes = std::uint64_t{64} << 20;

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
  return pickle_.nodes_.size() >= kMaxNodes || part_count_ > kMaxParts;
}

bool PickleValues::too_much_text(std::uint64_t more) const {
  return pickle_.texts_.size() + more > kMaxTextBytes;
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
  // Tuples are immutable, so all empty ones are shared.
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

namespace {

using enum TorchMaking;

// Other functions with this prefix also make some kind of tensor.
constexpr std::string_view kUtils = "torch._utils ";
constexpr std::string_view kRebuild = "torch._utils _rebuild_";

constexpr std::string_view kUninitialized =
    "it is a parameter that has no elements yet, as of a lazy module that was not run";

// clang-format off
constexpr auto kMakers = std::to_array<TorchMaker>({
    {"torch._utils _rebuild_tensor",                        dense},
    {"torch._utils _rebuild_tensor_v2",                     dense},
    {"torch._utils _rebuild_tensor_v3",                     typed},
    {"torch._utils _rebuild_parameter",                     wrapped},
    {"torch._utils _rebuild_parameter_with_state",          wrapped, 3},
    {"torch._utils _rebuild_device_tensor_from_cpu_tensor", wrapped},
    {"torch._tensor _rebuild_from_type_v2",                 of_type, 3},
    {"torch._tensor _rebuild_from_type",                    of_type, 3},
    {"torch.tensor _rebuild_from_type",                     of_type, 3},
    {"torch._utils _rebuild_qtensor",                       foreign, {}, 2, "qtensor"},
    {"torch._utils _rebuild_meta_tensor_no_storage",        foreign, {}, 1, "meta_tensor_no_storage"},
    {"torch._utils _rebuild_wrapper_subclass",              foreign, {}, 2, "wrapper_subclass"},
    {"torch.nn.parameter UninitializedParameter",           foreign, {}, {}, "uninitialized", kUninitialized},
    {"torch.nn.parameter UninitializedBuffer",              foreign, {}, {}, "uninitialized", kUninitialized},
    {"numpy.core.multiarray _reconstruct",                   array},
    {"numpy._core.multiarray _reconstruct",                  array},
    {"numpy._core.numeric _frombuffer",                      array},
    {"numpy.core.numeric _frombuffer",                       array},
});

// clang-format on

}  // namespace

std::optional<TorchMaker> find_torch_maker(std::string_view global) {
  const auto* row = std::ranges::find(kMakers, global, &TorchMaker::global);
  if (row != kMakers.end()) return *row;
  if (!global.starts_with(kUtils)) return std::nullopt;
  const bool rebuilds = global.starts_with(kRebuild);
  return TorchMaker{.global = global,
                    .how = foreign,
                    .foreign = global.substr(rebuilds ? kRebuild.size() : kUtils.size())};
}

}  // namespace btf
