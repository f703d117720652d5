#include "formats/msprobe.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "formats/json.h"

namespace btf {
namespace {

constexpr std::uint64_t kLongest = 2'000'000'000;

// The deepest nesting of modules; deeper ones are treated as if they were not nested.
constexpr std::size_t kDeepestModule = 64;

// Members of a call, and their names in file names.
struct PartRow {
  std::string_view member;
  std::string_view name;
  ProbePart part;
};

constexpr auto kParts = std::to_array<PartRow>({
    {"input_args", "input", ProbePart::input},
    {"input_kwargs", "input", ProbePart::input},
    {"input", "input", ProbePart::input},  // of a backward call: the gradients that it receives
    {"parameters", "parameters", ProbePart::weight},
});

// Members of a tensor whose values are neither objects nor arrays.
constexpr auto kScalarMembers =
    std::to_array<std::string_view>({"dtype", "data_name", "md5", "Max", "Min", "Mean", "Norm"});

class DumpReader {
 public:
  explicit DumpReader(const ByteSource& source)
      : source_(source),
        reader_(source, {0, source.size()},
                {.finding = "msprobe-dump", .whole = "the dump.json", .python = true}) {}

  Result<ProbeDump> read() {
    const Status status = take_all();
    // If the file is cut off, the error is where the text ends.
    dump_.cut_off = !status && listed_ && reader_.offset() >= source_.size();
    if (!status && !dump_.cut_off) return std::unexpected(status.error());
    if (!listed_) return reader_.wrong(0, "'data' is missing");
    return std::move(dump_);
  }

 private:
  Status take_all() {
    BTF_TRY(reader_.expect(JsonKind::object_begin, "it"));
    BTF_TRY(reader_.members([&](const JsonToken& name) -> Status {
      if (name.text == "data") return take_calls();
      std::string* const text = name.text == "task"            ? &dump_.task
                                : name.text == "framework"     ? &dump_.framework
                                : name.text == "dump_data_dir" ? &dump_.folder
                                                               : nullptr;
      const std::string what = "its '" + json_shown(name.text) + "'";
      BTF_ASSIGN(const JsonToken token, reader_.next());
      if (text == nullptr || token.kind == JsonKind::null) return reader_.skip(token);
      BTF_TRY(take_text(token, what, *text));
      return {};
    }));
    BTF_TRY(reader_.next());
    while (dump_.folder.ends_with('/')) dump_.folder.pop_back();
    dump_.folder.erase(0, dump_.folder.rfind('/') + 1);
    return {};
  }

  Status take_calls() {
    BTF_TRY(reader_.expect(JsonKind::object_begin, "its 'data'"));
    listed_ = true;
    return reader_.members([&](const JsonToken& name) -> Status {
      if (!name.complete)
        return reader_.wrong(name.extent.offset, "the name of a call is too long");
      call_ = name.text;
      BTF_ASSIGN(const JsonToken token, reader_.next());
      if (token.kind == JsonKind::null) return {};
      if (token.kind != JsonKind::object_begin)
        return reader_.wrong(token.extent.offset, "'" + json_shown(call_) + "' is " +
                                                      std::string(json_kind_name(token.kind)) +
                                                      " and not an object");
      BTF_TRY(take_call(token));
      dump_.calls.push_back(call_);
      return {};
    });
  }

  // At the level "debug", a call is a tensor or contains tensors.
  Status take_call(const JsonToken& token) {
    part_ = ProbePart::output;
    return take_object(token, call_, true);
  }

  // An object with a dtype and a shape is a tensor; others may contain tensors.
  Status take_object(const JsonToken& begin, const std::string& name, bool is_call) {
    ProbeTensor tensor{
        .name = name, .call = dump_.calls.size(), .part = part_, .offset = begin.extent.offset};
    bool typed = false;
    bool shaped = false;
    BTF_TRY(reader_.members([&](const JsonToken& member) -> Status {
      if (!member.complete)
        return reader_.wrong(member.extent.offset, "the name of a member is too long");
      const std::string key(member.text);
      if (is_call) {
        const auto* const row = std::ranges::find(kParts, key, &PartRow::member);
        part_ = row == kParts.end() ? ProbePart::output : row->part;
        tensor.part = ProbePart::output;
        return take_member(key, tensor, typed, shaped,
                           name + "." + (row == kParts.end() ? key : std::string(row->name)));
      }
      return take_member(key, tensor, typed, shaped, name + "." + key);
    }));
    if (!typed || !shaped) {
      if (!tensor.file.empty())
        return reader_.wrong(begin.extent.offset, "'" + json_shown(name) + "' has a file and no '" +
                                                      (typed ? "shape" : "dtype") + "'");
      return {};
    }
    if (mistyped_ && mistyped_->tensor == tensor.offset)
      return reader_.wrong(mistyped_->offset, mistyped_->text);
    dump_.tensors.push_back(std::move(tensor));
    return {};
  }

  Status take_member(const std::string& key, ProbeTensor& tensor, bool& typed, bool& shaped,
                     const std::string& name) {
    BTF_ASSIGN(const JsonToken token, reader_.next());
    const std::string what = "'" + json_shown(key) + "' of " + json_shown(tensor.name);
    const bool composed =
        token.kind == JsonKind::object_begin || token.kind == JsonKind::array_begin;
    // An argument may have the same name as a member of tensors but an object or array as its
    // value, which no member of a tensor has.
    if (composed && std::ranges::find(kScalarMembers, key) != kScalarMembers.end())
      mistyped_ = MistypedMember{tensor.offset, token.extent.offset,
                                 what + " is " + std::string(json_kind_name(token.kind))};
    if (token.kind == JsonKind::object_begin) return take_object(token, name, false);
    if (token.kind == JsonKind::array_begin) {
      if (key != "shape") return take_array(name);
      shaped = true;
      BTF_ASSIGN(tensor.dims, reader_.dims(what));
      return {};
    }
    // An argument may have the name of a member of tensors and be null.
    if (token.kind == JsonKind::null) return {};
    if (key == "dtype") {
      typed = true;
      return take_text(token, what, tensor.dtype);
    }
    if (key == "shape")
      return reader_.wrong(
          token.extent.offset,
          what + " is " + std::string(json_kind_name(token.kind)) + " and not an array");
    if (key == "data_name") return take_file(token, what, tensor.file);
    if (key == "md5") return take_text(token, what, tensor.checksum);
    std::optional<double>* const number = key == "Max"    ? &tensor.max
                                          : key == "Min"  ? &tensor.min
                                          : key == "Mean" ? &tensor.mean
                                          : key == "Norm" ? &tensor.norm
                                                          : nullptr;
    return number == nullptr ? reader_.skip(token) : take_number(token, what, *number);
  }

  // The gradient of a parameter is the only item of a list, so its name has no index.
  Status take_array(const std::string& name) {
    const bool of_parameter = call_.contains(".parameters_grad");
    for (std::uint64_t i = 0;; ++i) {
      BTF_ASSIGN(const JsonToken token, reader_.next());
      if (token.kind == JsonKind::array_end) return {};
      const std::string item = of_parameter && i == 0 ? name : concat(name, ".", i);
      if (token.kind == JsonKind::object_begin)
        BTF_TRY(take_object(token, item, false));
      else if (token.kind == JsonKind::array_begin)
        BTF_TRY(take_array(item));
      else
        BTF_TRY(reader_.skip(token));
    }
  }

  Status take_text(const JsonToken& token, const std::string& what, std::string& text) const {
    if (token.kind != JsonKind::string)
      return reader_.wrong(
          token.extent.offset,
          what + " is " + std::string(json_kind_name(token.kind)) + " and not a string");
    if (!token.complete) return reader_.wrong(token.extent.offset, what + " is too long");
    text = token.text;
    return {};
  }

  // All files are in one folder, wherever it was when the dump was written.
  Status take_file(const JsonToken& token, const std::string& what, std::string& file) const {
    BTF_TRY(take_text(token, what, file));
    if (file == "-1") {  // older releases wrote this if there is no file
      file.clear();
      return {};
    }
    if (file.empty() || file == "." || file == ".." || file.contains('/') || file.contains('\0'))
      return reader_.wrong(token.extent.offset,
                           what + ", '" + json_shown(file) + "', is not a file name");
    return {};
  }

  // Accepts strings too, since some releases wrote numbers that JSON cannot represent as strings.
  Status take_number(const JsonToken& token, const std::string& what,
                     std::optional<double>& number) const {
    const auto wrong = [&](const std::string& how) {
      return reader_.wrong(token.extent.offset, what + how);
    };
    if (token.kind == JsonKind::boolean) {
      number = token.text == "true" ? 1 : 0;
      return {};
    }
    if (token.kind != JsonKind::number && token.kind != JsonKind::string)
      return wrong(" is " + std::string(json_kind_name(token.kind)) + " and not a number");
    std::string text(token.text);
    std::ranges::transform(text, text.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    std::string_view digits = text;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    double value = 0;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value);
    if (read.ec == std::errc::result_out_of_range && read.ptr == end)
      return wrong(", " + json_shown(token.text) + ", is beyond float64");
    if (digits.empty() || read.ec != std::errc() || read.ptr != end)
      return wrong(", '" + json_shown(token.text) + "', is not a number");
    number = value;
    return {};
  }

  // A member whose value no tensor has.
  struct MistypedMember {
    std::uint64_t tensor = 0;  // where the object begins
    std::uint64_t offset = 0;
    std::string text;
  };

  const ByteSource& source_;
  JsonReader reader_;
  ProbeDump dump_;
  bool listed_ = false;
  std::string call_;  // the current call
  ProbePart part_{};
  std::optional<MistypedMember> mistyped_;  // the last one of an object that may be a tensor
};

// The path of the module that a call belongs to, with the direction: "layers.0.mlp forward".
std::string module_of(std::string_view tensor) {
  for (const std::string_view kind : {"Module.", "Cell."}) {
    if (!tensor.starts_with(kind)) continue;
    for (const std::string_view way : {".forward.", ".backward."}) {
      const std::size_t at = tensor.rfind(way);
      if (at == tensor.npos) continue;
      const std::size_t type = tensor.rfind('.', at - 1);
      if (type == tensor.npos || type < kind.size()) return {};
      return std::string(tensor.substr(kind.size(), type - kind.size())) + " " +
             std::string(way.substr(1, way.size() - 2));
    }
  }
  return {};
}

// The caller of each call, according to construct.json. If it is missing or damaged, names of
// modules show which contain which.
std::unordered_map<std::string, std::string> callers_in(const ByteSource* construct) {
  if (construct == nullptr || construct->size() > kLongest) return {};
  JsonReader reader(*construct, {0, construct->size()},
                    {.finding = "msprobe-dump", .whole = "the construct.json", .python = true});
  std::unordered_map<std::string, std::string> callers;
  const auto take_all = [&]() -> Status {
    BTF_TRY(reader.expect(JsonKind::object_begin, "it"));
    return reader.members([&](const JsonToken& name) -> Status {
      const std::string call = name.complete ? std::string(name.text) : "";
      BTF_ASSIGN(const JsonToken caller, reader.next());
      if (caller.kind == JsonKind::string && caller.complete && !call.empty())
        callers.emplace(call, caller.text);
      return reader.skip(caller);
    });
  };
  if (!take_all()) return {};
  return callers;
}

// Sorts tensors by the time at which they were computed. A module's call is written when it ends,
// after the calls in it, but its inputs existed before them.
class Ordering {
 public:
  explicit Ordering(ProbeDump& dump) : calls_(dump.calls), tensors_(dump.tensors) {}

  void run(const std::unordered_map<std::string, std::string>& callers) {
    find_first_calls(callers);
    std::vector<std::size_t> order(tensors_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [this](std::size_t i) { return place_of(tensors_[i]); });
    put(after_producers(order));
  }

 private:
  using Place = std::tuple<std::uint64_t, int, std::uint64_t>;

  // A module begins before the first call in it.
  void find_first_calls(const std::unordered_map<std::string, std::string>& callers) {
    std::unordered_map<std::string, std::uint64_t> numbers;
    std::unordered_map<std::string, std::vector<std::uint64_t>> of_modules;  // ascending
    for (std::uint64_t i = 0; i < calls_.size(); ++i) {
      numbers.emplace(calls_[i], i);
      if (const std::string module = module_of(calls_[i]); !module.empty())
        of_modules[module].push_back(i);
    }
    for (std::uint64_t i = 0; i < calls_.size(); ++i) {
      note_callers(i, callers, numbers);
      note_modules(i, of_modules);
    }
  }

  void note_callers(std::uint64_t call, const std::unordered_map<std::string, std::string>& callers,
                    const std::unordered_map<std::string, std::uint64_t>& numbers) {
    auto caller = callers.find(calls_[call]);
    for (std::size_t depth = 0; caller != callers.end() && depth < kDeepestModule; ++depth) {
      const auto number = numbers.find(caller->second);
      if (number != numbers.end() && number->second > call)
        first_call_in_.emplace(number->second, call);
      caller = callers.find(caller->second);
    }
  }

  void note_modules(std::uint64_t call,
                    const std::unordered_map<std::string, std::vector<std::uint64_t>>& of_modules) {
    const std::string module = module_of(calls_[call]);
    const std::size_t way = std::min(module.rfind(' '), module.size());
    std::size_t dot = module.find('.');
    for (std::size_t depth = 0; dot < way && depth < kDeepestModule; ++depth) {
      const auto around = of_modules.find(module.substr(0, dot) + module.substr(way));
      dot = module.find('.', dot + 1);
      if (around == of_modules.end()) continue;
      const auto next = std::ranges::upper_bound(around->second, call);
      if (next != around->second.end()) first_call_in_.emplace(*next, call);
    }
  }

  Place place_of(const ProbeTensor& tensor) const {
    // What a call receives comes before everything that is computed at its place.
    constexpr int kBefore = 0;
    constexpr int kAtCall = 1;
    const auto begin = first_call_in_.find(tensor.call);
    if (tensor.part != ProbePart::output && begin != first_call_in_.end())
      // Of several that begin here, the outermost ends last.
      return {begin->second, kBefore, std::numeric_limits<std::uint64_t>::max() - tensor.call};
    return {tensor.call, kAtCall + static_cast<int>(tensor.part), 0};
  }

  // The input of a call is usually another call's output. It is placed directly after that output,
  // not after what was computed in between.
  std::vector<std::size_t> after_producers(const std::vector<std::size_t>& order) {
    std::unordered_map<std::string, std::size_t> makers;
    // Position of the producer, the tensor.
    std::vector<std::pair<std::size_t, std::size_t>> groups;
    groups.reserve(order.size());
    for (std::size_t at = 0; at < order.size(); ++at) {
      ProbeTensor& tensor = tensors_[order[at]];
      const std::string key = key_of(tensor);
      const auto found = key.empty() ? makers.end() : makers.find(key);
      std::size_t maker = at;
      if (tensor.part == ProbePart::input && found != makers.end()) {
        maker = found->second;
        tensor.from_outside = tensors_[order[maker]].part == ProbePart::weight;
      } else {
        if (!key.empty()) makers.insert_or_assign(key, at);
        tensor.from_outside = tensor.part == ProbePart::input && tensor.call > 0 && outputs_;
      }
      groups.emplace_back(maker, order[at]);
    }
    std::ranges::stable_sort(groups, {}, &std::pair<std::size_t, std::size_t>::first);
    std::vector<std::size_t> placed;
    placed.reserve(groups.size());
    for (const auto& [maker, tensor] : groups) placed.push_back(tensor);
    return placed;
  }

  // Empty if too few statistics are known to distinguish tensors.
  static std::string key_of(const ProbeTensor& tensor) {
    const bool constant = tensor.max && tensor.min && *tensor.max == *tensor.min;
    const bool has_statistics = tensor.max && tensor.min && tensor.mean && tensor.norm;
    if (constant || (!has_statistics && tensor.checksum.empty())) return {};
    std::string key = tensor.dtype + dims_text(tensor.dims) + "#" + tensor.checksum;
    for (const auto& number : {tensor.max, tensor.min, tensor.mean, tensor.norm})
      key += "," + (number ? std::to_string(std::bit_cast<std::uint64_t>(*number)) : "");
    return key;
  }

  void put(const std::vector<std::size_t>& order) {
    std::vector<ProbeTensor> sorted;
    sorted.reserve(order.size());
    for (const std::size_t i : order) sorted.push_back(std::move(tensors_[i]));
    tensors_ = std::move(sorted);
  }

  const std::vector<std::string>& calls_;
  std::vector<ProbeTensor>& tensors_;
  // Without outputs, inputs from outside cannot be distinguished from others.
  bool outputs_ =
      std::ranges::find(tensors_, ProbePart::output, &ProbeTensor::part) != tensors_.end();
  std::unordered_map<std::uint64_t, std::uint64_t> first_call_in_;  // by call, if any is within it
};

}  // namespace

std::string_view role_of(const ProbeTensor& tensor) {
  if (tensor.part == ProbePart::weight) return "weight";
  return tensor.from_outside ? "outside" : "";
}

std::string cut_off_text(const std::string& path, const ProbeDump& dump) {
  return concat(path, " is cut off after ", dump.tensors.size(),
                dump.tensors.size() == 1 ? " tensor" : " tensors", "; the rest is unknown");
}

bool begins_as_msprobe_dump(std::string_view start) {
  return start.contains("\"data\"") &&
         (start.contains("\"dump_data_dir\"") ||
          (start.contains("\"task\"") && start.contains("\"level\"")));
}

Result<ProbeDump> read_msprobe_dump(const ByteSource& source, const ByteSource* construct) {
  if (source.size() > kLongest)
    return malformed("msprobe-dump", 0, "the dump.json has ", source.size(), " bytes; at most ",
                     kLongest, " are read");
  BTF_ASSIGN(ProbeDump dump, DumpReader(source).read());
  Ordering(dump).run(callers_in(construct));
  return dump;
}

}  // namespace btf
