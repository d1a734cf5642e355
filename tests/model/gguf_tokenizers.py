"""Writes tokenizers of tokenizer_kinds.py as GGUF files too.

Argument: its folder. Writes FOLDER/KIND/model.gguf beside tokenizer.json for the kinds that a GGUF
file can hold, and takes from tokenizer.json what it cannot: white space that tokens take in. Of
vocabularies with scores, tokenizer.json gets all merges that SentencePiece would make, in the order
of their scores, as Hugging Face's converter of such models writes them.
"""
import json
import random
import sys

from gguf_writer import container

by_name = {"gpt2": "gpt-2", "llama3": "llama-bpe", "smollm": "smollm", "qwen2": "qwen2",
           "llama2": None, "gemma": None}


def scored(rules, draw):
    """Scores of a vocabulary: all different, and not in the order of the numbers."""
    vocab = rules["model"]["vocab"]
    order = list(vocab)
    longest_last = sorted(order, key=lambda token: (len(token), draw.random()))
    rank = {token: i for i, token in enumerate(longest_last)}
    return {
token: -float(rank[token]) for token in order
}

def kind_of(token, rules, byte_fallback):
    for added in rules["added_tokens"]:
        if added["content"] == token:
            return 3 if added["special"] else 4
    if token == "<unk>":
        return 2
    return 6 if byte_fallback and token.startswith("<0x") and len(token) == 6 else 1


def merges_by_score(kinds, scores):
    pieces = {token for token, kind in kinds.items() if kind in (1, 4)}
    merges = []
    for token in sorted(pieces, key=lambda token: -scores[token]):
        merges += [[token[:i], token[i:]] for i in range(1, len(token))
                   if token[:i] in pieces and token[i:] in pieces]
    return merges


def convert(path, name, pre, draw):
    rules = json.load(open(path + "/tokenizer.json"))
    for added in rules["added_tokens"]:
        added.update(lstrip=False, rstrip=False, normalized=False)
    if name == "qwen2":
        step = rules["pre_tokenizer"]["pretokenizers"][0]
        step["pattern"]["Regex"] = step["pattern"]["Regex"].replace("{1,3}", "")
    model = rules["model"]
    if name in ("llama3", "qwen2"):
        # Pairs of digits: tokens that no merge makes, and merges that no word is long enough for.
        for number in range(100):
            pair = "%02d" % number
            if pair not in model["vocab"]:
                model["vocab"][pair] = len(model["vocab"])
                model["merges"] += [list(pair)] if name == "qwen2" else []
    vocab = sorted(model["vocab"], key=model["vocab"].get)
    kinds = {token: kind_of(token, rules, model.get("byte_fallback", False)) for token in vocab}
    metadata = {"general.architecture": "llama", "tokenizer.ggml.tokens": vocab,
                "tokenizer.ggml.token_type": [kinds[token] for token in vocab],
                "tokenizer.ggml.bos_token_id": 1, "tokenizer.chat_template": "{{ messages }}"}
    if pre:
        metadata["tokenizer.ggml.model"] = "gpt2"
        metadata["tokenizer.ggml.pre"] = pre
        metadata["tokenizer.ggml.merges"] = [" ".join(merge) for merge in model["merges"]]
    else:
        scores = scored(rules, draw)
        model["merges"] = merges_by_score(kinds, scores)
        metadata["tokenizer.ggml.model"] = "llama"
        metadata["tokenizer.ggml.scores"] = [scores[token] for token in vocab]
        metadata["tokenizer.ggml.unknown_token_id"] = model["vocab"]["<unk>"]
        if name == "gemma":
            metadata["tokenizer.ggml.add_space_prefix"] = False
    json.dump(rules, open(path + "/tokenizer.json", "w"), ensure_ascii=False)
    with open(path + "/model.gguf", "wb") as file:
        file.write(container(metadata, []))


if __name__ == "__main__":
    for each, its_pre in by_name.items():
        convert(sys.argv[1] + "/" + each, each, its_pre, random.Random(each))
