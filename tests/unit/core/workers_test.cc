// Where threads may run once they are started.
#include <sched.h>

#include <catch2/catch.hpp>
#include <latch>
#include <vector>

#include "core/resources.h"

namespace {

cpu_set_t usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  REQUIRE(::sched_getaffinity(0, sizeof(set), &set) == 0);
  return set;
}

// What each of three workers may use once all are started.
std::vector<cpu_set_t> cpus_of_workers() {
  std::vector<cpu_set_t> found(3);
  for (cpu_set_t& set : found) CPU_ZERO(&set);
  std::latch started(1);
  btf::Workers workers;
  workers.start(3, [&](unsigned worker) {
    started.wait();
    ::sched_getaffinity(0, sizeof(cpu_set_t), &found[worker - 1]);
  });
  started.count_down();
  workers.join();
  return found;
}

}  // namespace

TEST_CASE("workers: may use the CPUs of the thread that starts them") {
  const cpu_set_t all = usable_cpus();
  for (const cpu_set_t& cpus : cpus_of_workers()) CHECK(CPU_EQUAL(&cpus, &all));
}

TEST_CASE("workers: stay on the one CPU that the process may use") {
  const cpu_set_t all = usable_cpus();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  REQUIRE(::sched_setaffinity(0, sizeof(one), &one) == 0);
  const auto found = cpus_of_workers();
  REQUIRE(::sched_setaffinity(0, sizeof(all), &all) == 0);
  for (const cpu_set_t& cpus : found) CHECK(CPU_EQUAL(&cpus, &one));
}
