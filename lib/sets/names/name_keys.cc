#include "sets/names/name_keys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

namespace btf {
namespace {

std::string tier_name(PairTier tier) {
  return std::string(std::ranges::find(pair_tier_names(), tier, &Named<PairTier>::value)->name);
}

std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i)
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
  return text + (names.size() > kShown ? ", ..." : "");
}

// Notes on ambiguities, by the names that are part of them.
using Notes = std::unordered_map<std::string, std::string>;

void add_unclear(const std::vector<Ambiguity>& unclear, Notes& left, Notes& right) {
  for (const Ambiguity& found : unclear) {
    const bool one = found.golden.size() == 1;
    const std::string text = list_of(one ? found.golden : found.actual) + " could be " +
                             list_of(one ? found.actual : found.golden) + " (" +
                             tier_name(found.tier) + ")";
    for (const std::string& name : found.actual) left.emplace(name, text);
    for (const std::string& name : found.golden) right.emplace(name, text);
  }
}

constexpr std::string_view kInItsPlace = "' is compared in its place";

std::string substituted_note(const std::string& compared) {
  return "'" + compared + std::string(kInItsPlace);
}

std::string close_to(const std::string& name) { return "'" + name + "' is close"; }

// The edit distance (insertions, deletions, substitutions); `most` + 1 if it is larger than `most`.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t most) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) return most + 1;
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t kept = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({kept, row[j] + 1, row[j - 1] + 1});
    }
  }
  return std::min(row[b.size()], most + 1);
}

// The name with the smallest edit distance; unset if none is close or several are equally close.
std::optional<std::uint64_t> nearest(const std::string& name, std::span<const std::string> others) {
  constexpr std::size_t kMaxDistance = 3;
  std::size_t least = kMaxDistance;
  std::optional<std::uint64_t> found;
  bool several = false;
  for (std::uint64_t i = 0; i < others.size(); ++i) {
    const std::size_t most = std::min(least, std::max(name.size(), others[i].size()) / 3);
    const std::size_t count = edit_distance(name, others[i], most);
    if (count > most) continue;
    several = found && count == least;
    if (!several) found = i;
    least = count;
  }
  return several ? std::nullopt : found;
}

// Names that only differ by a number are different tensors: "conv1" is not "conv2".
bool numbers_differ(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view text) {
    std::string found;
    for (const char c : text)
      if (c >= '0' && c <= '9') found += c;
    return found;
  };
  return digits(a) != digits(b);
}

void add_nearest(std::span<const std::string> names, std::span<const std::string> others,
                 std::vector<std::string>& notes, std::size_t first) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!notes[first + i].empty()) continue;
    const auto found = nearest(names[i], others);
    if (found && !numbers_differ(names[i], others[*found]))
      notes[first + i] = close_to(others[*found]);
  }
}

}  // namespace

bool is_substituted(const std::string& note) { return note.ends_with(kInItsPlace); }

std::vector<std::string> close_names(std::span<const std::string> left,
                                     std::span<const std::string> right) {
  std::vector<std::string> notes(left.size() + right.size());
  if (left.empty() || right.empty()) return notes;
  for (const NameMatch& match : match_names(left, right).pairs) {
    if (match.tier == PairTier::exact) continue;
    notes[match.left] = close_to(right[match.right]);
    notes[left.size() + match.right] = close_to(left[match.left]);
  }
  // Comparing all names with each other is only affordable for a few.
  constexpr std::size_t kMaxCompared = 4096;
  constexpr std::size_t kLongest = 256;
  const auto is_long = [](const std::string& name) { return name.size() > kLongest; };
  if (left.size() > kMaxCompared / right.size() || std::ranges::any_of(left, is_long) ||
      std::ranges::any_of(right, is_long))
    return notes;
  add_nearest(left, right, notes, 0);
  add_nearest(right, left, notes, left.size());
  return notes;
}

NamePairing pair_lists(std::span<const std::string> left, std::span<const std::string> right,
                       const NameMap& map, const MayMatch& may,
                       std::span<const std::string> equal) {
  NameMatches matches =
      match_names(left, right, map, {.may = may, .lists = NameLists::whole, .equal = equal});
  NamePairing found;
  found.map = std::move(matches.map);
  Notes left_notes;
  Notes right_notes;
  add_unclear(matches.unclear, left_notes, right_notes);
  for (const SubstitutedName& beside : matches.left_substituted)
    left_notes.emplace(left[beside.number], substituted_note(beside.compared));
  for (const SubstitutedName& beside : matches.right_substituted)
    right_notes.emplace(right[beside.number], substituted_note(beside.compared));
  std::vector<bool> right_free(right.size(), true);
  std::vector<std::string> left_alone;
  std::vector<std::string> right_alone;
  auto match = matches.pairs.begin();
  for (std::uint64_t l = 0; l < left.size(); ++l) {
    NamePair pair{.left = l};
    if (match != matches.pairs.end() && match->left == l) {
      pair.right = match->right;
      if (match->tier != PairTier::exact) pair.tier = match->tier;
      right_free[match->right] = false;
      ++match;
    } else {
      left_alone.push_back(left[l]);
    }
    found.pairs.push_back(std::move(pair));
  }
  for (std::uint64_t r = 0; r < right.size(); ++r) {
    if (!right_free[r]) continue;
    right_alone.push_back(right[r]);
    found.pairs.push_back({.right = r});
  }
  // In both lists the left names precede the right ones.
  const std::vector<std::string> close = close_names(left_alone, right_alone);
  std::size_t alone = 0;
  for (NamePair& pair : found.pairs) {
    if (pair.left && pair.right) continue;
    const Notes& notes = pair.left ? left_notes : right_notes;
    const auto unclear = notes.find(pair.left ? left[*pair.left] : right[*pair.right]);
    pair.note = unclear == notes.end() ? close[alone] : unclear->second;
    ++alone;
  }
  return found;
}

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_plain(char c) { return is_digit(c) || is_letter(c); }

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

void drop_suffix(std::string_view& name, std::string_view suffix) {
  if (name.size() > suffix.size() && name.ends_with(suffix)) name.remove_suffix(suffix.size());
}

// For before = "_": "x" for "x_12".
bool drop_number(std::string_view& name, std::string_view before) {
  std::size_t at = name.size();
  while (at > 0 && is_digit(name[at - 1])) --at;
  if (at == name.size() || at <= before.size() || !name.substr(0, at).ends_with(before))
    return false;
  name = name.substr(0, at - before.size());
  return true;
}

// ONNX Runtime's qdq_loss_debug appends this to the names of everything that it saves.
constexpr std::string_view kSaved = "_ReshapedSavedOutput";

struct QdqSuffix {
  std::string_view suffix;
  QdqForm form{};
  QdqForm numbered{};  // with a number after it, or as converted for another consumer
};

constexpr auto kQdqSuffixes = std::to_array<QdqSuffix>({
    {"_DequantizeLinear_Output", QdqForm::dequantised, QdqForm::dequantised_again},
    {"_QuantizeLinear_Output", QdqForm::codes, QdqForm::codes},
    {"_QuantizeLinear_Input", QdqForm::before, QdqForm::before},
    {"_quantized", QdqForm::weight, QdqForm::weight},
});

// The name without what quantisers append to it.
std::pair<std::string_view, QdqForm> without_qdq(std::string_view name) {
  std::string_view own = name;
  drop_suffix(own, "_convert");
  drop_number(own, "_");
  for (const QdqSuffix& row : kQdqSuffixes) {
    if (name.size() > row.suffix.size() && name.ends_with(row.suffix))
      return {name.substr(0, name.size() - row.suffix.size()), row.form};
    if (row.form != QdqForm::weight && own.size() < name.size() && own.size() > row.suffix.size() &&
        own.ends_with(row.suffix))
      return {own.substr(0, own.size() - row.suffix.size()), row.numbered};
  }
  return {name, QdqForm::plain};
}

std::string_view before(std::string_view name, std::string_view mark) {
  const std::size_t at = name.find(mark);
  return at == name.npos || at == 0 ? name : name.substr(0, at);
}

// The value of a field in SGLang's names: "name=x___step=0".
std::string_view field(std::string_view name, std::string_view key) {
  std::size_t at = name.find(key);
  if (at == name.npos || (at > 0 && name[at - 1] != '_')) return {};
  at += key.size();
  return name.substr(at, name.find("___", at) - at);
}

std::vector<std::string_view> split(std::string_view text, std::string_view marks) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(marks), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// Seconds, milliseconds, microseconds or nanoseconds since 1970, or 20210901123456.
bool is_time(std::string_view part) {
  if (!all_digits(part)) return false;
  const std::size_t size = part.size();
  if (size == 14) return part.starts_with("20") && part[4] <= '1' && part[6] <= '3';
  return part[0] == '1' && (size == 10 || size == 13 || size == 16 || size == 19);
}

// Removes what a run of MindSpore or of Ascend's tools adds around the name of an operator: in
// "Add.Add-op3.0.0.1630512345.output.0.DefaultFormat" its type, task, stream and time. Unset if the
// name has another form.
std::optional<std::string> without_run(std::string_view name) {
  const auto parts = split(name, ".");
  const auto time = std::ranges::find_if(parts, is_time);
  const auto at = static_cast<std::size_t>(time - parts.begin());
  if (time == parts.end() || at < 4 || !all_digits(parts[at - 1]) || !all_digits(parts[at - 2]))
    return std::nullopt;
  std::string own(parts[1]);
  for (std::size_t i = 2; i + 2 < at; ++i) own.append(".").append(parts[i]);
  const bool slot = at + 2 < parts.size() && all_digits(parts[at + 2]) &&
                    (parts[at + 1] == "output" || parts[at + 1] == "input");
  if (slot) own.append(".").append(parts[at + 1]).append(".").append(parts[at + 2]);
  return own;
}

// Removes the time of a dump and the mark before it: "conv1_1630512345".
std::string without_time(std::string_view name) {
  if (auto own = without_run(name)) return *std::move(own);
  constexpr std::string_view kMarks = "._-";
  std::string kept;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t mark = name.find_first_not_of(kMarks, begin);
    if (mark == name.npos) return kept.append(name.substr(begin));
    const std::size_t end = std::min(name.find_first_of(kMarks, mark), name.size());
    if (begin == 0 || !is_time(name.substr(mark, end - mark)))
      kept.append(name.substr(begin, end - begin));
    begin = end;
  }
  return kept;
}

// The name without prefixes and suffixes that dumping programs add.
std::string_view stem(std::string_view name) {
  if (const std::string_view own = field(name, "name="); !own.empty()) name = own;
  if (const auto number = leading_number(name)) {
    name.remove_prefix(name.find_first_not_of("0123456789"));
    name.remove_prefix(1);
  }
  name = before(name, "____topo-index:");                                  // TVM
  name = before(name, "__debugID_");                                       // QNN in ExecuTorch
  if (name.size() > 5 && name.starts_with("CUDA") && is_digit(name[4])) {  // llama.cpp: CUDA0#x#0
    const std::size_t mark = name.find('#');
    if (mark != name.npos) name = before(name.substr(mark + 1), "#");
  }
  drop_suffix(name, kSaved);
  name = without_qdq(name).first;
  for (const std::string_view added : {"_to_float", "_to_int8"}) drop_suffix(name, added);
  return name;
}

// Programs that make file names replace everything but letters and digits by one character.
std::string plain_characters(std::string_view name) {
  std::string key(name);
  for (char& c : key)
    if (!is_plain(c)) c = '_';
  return key;
}

// ONNX operators begin with a capital letter; parts of a module's path do not.
bool is_operator(std::string_view part) {
  return part.size() > 1 && part[0] >= 'A' && part[0] <= 'Z' && std::ranges::all_of(part, is_plain);
}

// msProbe: Module.layer1.0.conv1.Conv2d.forward.0.output.0
std::string_view without_probe(std::string_view name) {
  if (!name.starts_with("Module.")) return name;
  std::string_view path = before(name.substr(7), ".forward.");
  if (path.size() + 7 == name.size()) return name;
  const std::size_t type = path.rfind('.');
  return type == path.npos ? path : path.substr(0, type);
}

std::string path_of_stem(std::string_view stem, std::string* op) {
  std::string_view name = without_probe(stem);
  // TFLite writes "model/conv1/Relu;model/conv1/BiasAdd"; the last computation comes first.
  name = before(name, ";");
  std::string_view parent;
  std::string path;
  if (name.size() > 2 && name[name.size() - 2] == ':' && is_digit(name.back()))
    name.remove_suffix(2);
  for (const std::string_view mark : {".output.", "_output_"})
    if (drop_number(name, mark)) break;
  drop_suffix(name, ".output");
  drop_suffix(name, "_output");
  if (const std::size_t cast = name.rfind("_cast"); cast != name.npos && cast > 0)
    name = name.substr(0, cast);
  const auto parts = split(name, "/");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string_view part = parts[i];
    if (i + 1 == parts.size() && i > 0) {
      std::string_view type = part;
      drop_number(type, "_");
      if (is_operator(type)) {
        if (op != nullptr) *op = type;
        continue;
      }
    }
    // The parent's name is repeated: layer1/layer1.0.
    const std::string_view named = part;
    if (!parent.empty() && part.size() > parent.size() + 1 && part.starts_with(parent) &&
        part[parent.size()] == '.')
      part.remove_prefix(parent.size() + 1);
    parent = named;
    if (!path.empty()) path += '.';
    path += part;
  }
  return path;
}

std::string exact_key(const NameForms& name) { return std::string(name.name); }
std::string stem_key(const NameForms& name) { return name.stem; }
std::string sanitised_key(const NameForms& name) { return sanitised_name(name.stem); }
std::string path_key(const NameForms& name) { return name.module; }

std::string operator_key(const NameForms& name) {
  return name.op.empty() ? "" : name.module + "#" + name.op;
}

// The last `count` parts of the path.
template <std::size_t count>
std::string tail_key(const NameForms& name) {
  constexpr std::string_view kMarks = "./";
  std::string_view path = name.module;
  std::string key;
  for (std::size_t i = 0; i < count; ++i) {
    path = path.substr(0, path.find_last_not_of(kMarks) + 1);
    if (path.empty()) return {};
    const std::size_t begin = path.find_last_of(kMarks) + 1;
    key.insert(0, key.empty() ? "" : ".").insert(0, path.substr(begin));
    path = path.substr(0, begin);
  }
  return key;
}

std::string whole_name(std::string_view name) { return std::string(name); }

constexpr auto kTiers = std::to_array<TierRow>({
    {PairTier::exact, exact_key},
    {PairTier::stem, stem_key},
    {PairTier::sanitised, sanitised_key},
    {PairTier::module, operator_key},
    {PairTier::module, path_key},
    {PairTier::tail, tail_key<4>},
    {PairTier::tail, tail_key<3>},
    {PairTier::tail, tail_key<2>},
});

constexpr auto kPrefixKeys = std::to_array<NameKey>({whole_name, stem_of});

constexpr std::string_view kCut = "...";

constexpr auto kTierNames = std::to_array<Named<PairTier>>({
    {PairTier::map, "map"},
    {PairTier::exact, "exact"},
    {PairTier::qdq, "qdq"},
    {PairTier::prefix, "prefix"},
    {PairTier::stem, "stem"},
    {PairTier::sanitised, "sanitised"},
    {PairTier::module, "module"},
    {PairTier::tail, "tail"},
    {PairTier::only, "only"},
    {PairTier::order, "order"},
});

constexpr auto kPairBy = std::to_array<Named<PairBy>>({
    {PairBy::automatic, "auto"},
    {PairBy::name, "name"},
    {PairBy::number, "number"},
    {PairBy::exact, "exact"},
});

}  // namespace

std::string sanitised_name(std::string_view name) {
  const std::string key = plain_characters(name);
  const std::size_t first = key.find_first_not_of('_');
  return first == key.npos ? key : key.substr(first);
}

std::span<const Named<PairTier>> pair_tier_names() { return kTierNames; }
std::span<const Named<PairBy>> pair_by_names() { return kPairBy; }

std::span<const TierRow> tier_rows() { return kTiers; }

std::string percent_decoded(std::string_view name) {
  std::string text;
  for (std::size_t at = 0; at < name.size(); ++at) {
    unsigned code = 0;
    const std::string_view hex = name.substr(at + 1, 2);
    if (name[at] == '%' && hex.size() == 2 &&
        std::from_chars(hex.data(), hex.data() + 2, code, 16).ptr == hex.data() + 2) {
      text += static_cast<char>(code);
      at += 2;
    } else {
      text += name[at];
    }
  }
  return text;
}

std::string stem_of(std::string_view name) {
  return std::string(stem(without_time(percent_decoded(name))));
}

NameForms forms_of(std::string_view name) {
  NameForms forms{.name = name, .stem = stem_of(name)};
  forms.module = path_of_stem(forms.stem, &forms.op);
  return forms;
}

std::string module_path(std::string_view name, std::string* op) {
  return path_of_stem(stem_of(name), op);
}

QdqName qdq_name(std::string_view name) {
  drop_suffix(name, kSaved);
  const auto [base, form] = without_qdq(name);
  return {std::string(base), form};
}

std::span<const NameKey> prefix_keys() { return kPrefixKeys; }

std::optional<NameCut> cut_of(std::string_view name) {
  const std::string own = stem_of(name);
  const std::size_t cut = own.find(kCut);
  if (cut == own.npos || cut == 0 || cut + kCut.size() == own.size()) return std::nullopt;
  return NameCut{cut, own.size() - cut - kCut.size()};
}

std::string cut_key(std::string_view name, const NameCut& cut) {
  const auto& [begin, end] = cut;
  if (begin + end > name.size()) return {};
  return plain_characters(name.substr(0, begin)) + std::string(kCut) +
         plain_characters(name.substr(name.size() - end));
}

std::optional<std::uint64_t> leading_number(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  // A name with a leading slash is a module path, so its number is no order.
  if (slash != name.npos) return std::nullopt;
  const std::size_t end = std::min(name.find_first_not_of("0123456789"), name.size());
  if (end == 0 || end + 1 >= name.size() || (name[end] != '_' && name[end] != '-'))
    return std::nullopt;
  std::uint64_t number = 0;
  const auto read = std::from_chars(name.data(), name.data() + end, number);
  if (read.ec != std::errc() || !all_digits(name.substr(0, end))) return std::nullopt;
  return number;
}

}  // namespace btf
