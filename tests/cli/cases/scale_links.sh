# A scale belongs to codes by a node or a name, never by its place among named tensors; what has no link is refused, and what could be it is named.
needs python3 -c 'import numpy'
python3 - <<'END'
import json
import struct
import numpy as np

def safetensors(path, tensors):
    header, data = {}, b""
    for name, (dtype, array) in tensors.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)

codes = np.arange(-6, 6, dtype=np.int8).reshape(3, 4)
np.savez("latency.npz", output=codes, latency_ms=np.float32(1.25))
np.savez("amax.npz", **{"fc.weight": codes, "fc.weight_quantizer._amax": np.float32(3)})
np.savez("activation.npz", **{"fc.weight": codes, "fc.activation_scaling_factor": np.float32(9), "fc.weights_scaling_factor": np.float32(0.5)})
np.savez("ort.npz", w1_scale=np.float32(0.5), w1_quantized=codes, w2_scale=np.float32(7), w2_quantized=codes)
np.savez("two.npz", **{"w": codes, "w_scale": np.float32(0.5), "w.scale": np.float32(2)})
np.savez("alone.npz", x_scale=np.float32(0.5), x_zero_point=np.int8(-13))
np.savez("half.npz", **{"fc.weight": codes * np.float32(0.5)})
np.savez("halves.npz", w1_quantized=codes * np.float32(0.5), w2_quantized=codes * np.float32(7))
safetensors("bytes.safetensors", {"m.weight": ("U8", np.zeros((4, 64), np.uint8)), "m.weight_scale": ("U8", np.zeros((4, 4), np.uint8))})
safetensors("integers.safetensors", {"m.weight": ("I8", np.zeros((4, 64), np.int8)), "m.weight_scale": ("I32", np.ones((4, 1), np.int32))})
# Packed codes: parts of them are none themselves.
safetensors("packed.safetensors", {"m.weight_shape": ("I64", np.array([64, 128])), "m.weight_scale": ("F16", np.ones((64, 1), np.float16)),
                                   "m.weight_packed": ("I32", np.zeros((64, 16), np.int32))})
safetensors("gptq.safetensors", {"m.g_idx": ("I32", np.zeros(128, np.int32)), "m.qweight": ("I32", np.zeros((16, 64), np.int32)),
                                 "m.qzeros": ("I32", np.zeros((1, 8), np.int32)), "m.scales": ("F16", np.ones((1, 64), np.float16))})
safetensors("nvfp4.safetensors", {"m.weight_scale": ("F8_E4M3", np.full((64, 8), 56, np.uint8)), "m.weight_scale_2": ("F32", np.float32(1).reshape(())),
                                  "m.weight": ("U8", np.zeros((64, 64), np.uint8))})
END
for file in latency amax two; do
  btftool convert --dequantize $file.npz out.npz; echo "exit $?"
  btftool -q diff --dequantize $file.npz $file.npz; echo "exit $?"
done
btftool layers --dequantize latency.npz latency.npz 2>&1 | grep -c latency_ms
btftool -q convert --dequantize activation.npz out.npz; btftool -q diff --tensor fc.weight out.npz half.npz; echo "exit $?"
btftool diff --dequantize --tensor fc.weight activation.npz half.npz | tail -n 1
btftool -q convert --dequantize ort.npz out.npz; btftool diff out.npz halves.npz | tail -n 1
btftool diff --dequantize ort.npz halves.npz | tail -n 1
btftool diff --close --dequantize ort.npz halves.npz | tail -n 1
echo "== scales and zero points of what is no tensor here stay"
btftool convert --dequantize alone.npz out.npz; echo "exit $?"; btftool diff --strict out.npz alone.npz | tail -n 1
btftool -q diff --dequantize alone.npz alone.npz; echo "exit $?"
echo "== the reason that is named"
for file in bytes integers packed gptq nvfp4; do btftool convert --dequantize $file.safetensors out.npz; echo "exit $?"; done
echo "== without names by place, as it was written"
btftool -q convert --tensor 'fc.weight' --names drop half.npz half.btf
btftool -q convert --names drop --dtype int8 --scale auto half.btf places.btf && btftool -q convert --dequantize places.btf back.btf && btftool diff --atol 0.02 back.btf half.btf | tail -n 1
for format in btf npz safetensors tvm polygraphy; do
  btftool -q convert --dtype int8 --scale auto --zero-point auto --format $format half.btf codes.$format
  btftool -q convert --dequantize --zero-point auto codes.$format back.npz && btftool diff --pair 0:0 --atol 0.02 back.npz half.btf | tail -n 1
done
