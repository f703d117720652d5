# Files of other kinds are called by their names, and what is neither known nor BTF may be raw bytes.
kind() {
  printf "$2" >"$1"
  btftool inspect "$1"; echo "exit $?"
}
kind m.h5 '\x89HDF\r\n\x1a\n'
kind image.png '\x89PNG\r\n\x1a\n'
kind image.jpg '\xff\xd8\xff\xe0'
kind paper.pdf '%%PDF-1.7\n'
kind program '\x7fELF\x02\x01\x01'
kind out.npy.gz '\x1f\x8b\x08\0'
kind out.xz '\xfd7zXZ\0'
kind model.tflite '\x1c\0\0\0TFL3\0\0\0\0'
kind model.ort '\x18\0\0\0ORTM\0\0\0\0'
kind model.engine 'ftrt\0\0\0\0\0\0\0\1'
kind dump.pkl '\x80\x04\x95\x10\0\0\0\0\0\0\x01}\x94.'
kind old.pt '\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e'
kind model.mlmodel '\x08\x05\x12\xff\xff\xff\xff\xff'
kind values.txt '1.0 2.0 3.0\n'
kind other.json '{"a": [1, 2]}\n'
kind profile.json '[\n{ "count" : 10 }\n, { "name" : "conv", "timeMs" : 1.5 }\n]\n'
kind layers.json '{"Layers": ["a"]}\n'
kind times.json '[\n{ "startEnqMs" : 0.1 }\n]\n'
kind junk.bin '\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8'
kind junk.btf '\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8'
kind model.pte '\x1c\0\0\0ET12\0\0\0\0'
python3 - <<'END'
import zipfile
for name, member in (("m.keras", "model.weights.h5"), ("m.pt2", "m/archive_format")):
    with zipfile.ZipFile(name, "w") as archive:
        archive.writestr(member, b"x")
END
btftool inspect m.keras; echo "exit $?"
btftool inspect m.pt2; echo "exit $?"
btftool validate m.h5; echo "exit $?"
btftool convert m.h5 out.btf; echo "exit $?"
btftool diff m.h5 "$TESTDATA/good/mixed.btf"; echo "exit $?"
btftool inspect - <image.png; echo "exit $?"
# Those of other tools, each by its first bytes, its structure or its name.
mkdir tools && cd tools
python3 - <<'END'
import pickle, struct
u32, u64 = (lambda *n: struct.pack(f"<{len(n)}I", *n)), (lambda *n: struct.pack(f"<{len(n)}Q", *n))

def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    crc ^= 0xffffffff
    return u32(((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff)

def record(data):
    return u64(len(data)) + crc32c(u64(len(data))) + data + crc32c(data)

floats = struct.pack("<6f", *range(6))
vector = u32(4) + bytes(16)
many = bytes(4096)
for name, data in {
    "tensor.pb": b"\x08\x01\x12\x04\x12\x02\x08\x02\x22\x08" + bytes(8),
    "tensor": b"\x08\x01\x12\x04\x12\x02\x08\x02\x22\x08" + bytes(8),
    "saved_model.pb": b"\x08\x01\x12\x04\x0a\x02\x0a\0",
    "frozen.pb": b"\x0a\x14\x0a\x05input\x12\x0bPlaceholder",
    "model.ckpt.data-00000-of-00002": floats,
    "model.ckpt.index": b"\0\0\x1a\x08\x02\x1a\x02\x08\x01" + bytes(40),
    "train.tfrecord": record(b"x" * 24) + record(b"y" * 300),
    "events.out.tfevents.1700000000.host": record(b"z" * 24) + record(b"y" * 300),
    "model.pdiparams": bytes(16) + u32(6) + b"\x08\x05\x10\x02\x10\x03" + floats,
    "weights": bytes(16) + u32(6) + b"\x08\x05\x10\x02\x10\x03" + floats,
    "model.pdmodel": b"\x0a\x02\x08\x01",
    "model.pdparams": b"\x80\x04\x95" + bytes(8),
    "net.param": b"7767517\n3 3\nInput data 0 1 data\n",
    "net.param.bin": u32(7767517, 3, 3),
    "net.bin": bytes(4) + floats,
    "net16.bin": u32(0x01306b47) + floats,
    "ir.xml": b'<?xml version="1.0"?>\n<net name="n" version="11">\n</net>\n',
    "ir.bin": floats,
    "model.mnn": b"\x1c\0\0\0" + floats,
    "flax_model.msgpack": b"\x81\xa6params\x80",
    "mx.params": u64(0x112, 0, 1) + many,
    "net.caffemodel": b"\x0a\x03net\xa2\x06\x00",
    "v5.mat": b"MATLAB 5.0 MAT-file, Platform: x".ljust(128),
    "v73.mat": b"MATLAB 7.3 MAT-file, Platform: x".ljust(512) + b"\x89HDF\r\n\x1a\n",
    "v4.mat": u32(0, 2, 3, 0, 2) + b"x\0" + bytes(48),
    "train-images-idx3-ubyte": b"\0\0\x08\x03" + struct.pack(">3I", 2, 3, 4) + bytes(24),
    "a.fvecs": vector * 300, "a.ivecs": vector * 300, "a.bvecs": (u32(8) + bytes(8)) * 300,
    "m.rknn": b"RKNN" + bytes(60),
    "m.tnnproto": b'"1 2 1 4206624772 ,"\n" data 3 1 3 224 224 ,"\n',
    "m.tnnmodel": u32(0xfabc0004, 1),
    "yolo.weights": u32(0, 2, 5) + u64(32013312) + floats,
    "a.joblib": b"\x80\x04\x95\x10\0\0\0\0\0\0\0\x8c\x13joblib.numpy_pickle\x94.",
    "arrays.pkl": b"\x80\x04\x95\x10\0\0\0\0\0\0\0\x8c\x16numpy._core.multiarray\x94.",
    "old.ggml": b"tjgg" + u32(3),
    "trtexec.log": b"&&&& RUNNING TensorRT.trtexec [TensorRT v101200] # trtexec --onnx=m.onnx\n",
    "trtexec.txt": b"[11/25/2026-10:00:00] [I] Output Tensors:\n[11/25/2026-10:00:00] [I] y: (1x2)\n[11/25/2026-10:00:00] [I] 0.5 1\n",
    "out.json": b"[11/25/2026-10:00:00] [I] === Model Options ===\n",
    "trt.log": b"[11/25/2026-10:00:00] [W] [TRT] a warning\n",
    "polygraphy.log": b"[I] RUNNING | Command: polygraphy run m.onnx\n",
}.items():
    open(name, "wb").write(data)
END
for file in $(LC_ALL=C ls); do
  btftool inspect $file; echo "$file: exit $?"
done
