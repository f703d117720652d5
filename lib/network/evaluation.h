// Values of a network on demand: read where they are stored, computed from there on, an element at
// a time and within bounds.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "btf/error.h"
#include "network/network.h"
#include "network/node.h"
#include "network/operators/table.h"

namespace btf::network {

// The amount that has been computed, and why nothing more is.
struct Effort {
  std::uint64_t terms = 0;       // so far: elements that were read or computed
  std::uint64_t most_terms = 0;  // more are not
  unsigned depth = 0;            // operators that wait for others
  std::string trouble{};         // why what follows is NaN; empty: nothing was in the way
  bool ran_out = false;          // that is the number of terms
};

// Where the dumped values are. Nothing: this one was not dumped.
using FindStored = std::function<Result<std::optional<StoredNumbers>>(std::uint32_t value)>;

// The number that is read in place of an element's.
using ChangeNumber = std::function<double(std::uint64_t number, double value)>;

// How a node reads the numbers of an input; an empty function: as they are.
using ChangeReading = std::function<ChangeNumber(std::uint32_t node, std::uint32_t value)>;

// The evaluation of one layer: small, made and left behind. The network outlives it.
class Evaluation {
 public:
  // `most_terms`: by the same half steps.
  Evaluation(const Network& network, FindStored stored, std::uint64_t most_terms);
  ~Evaluation();

  // The value as its node computes it, even if it is stored too. An error: why that cannot be.
  Result<Tensor*> computed(std::uint32_t value);
  // The operator that computes a node's outputs. An error: why that cannot be.
  Result<Operator*> made_operator(std::uint32_t node);
  // As it is stored; else as it is computed.
  Result<Tensor*> tensor(std::uint32_t value);
  // Takes the value as its node computes it from now on, whatever is stored. Before it is used.
  void leave_out(std::uint32_t value);
  // Reads it from elsewhere. Before it is used.
  void replace(std::uint32_t value, StoredNumbers numbers);

  // Takes the value's numbers changed, wherever they are read. Before it is used.
  void change(std::uint32_t value, ChangeNumber by);
  // Asks for each input of each node how that node reads it. Before anything is made.
  void change_readings(ChangeReading by);

  // Half steps from now on. What was computed by other ones is kept for when they are set again.
  void set(const Arithmetic& arithmetic);

  // Names of the operators that something was computed by.
  std::vector<std::string> operators() const;

  // By these half steps.
  const Effort& effort() const { return now_->effort; }
  // Of all half steps: the terms together, those of the one that took most, and whether any ran
  // out.
  std::uint64_t all_terms() const;
  std::uint64_t most_terms_taken() const;
  bool ran_out() const;

  // The first error of reading what was asked for; whoever gave the numbers has noted it, too.
  const std::optional<Error>& unread() const { return unread_; }

 private:
  class Stored;
  class Computed;
  class Changed;
  struct Made {  // a node
    Attributes attributes;
    std::unique_ptr<Tensor> value;                  // the tensor among them
    std::vector<std::unique_ptr<Tensor>> readings;  // inputs that it reads changed
    std::unique_ptr<Operator> op;
    std::string trouble;  // why it cannot be computed
  };

  // By one arithmetic: operators keep what they have summed up.
  struct Computation {
    Arithmetic arithmetic{};
    Effort effort{};
    std::map<std::uint32_t, Made> made{};
    std::map<std::uint32_t, std::unique_ptr<Tensor>> values{};
    std::map<std::uint32_t, std::unique_ptr<Tensor>> changed{};
  };

  Result<Tensor*> unchanged(std::uint32_t value);
  // Keeps an error of reading.
  void see(const Error& error);
  Result<Made*> made(std::uint32_t node);
  Status make(std::uint32_t node, Made& made);

  const Network& network_;
  FindStored stored_;
  std::uint64_t most_terms_;
  std::optional<Error> unread_;
  std::vector<std::unique_ptr<Computation>> computations_;
  Computation* now_ = nullptr;  // one of them
  std::map<std::uint32_t, std::unique_ptr<Tensor>> tensors_;
  std::map<std::uint32_t, bool> left_out_;
  std::map<std::uint32_t, ChangeNumber> changes_;
  ChangeReading change_readings_;
};

}  // namespace btf::network
