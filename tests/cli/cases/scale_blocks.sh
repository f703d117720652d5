# How large the blocks of scales are: by config.json beside the file, by the only size that fits; an error where several do. Codes that look packed are refused.
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

def spread(scales, dims, block):
    for d, size in enumerate(block):
        scales = np.take(np.repeat(scales, size, d), range(dims[d]), d)
    return scales

rng = np.random.default_rng(16)
codes, ones = rng.integers(-128, 128, (200, 200)).astype(np.int8), np.full((200, 200), 0x38, np.uint8)  # of float8_e4m3fn: 1
scales = rng.uniform(0.5, 2, (4, 4)).astype(np.float32)
safetensors("short.safetensors", {"m.weight": ("F8_E4M3", ones), "m.weight_scale_inv": ("F32", scales)})
np.savez("short64.npz", **{"m.weight": spread(scales, (200, 200), (64, 64))})
np.savez("short50.npz", **{"m.weight": spread(scales, (200, 200), (50, 50))})
two = scales[:2, :2]
safetensors("usual.safetensors", {"m.weight": ("F8_E4M3", ones), "m.weight_scale_inv": ("F32", two)})
np.savez("usual128.npz", **{"m.weight": spread(two, (200, 200), (128, 128))})
safetensors("full.safetensors", {"m.weight": ("I8", codes[:, :128]), "m.weight_scale": ("F16", np.ones((200, 4), np.float16))})
# Four bits each, two to a byte.
packed = codes[:64, :128]
for name, dtype, kind, dims in (("mx", "I8", "F8_E8M0", (64, 8)), ("int4", "I8", "F16", (64, 8)), ("uint4", "U8", "F16", (64, 2)), ("rows", "I8", "BF16", (4, 128))):
    held = np.full(dims, 120, np.uint8) if kind == "F8_E8M0" else np.ones(dims, np.float16)
    safetensors(name + ".safetensors", {"m.weight": (dtype, packed), "m.weight_scale": (kind, held)})
END
echo "== several sizes fit"
btftool convert --dequantize short.safetensors out.npz; echo "exit $?"
btftool -q diff --dequantize short.safetensors short64.npz; echo "exit $?"
btftool layers --dequantize short.safetensors short64.npz 2>&1 | grep -c "50 to 66"
echo '{"quantization_config": {"quant_method": "fp8", "weight_block_size": [64, 64]}, "rope": NaN}' >config.json
btftool diff --dequantize short.safetensors short64.npz | tail -n 1
btftool layers --dequantize short.safetensors short64.npz | head -n 1
btftool -q convert --dequantize short.safetensors out.npz; btftool diff out.npz short64.npz | tail -n 1
echo '{"quantization_config": {"weight_block_size": [50, 50]}}' >config.json
btftool diff --dequantize short.safetensors short50.npz | tail -n 1
echo '{"quantization_config": {"weight_block_size": [128, 128]}}' >config.json
btftool convert --dequantize short.safetensors out.npz; echo "exit $?"
echo '{"quantization_config": {"weight_block_size": "64"}}' >config.json
btftool convert --dequantize short.safetensors out.npz; echo "exit $?"
echo '{"quantization_config": null}' >config.json
btftool convert --dequantize short.safetensors out.npz; echo "exit $?"
rm config.json
echo "== --block"
btftool diff --dequantize --block 64 short.safetensors short64.npz | tail -n 1
btftool diff --dequantize --block 50x50 short.safetensors short50.npz | tail -n 1
btftool layers --dequantize --block 64x64 short.safetensors short64.npz | head -n 1
btftool -q convert --dequantize --block 64 short.safetensors out.npz && btftool diff out.npz short64.npz | tail -n 1
btftool diff --dequantize --block 64 short.safetensors short50.npz | tail -n 2
echo '{"quantization_config": {"weight_block_size": [50, 50]}}' >config.json
btftool diff --dequantize --block 64 short.safetensors short64.npz | tail -n 1
rm config.json
btftool convert --dequantize --block 128 short.safetensors out.npz; echo "exit $?"
for size in 0 x 64x -1 64,64 1x1x1x1x1x1x1x1x1; do btftool convert --dequantize --block $size short.safetensors out.npz 2>&1 | head -n 1; done
for command in diff layers; do btftool $command --block 64 short.safetensors short64.npz 2>&1 | head -n 1; done
btftool convert --block 64 short.safetensors out.npz 2>&1 | head -n 1
echo "== one does, or is what programs use"
btftool diff --dequantize usual.safetensors usual128.npz | tail -n 1
btftool -q convert --dequantize full.safetensors out.npz; echo "exit $?"
echo "== two codes in a byte"
for file in mx int4 uint4 rows; do btftool convert --dequantize $file.safetensors out.npz; echo "exit $?"; done
btftool -q diff --dequantize mx.safetensors mx.safetensors; echo "exit $?"
# Groups of 32 bytes, or of 64 codes of four bits, as the config says.
btftool -q convert --dequantize full.safetensors out.npz; echo "exit $?"
echo '{"quantization_config": {"bits": 4}}' >config.json
btftool convert --dequantize full.safetensors out.npz; echo "exit $?"
rm config.json
for size in 16 32 64; do btftool convert -q --dequantize --block $size mx.safetensors out.npz; echo "exit $?"; done
