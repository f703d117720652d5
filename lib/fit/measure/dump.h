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
  // `network`: nullptr, where there is none. What cannot be read is put into `troubles`.
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
  // Errors of reading its tensors, whatever was made of them.
  std::vector<std::string> read_troubles() const { return troubles_->texts(); }
  // Such an error of another process.
  void note(const Error& error) const { troubles_->note(error); }

 private:
  explicit Dump(TensorSet& set) : set_(set), mutex_(std::make_unique<std::mutex>()) {}
  void match(const network::Network& network, std::vector<std::string>& troubles);
  Result<network::StoredNumbers> open_locked(const DumpedTensor& tensor) const;

  TensorSet& set_;
  std::vector<DumpedTensor> tensors_;
  std::unordered_map<std::uint32_t, std::size_t> by_value_;
  std::unique_ptr<std::mutex> mutex_;
  std::shared_ptr<ReadTroubles> troubles_ = std::make_shared<ReadTroubles>();
};

// For evaluations of nodes; the dump outlives it.
network::FindStored stored_in(const Dump& dump);

inline constexpr std::uint64_t kMostTerms = 1U << 24;  // of values that are computed for one node

}  // namespace btf
