"""page.py OUT.npy: a picture with rows of dark strokes on white, as of letters, in the shape that the network takes."""

import sys

import numpy as np

rng = np.random.default_rng(7)
page = np.full((1, 3, 48, 192), 0.9) + rng.normal(size=(1, 3, 48, 192)) / 30
for x in range(6, 178, 12):
    for y in range(14, 34, 5):
        if rng.random() < 0.6:
            page[:, :, y:y + 2, x:x + 8] = -0.9
np.save(sys.argv[1], page.astype(np.float32))
