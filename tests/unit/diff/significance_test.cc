#include <catch2/catch.hpp>
#include <cmath>

#include "diff/hints/evidence/agreements.h"

TEST_CASE("causes: ways to choose some of several, as Pascal's triangle counts them") {
  double row[21][21] = {};
  for (int n = 0; n <= 20; ++n)
    for (int k = 0; k <= n; ++k)
      row[n][k] = k == 0 || k == n ? 1 : row[n - 1][k - 1] + row[n - 1][k];
  for (int n = 0; n <= 20; ++n)
    for (int k = 0; k <= n; ++k)
      CHECK(btf::hints::log2_choices(n, k) == Approx(std::log2(row[n][k])).margin(1e-9));
}
