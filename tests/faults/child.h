// A program run under limits, with faults, for a limited time.
#pragma once

#include <string>
#include <vector>

#include "faults/orders.h"

namespace faults {

struct Limits {
  long address_space = -1;  // bytes; -1: no limit
  long processes = -1;      // of user 65534, who runs the program then
  long file_size = -1;
};

struct Run {
  std::vector<std::string> arguments = {};  // the program first
  std::string directory = {};               // where it runs
  std::string input = {};                   // a file that it reads through a pipe, else /dev/null
  std::string out = {};                     // a file for its standard output
  std::string shim = {};                    // LD_PRELOAD; empty: none
  std::string orders_file = {};
  std::string temporary = {};  // TMPDIR
  Limits limits = {};
  unsigned seconds = 30;
  long kill_after_us = -1;
};

struct Outcome {
  int code = -1;
  int signal = 0;        // SIGALRM: it hung
  std::string err = {};  // what it says on standard error, as much of it as a pipe holds
};

Outcome run(const Run& what);

// The orders in a file, which programs that run with the shim share.
class SharedOrders {
 public:
  explicit SharedOrders(std::string path);
  SharedOrders(const SharedOrders&) = delete;
  SharedOrders& operator=(const SharedOrders&) = delete;
  ~SharedOrders();

  // Forgets what was said before.
  void give(const fault_orders& orders) { *orders_ = orders; }
  const fault_orders& read() const { return *orders_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  fault_orders* orders_;
};

}  // namespace faults
