// Values of a network on demand: stored numbers are read, others are computed element by element,
// within bounds.
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

// How much has been computed, and why nothing more can be.
struct Effort {
  std::uint64_t terms = 0;       // elements read or computed so far
  std::uint64_t most_terms = 0;  // the limit
  unsigned depth = 0;            // operators that wait for others
  std::string trouble{};         // why further results are NaN; empty if there is no obstacle
  bool ran_out = false;          // the limit was reached
};

// Finds the dumped numbers of a value; unset if it was not dumped.
using FindStored = std::function<Result<std::optional<StoredNumbers>>(std::uint32_t value)>;

// The number that is used instead of an element's.
using ChangeNumber = std::function<double(std::uint64_t number, double value)>;

// How a node reads the numbers of an input; an empty function if unchanged.
using ChangeReading = std::function<ChangeNumber(std::uint32_t node, std::uint32_t value)>;

// Evaluates one layer. Cheap to create; the network must outlive it.
class Evaluation {
 public:
  // `most_terms`: the limit for each arithmetic.
  Evaluation(const Network& network, FindStored stored, std::uint64_t most_terms);
  ~Evaluation();

  // The value as its node computes it, even if it is stored. Fails with the reason if that is
  // impossible.
  Result<Tensor*> computed(std::uint32_t value);
  // The operator that computes a node's outputs. Fails with the reason if that is impossible.
  Result<Operator*> made_operator(std::uint32_t node);
  // The stored value if there is one, else the computed one.
  Result<Tensor*> tensor(std::uint32_t value);
  // Computes the value from now on, even if it is stored. Must be called before the value is used.
  void leave_out(std::uint32_t value);
  // Uses other numbers for the value. Must be called before the value is used.
  void replace(std::uint32_t value, StoredNumbers numbers);

  // Changes the value's numbers wherever they are read. Must be called before the value is used.
  void change(std::uint32_t value, ChangeNumber by);
  // Calls `by` for each input of each node. Must be called before any operator is made.
  void change_readings(ChangeReading by);

  // Sets the arithmetic. What was computed with another one is kept until that is set again.
  void set(const Arithmetic& arithmetic);

  // Names of the operators that computed something.
  std::vector<std::string> operators() const;

  // With the current arithmetic.
  const Effort& effort() const { return now_->effort; }
  // Over all arithmetics: the total of terms, the terms of the one that took most, and whether any
  // reached its limit.
  std::uint64_t all_terms() const;
  std::uint64_t most_terms_taken() const;
  bool ran_out() const;

  // The first read error. The source of the numbers has recorded it too.
  const std::optional<Error>& unread() const { return unread_; }

 private:
  class StoredTensor;
  class ComputedTensor;
  class ChangedTensor;
  struct NodeState {  // of a node
    Attributes attributes;
    std::unique_ptr<Tensor> value;                  // the tensor among the attributes
    std::vector<std::unique_ptr<Tensor>> readings;  // inputs that it reads changed
    std::unique_ptr<Operator> op;
    std::string trouble;  // why it cannot be computed
  };

  // What was computed with one arithmetic; operators keep their sums.
  struct Computation {
    Arithmetic arithmetic{};
    Effort effort{};
    std::map<std::uint32_t, NodeState> states{};
    std::map<std::uint32_t, std::unique_ptr<Tensor>> values{};
    std::map<std::uint32_t, std::unique_ptr<Tensor>> changed{};
  };

  Result<Tensor*> unchanged(std::uint32_t value);
  // Keeps the first read error.
  void keep_read_error(const Error& error);
  Result<NodeState*> node_state(std::uint32_t node);
  // Products of recurrent layers, in all arithmetics together.
  bool take_products(std::uint64_t count);
  Status make(std::uint32_t node, NodeState& state);

  const Network& network_;
  FindStored stored_;
  std::uint64_t most_terms_;
  std::uint64_t products_left_;
  std::uint64_t products_ = 0;
  std::optional<Error> unread_;
  std::vector<std::unique_ptr<Computation>> computations_;
  Computation* now_ = nullptr;  // one of computations_
  std::map<std::uint32_t, std::unique_ptr<Tensor>> tensors_;
  std::map<std::uint32_t, bool> recomputed_;
  std::map<std::uint32_t, ChangeNumber> changes_;
  ChangeReading change_readings_;
};

}  // namespace btf::network
