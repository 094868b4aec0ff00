#!/usr/bin/env python3
"""Computes golden.json and golden.f32 in double precision, with its own tokenizer and its own network.

It shares no code and no algorithm with the crate: the tables of the normaliser are listed as a dictionary,
pieces are looked up in a dictionary by characters, convolutions gather their windows. It needs numpy.

    python3 golden.py            writes both files beside itself
    python3 golden.py --cross    also compares tokens with the package `sentencepiece`, if that is there
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
MODEL = HERE.parents[1] / "model"
MARK = "\u2581"
UNKNOWN, BEGIN, END = 0, 1, 2

TEXTS = [
    # The sixteen languages of the model.
    "I always split the pot evenly and never break a promise.",
    "أقسم الجائزة بالتساوي دائمًا ولا أخلف وعدًا أبدًا.",
    "Ich teile den Topf immer gleich auf und breche nie ein Versprechen.",
    "Siempre reparto el bote a partes iguales y nunca rompo una promesa.",
    "Je partage toujours la cagnotte à parts égales, sans jamais trahir ma parole.",
    "Divido sempre il piatto a metà e non infrango mai una promessa.",
    "私はいつも賞金を均等に分け、約束を破りません。",
    "저는 항상 상금을 똑같이 나누고 약속을 절대 어기지 않습니다.",
    "Ik verdeel de pot altijd eerlijk en breek nooit een belofte.",
    "Zawsze dzielę pulę po równo i nigdy nie łamię obietnic.",
    "Divido sempre o prêmio em partes iguais e nunca quebro uma promessa.",
    "Я всегда делю банк поровну и никогда не нарушаю обещаний.",
    "ฉันแบ่งเงินรางวัลเท่ากันเสมอและไม่เคยผิดสัญญา",
    "Ödülü her zaman eşit bölerim ve sözümden asla dönmem.",
    "我总是平分奖池，从不违背承诺。",
    "我總是平分獎池，從不違背承諾。",
    # Languages that the model was not made for.
    "मैं हमेशा इनाम बराबर बाँटता हूँ और वादा कभी नहीं तोड़ता।",
    "Tôi luôn chia đều tiền thưởng và không bao giờ thất hứa.",
    "Μοιράζω πάντα το ποσό στη μέση.",
    "תמיד אני מחלק את הקופה שווה בשווה.",
    "Мен әрқашан тең бөлемін.",
    "মৌখিক চুক্তি মানি।",
    # Long texts.
    "谈判的艺术在于倾听对方的需要，然后提出一个双方都能接受的方案。" * 15 + "我总是信守承诺，从不在最后一刻改变数字。",
    "交渉では相手の話をよく聞き、最後の数字を正直に伝えることが大切だと考えています。" * 12 + "よろしく。",
    ("Honest, patient and quick to forgive; firm about numbers. " * 9)[:500],
    "ﷺ" * 120,
    # Emoji, joined and modified, and flags.
    "🤝💰 fair deals only 🙏",
    "👩‍👩‍👧‍👦 family first 👍🏽",
    "🇩🇪🇯🇵🇧🇷",
    "❤️‍🔥",
    "🙂",
    # Forms that normalise.
    "ＦＵＬＬ　ＷＩＤＴＨ　１２３",
    "ﬁnal oﬀer, ﬂuﬃer",
    "①②③ ㈱ ㍿ ½ ² ™ Ⅻ",
    "ｶﾞｷﾞｸﾞ ﾊﾟﾋﾟ",
    "e\u0301 vs \u00e9, A\u030a vs \u00c5",
    "\u1100\u1161\u11a8 vs \ubdc1",
    "…‥․ “quotes” ‘single’ — – ‐ ‑",
    "ﻻ ﷲ ﻼ",
    "zero\u200bwidth\u200djoin\ufeffbom",
    "soft\u00adhyphen \u00a0nbsp\u3000ideographic\u2003em",
    "right \u202eto left\u202c",
    # Shapes.
    "a",
    "A",
    "我",
    "?",
    "\u2581",
    "a" * 301,
    "ha" * 200,
    "!" * 100,
    "x " * 120,
    "1234567890 3.14159 1,000,000 -42 50/50 100%",
    "demand=60;stake=100;payout=0x3c",
    "<s> </s> <unk> extra_token_id_1",
    "https://example.com/a?b=c&d=%20",
    "DROP TABLE agents; -- <script>alert(1)</script>",
    "UPPER lower MiXeD camelCase snake_case kebab-case",
    "𝔣𝔯𝔞𝔨𝔱𝔲𝔯 𝕓𝕠𝕝𝕕 𝒮𝒸𝓇𝒾𝓅𝓉",
    # Characters that the vocabulary does not have, alone, in a run and inside a word.
    "𒀀",
    "𒀀𒀁𒀂 hello 𒀀𒀁 𒀂",
    "hello𒀀world",
    "\U0010ffff\ue000",
    # White space.
    "",
    " ",
    " \t\n\u3000 ",
    "  leading and   inner\tand\ntrailing  ",
]


def protobuf(data):
    """Yields (field, value) of one message; value is an int or bytes."""
    at = 0

    def varint():
        nonlocal at
        number = shift = 0
        while True:
            byte = data[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    while at < len(data):
        tag = varint()
        kind = tag & 7
        if kind == 0:
            yield tag >> 3, varint()
            continue
        size = {1: 8, 5: 4}.get(kind)
        if size is None:
            assert kind == 2, kind
            size = varint()
        yield tag >> 3, data[at : at + size]
        at += size


class Tokenizer:
    def __init__(self, model):
        self.scores, self.normal, tables = [], {}, None
        for field, value in protobuf(model):
            if field == 1:
                piece = dict(protobuf(value))
                number = len(self.scores)
                self.scores.append(struct.unpack("<f", piece.get(2, b"\0\0\0\0"))[0])
                if piece.get(3, 1) == 1:
                    self.normal[piece[1].decode()] = number
            elif field == 3:
                tables = dict(protobuf(value))[2]
        self.longest = max(map(len, self.normal))
        self.unknown = min(self.scores) - 10.0
        size = struct.unpack_from("<I", tables)[0]
        self.units = struct.unpack_from(f"<{size // 4}I", tables, 4)
        self.replacements = tables[4 + size :]
        self.rules = {}
        self.list_rules(b"", self.offset(self.units[0]))
        self.longest_rule = max(map(len, self.rules))

    @staticmethod
    def offset(unit):
        return (unit >> 10) << (8 if unit & 0x200 else 0)

    def list_rules(self, key, base):
        """Visits the whole double array below a node, and writes down every key with its replacement."""
        for byte in range(256):
            node = base ^ byte
            if node >= len(self.units):
                continue
            unit = self.units[node]
            if unit & 0x800000FF != byte or (byte == 0 and not key):
                continue
            below = node ^ self.offset(unit)
            longer = key + bytes([byte])
            if unit & 0x100:
                start = self.units[below] & 0x7FFFFFFF
                self.rules[longer] = self.replacements[start : self.replacements.index(b"\0", start)]
            if byte:
                self.list_rules(longer, below)

    def normalize(self, text):
        raw, out, at = text.encode(), bytearray(), 0
        while at < len(raw):
            for size in range(min(self.longest_rule, len(raw) - at), 0, -1):
                if raw[at : at + size] in self.rules:
                    out += self.rules[raw[at : at + size]]
                    break
            else:
                size = 1
                while at + size < len(raw) and raw[at + size] & 0xC0 == 0x80:
                    size += 1
                out += raw[at : at + size]
            at += size
        words = [word for word in out.decode().split(" ") if word]
        return "".join(MARK + word for word in words)

    def tokens(self, text):
        text = self.normalize(text)
        # best[i]: score, start and piece of the best way to position i; ties go to the earlier start.
        best = [(0.0, 0, None)]
        for end in range(1, len(text) + 1):
            options = []
            for start in range(max(0, end - self.longest), end):
                piece = self.normal.get(text[start:end])
                if piece is None and start == end - 1:
                    options.append((best[start][0] + self.unknown, start, UNKNOWN))
                elif piece is not None:
                    options.append((best[start][0] + self.scores[piece], start, piece))
            best.append(max(options, key=lambda option: (option[0], -option[1])))
        found, at = [], len(text)
        while at:
            found.append(best[at][2])
            at = best[at][1]
        found = found[::-1]
        single = [p for i, p in enumerate(found) if p != UNKNOWN or i == 0 or found[i - 1] != UNKNOWN]
        return [BEGIN, *single, END]


class Network:
    EPSILON = 1e-12

    def __init__(self, path):
        with np.load(path) as archive:
            self.a = {name: archive[name] for name in archive.files}
        self.a = {k: v if k[0] == "q" else v.astype(np.float64) for k, v in self.a.items()}

    def norm(self, x, suffix):
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + self.EPSILON)
        return x * self.a["ln_g" + suffix] + self.a["ln_b" + suffix]

    def convolution(self, x, width, left, layer):
        padded = np.vstack([np.zeros((left, x.shape[1])), x, np.zeros((width - 1 - left, x.shape[1]))])
        windows = np.stack([padded[i : i + width].reshape(-1) for i in range(len(x))])
        return np.maximum(windows @ self.a[f"w{layer}_{width}"] + self.a[f"b{layer}_{width}"], 0) + x

    def vector(self, tokens):
        a = self.a
        groups = [t % 17 for t in tokens]
        rows = np.stack([a[f"q{t % 17 + 1}"][t // 17] for t in tokens]).astype(np.float64)
        embedded = rows * a["scale"][groups][:, None] + a["lo"][groups][:, None]
        parts = [embedded]
        for width, left in ((2, 0), (3, 1), (5, 2)):
            x = self.norm(embedded @ a[f"proj{width}"] + a[f"proj_b{width}"], str(width))
            parts.append(self.convolution(self.convolution(x, width, left, 1), width, left, 2))
        features = self.norm(np.hstack(parts), "")
        m = (features @ a["cnn_W"] + a["cnn_b"]).sum(axis=0) / np.sqrt(len(tokens))
        y0 = np.maximum(m @ a["d0"], 0)
        y1 = np.maximum(m @ a["p1"] + y0 @ a["d1"], 0)
        y2 = np.maximum(y1 @ a["d2"], 0)
        z = np.tanh(y1 @ a["p3"] + y2 @ a["d3"])
        return z / np.sqrt(max(z @ z, self.EPSILON))


def cross(tokenizer):
    import sentencepiece

    theirs = sentencepiece.SentencePieceProcessor()
    theirs.Load(str(MODEL / "sp.model"))
    for text in TEXTS:
        ours = tokenizer.tokens(text)[1:-1]
        if ours != theirs.EncodeAsIds(text):
            print("differs:", repr(text[:60]), len(ours), len(theirs.EncodeAsIds(text)))


def main():
    tokenizer = Tokenizer((MODEL / "sp.model").read_bytes())
    network = Network(MODEL / "weights.npz")
    tokens = [tokenizer.tokens(text) for text in TEXTS]
    vectors = np.stack([network.vector(t) for t in tokens])
    lines = [json.dumps({"text": x, "tokens": t}, separators=(",", ":")) for x, t in zip(TEXTS, tokens)]
    (HERE / "golden.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
    (HERE / "golden.f32").write_bytes(vectors.astype("<f4").tobytes())
    print(len(TEXTS), "texts, at most", max(map(len, tokens)), "tokens")
    if "--cross" in sys.argv:
        cross(tokenizer)


if __name__ == "__main__":
    main()
