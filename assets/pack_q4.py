"""pack_q4.py IN OUT: packs all-MiniLM-L6-v2 (f32 safetensors and vocabulary in IN) to 4 bits in OUT.

Matrices become symmetric 4-bit integers in groups of 32 along a row, each group with an f16 scale, low
nibble first, stored as value + 8. Vectors stay f32. The pooler is left out: mean pooling does not use it.
"""
import pathlib
import shutil
import sys

import numpy as np
import safetensors.numpy as st

source, target = map(pathlib.Path, sys.argv[1:3])
target.mkdir(parents=True, exist_ok=True)
out, shapes = {}, {}
for name, value in st.load_file(source / "model.safetensors").items():
    if value.dtype != np.float32 or name.startswith("pooler"):
        continue
    if value.ndim != 2:
        out[name] = value
        continue
    groups = value.reshape(-1, 32)
    scale = (np.abs(groups).max(1, keepdims=True) / 7).astype(np.float16)
    scale[scale == 0] = 1
    q = (np.clip(np.round(groups / scale.astype(np.float32)), -7, 7) + 8).astype(np.uint8).reshape(-1)
    out[name + ".q4"] = q[0::2] | (q[1::2] << 4)
    out[name + ".scale"] = scale.reshape(-1)
    shapes[name] = "x".join(map(str, value.shape))
st.save_file(out, target / "model.safetensors", metadata=shapes)
shutil.copy(source / "vocab.txt", target)
