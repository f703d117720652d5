// One dump: which of its tensors are which values of the network, and their numbers.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "btf/tensor_set.h"
#include "fit/measure/numbers.h"
#include "network/evaluation.h"
#include "network/network.h"

namespace btf {

struct DumpedTensor {
  std::string name;
  SetTensor place;
  std::uint32_t value = network::kNoValue;  // of the network
  bool twice = false;                       // none of them is the network's for sure
};

// For several threads at once, once it is listed.
class Dump {
 public:
  // `network`: nullptr, where there is none; it outlives the dump. What cannot be read is put into `troubles`.
  static Result<Dump> list(TensorSet& set, const network::Network* network,
                           std::vector<std::string>& troubles);

  const TensorSet& set() const { return set_; }
  const std::vector<DumpedTensor>& tensors() const { return tensors_; }
  // nullptr: the value was not dumped.
  const DumpedTensor* find(std::uint32_t value) const;
  // The size of its numbers, as they are stored; 0: they cannot be used.
  std::uint64_t bytes(const DumpedTensor& tensor) const;
  // An error: why its numbers cannot be used.
  Result<network::StoredNumbers> open(const DumpedTensor& tensor) const;
  // The numbers of a value that was not dumped, computed from those that were, if they are few. Each
  // is computed once, from what the values before it came to: a chain of them costs no more than its
  // nodes. Nothing: there are many; an error: why they cannot be computed.
  Result<std::optional<network::StoredNumbers>> computed(std::uint32_t value) const;
  // Errors of reading its tensors, whatever was made of them.
  std::vector<std::string> read_troubles() const { return troubles_->texts(); }
  // Such an error of another process.
  void note(const Error& error) const { troubles_->note(error); }

 private:
  class Computed;
  Dump(TensorSet& set, const network::Network* network);
  void match(const network::Network& network, std::vector<std::string>& troubles);
  Result<network::StoredNumbers> open_locked(const DumpedTensor& tensor) const;

  TensorSet& set_;
  std::vector<DumpedTensor> tensors_;
  std::unordered_map<std::uint32_t, std::size_t> by_value_;
  std::unique_ptr<std::mutex> mutex_;
  std::shared_ptr<ReadTroubles> troubles_ = std::make_shared<ReadTroubles>();
  std::shared_ptr<Computed> computed_;  // with a network
};

// For evaluations of nodes; the dump outlives it.
network::FindStored stored_in(const Dump& dump);

inline constexpr std::uint64_t kMostTerms = 1U << 24;  // elements read or computed for one node
// Those for all values that were not dumped, together: each has the same part of them, whoever
// computes it and when, and at least kLeastTermsOfValue.
inline constexpr std::uint64_t kTermsOfValues = 1U << 28;
inline constexpr std::uint64_t kLeastTermsOfValue = 1U << 18;

}  // namespace btf
