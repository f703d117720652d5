# JSON of Polygraphy: outputs and inputs, read where they stand, and written as Polygraphy would.
cat >make.py <<'END'
import base64, io, json, struct, zipfile

def npy(descr, shape, data):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, tuple(shape))
    text += " " * ((-(10 + len(text) + 1)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data

def array(data, old=False):
    mark = {"__polygraphy_encoded_ndarray": "polygraphy_serialized_json_type"} if old else {"polygraphy_class": "ndarray"}
    return {"array": base64.b64encode(data).decode(), **mark}

def lazy(data, name="LazyArray"):
    return {"values": array(data), "polygraphy_class": name}

def iteration(outputs, runner):
    return {"outputs": outputs, "runtime": float("nan"), "runner_name": runner, "polygraphy_class": "IterationResult"}

def results(runners):
    return {"lst": [[name, [iteration(o, name) for o in its]] for name, its in runners], "polygraphy_class": "RunResults"}

floats = lambda *v: npy("<f4", [len(v)], struct.pack("<%df" % len(v), *v))
def save(name, value, **how):
    open(name, "w").write(json.dumps(value, indent=4, **how))

save("one.json", results([("trt-runner", [{"z": lazy(floats(1, 2)), "a/b:0": lazy(npy(">i2", [1], b"\x01\x02"), "LazyNumpyArray"), "empty": lazy(npy("<f8", [0], b""))}])]))
save("many.json", results([("trt", [{"y": lazy(floats(1))}, {"y": lazy(floats(2))}]), ("onnxrt", [{"y": lazy(floats(3))}, {"y": lazy(floats(4, 5))}])]))
save("inputs.json", [{"x": array(floats(1, 2, 3)), "n": array(npy("<i8", [1], struct.pack("<q", -5)))}])
archive = io.BytesIO()
with zipfile.ZipFile(archive, "w") as z:
    z.writestr("arr_0.npy", floats(9))
save("old.json", [{"x": array(archive.getvalue(), old=True)}])
save("foreign.json", results([("r", [{"t": {"values": {"tensor": "gAI=", "polygraphy_class": "Tensor"}, "polygraphy_class": "LazyArray"},
  "v": {"values": {"array": array(npy("|i1", [4], b"1234")), "shape": [1, 3], "polygraphy_class": "FormattedArray"}, "polygraphy_class": "LazyArray"}, "ok": lazy(floats(1))}])]))
END
python3 make.py
btftool inspect --values one.json
btftool inspect - <one.json | tail -n 3
btftool inspect --values many.json
btftool inspect --values inputs.json
btftool inspect --values old.json
echo "== as Polygraphy 0.53.6 writes them"
btftool inspect --values "$TESTDATA/polygraphy/outputs.json" "$TESTDATA/polygraphy/inputs.json"
btftool validate "$TESTDATA"/polygraphy/*.json
echo "== what is no array of NumPy is listed"
btftool inspect foreign.json; echo "exit $?"
btftool convert foreign.json out.btf; echo "exit $?"
btftool convert --tensor ok foreign.json out.btf; echo "exit $?"
echo "== written"
btftool convert --format polygraphy one.json written.json && btftool diff one.json written.json; echo "exit $?"
btftool convert --format polygraphy-inputs inputs.json again.json && cmp again.json inputs.json && echo "the inputs are the same"
btftool convert --format polygraphy inputs.json - | cat
btftool convert --format polygraphy --dtype bf16 inputs.json no.json; echo "exit $?"
btftool convert --format polygraphy --tensor x --dtype bf16 --as-uint inputs.json - | btftool inspect -
btftool convert inputs.json no.json; echo "exit $?"
python3 - <<'END'
import base64, json
for name, read in (("written.json", lambda d: d["lst"][0][1][0]["outputs"]), ("again.json", lambda d: d[0])):
    for key, value in read(json.load(open(name))).items():
        text = value.get("values", value)["array"]
        print(name, key, len(base64.b64decode(text, validate=True)))
END
echo "== what is wrong is said"
while IFS= read -r text; do
  printf '%b' "$text" >bad.json
  btftool inspect --values bad.json; echo "exit $?"
done <<'TEXTS'
[{"x":{"array":"AAA","polygraphy_class":"ndarray"}}]
[{"x":{"array":"AA*=","polygraphy_class":"ndarray"}}]
[{"x":{"array":"AAB=","polygraphy_class":"ndarray"}}]
[{"x":{"array":"=AAA","polygraphy_class":"ndarray"}}]
[{"x":{"array":"","polygraphy_class":"ndarray"}}]
[{"x":{"array":"AA\\\\/A","polygraphy_class":"ndarray"}}]
[{"x":{"array":3,"polygraphy_class":"ndarray"}}]
[{"x":{"polygraphy_class":"Algorithm"}}]
[{"x":{"array":"","polygraphy_class":"ndarray"},"x":{"array":"","polygraphy_class":"ndarray"}}]
[{"x":{"array":"AAAA","polygraphy_class":"ndarray"}}
{"polygraphy_class":"RunResults"}
TEXTS
head -c 400 one.json >cut.json; btftool inspect cut.json; echo "exit $?"
exit 0
