"""What NumPy needs for the same work, file to file.

  peers.py cast|hwc|chw32|diff IN.npy [OUT.npy or OTHER.npy]
"""
import sys

import numpy

job, path, other = sys.argv[1], sys.argv[2], sys.argv[3]
data = numpy.load(path)
if job == "cast":
    numpy.save(other, data.astype(numpy.float16))
elif job == "hwc":
    numpy.save(other, numpy.ascontiguousarray(data.transpose(0, 2, 3, 1)))
elif job == "chw32":
    n, c, h, w = data.shape
    numpy.save(other, numpy.ascontiguousarray(data.reshape(n, c // 32, 32, h, w).transpose(0, 1, 3, 4, 2)))
elif job == "diff":
    sys.exit(0 if numpy.allclose(data, numpy.load(other)) else 1)
else:
    sys.exit(2)
