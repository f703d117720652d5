// One flat JSON object, written member by member: for what comes by the million. By the same rules
// as json.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "btf/layout.h"
#include "io/json.h"

namespace btftool {

class JsonText {
 public:
  // Names, and texts unless they are given as Json, are written as they are: nothing to escape.
  JsonText& add(std::string_view name, std::uint64_t number);
  JsonText& add(std::string_view name, std::string_view text);
  JsonText& add(std::string_view name, const btf::Dims& dims);
  JsonText& add(std::string_view name, const Json& value);
  JsonText& add_bool(std::string_view name, bool value);
  JsonText& add_null(std::string_view name);

  // The whole object; valid until begin().
  std::string_view end();
  void begin() { text_ = "{"; }

 private:
  void name(std::string_view name);
  void number(std::uint64_t number);

  std::string text_ = "{";
};

}  // namespace btftool
