// One HTML page of the tensors of a set: a table that sorts and is searched, a histogram of each
// tensor, a strip of its channels. It needs no other file.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "btf/api.h"
#include "btf/file.h"
#include "btf/inspect/channels.h"
#include "btf/inspect/distribution.h"
#include "btf/report/page_origin.h"
#include "btf/stats.h"

namespace btf {

// What is known of a tensor; the page leaves out what is not.
struct InspectedTensor {
  std::optional<TensorStats> stats{};
  std::optional<Distribution> distribution{};
  std::optional<Channels> channels{};
  std::string trouble{};  // why something is not known
};

// Keeps the text of the page, some 2 to 5 KB a tensor, and nothing else.
class BTF_API InspectPage {
 public:
  InspectPage();
  ~InspectPage();
  InspectPage(InspectPage&&) noexcept;
  InspectPage& operator=(InspectPage&&) noexcept;

  // Tensors that follow are of this file.
  void begin(const TensorFile& file);
  void take(const TensorInfo& tensor, const InspectedTensor& known);
  // The trouble of a tensor or a file that could not be read.
  void trouble(const std::string& message);

  // The whole page; `title` is what was asked for, such as a path.
  std::string finish(const std::string& title, const PageOrigin& origin = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace btf
