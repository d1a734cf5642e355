"""An independent implementation of the rules of a BPE tokenizer.json.

Written from the documentation of Hugging Face's tokenizers. Argument: the folder that
tokenizer_kinds.py wrote, with FOLDER/KIND/ids.txt beside each tokenizer: a line of token numbers
per string. Exits with 1 if one differs from what the rules of that tokenizer give, and says the
first of each kind.
"""
import json
import os
import re
import sys
import unicodedata

# White_Space of Unicode; Python's own \s has four control characters more.
spaces = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"


def category_class(first):
    """The characters whose category begins with that letter, as ranges for a character class."""
    points = [i for i in range(0x110000) if unicodedata.category(chr(i))[0] == first]
    ranges = []
    for point in points:
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join("\\U%08x-\\U%08x" % (a, b) for a, b in ranges)


letters, numbers = category_class("L"), category_class("N")


def python_pattern(pattern):
    """The pattern with Unicode's classes spelled out."""
    out, inside = "", False
    at = 0
    while at < len(pattern):
        for name, members in (("\\p{L}", letters), ("\\p{N}", numbers), ("\\s", spaces)):
            if pattern.startswith(name, at):
                out += members if inside else "[" + members + "]"
                at += len(name)
                break
        else:
            if pattern.startswith("\\S", at):
                out, at = out + "[^" + spaces + "]", at + 2
            elif pattern[at] == "\\":
                out, at = out + pattern[at:at + 2], at + 2
            else:
                inside = inside or pattern[at] == "["
                inside = inside and pattern[at] != "]"
                out, at = out + pattern[at], at + 1
    return re.compile(out)


gpt2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
llama3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
          r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
compiled = {}


def matches(pattern, text):
    if pattern not in compiled:
        compiled[pattern] = python_pattern(pattern)
    parts, done = [], 0
    for match in compiled[pattern].finditer(text):
        if match.start() > done:
            parts.append((text[done:match.start()], False))
        if match.end() > match.start():
            parts.append((match.group(), True))
        done = max(done, match.end())
    if done < len(text):
        parts.append((text[done:], False))
    return parts


def split(pattern, behaviour, text):
    parts = matches(pattern, text)
    if behaviour == "Removed":
        return [part for part, match in parts if not match]
    if behaviour == "Isolated":
        return [part for part, _ in parts]
    if behaviour == "MergedWithNext":
        parts = [(part[::-1], match) for part, match in reversed(parts)]
    words, previous = [], False
    for part, match in parts:
        if behaviour == "Contiguous":
            joins = bool(words) and match == previous
        else:
            joins = bool(words) and match and not previous
        if joins:
            words[-1] += part
        else:
            words.append(part)
        previous = match
    if behaviour == "MergedWithNext":
        words = [word[::-1] for word in reversed(words)]
    return words


def bytes_to_letters():
    printable = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
    letters_of, extra = {}, 0
    for byte in range(256):
        if byte in printable:
            letters_of[byte] = chr(byte)
        else:
            letters_of[byte], extra = chr(256 + extra), extra + 1
    return letters_of


byte_letters = bytes_to_letters()


def pre_tokenize(step, words, leads):
    """One step over all words; `leads`: whether the first of them begins the text."""
    kind, out = step["type"], []
    for i, word in enumerate(words):
        if kind == "Split":
            pattern = step["pattern"].get("Regex") or re.escape(step["pattern"]["String"])
            out += split(pattern, step["behavior"], word)
        elif kind == "Digits":
            pattern = r"\p{N}" if step["individual_digits"] else r"\p{N}+"
            out += split(pattern, "Isolated", word)
        elif kind == "Metaspace":
            word, mark = word.replace(" ", step["replacement"]), step["replacement"]
            scheme = step["prepend_scheme"]
            put = scheme == "always" or scheme == "first" and leads and i == 0
            if put and not word.startswith(mark):
                word = mark + word
            out += split(re.escape(mark), "MergedWithNext", word) if step["split"] else [word]
        elif kind == "ByteLevel":
            if step["add_prefix_space"] and not word.startswith(" "):
                word = " " + word
            pieces = split(gpt2, "Isolated", word) if step["use_regex"] else [word]
            out += ["".join(byte_letters[b] for b in piece.encode()) for piece in pieces]
        else:
            sys.exit("unknown step " + kind)
    return out


def normalize(step, text):
    if step is None:
        return text
    if step["type"] == "Sequence":
        for one in step["normalizers"]:
            text = normalize(one, text)
    elif step["type"] == "NFC":
        text = unicodedata.normalize("NFC", text)
    elif step["type"] == "Prepend":
        text = step["prepend"] + text if text else text
    else:
        text = text.replace(step["pattern"]["String"], step["content"])
    return text


def cut(text, tokens):
    """The text in (part, token or None), the longest added token first."""
    parts, done, at = [], 0, 0
    while at < len(text):
        found = [t for t in tokens if text.startswith(t[0], at)]
        if not found:
            at += 1
            continue
        content, token = max(found, key=lambda t: len(t[0]))
        begin, end = at, at + len(content)
        if token.get("lstrip"):
            while begin > done and re.match("[" + spaces + "]", text[begin - 1]):
                begin -= 1
        if token.get("rstrip"):
            while end < len(text) and re.match("[" + spaces + "]", text[end]):
                end += 1
        if begin > done:
            parts.append((text[done:begin], None, done))
        parts.append((text[begin:end], token["id"], begin))
        at = done = end
    if done < len(text):
        parts.append((text[done:], None, done))
    return parts


class Reference:
    def __init__(self, rules):
        self.rules, self.model = rules, rules["model"]
        self.vocab = self.model["vocab"]
        self.ranks = {}
        for rank, pair in enumerate(self.model["merges"]):
            left, right = pair if isinstance(pair, list) else pair.split(" ")
            self.ranks.setdefault((left, right), rank)
        pre = rules.get("pre_tokenizer")
        self.steps = [] if pre is None else pre.get("pretokenizers", [pre])
        added = rules.get("added_tokens", [])
        self.raw = [(t["content"], t) for t in added if not t["normalized"]]
        self.normalized = [(normalize(rules["normalizer"], t["content"]), t)
                           for t in added if t["normalized"]]
        self.seen = {}

    def words(self, text, leads):
        words = [text]
        for step in self.steps:
            words = pre_tokenize(step, words, leads)
        return words

    def symbols(self, word):
        if self.model.get("ignore_merges") and word in self.vocab:
            return [word]
        symbols, waiting = [], []
        for character in word:
            if character in self.vocab:
                symbols += waiting + [character]
                waiting = []
            elif self.model.get("byte_fallback") and all(
                    "<0x%02X>" % byte in self.vocab for byte in character.encode()):
                symbols += ["<0x%02X>" % byte for byte in character.encode()]
            elif self.model.get("fuse_unk"):
                waiting = [None]
            else:
                symbols, waiting = symbols + waiting, [None]
        symbols += waiting
        while True:
            pairs = [(self.ranks[pair], i) for i, pair in enumerate(zip(symbols, symbols[1:]))
                     if pair in self.ranks]
            if not pairs:
                return symbols
            _, i = min(pairs)
            symbols[i:i + 2] = [symbols[i] + symbols[i + 1]]

    def encode_word(self, word):
        if word not in self.seen:
            unknown = self.model.get("unk_token")
            self.seen[word] = [self.vocab[unknown if s is None else s] for s in self.symbols(word)]
        return self.seen[word]

    def encode(self, text):
        ids = []
        for part, token, begin in cut(text, self.raw):
            if token is not None:
                ids.append(token)
                continue
            normal = normalize(self.rules["normalizer"], part)
            for piece, inner, offset in cut(normal, self.normalized):
                if inner is not None:
                    ids.append(inner)
                    continue
                for word in self.words(piece, begin == 0 and offset == 0):
                    ids += self.encode_word(word)
        return ids


def check(folder):
    strings = [bytes.fromhex(line.strip()).decode() for line in open(folder + "/strings.txt")]
    wrong = 0
    for name in sorted(entry.name for entry in os.scandir(folder) if entry.is_dir()):
        with open(folder + "/" + name + "/tokenizer.json") as file:
            reference = Reference(json.load(file))
        lines = open(folder + "/" + name + "/ids.txt").read().split("\n")[:-1]
        if len(lines) != len(strings):
            sys.exit("%s: %d lines for %d strings" % (name, len(lines), len(strings)))
        for text, line in zip(strings, lines):
            expected, found = reference.encode(text), [int(word) for word in line.split()]
            if expected != found:
                print("%s: %r is %s; expected %s" % (name, text, found, expected), file=sys.stderr)
                wrong += 1
                break
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    check(sys.argv[1])
