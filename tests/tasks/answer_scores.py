"""Scores of answers, written from the definition apart from the C++: answer_scores.py CASES.jsonl"""

import collections
import json
import string
import sys

ARTICLES = {"a", "an", "the"}


def words_of(text):
    kept = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    words = [word for word in kept.split() if word not in ARTICLES]
    return words if words or not text else [text]


def f1(words, right):
    shared = sum((collections.Counter(words) & collections.Counter(right)).values())
    if shared == 0:
        return 0.0
    precision, recall = shared / len(words), shared / len(right)
    return 2 * precision * recall / (precision + recall)


def contains(words, right):
    return any(words[i:i + len(right)] == right for i in range(len(words) - len(right) + 1))


count = exact = 0
for line in open(sys.argv[1], encoding="utf-8"):
    case = json.loads(line)
    words = words_of(case["text"])
    rights = [words_of(answer) for answer in case["answers"]]
    assert case["exact"] == any(words == right for right in rights), case
    assert case["contains"] == any(contains(words, right) for right in rights), case
    assert abs(case["f1"] - max(f1(words, right) for right in rights)) <= 1e-9, case
    count += 1
    exact += case["f1"] > 0
assert count >= 1000 and exact > 300, (count, exact)
