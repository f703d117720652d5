# tensor_summary.json of trtexec stands for the files that it names, in the order of execution.
mkdir dump
python3 - <<'END'
import struct, json
files = {"0000_in_put.raw": struct.pack("<4f", 1, 2, 3, 4), "0001_conv_1.raw": struct.pack("<2e", 0.5, -1),
         "0002_q.raw": bytes([0xf1]), "mine.bin": struct.pack("<q", 7), "0004_odd.raw": b"12"}
for name, data in files.items():
    open("dump/" + name, "wb").write(data)
open("dump/0001_conv_1.str", "w").write("0.5, -1")
def tensor(name, kind, shape, **files):
    return {"name": name, "shape": shape, "type": kind, "statistics": {"min": "nan", "max": 1.5, "avg": "-inf", "elements": "4"}, "files": files}
tensors = [tensor("in/put", "FLOAT", [1, 4], raw="/tmp/elsewhere/0000_in_put.raw"),
           tensor('conv"1:0', "HALF", [2], raw="0001_conv_1.raw", string="0001_conv_1.str", assigned=None),
           tensor("q", "INT4", [2], raw="0002_q.raw"),
           tensor("scalar", "INT64", [], assigned="mine.bin"),
           tensor("odd", "COMPLEX", [2], raw="0004_odd.raw"),
           tensor("nowhere", "FLOAT", [2])]
text = json.dumps({"metadata": {"title": "Debug Tensor Summary"}, "tensors": tensors}, indent=2)
open("dump/tensor_summary.json", "w").write(text)
import os
os.makedirs("cut")
open("cut/tensor_summary.json", "w").write(text[:text.index("\"q\"") + 90])
END
cp dump/*.raw dump/*.bin cut/
btftool inspect --values dump/tensor_summary.json; echo "exit $?"
echo "== the directory, with what the summary does not name"
btftool inspect dump | grep -v '#'; echo "exit ${PIPESTATUS[0]}"
btftool inspect --tensor 'conv"1:0,in/put' --values cut/tensor_summary.json; echo "exit $?"
btftool convert --tensor in/put,scalar cut/tensor_summary.json out.btf && btftool inspect --json out.btf | tr ',' '\n' | grep '"name"'
btftool validate cut/tensor_summary.json; echo "exit $?"
btftool validate --strict cut/tensor_summary.json >strict; echo "exit $?"
echo "== summaries that are none"
while IFS= read -r text; do
  printf '%s' "$text" >tensor_summary.json
  btftool inspect tensor_summary.json; echo "exit $?"
done <<'TEXTS'
{"metadata":{}}
{"tensors":[{"name":"x","type":"FLOAT","shape":[1],"files":{"raw":".."}}]}
{"tensors":[{"name":"x","type":"FLOAT","shape":[-1],"files":{"raw":"x.raw"}}]}
{"tensors":[{"type":"FLOAT","shape":[1],"files":{"raw":"x.raw"}}]}
{"tensors":[{"name":"x","type":"FLOAT","shape":[18446744073709551616],"files":{"raw":"x.raw"}}]}
{"tensors":[{"name":"x","type":"FLOAT","shape":[1],"files":{"raw":"x.raw"}}]} x
{"tensors":
TEXTS
exit 0
