"""Measures the claims of the five documents that kvcheck started from, and prints docs/claims.md.

    python3 docs/claims.py build/release/kvcheck > docs/claims.md     (./dev claims does it)

Every number comes from a new run of kvcheck, and every verdict is computed from the numbers by the
rule beside it. Only the claims are written down in advance. claims_quality.py and claims_cost.py hold
the measurements.
"""
import datetime
import sys

import claims_cost as cost
import claims_quality as quality
from claims_runs import Runner

SOURCES = {
    "reservoir": "Pan et al., An Experiment of Implementing Reservoir Sampling to StreamingLLM",
    "blog": "Zhao, a blog's summary of StreamingLLM and its table of complexities",
    "pythia": "a reimplementation of StreamingLLM on Pythia-2.8b, its README",
    "gpt2": "Winer, Attention Sinks and Where to Cache Them (Towards AI)",
    "ring": "intel/neural-speed, docs/infinite_inference.md",
}


class Claim:
    def __init__(self, source, text, measure):
        self.source, self.text, self.measure = source, text, measure
        self.commands = []


CLAIMS = [
    Claim("reservoir", "The formula keeps every token that has left the recent window with equal "
          "probability.", quality.uniform_formula),
    Claim("reservoir", "The printed code does so too.", quality.uniform_printed),
    Claim("reservoir", "Larger samples reduce the variance.", quality.variance),
    Claim("reservoir", "At equal budget a reservoir recalls more than sinks + recent.",
          quality.reservoir_recall),
    Claim("reservoir", "At equal budget a reservoir has a lower perplexity than sinks + recent.",
          quality.reservoir_perplexity),
    Claim("reservoir", "Memory is constant.", cost.constant_memory),
    Claim("blog", "Dense attention costs O(T^2).", cost.dense_complexity),
    Claim("blog", "Window attention costs O(TL).", cost.bounded_complexity("window")),
    Claim("blog", "Sliding-window re-computation costs O(TL^2).", cost.recompute_complexity),
    Claim("blog", "Sinks + recent cost O(TL).",
          cost.bounded_complexity("streaming:sinks=4;positions=in-cache")),
    Claim("blog", "The first tokens matter: without them perplexity explodes.", quality.first_tokens),
    Claim("blog", "Four initial tokens suffice.", quality.four_suffice),
    Claim("blog", "Positions must be those in the cache, not those in the text.", quality.in_cache_needed),
    Claim("pythia", "A slack of 64 makes copies tens of times rarer.", cost.lazy),
    Claim("pythia", "Attention time per token is constant, while the time of dense attention grows.",
          cost.constant_attention),
    Claim("pythia", "A window of 256 is too small, and a window of 512 is nearly as good as dense: larger "
          "is better.", quality.window_sizes),
    Claim("pythia", "Semantic blocks beat a plain window of the same size.", quality.semantic_blocks),
    Claim("pythia", "H2O with sinks beats sinks + recent.", quality.h2o_against_streaming),
    Claim("ring", "Shuffling keys and values in the same way changes nothing but rounding.",
          quality.permutation),
    Claim("ring", "Discarding half of the cache amortises re-evaluation; discarding one token at a time "
          "re-evaluates constantly.", cost.amortised),
    Claim("ring", "Shifting keys adds less than a tenth to the time.", cost.shifting_cost),
    Claim("ring", "Shifted keys equal fresh ones up to minor differences.", quality.shifted_equal),
    Claim("gpt2", "The earliest tokens are doing most of the work of self-attention.",
          quality.first_tokens_work),
    Claim("gpt2", "Without a bound, memory and time grow exponentially with the context.",
          cost.exponential),
]

HEAD = """# What the sources claim, measured

`./dev claims` made this page on {date}. It runs `docs/claims.py`, which holds the claims and the rules
of their verdicts.

Quality is measured with the bundled small model ([model/data](../model/data/README.md)) on its held-out
text, and on attention recorded from another model ([traces/data](../traces/data/README.md)). Every
verdict is about these models and texts. "The stream" is the uncut text, whose 4,096 tokens pass through
one cache. In windows of 256 tokens, each window begins with an empty cache. "a + b" is a cache of a
sinks and b recent tokens. Times are ratios and exponents within one run on one machine, which may have
run other work at the same time. Exponents use the best of five runs at each point.

The fourth source says that the learned position of a token changes at every step. No claim here covers
this, because both models use rotary positions and neither has learned ones. The source's example of
seven slots is a test.

| | claim | verdict |
| --- | --- | --- |
"""


def sentence(words):
    return words[0].upper() + words[1:] + "."


def main():
    body = []
    head = HEAD.format(date=datetime.date.today().isoformat())
    for number, claim in enumerate(CLAIMS, 1):
        print(f"{number}/{len(CLAIMS)} {claim.text}", file=sys.stderr)
        measured, verdict, rule = claim.measure(Runner(claim))
        head += f"| [{number}](#claim-{number}) | {claim.text} | **{verdict}** |\n"
        body.append(f"## Claim {number}\n\n{claim.text} *({SOURCES[claim.source]})*\n\n"
                    f"**{sentence(verdict)}** {sentence(measured)}\n\n"
                    f"Rule: {sentence(rule)}\n\n```sh\n" + "\n".join(claim.commands) + "\n```\n")
    print(head + "\n" + "\n".join(body), end="")


if __name__ == "__main__":
    main()
