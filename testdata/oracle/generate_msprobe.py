"""generate_msprobe.py DIRECTORY: has msprobe (mindstudio-probe 26.2.0, with torch 2.13.0) dump two runs of a small network, as they
are in testdata/msprobe: one as it is, and one with a row of a weight that is 1.7 times what it should be.

Each dump is a process of its own: msprobe takes one configuration.
"""

import json
import os
import shutil
import subprocess
import sys

KINDS = {  # folder: task, level, what is summed up
    "tensors": ("tensor", "L0", "statistics"),
    "statistics": ("statistics", "mix", "md5"),
    "checksums": ("statistics", "L0", "xor"),
}


def dump(kind, side, folder):
    import torch
    from msprobe.pytorch import PrecisionDebugger

    class Block(torch.nn.Module):
        def __init__(self, size):
            super().__init__()
            self.norm = torch.nn.LayerNorm(size)
            self.mlp = torch.nn.Sequential(torch.nn.Linear(size, 2 * size), torch.nn.GELU(), torch.nn.Linear(2 * size, size))

        def forward(self, x):
            return x + self.mlp(self.norm(x))

    class Net(torch.nn.Module):
        def __init__(self, size=16, count=2):
            super().__init__()
            self.stem = torch.nn.Linear(6, size)
            self.layers = torch.nn.ModuleList([Block(size) for _ in range(count)])
            self.head = torch.nn.Linear(size, 5)

        def forward(self, x):
            x = torch.relu(self.stem(x))
            for layer in self.layers:
                x = layer(x)
            return torch.softmax(self.head(x), -1)

    torch.manual_seed(0)
    net = Net().eval()
    x = torch.randn(4, 6)
    task, level, mode = KINDS[kind]
    options = {"scope": [], "list": [], "data_mode": ["forward"], "summary_mode": mode}
    with open(folder + ".json", "w") as file:
        json.dump({"task": task, "dump_path": folder, "rank": [], "step": [], "level": level, task: options}, file)
    debugger = PrecisionDebugger(config_path=folder + ".json")
    with torch.no_grad():
        if side == "row":
            net.layers[1].mlp[2].weight[5] *= 1.7
        debugger.start(model=net)
        net(x)
        debugger.stop()
        debugger.step()


def main():
    root = sys.argv[1]
    for kind in KINDS:
        for side in ("golden", "row"):
            made = os.path.join(root, f"{kind}.{side}")
            subprocess.run([sys.executable, __file__, kind, side, made], check=True)
            run = os.path.join(made, "step0")
            rank = os.path.join(root, kind, side, "step0", "rank0")
            shutil.move(os.path.join(run, os.listdir(run)[0]), rank)
            with open(os.path.join(rank, "dump.json")) as file:
                said = json.load(file)
            if said["dump_data_dir"]:
                said["dump_data_dir"] = "/home/npu/dump/step0/rank0/dump_tensor_data"
            with open(os.path.join(rank, "dump.json"), "w") as file:
                json.dump(said, file, indent=1)
            with open(os.path.join(rank, "stack.json"), "w") as file:
                file.write("{}")
            shutil.rmtree(made)
            os.remove(made + ".json")


if __name__ == "__main__":
    if len(sys.argv) == 4:
        dump(*sys.argv[1:])
    else:
        main()
