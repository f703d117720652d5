// A JSON document that is written as it becomes known, by the rules of json.h: who writes it thinks
// of members and lists, and never of commas.
#pragma once

#include <string>
#include <string_view>

#include "report/text/json.h"

namespace btf::report {

class JsonDocument {
 public:
  // An object: the document itself, or the next item of the list that is open.
  JsonDocument& begin_object();
  // A member of the open object.
  JsonDocument& begin_list(std::string_view name);
  // Closes the object or array that was opened last.
  JsonDocument& end();

  // All members of this object become members of the one that is open.
  JsonDocument& members(const Json& object);
  JsonDocument& item(const Json& value);
  // Appends ready JSON: one item, or several separated by commas.
  JsonDocument& items(std::string_view json);

  // The text written since the last call, and its size in bytes.
  std::string take();
  std::size_t size() const { return text_.size(); }

 private:
  void separate();

  std::string text_;
  std::string open_;   // the brackets that close what is open
  bool first_ = true;  // nothing stands in what was opened last
};

}  // namespace btf::report
