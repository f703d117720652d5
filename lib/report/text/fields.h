// Describes the members of reported structs once, for writing them as JSON and for reading them
// back. A struct is described by a specialisation of Fields, whose visit() names its members in the
// order of the report:
//
//   template <>
//   struct Fields<NanCount> {
//     static void visit(auto& fields, auto& nan) {
//       fields("both", nan.both);
//       fields("actual", nan.actual);
//       fields("golden", nan.golden);
//     }
//     // Optional: fails `node` if what was read contradicts itself.
//     static void check(const JsonNode& node, const NanCount& nan);
//   };
//
// json_of(nan) writes such a struct, read(node, nan) reads it.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "btf/diff.h"
#include "btf/dtype.h"
#include "report/text/json.h"

namespace btf::report {

template <typename T>
struct Fields;

// The function that returns the names of an enumeration in JSON. It is specialised for each.
template <typename E>
inline constexpr std::span<const Named<E>> (*kNames)() = nullptr;
template <>
inline constexpr auto kNames<PairTier> = btf::pair_tier_names;

template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <typename T, std::size_t N>
inline constexpr bool kIsList<std::array<T, N>> = true;

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// In visit(): whether `fields` reads, as in `if constexpr (kReads<decltype(fields)>)`.
template <typename F>
inline constexpr bool kReads = std::remove_reference_t<F>::kReading;

template <typename T>
Json json_of(const T& value);
template <typename T>
void read(const JsonNode& node, T& value);

Json object_of(auto&& visit);
void read_object(const JsonNode& node, auto&& visit);
inline Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

// Visits the members of a struct to write them.
class FieldWriter {
 public:
  static constexpr bool kReading = false;

  // A member that every report has. An unset std::optional is null.
  void operator()(const char* name, const auto& value) { put(name, json_of(value)); }
  // The same for a number, or an optional one, that is neither NaN nor below 0.
  void amount(const char* name, const auto& value) { put(name, json_of(value)); }
  // A list of counts of any length; without this, a list of counts is an index or a shape.
  void counts(const char* name, const auto& list) { put(name, json_of(list)); }
  // A text or an object whose empty or unset value is null.
  void or_null(const char* name, const std::string& text) { put(name, text_or_null(text)); }
  // A member that reports by earlier versions lack: then it keeps its default.
  void added(const char* name, const auto& value) { put(name, json_of(value)); }
  void added_amount(const char* name, const auto& value) { put(name, json_of(value)); }
  void added_or_null(const char* name, const std::string& text) { or_null(name, text); }
  // A member that is left out if it has its default: false, 0, empty or unset.
  template <typename T>
  void if_set(const char* name, const T& value) {
    if constexpr (kIsOptional<T>) {
      if (value) put(name, json_of(*value));
    } else if constexpr (requires { value.empty(); }) {
      if (!value.empty()) put(name, json_of(value));
    } else {
      if (value != T{}) put(name, json_of(value));
    }
  }
  // A member that is computed from others, and therefore not read.
  void derived(const char* name, auto&& make) { put(name, Json(make())); }
  // An object whose members are visited by `visit`.
  void object(const char* name, auto&& visit) { put(name, object_of(visit)); }
  // A member with its own form in JSON: make(value) returns it, take(node, value) reads it.
  void custom(const char* name, const auto& value, auto&& make, auto&&) {
    put(name, Json(make(value)));
  }
  // The same for a member that is left out unless `present`.
  void custom_if(bool present, const char* name, const auto& value, auto&& make, auto&&) {
    if (present) put(name, Json(make(value)));
  }

  void layout(Layout layout) { add_layout(json_, "", layout); }
  // All members of an object.
  void members(Json&& object) {
    for (auto& [name, value] : object.get_ref<Json::object_t&>()) put(name, std::move(value));
  }

  void put(const std::string& name, Json json) {
    json_.get_ref<Json::object_t&>().emplace_back(name, std::move(json));
  }
  Json take() { return std::move(json_); }

 private:
  Json json_ = Json::object();
};

// Visits the members of a struct to read them.
class FieldReader {
 public:
  static constexpr bool kReading = true;

  explicit FieldReader(const JsonNode& node) : node_(node) {}

  void operator()(const char* name, auto& value) { read(node_[name], value); }
  template <typename T>
  void amount(const char* name, T& value) {
    const JsonNode found = node_[name];
    if constexpr (kIsOptional<T>) {
      if (found.null())
        value.reset();
      else
        value = found.amount();
    } else {
      value = found.amount();
    }
  }
  template <typename T>
  void counts(const char* name, std::vector<T>& list) {
    node_[name].each([&](const JsonNode& item) {
      if (item.failed()) return;
      if constexpr (std::same_as<T, std::uint64_t>)
        list.push_back(item.count());
      else
        list.push_back(static_cast<T>(item.integer(0, std::numeric_limits<T>::max())));
    });
  }
  void or_null(const char* name, std::string& text) {
    const JsonNode found = node_[name];
    text = found.null() ? std::string() : found.text();
  }
  void added(const char* name, auto& value) {
    if (node_.has(name)) operator()(name, value);
  }
  void added_amount(const char* name, auto& value) {
    if (node_.has(name)) amount(name, value);
  }
  void added_or_null(const char* name, std::string& text) {
    if (node_.has(name)) or_null(name, text);
  }
  template <typename T>
  void if_set(const char* name, T& value) {
    if (!node_.has(name)) return;
    if constexpr (kIsOptional<T>)
      read(node_[name], value.emplace(typename T::value_type{}));
    else
      read(node_[name], value);
  }
  void derived(const char*, auto&&) {}
  void object(const char* name, auto&& visit) { read_object(node_[name], visit); }
  void custom(const char* name, auto& value, auto&&, auto&& take) { take(node_[name], value); }
  void custom_if(bool, const char* name, auto& value, auto&&, auto&& take) {
    if (node_.has(name)) take(node_[name], value);
  }

  const JsonNode& node() const { return node_; }

 private:
  const JsonNode& node_;
};

// An object whose members are visited by `visit`.
Json object_of(auto&& visit) {
  FieldWriter fields;
  visit(fields);
  return fields.take();
}
void read_object(const JsonNode& node, auto&& visit) {
  FieldReader fields(node);
  visit(fields);
}

template <typename T>
std::string name_in(std::span<const Named<T>> names, T value) {
  return std::string(std::ranges::find(names, value, &Named<T>::value)->name);
}

template <typename T>
Json json_of(const T& value) {
  if constexpr (std::same_as<T, bool> || std::same_as<T, std::string> || std::signed_integral<T>) {
    return value;
  } else if constexpr (std::floating_point<T>) {
    return json_number(value);
  } else if constexpr (std::unsigned_integral<T>) {
    return json_number(std::uint64_t{value});
  } else if constexpr (std::same_as<T, DType>) {
    return std::string(btf::info(value).name);
  } else if constexpr (std::is_enum_v<T>) {
    return name_in(kNames<T>(), value);
  } else if constexpr (kIsOptional<T>) {
    return value ? json_of(*value) : Json();
  } else if constexpr (kIsList<T>) {
    Json list = Json::array();
    for (const auto& item : value) list.push_back(json_of(item));
    return list;
  } else {
    FieldWriter fields;
    Fields<T>::visit(fields, value);
    return fields.take();
  }
}

// Reads the name of a value of an enumeration.
template <typename T>
void read_name(const JsonNode& node, std::span<const Named<T>> names, T& value) {
  const std::string name = node.text();
  const auto row = std::ranges::find(names, name, &Named<T>::name);
  if (row != names.end()) {
    value = row->value;
    return;
  }
  std::string known;
  for (const auto& one : names) known += (known.empty() ? "" : ", ") + std::string(one.name);
  node.fail("is not one of " + known);
}

template <typename T>
void read(const JsonNode& node, T& value) {
  if constexpr (std::same_as<T, bool>) {
    value = node.flag();
  } else if constexpr (std::same_as<T, std::string>) {
    value = node.text();
  } else if constexpr (std::floating_point<T>) {
    value = node.number();
  } else if constexpr (std::same_as<T, std::uint64_t>) {
    value = node.count();
  } else if constexpr (std::integral<T>) {
    value = static_cast<T>(
        node.integer(std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()));
  } else if constexpr (std::same_as<T, DType>) {
    if (const auto found = btf::parse_dtype(node.text()))
      value = *found;
    else
      node.fail("is not a dtype");
  } else if constexpr (std::is_enum_v<T>) {
    read_name(node, kNames<T>(), value);
  } else if constexpr (kIsOptional<T>) {
    value.reset();
    // The argument is for a nested struct whose defaults clang does not know yet in its outer one.
    if (!node.null()) read(node, value.emplace(typename T::value_type{}));
  } else if constexpr (std::same_as<T, Dims>) {
    value = node.dims();
  } else if constexpr (kIsList<T>) {
    std::size_t at = 0;
    node.each([&](const JsonNode& item) {
      if (item.failed()) return;
      if constexpr (requires { value.emplace_back(); }) {
        read(item, value.emplace_back());
      } else {
        if (at < value.size()) read(item, value[at]);
        ++at;
      }
    });
  } else {
    FieldReader fields(node);
    Fields<T>::visit(fields, value);
    if constexpr (requires { Fields<T>::check(node, value); })
      if (!node.failed()) Fields<T>::check(node, value);
  }
}

// Reads the struct of a node.
template <typename T>
T read(const JsonNode& node) {
  T value{};
  read(node, value);
  return value;
}

// The members that several reports share.

template <>
struct Fields<NanCount> {
  static void visit(auto& fields, auto& nan) {
    fields("both", nan.both);
    fields("actual", nan.actual);
    fields("golden", nan.golden);
  }
};

template <>
struct Fields<InfCount> {
  static void visit(auto& fields, auto& inf) {
    fields("both", inf.both);
    fields("opposite", inf.opposite);
    fields("actual", inf.actual);
    fields("golden", inf.golden);
  }
};

template <>
struct Fields<SaturatedCount> {
  static void visit(auto& fields, auto& count) {
    fields("actual", count.actual);
    fields("golden", count.golden);
  }
};

template <>
struct Fields<Hint> {
  static void visit(auto& fields, auto& hint) {
    fields.custom("cause", hint, cause_name, read_cause);
    fields("evidence", hint.evidence);
  }

 private:
  static std::string cause_name(const Hint& hint) {
    return hint.other_cause.empty() ? std::string(btf::cause_name(hint.cause)) : hint.other_cause;
  }
  // The report of a newer version may name a cause that is not known here.
  static void read_cause(const JsonNode& node, Hint& hint) {
    const std::string name = node.text();
    if (name.empty()) return node.fail("is empty");
    const auto names = btf::cause_names();
    const auto row = std::ranges::find(names, name, &Named<Cause>::name);
    if (row == names.end())
      hint.other_cause = name;
    else
      hint.cause = row->value;
  }
};

}  // namespace btf::report
