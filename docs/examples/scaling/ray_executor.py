"""Ray as the executor of `btf.batch`:

    import btf, ray
    from ray_executor import RayExecutor

    ray.init()  # a cluster if RAY_ADDRESS names one, else this machine
    report = btf.batch.diff("out", "golden", close=True, executor=RayExecutor(), part="run.jsonl")

Workers see the same paths and can import btf. A worker that dies is tried again by Ray, three times.
"""

import concurrent.futures

import ray


class RayExecutor(concurrent.futures.Executor):
    def __init__(self, **options):
        """`options`: of `ray.remote`; num_cpus, resources."""
        self._call = ray.remote(**{"num_cpus": 1, "max_retries": 3} | options)(lambda work, *given: work(*given))

    def submit(self, fn, /, *given):
        return self._call.remote(fn, *given).future()

    def shutdown(self, wait=True, *, cancel_futures=False):
        """Ray goes on for others."""
