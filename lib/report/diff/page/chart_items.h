// The tensors as the chart of a comparison shows them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace btf::report {

// Where tensors are very many, of each few the worst is kept.
class ChartItems {
 public:
  // `error`: of all elements, by golden; below 0: not known. `title` is HTML, asked for only if the
  // tensor is kept; `mark`: "plain", "root" or "dump".
  void add(const std::function<std::string()>& title, const char* mark, double error);

  std::string html() const;

 private:
  struct Item {
    std::string title;
    const char* mark = "plain";
    double error = -1;

    double rank() const { return (mark == std::string_view("plain") ? 0 : 1e300) + error; }
  };

  void halve();

  std::vector<Item> items_;
  std::uint64_t number_ = 0;  // of the next
  std::uint64_t each_ = 1;    // so many are one item
};

}  // namespace btf::report
