# The line of a tensor says what does not agree of NaN and Inf, and of a cause as much as there is room for.
needs python3 -c 'import numpy'
python3 - <<'END'
import numpy as np
rng = np.random.default_rng(1)
golden = {name: rng.standard_normal((4, 5, 3)).astype("f4") for name in ("scaled", "nan", "both")}
actual = {name: values.copy() for name, values in golden.items()}
actual["scaled"] *= np.float32(1.5)
golden["nan"][0, 1, 2] = actual["nan"][0, 1, 2] = np.nan
golden["nan"][2, 3, 0] = actual["nan"][2, 3, 0] = np.inf
actual["nan"][3, 4, 1] = np.nan
golden["both"][1, 1, 1] = actual["both"][1, 1, 1] = np.nan
np.savez("golden.npz", **golden)
np.savez("actual.npz", **actual)
END
for columns in 120 80 64 40; do COLUMNS=$columns btftool diff actual.npz golden.npz | head -n 4; done
COLUMNS=120 btftool diff --no-hints actual.npz golden.npz | head -n 4
