// Handles of the C interface that close themselves, and structures with their size.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "btf/btf.h"

namespace capi {

struct Close {
  void operator()(btf_file* file) const { btf_close(file); }
  void operator()(btf_writer* writer) const { btf_writer_free(writer); }
  void operator()(btf_set* set) const { btf_set_close(set); }
  void operator()(btf_layers* layers) const { btf_layers_free(layers); }
  void operator()(btf_report* report) const { btf_report_free(report); }
};
using File = std::unique_ptr<btf_file, Close>;
using Writer = std::unique_ptr<btf_writer, Close>;
using Set = std::unique_ptr<btf_set, Close>;
using Layers = std::unique_ptr<btf_layers, Close>;
using Report = std::unique_ptr<btf_report, Close>;

inline const std::string kMixed = BTF_TESTDATA_DIR "/good/mixed.btf";

template <typename Struct>
Struct sized() {
  Struct empty{};
  empty.size = sizeof(Struct);
  return empty;
}

inline File open(const std::string& path) {
  File file(btf_open(path.c_str()));
  REQUIRE(file);
  return file;
}

inline Set open_set(const std::vector<const char*>& paths) {
  Set set(btf_set_open(paths.data(), paths.size()));
  INFO(btf_last_error());
  REQUIRE(set);
  return set;
}

inline btf_array array_of(const void* data, std::uint64_t bytes, const char* dtype,
                          const std::vector<std::uint64_t>& dims) {
  auto array = sized<btf_array>();
  array.data = data;
  array.bytes = bytes;
  array.dtype = dtype;
  array.rank = dims.size();
  array.dims = dims.data();
  return array;
}

// One tensor of floats in a file.
inline void save(const std::string& path, const std::vector<float>& values) {
  const Writer writer(btf_writer_new());
  const std::vector<std::uint64_t> dims{values.size()};
  const auto array = array_of(values.data(), values.size() * 4, "float32", dims);
  REQUIRE(btf_writer_add(writer.get(), &array, nullptr) == BTF_OK);
  REQUIRE(btf_writer_save(writer.get(), path.c_str(), nullptr, nullptr) == BTF_OK);
}

}  // namespace capi
