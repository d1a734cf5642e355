"""Writes random strings and tokenizers of several kinds that were trained on some of them.

Arguments: a folder, and how many strings of each script. Writes FOLDER/strings.txt, one string per
line in hexadecimal UTF-8, and FOLDER/KIND/tokenizer.json.
"""
import collections
import json
import os
import random
import sys

from reference_tokenizer import Reference, byte_letters, llama3, normalize

scripts = {
    "ascii": "abcdefghijklmnopqrstuvwxyzABCDEFGHI .,'!?-_()\"",
    "words": ["the", "cat", " sat", " on", "I'll", "we've", "it's", " THE", "IT'S", "ing", "tion"],
    "digits": "0123456789 .,½²Ⅷ٣९",
    "spaces": " \t\n\r\v\f\x85\xa0\u2003\u3000ab",
    "latin": "àéîöûñçßæœÅŁžabc ",
    "combining": ["e\u0301", "o\u0308", "a\u030a", "n\u0303", "\u0915\u094d\u0937", " ", "e", "o"],
    "greek": "αβγδεζηθάέΩΣς .", "cyrillic": "абвгдежзийЖЩЯё ,", "hebrew": "אבגדהוזשׁ ",
    "arabic": "ابتثجحخدَُِّ ٠١٢", "devanagari": "कखगघङचिीुू्ं ।", "thai": "กขฃคฅิีึ๑๒ ",
    "cjk": "日本語中文字東京。、 一二三", "kana": "ひらがなカタカナー ", "hangul": "한국어ᄒ ᅡᆫ글 ",
    "emoji": ["😀", "👩\u200d👩\u200d👧", "🇩🇪", "👍🏽", "❤️", " ", "a"],
    "marks": ["▁", " ", "<s>", "</s>", "<|x|>", "<0x41>", "\n\n", "a", "b", " <s> ", "é"],
    "controls": "\x01\x02\x1c\x1f\x7f\x80\x9f\u200b\ufeff a",
}


def random_strings(count):
    draw = random.Random(7)
    for name, letters_of in scripts.items():
        for i in range(count):
            pool = letters_of if i % 4 else [*letters_of, *scripts["ascii"], *scripts["words"]]
            yield "".join(draw.choice(pool) for _ in range(draw.randrange(1, 16)))


def kinds():
    def byte_level(prefix=False, regex=True):
        return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True,
                "use_regex": regex}

    def isolate(pattern):
        return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated",
                "invert": False}

    def sequence(*steps):
        return {"type": "Sequence", "pretokenizers": list(steps)}

    def metaspace(scheme, cuts):
        return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": cuts}

    blanks = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    llama2 = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, blanks]}
    at_blanks = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious",
                 "invert": False}
    fallback = {"byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>"}
    special = [("<s>", {}), ("</s>", {}), ("<|x|>", {"lstrip": True, "rstrip": True})]
    plain = [("<s>", {}), ("\n\n", {"special": False, "normalized": True}),
             ("a b", {"special": False, "normalized": True})]
    numbers_first = [isolate(r"\p{N}{1,3}"), isolate("[一-龥぀-ゟ゠-ヿ]+")]
    return {
        "gpt2": (None, byte_level(), {}, special),
        "prefixed": (None, byte_level(prefix=True), {}, special),
        "llama3": (None, sequence(isolate(llama3), byte_level(regex=False)),
                   {"ignore_merges": True}, special),
        "smollm": (None, sequence({"type": "Digits", "individual_digits": True}, byte_level()), {},
                   special),
        "digits": (None, sequence({"type": "Digits", "individual_digits": False}, byte_level()),
                   {}, special),
        "deepseek": (None, sequence(*numbers_first, isolate(llama3), byte_level(regex=False)), {},
                     plain),
        "bytes": (None, byte_level(regex=False), {}, []),
        "qwen2": ({"type": "NFC"}, sequence(isolate(llama3), byte_level(regex=False)), {}, plain),
        "llama2": (llama2, None, fallback, special),
        "normalized": (llama2, None, fallback, plain),
        "mistral": (None, metaspace("first", False), fallback, special),
        "metaspace": (None, metaspace("always", True), {"unk_token": "<unk>", "fuse_unk": True},
                      special),
        "unfused": (None, metaspace("never", True), {"unk_token": "<unk>"}, special),
        "gemma": (blanks, at_blanks, fallback, plain),
        "partial": (blanks, at_blanks, fallback, plain),
        "removed": (None, sequence({**at_blanks, "behavior": "Removed"}, byte_level()), {}, []),
    }


def train(rules, strings, merges):
    """Adds characters and merges to the rules, by how often they are in the strings."""
    model = rules["model"]
    letters_of, byte_level = collections.Counter(), "ByteLevel" in json.dumps(rules)
    reference = Reference(rules)
    words = collections.Counter()
    for text in strings:
        # Joined, so that merges reach across the words, and each limit between two words matters.
        words.update(["".join(reference.words(normalize(rules["normalizer"], text), True))])
    for word, count in words.items():
        letters_of.update({c: count for c in word})
    vocab = model["vocab"]
    if byte_level:
        for letter in byte_letters.values():
            vocab.setdefault(letter, len(vocab))
    else:
        for letter, _ in sorted(letters_of.items(), key=lambda x: (-x[1], x[0]))[:120]:
            vocab.setdefault(letter, len(vocab))
    parts = {word: [c for c in word if c in vocab] for word in words}
    for _ in range(merges):
        pairs = collections.Counter()
        for word, symbols in parts.items():
            for pair in zip(symbols, symbols[1:]):
                pairs[pair] += words[word]
        if not pairs:
            break
        left, right = min(pairs, key=lambda pair: (-pairs[pair], pair))
        model["merges"].append([left, right])
        vocab.setdefault(left + right, len(vocab))
        for symbols in parts.values():
            i = 0
            while i + 1 < len(symbols):
                if symbols[i:i + 2] == [left, right]:
                    symbols[i:i + 2] = [left + right]
                i += 1


def tokenizer(name, kind, sample):
    """The text of a tokenizer.json with the rules of a kind, trained on a sample of strings."""
    normalizer, pre, more, added = kind
    model = {"type": "BPE", "dropout": None, "vocab": {}, "merges": [], **more}
    if "unk_token" in model:
        model["vocab"]["<unk>"] = 0
    for content, _ in added:
        model["vocab"][content] = len(model["vocab"])
    if model.get("byte_fallback"):
        # As in Gemma, the tabulator is a token itself.
        model["vocab"].update({"\t": len(model["vocab"])} if name == "gemma" else {})
        missing = {"gemma": [9], "partial": [0xE0]}.get(name, [])
        for byte in set(range(256)).difference(missing):
            model["vocab"]["<0x%02X>" % byte] = len(model["vocab"])
    tokens = [{"id": model["vocab"][content], "content": content, "single_word": False,
               "lstrip": False, "rstrip": False, "normalized": False, "special": True, **flags}
              for content, flags in added]
    rules = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": tokens,
             "normalizer": normalizer, "pre_tokenizer": pre, "post_processor": None,
             "decoder": None, "model": model}
    train(rules, sample, 150)
    return json.dumps(rules, ensure_ascii=False)


def make(folder, count):
    strings = list(random_strings(count))
    with open(folder + "/strings.txt", "w") as file:
        file.writelines(text.encode().hex() + "\n" for text in strings)
    sample = random.Random(3).sample(strings, min(600, len(strings)))
    for name, kind in kinds().items():
        os.makedirs(folder + "/" + name)
        with open(folder + "/" + name + "/tokenizer.json", "w") as file:
            file.write(tokenizer(name, kind, sample))


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]))
