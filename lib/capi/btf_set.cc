// Sets of files.
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "btf/tensor_set.h"
#include "btf/try.h"
#include "capi/handles.h"

namespace btf::capi {
namespace {

Status check_member(const btf_set& set, std::uint64_t member) {
  const std::uint64_t count = set.set.member_count();
  if (member < count) return {};
  return wrong("there is no member " + std::to_string(member) + ", the set has " +
               std::to_string(count));
}

}  // namespace
}  // namespace btf::capi

using namespace btf::capi;

extern "C" {

btf_set* btf_set_open(const char* const* paths, size_t count) {
  btf_set* opened = nullptr;
  guarded(nullptr, [&]() -> btf::Status {
    if (paths == nullptr || count == 0 || std::ranges::count(paths, paths + count, nullptr) > 0)
      return wrong("no path");
    const std::vector<std::string> all(paths, paths + count);
    auto set = count == 1 ? btf::TensorSet::open(all.front()) : btf::TensorSet::open(all);
    if (!set) return std::unexpected(std::move(set).error());
    opened = new btf_set(*std::move(set));
    return {};
  });
  return opened;
}

void btf_set_close(btf_set* set) { delete set; }

const char* btf_set_error(const btf_set* set) { return set == nullptr ? "" : set->error.c_str(); }

uint64_t btf_set_member_count(const btf_set* set) {
  return set == nullptr ? 0 : set->set.member_count();
}

btf_status btf_set_member(btf_set* set, uint64_t member, btf_member_info* info) {
  return with_handle(set, [&]() -> btf::Status {
    if (info == nullptr) return wrong("no room for the information");
    BTF_TRY(check_member(*set, member));
    const btf::SetMember& known =
        set->members.try_emplace(member, set->set.member(member)).first->second;
    return give(info, {.size = 0,
                       .path = known.path.c_str(),
                       .place = known.place.c_str(),
                       .bytes = set->set.bytes(member)});
  });
}

btf_file* btf_set_file(btf_set* set, uint64_t member) {
  btf_file* opened = nullptr;
  with_handle(set, [&]() -> btf::Status {
    BTF_TRY(check_member(*set, member));
    BTF_ASSIGN(auto file, set->set.file(member));
    opened = new btf_file(std::move(file));
    return {};
  });
  return opened;
}

btf_status btf_set_tensor_count(btf_set* set, uint64_t* count) {
  return with_handle(set, [&]() -> btf::Status {
    if (count == nullptr) return wrong("no room for the number");
    BTF_ASSIGN(*count, set->set.tensor_count());
    return {};
  });
}

btf_status btf_set_tensor(btf_set* set, uint64_t number, uint64_t* member, uint64_t* index) {
  return with_handle(set, [&]() -> btf::Status {
    BTF_ASSIGN(const btf::SetTensor tensor, set->set.tensor(number));
    if (member != nullptr) *member = tensor.member;
    if (index != nullptr) *index = tensor.index;
    return {};
  });
}

btf_status btf_set_select(btf_set* set, const char* selection, uint64_t* numbers, size_t capacity,
                          uint64_t* count) {
  return with_handle(set, [&]() -> btf::Status {
    if (selection == nullptr) return wrong("no selection");
    if (count == nullptr || (numbers == nullptr && capacity > 0))
      return wrong("no room for the numbers");
    BTF_ASSIGN(const std::vector<std::uint64_t> found, set->set.select(selection));
    std::ranges::copy_n(found.begin(),
                        static_cast<std::ptrdiff_t>(std::min(capacity, found.size())), numbers);
    *count = found.size();
    return {};
  });
}
}
