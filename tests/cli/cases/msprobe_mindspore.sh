# MindSpore's form: Cell, Float32, .npy; a weight without statistics, a tensor that msprobe could not write, NaN
# as a string. Modules are told by names where there is no construct.json.
python3 - <<'END'
import json, os, struct
def npy(path, numbers, dims):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % "".join(f"{d}," for d in dims)
    head += " " * (117 - len(head)) + "\n"
    open(path, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(numbers)}f", *numbers))
def norm(numbers):
    return sum(n * n for n in numbers) ** 0.5
def tensor(folder, name, numbers):
    npy(f"{folder}/{name}.npy", numbers, [len(numbers)])
    return {"type": "mindspore.Tensor", "dtype": "Float32", "shape": [len(numbers)], "Max": max(numbers), "Min": min(numbers),
            "Mean": sum(numbers) / len(numbers), "Norm": norm(numbers), "data_name": name + ".npy"}
for side, factor in (("golden", 1), ("actual", 3)):
    folder = f"{side}/dump_tensor_data"
    os.makedirs(folder)
    x = [0.1 * i - 0.8 for i in range(24)]
    data = {}
    def call(name, given, gives, weight=None):
        entry = {"input_args": [tensor(folder, name + ".input.0", given), {"type": "int", "value": 3}, None], "input_kwargs": {}}
        entry["output"] = [tensor(folder, name + ".output.0", gives)]
        if weight:
            entry["parameters"] = {"weight": tensor(folder, name + ".parameters.weight", weight)}
        data[name] = entry
    a = [n + 0.5 for n in x]
    w = [0.25 * i + 1 for i in range(24)]
    # The layer z.1, in 'z', is wrong; 'a' comes last.
    b = [n * m * factor for n, m in zip(a, w)]
    c = [n * n for n in b]
    call("Cell.z.0.Bias.forward.0", x, a)
    call("Cell.z.1.Mul.forward.0", a, b, w)
    call("Cell.z.Net.forward.0", x, b)
    call("Cell.a.Square.forward.0", b, c)
    data["Cell.a.Square.forward.0"]["output"].append(
        {"type": "mindspore.Tensor", "dtype": "Float32", "shape": [0], "Max": None, "Min": None, "Mean": None, "Norm": None, "data_name": "Cell.a.Square.forward.0.output.1.npy"})
    json.dump({"task": "tensor", "level": "L0", "framework": "mindspore", "dump_data_dir": folder, "data": data}, open(f"{side}/dump.json", "w"))
END
btftool layers --all actual golden | grep -v limit; echo "exit ${PIPESTATUS[0]}"
echo "== a file that is not there is trouble"
rm actual/dump_tensor_data/Cell.z.0.Bias.forward.0.output.0.npy
btftool layers actual golden | head -1; echo "exit ${PIPESTATUS[0]}"
