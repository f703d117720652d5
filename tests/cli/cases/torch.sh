# Files of torch.save: read by a machine that runs nothing, whatever the pickle says.
cp "$TESTDATA"/torch/* .
btftool inspect --values views.pt types.pth nested.bin single.pt
btftool inspect - <nested.bin | tail -n 1
btftool validate views.pt types.pth nested.bin single.pt
btftool convert views.pt views.btf && btftool diff views.pt views.btf; echo "exit $?"
btftool convert --tensor transposed --dtype fp16 views.pt t.npy && btftool inspect --values t.npy
echo "== what is no dense tensor is listed"
btftool inspect odd.pt; echo "exit $?"
btftool validate odd.pt; echo "exit $?"
btftool convert --tensor sound odd.pt sound.btf && btftool inspect sound.btf
btftool convert --tensor complex odd.pt x.btf; echo "exit $?"
for file in module.pt old.pt script.pt; do btftool inspect $file; echo "exit $?"; done
btftool convert --format torch views.btf x.pt; echo "exit $?"

echo "== hostile pickles"
cat >make.py <<'END'
import pickle, struct, sys, zipfile

def text(s):
    return b"X" + struct.pack("<I", len(s)) + s.encode()

def integer(n):
    return b"J" + struct.pack("<i", n) if -2**31 <= n < 2**31 else b"\x8a" + bytes([(n.bit_length() + 8) // 8]) + n.to_bytes((n.bit_length() + 8) // 8, "little", signed=True)

def storage(kind="FloatStorage", key="0", size=4):
    return b"(" + text("storage") + b"ctorch\n" + kind.encode() + b"\n" + text(key) + text("cpu") + integer(size) + b"tQ"

def sizes(*values):
    return b"(" + b"".join(map(integer, values)) + b"t"

def tensor(store=None, offset=0, dims=(4,), strides=(1,), more=b""):
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + (store or storage()) + integer(offset) + sizes(*dims) + sizes(*strides) + b"\x89" + b"}" + more + b"tR"

def state(*items):
    return b"\x80\x02}(" + b"".join(text(k) + v for k, v in items) + b"u."

def one(**how):
    return state(("x", tensor(**how)))

def save(name, data, members=((("data/0"), struct.pack("<4f", 1, 2, 3, 4)),), method=zipfile.ZIP_STORED, extra=()):
    with zipfile.ZipFile(name + ".pt", "w", method) as z:
        z.writestr("a/data.pkl", data)
        for key, value in members:
            z.writestr("a/" + key, value)
        for key, value in extra:
            z.writestr(key, value)

class Run:
    def __reduce__(self):
        return (print, ("this was run",))

save("sound", one())
save("deflated", one(), method=zipfile.ZIP_DEFLATED)
save("big", one(), members=(("data/0", struct.pack(">4f", 1, 2, 3, 4)), ("byteorder", b"big")))
save("runs-code", pickle.dumps({"x": Run()}, 2))
save("code-beside", state(("evil", b"cos\nsystem\n" + text("touch ran") + b"\x85R"), ("x", tensor())))
save("not-that-order", one(), members=(("data/0", b"\0" * 16), ("byteorder", b"middle")))
save("no-storage", one(), members=())
save("storage-short", one(), members=(("data/0", b"\0" * 15),))
save("storage-long", one(), members=(("data/0", b"\0" * 17),))
save("numel-wraps", one(store=storage(size=2**62)))
save("offset-out", one(offset=1))
save("offset-negative", one(offset=-1))
save("offset-wraps", one(offset=2**63 - 1))
save("stride-out", one(dims=(2, 2), strides=(4, 1)))
save("stride-negative", one(strides=(-1,)))
save("stride-0", one(strides=(0,)))
save("dims-wrap", one(dims=(2**33, 2**33), strides=(1, 1)))
save("dims-wrap-empty", one(dims=(0, 2**40, 2**40), strides=(1, 1, 1)))
save("ranks-differ", one(dims=(2, 2)))
save("long-255", b"\x80\x02\x8a\xff" + b"\x7f" * 255 + b".")
save("opcode", b"\x80\x02\x93.")
save("no-stop", one()[:-1])
save("behind-stop", one() + one())
save("text-long", b"\x80\x02X\xff\xff\xff\xff.")
save("stack-empty", b"\x80\x02R.")
save("mark-missing", b"\x80\x02t.")
save("memo-missing", b"\x80\x02j\xff\xff\xff\xff.")
save("memo-far", b"\x80\x02}r\xff\xff\xff\xff0."[:-2] + b".")
save("item-of-int", b"\x80\x02K\x01" + text("k") + text("v") + b"s.")
save("append-to-dict", b"\x80\x02}" + text("v") + b"a.")
save("odd-items", b"\x80\x02}(" + text("k") + b"u.")
save("left-over", b"\x80\x02}}.")
save("cycle", b"\x80\x02}q\x00" + text("me") + b"h\x00s" + text("x") + tensor() + b"s.")
save("bomb", b"\x80\x02()q\x00" + b"".join(b"h%ch%c\x86q%c" % (i, i, i + 1) for i in range(60)) + b"t.")
save("many-opcodes", b"\x80\x02(" + b"N" * 5_000_000 + b"t.", method=zipfile.ZIP_DEFLATED)
save("path", one(store=storage(key="../x")), extra=(("x", b"\0" * 16),))
save("two-pickles", one(), extra=(("b/data.pkl", one()),))
save("empty", b"")
save("not-utf8", b"\x80\x02X\x01\0\0\0\xff.")
save("storage-unnamed", state(("x", tensor(store=b"(" + text("storage") + b"tQ"))))
save("parameter-of-itself", state(("x", b"ctorch._utils\n_rebuild_parameter\n(K\x01\x89}tR")))
save("untyped", one(store=b"(" + text("storage") + b"ctorch.storage\nUntypedStorage\n" + text("0") + text("cpu") + integer(16) + b"tQ"))
END
python3 make.py
for file in sound deflated big; do btftool inspect --values $file.pt | tail -n 1; done
btftool inspect code-beside.pt
ulimit -v 262144
for file in runs-code not-that-order no-storage storage-* numel-wraps offset-* stride-* dims-* ranks-differ long-255 opcode no-stop behind-stop text-long \
  stack-empty mark-missing memo-* item-of-int append-to-dict odd-items left-over cycle bomb many-opcodes path two-pickles empty not-utf8 storage-unnamed \
  parameter-of-itself untyped; do
  for found in ${file%.pt}.pt; do
    echo "-- $found: $(btftool convert "$found" out.btf 2>&1; echo "exit $?")"
  done
done
[ ! -e ran ] && echo "nothing was run"
exit 0
