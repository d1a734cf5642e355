"""Scores of answers, written from the definition apart from the C++: answer_scores.py CASES.jsonl"""

import collections
import json
import string
import sys

ARTICLES = {"a", "an", "the"}


def words_of(text, left_out=string.punctuation):
    return "".join(letter for letter in text.lower() if letter not in left_out).split()


def pair(text, answer):
    """The words of both: without articles, unless the answer has no others, and without punctuation, unless it
    has nothing else."""
    words, right = words_of(text), words_of(answer)
    if not right:
        return words_of(text, ""), words_of(answer, "")
    if set(right) <= ARTICLES:
        return words, right
    return [[word for word in side if word not in ARTICLES] for side in (words, right)]


def f1(words, right):
    shared = sum((collections.Counter(words) & collections.Counter(right)).values())
    if shared == 0:
        return 0.0
    precision, recall = shared / len(words), shared / len(right)
    return 2 * precision * recall / (precision + recall)


def contains(words, right):
    return any(words[i:i + len(right)] == right for i in range(len(words) - len(right) + 1))


count = some = odd = 0
for line in open(sys.argv[1], encoding="utf-8"):
    case = json.loads(line)
    pairs = [pair(case["text"], answer) for answer in case["answers"]]
    assert case["exact"] == any(words == right for words, right in pairs), case
    assert case["contains"] == any(contains(words, right) for words, right in pairs), case
    assert abs(case["f1"] - max(f1(words, right) for words, right in pairs)) <= 1e-9, case
    count += 1
    some += case["f1"] > 0
    odd += case["contains"] and any(set(words_of(answer)) <= ARTICLES for answer in case["answers"])
assert count >= 1000 and some > 300 and odd > 30, (count, some, odd)
