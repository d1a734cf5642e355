"""Measures the claims of the five documents that kvcheck started from; prints docs/claims.md.

    python3 docs/claims.py build/release/kvcheck > docs/claims.md     (./dev claims does it)

Every number comes from a run of kvcheck made now, and every verdict is computed from the numbers by
the rule that stands beside it: nothing is written down in advance but the claims.
"""
import datetime
import math
import sys

from measuring import MODEL, TRACE, deviation, mean, recalled, run_lines

HOLDS = "holds"
CONDITION = "holds with a condition"
FAILS = "does not hold"

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


class Runner:
    """Runs kvcheck, remembers the commands as a reader would type them. Claims that ask for the same
    numbers get those of one run."""

    done = {}

    def __init__(self, claim):
        self.claim = claim

    def lines(self, words, status=(0,)):
        shown = "kvcheck " + words
        if shown not in self.claim.commands:
            self.claim.commands.append(shown)
        if words not in self.done:
            self.done[words] = run_lines(words, status)
        return self.done[words]

    def replay(self, words):
        rows = self.lines(f"replay {TRACE} {words} --json -")
        return [row for row in rows if row["type"] == "cell"]

    def evaluate(self, words):
        rows = self.lines(f"eval {MODEL} {words} --json -")
        return [row for row in rows if row["type"] == "evaluation"]

    def speed(self, words):
        return self.lines(f"speed --model model/data {words} --json -")


def quoted(specs):
    return " ".join(f"--policy '{spec}'" for spec in specs)


def exponent(points):
    """The slope of the straight line through the logarithms."""
    xs = [math.log(x) for x, _ in points]
    ys = [math.log(y) for _, y in points]
    mx, my = mean(xs), mean(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)


def listed(pairs, form="{:.3g}"):
    return ", ".join(f"{name} {form.format(value)}" for name, value in pairs)


# --- the reservoir paper -----------------------------------------------------------------------

SIZES = "sinks=4,recent=28,budget=64"


def uniform_formula(run):
    for algorithm in ("r", "l", "bottom-k"):
        row = run.lines(f"uniformity reservoir:{SIZES},algorithm={algorithm} --tokens 256 "
                        "--trials 20000 --json -")[0]
        if not row["uniform"]:
            return row["sentence"], FAILS, "a rejected statistic"
    detectable = row["statistics"][0]["detectable"]
    return (f"not rejected over 20,000 streams for algorithms r, l and bottom-k (family error "
            f"{row['family_error']:g}; inclusion off by {detectable:.1%} of k/n would have been seen)",
            HOLDS, "no statistic rejects")


def uniform_printed(run):
    row = run.lines(f"uniformity reservoir-as-printed:{SIZES} --tokens 256 --trials 20000 --json -",
                    status=(0, 1))[0]
    return row["sentence"], HOLDS if row["uniform"] else FAILS, "no statistic rejects"


def variance(run):
    budgets = (48, 64, 96, 160)
    alone = run.replay("--policy streaming:sinks=4,recent=28")[0]["retained_mass"]
    rows = run.replay("--policy reservoir:sinks=4,recent=28 --seeds 40 --budget "
                      + ",".join(map(str, budgets)))
    spread = []
    for budget in budgets:
        brought = [row["retained_mass"] - alone for row in rows if row["budget"] == budget]
        spread.append((f"k = {budget - 32}:", deviation(brought) / mean(brought)))
    falls = all(a[1] > b[1] for a, b in zip(spread, spread[1:]))
    return ("standard deviation over 40 seeds of the attention mass that the sample brings, relative "
            "to that mass: " + listed(spread, "{:.1%}"),
            HOLDS if falls else FAILS, "it falls at every step")


def recall_and_perplexity(run):
    specs = ["streaming:sinks=4,recent=60;positions=in-cache",
             f"reservoir:{SIZES};positions=in-cache"]
    by_seed = [run.evaluate(f"{quoted(specs)} --windows 256 --seed {seed}") for seed in range(1, 6)]
    stream = by_seed[0][0]
    far = [recalled(rows[1], 64, 256) for rows in by_seed]
    near = [recalled(rows[1], 32, 64) for rows in by_seed]
    perplexity = [rows[1]["perplexity"] for rows in by_seed]
    return far, near, perplexity, stream


def reservoir_recall(run):
    far, near, _, stream = recall_and_perplexity(run)
    gain = mean(far) - recalled(stream, 64, 256)
    error = deviation(far) / math.sqrt(len(far))
    loss = recalled(stream, 32, 64) - mean(near)
    text = (f"facts told 64 to 256 tokens ago: {mean(far):.3f} ({error:.3f} over 5 seeds) against "
            f"{recalled(stream, 64, 256):.3f} for sinks + recent; 32 to 64 ago: {mean(near):.3f} "
            f"against {recalled(stream, 32, 64):.3f}")
    if gain < 2 * error:
        return text, FAILS, "far recall is better by two standard errors"
    return text, CONDITION if loss > 0.02 else HOLDS, \
        "far recall is better by two standard errors; the condition: near recall is worse"


def reservoir_perplexity(run):
    _, _, perplexity, stream = recall_and_perplexity(run)
    better = mean(perplexity) < stream["perplexity"]
    return (f"{mean(perplexity):.3f} ({deviation(perplexity):.3f} between 5 seeds) against "
            f"{stream['perplexity']:.3f} for sinks + recent",
            HOLDS if better else FAILS, "perplexity is lower")


def constant_memory(run):
    specs = ["dense", "streaming:sinks=4,recent=60", f"reservoir:{SIZES}"]
    rows = run.speed(f"{quoted(specs)} --length 256,1024,4096 --tokens 2")
    held = {}
    for row in rows:
        held.setdefault(row["spec"].split(":")[0].split(";")[0], []).append(row["kv_bytes"])
    constant = all(len(set(sizes)) == 1 for name, sizes in held.items() if name != "dense")
    text = "; ".join(f"{name} " + ", ".join(f"{b / 1024:.0f}" for b in sizes)
                     for name, sizes in held.items())
    return (f"KiB of keys and values after 256, 1,024 and 4,096 tokens: {text}",
            HOLDS if constant else FAILS, "the bounded ones do not grow")


# --- complexities ------------------------------------------------------------------------------


def attention_exponent(run, spec, lengths):
    rows = run.speed(f"--policy '{spec}' --length {','.join(map(str, lengths))} --tokens 32")
    return exponent([(row["length"], row["attention_s"]) for row in rows])


def token_exponent(run, spec, budgets, key):
    rows = []
    for budget in budgets:
        rows += run.speed(f"--policy '{spec}' --budget {budget} --length {2 * budget} --chunk 64 --tokens 32")
    return exponent([(budget, row[key]) for budget, row in zip(budgets, rows)])


LENGTHS = (1024, 2048, 4096, 8192)
BUDGETS = (512, 1024, 2048)


def dense_complexity(run):
    slope = attention_exponent(run, "dense;chunk=64", LENGTHS)
    return (f"attention per token grows as T^{slope:.2f}, so T tokens cost T^{1 + slope:.2f}",
            HOLDS if 0.75 < slope < 1.25 else FAILS, "the exponent per token is within 1 +- 0.25")


def bounded_complexity(spec):
    def measure(run):
        over_t = attention_exponent(run, spec + ";chunk=64", LENGTHS)
        over_l = token_exponent(run, spec, BUDGETS, "attention_s")
        good = abs(over_t) < 0.15 and 0.75 < over_l < 1.25
        return (f"attention per token grows as T^{over_t:.2f} and L^{over_l:.2f}: T tokens cost "
                f"T^{1 + over_t:.2f} L^{over_l:.2f}",
                HOLDS if good else FAILS, "exponents within 0 +- 0.15 and 1 +- 0.25")
    return measure


def recompute_complexity(run):
    budgets = (128, 256, 512, 1024)
    over_l = token_exponent(run, "@window-recompute", budgets, "token_s")
    rows = run.speed("--policy '@window-recompute' --budget 128 --length 256,512,1024 --chunk 64 --tokens 24")
    over_t = exponent([(row["length"], row["token_s"]) for row in rows])
    text = (f"a token costs T^{over_t:.2f} L^{over_l:.2f}: the products with weights are linear in L, "
            "attention is quadratic")
    if abs(over_t) > 0.15 or over_l < 0.75:
        return text, FAILS, "exponents of a token within 0 +- 0.15 and at least 0.75"
    return text, HOLDS if over_l > 1.75 else CONDITION, \
        "exponent of L at least 1.75; the condition: L so long that attention outweighs the weights"


# --- sinks and positions -----------------------------------------------------------------------


def sinks(run):
    counts = (0, 1, 2, 4, 8)
    specs = [f"streaming:sinks={n},budget=64;positions=in-cache" for n in counts]
    rows = run.evaluate(f"{quoted(specs)} --windows 0")
    values = {n: row["perplexity"] for n, row in zip(counts, rows)}
    text = "perplexity with " + ", ".join(f"{n}: {v:.2f}" for n, v in values.items()) + " sinks"
    return text, values


def first_tokens(run):
    text, values = sinks(run)
    return text, HOLDS if values[0] > 1.5 * values[1] else FAILS, \
        "without a sink perplexity is at least 1.5 times that with one"


def four_suffice(run):
    text, values = sinks(run)
    if values[1] < 1.03 * values[4]:
        text += "; one is enough for this model, whose texts all begin with the same token"
    return text, HOLDS if values[4] < 1.03 * values[8] else FAILS, \
        "perplexity with 4 is at most 3 % above that with 8, which take the place of recent tokens"


def in_cache_needed(run):
    specs = ["streaming:sinks=4,budget=64", "streaming:sinks=4,budget=64;positions=in-cache",
             "window:budget=64", "window:budget=64;positions=in-cache"]
    rows = run.evaluate(f"{quoted(specs)} --windows 0")
    absolute, ranked, window, window_ranked = [row["perplexity"] for row in rows]
    text = (f"over 4,096 tokens (trained on 256): sinks + recent {absolute:.2f} absolute, "
            f"{ranked:.2f} in-cache; window {window:.2f} and {window_ranked:.2f}")
    if absolute < 1.03 * ranked:
        return text, FAILS, "absolute positions cost at least 3 % more perplexity"
    return text, HOLDS if absolute > 1.5 * ranked else CONDITION, \
        ("absolute positions cost at least half more perplexity; the condition: better with in-cache "
         "ones, but not broken without, where rotation carries on beyond the trained length")


# --- the reimplementation ----------------------------------------------------------------------


def lazy(run):
    base = "streaming:sinks=8,recent=56"
    rows = run.replay(quoted([base, base + ";timing=lazy:64"]))
    eager, lazily = rows
    ratio = eager["moved"] / lazily["moved"]
    return (f"rows moved {eager['moved']:,} against {lazily['moved']:,}: {ratio:.0f} times fewer; "
            f"trims {eager['trims']:,} against {lazily['trims']:,}",
            HOLDS if ratio > 20 else FAILS, "at least 20 times fewer rows are moved")


def constant_attention(run):
    lengths = (1024, 2048, 8192)
    rows = run.speed(f"--policy 'dense;chunk=64' --policy 'streaming:sinks=4,recent=252;chunk=64' "
                     f"--length {','.join(map(str, lengths))} --tokens 64")
    dense = [row["attention_s"] for row in rows if row["spec"].startswith("dense")]
    stream = [row["attention_s"] for row in rows if row["spec"].startswith("streaming")]
    text = ("microseconds per token after 1,024, 2,048 and 8,192 tokens: sinks + recent "
            + ", ".join(f"{s * 1e6:.0f}" for s in stream) + "; dense "
            + ", ".join(f"{s * 1e6:.0f}" for s in dense))
    good = max(stream) < 1.25 * min(stream) and dense[-1] > 4 * dense[0]
    return text, HOLDS if good else FAILS, "within 25 %, while dense grows at least 4 times"


def window_sizes(run):
    specs = [f"streaming:sinks=8,budget={n}" for n in (32, 64, 128, 264, 504)]
    rows = run.replay(quoted(specs))
    masses = ", ".join(f"{row['budget']}: {row['retained_mass']:.3f}" for row in rows)
    ranked = [spec + ";positions=in-cache" for spec in specs[:4]]
    loop = run.evaluate(f"{quoted(ranked)} --windows 0")
    perplexities = ", ".join(f"{row['budget']}: {row['perplexity']:.3f}" for row in loop)
    values = [row["perplexity"] for row in loop]
    best = values.index(min(values))
    text = f"perplexity of the bundled model by budget {perplexities}; retained mass {masses}"
    if best == len(values) - 1:
        return text, HOLDS, "the largest budget is the best"
    return text, CONDITION, \
        "the largest budget is the best; the condition: within what the model was trained on (256)"


def h2o_against_streaming(run):
    specs = [f"{policy};positions=in-cache" for policy in
             ("streaming:sinks=4,budget=64", "h2o:sinks=4,recent=30,budget=64")]
    loop = run.evaluate(f"{quoted(specs)} --windows 0")
    rows = run.replay(quoted([spec.split(";")[0] for spec in specs]))
    text = (f"perplexity {loop[1]['perplexity']:.3f} against {loop[0]['perplexity']:.3f} for sinks + "
            f"recent; recall {share(loop[1]):.3f} against {share(loop[0]):.3f}; retained mass on "
            f"recorded attention {rows[1]['retained_mass']:.3f} against {rows[0]['retained_mass']:.3f}")
    better = [loop[1]["perplexity"] < loop[0]["perplexity"], share(loop[1]) > share(loop[0]),
              rows[1]["retained_mass"] > rows[0]["retained_mass"]]
    verdict = HOLDS if all(better) else CONDITION if any(better) else FAILS
    return text, verdict, "better in all three; the condition: only in some of them"


def share(row):
    return sum(b["right"] for b in row["recall"]) / sum(b["asked"] for b in row["recall"])


def semantic_blocks(run):
    specs = ["streaming:sinks=8,budget=64;positions=in-cache",
             "semantic-blocks:sinks=8,recent=32,budget=64;positions=in-cache"]
    loop = run.evaluate(f"{quoted(specs)} --windows 0")
    rows = run.replay(quoted([spec.split(";")[0] for spec in specs]))
    text = (f"perplexity {loop[1]['perplexity']:.3f} against {loop[0]['perplexity']:.3f} for sinks + "
            f"recent; retained mass {rows[1]['retained_mass']:.3f} against "
            f"{rows[0]['retained_mass']:.3f}")
    better = [loop[1]["perplexity"] < loop[0]["perplexity"],
              rows[1]["retained_mass"] > rows[0]["retained_mass"]]
    verdict = HOLDS if all(better) else CONDITION if any(better) else FAILS
    return text, verdict, "better in both; the condition: only in one of them"


# --- the ring ----------------------------------------------------------------------------------


def permutation(run):
    rows = run.lines("check streaming:sinks=4,recent=12 --filter attention.permutation --json -",
                     status=(0, 1))
    laws = [law for row in rows for law in row.get("laws", [])]
    states = {law["law"]: law["status"] for law in laws}
    state = states.get("attention.permutation", "not tried")
    return (f"the law attention.permutation (a row's weight does not depend on its slot) over "
            f"{rows[0]['cases']} cases: {state}", HOLDS if state == "held" else FAILS,
            "the law holds")


def amortised(run):
    budget = 128
    specs = [f"streaming:sinks=4,budget={budget};timing=trim-then-attend;positions=in-cache",
             f"@discard-half:recent={budget // 2 - 2};timing=lazy:{budget // 2 - 3}",
             f"window:budget={budget};timing=trim-then-attend;positions=in-cache;"
             "vectors=re-evaluated"]
    rows = run.speed(f"{quoted(specs)} --chunk 1 --length 768 --tokens 1")
    kept, discard, recompute = [row["first_token_s"] for row in rows]
    text = (f"768 tokens one by one, context {budget}: discarding half {discard / kept:.1f} times "
            f"sinks + recent, recomputing at every token {recompute / kept:.0f} times")
    return text, HOLDS if discard < 3 * kept and recompute > 5 * discard else FAILS, \
        "discarding costs below 3 times, recomputing at least 5 times as much as discarding"


def shifting_cost(run):
    rows = []
    for storage in ("f32", "f16"):
        base = "streaming:sinks=4,budget=256;timing=trim-then-attend"
        rows += run.speed(f"{quoted([base + ';positions=in-cache', base + ';positions=shifted'])} "
                          f"--chunk 1 --length 2048 --tokens 1 --storage {storage}")
    costs = [rows[i + 1]["first_token_s"] / rows[i]["first_token_s"] - 1 for i in (0, 2)]
    return (f"2,048 tokens one by one, 256 residents: {costs[0]:+.1%} with f32 keys, {costs[1]:+.1%} "
            "with f16, against turning the query once per run and no key ever",
            HOLDS if max(costs) < 0.1 else FAILS, "below a tenth for both")


def shifted_equal(run):
    text, worst = [], {}
    specs = ["streaming:sinks=4,budget=256;positions=in-cache",
             "streaming:sinks=4,budget=256;positions=shifted"]
    for storage, keys in (("f32", "rotated"), ("f16", "rotated"), ("f16", "rotated-f16"),
                          ("bf16", "rotated"), ("int8", "rotated")):
        policies = quoted(specs) if keys == "rotated" else quoted(specs[1:])
        rows = run.evaluate(f"{policies} --windows 0 --storage {storage} --keys {keys}")
        if keys == "rotated":
            fresh = rows[0]["perplexity"]
        off = rows[-1]["perplexity"] / fresh - 1
        name = storage if keys == "rotated" else "f16 in f16 arithmetic"
        worst[name] = abs(off)
        text.append(f"{name} {off:+.3%}")
    good = [name for name, off in worst.items() if off < 0.001]
    verdict = HOLDS if len(good) == len(worst) else CONDITION if good else FAILS
    return ("perplexity with shifted against unshifted keys, 256 residents: " + ", ".join(text),
            verdict, "all differ by less than 0.1 %; the condition: the storage is fine enough")


CLAIMS = [
    Claim("reservoir", "By the formula, every token that left the recent ones is kept with equal "
          "probability.", uniform_formula),
    Claim("reservoir", "So it is by the printed code.", uniform_printed),
    Claim("reservoir", "Larger samples reduce the variance.", variance),
    Claim("reservoir", "At equal budget a reservoir remembers more than sinks + recent: recall.",
          reservoir_recall),
    Claim("reservoir", "The same: perplexity.", reservoir_perplexity),
    Claim("reservoir", "Memory is constant.", constant_memory),
    Claim("blog", "Dense attention costs O(T^2).", dense_complexity),
    Claim("blog", "Window attention costs O(TL).", bounded_complexity("window")),
    Claim("blog", "Sliding-window re-computation costs O(TL^2).", recompute_complexity),
    Claim("blog", "Sinks + recent cost O(TL).",
          bounded_complexity("streaming:sinks=4;positions=in-cache")),
    Claim("blog", "The first tokens matter: without them perplexity explodes.", first_tokens),
    Claim("blog", "Four initial tokens suffice.", four_suffice),
    Claim("blog", "Positions must be those in the cache, not those in the text.", in_cache_needed),
    Claim("pythia", "A slack of 64 makes copies tens of times rarer.", lazy),
    Claim("pythia", "Attention time per token is constant, while that of dense grows.",
          constant_attention),
    Claim("pythia", "A window of 256 is too small and one of 512 nearly dense: more is better.",
          window_sizes),
    Claim("pythia", "Semantic blocks beat a plain window of the same size.", semantic_blocks),
    Claim("pythia", "H2O with sinks beats sinks + recent.", h2o_against_streaming),
    Claim("ring", "Shuffling keys and values alike changes nothing but rounding.", permutation),
    Claim("ring", "Discarding half amortises re-evaluation; discarding one token re-evaluates all "
          "the time.", amortised),
    Claim("ring", "Shifting keys costs less than a tenth.", shifting_cost),
    Claim("ring", "Shifted keys equal fresh ones up to minor differences.", shifted_equal),
]

HEAD = """# What the sources claim, measured

Made by `./dev claims` on {date}; it runs `docs/claims.py`, which holds the claims and the rules of
their verdicts. Quality is that of the bundled small model ([model/data](../model/data/README.md)) on
its held-out text, and of attention recorded from another one
([traces/data](../traces/data/README.md)): a verdict is about these. Times are ratios and exponents
within one run on one machine.

| | claim | verdict |
| --- | --- | --- |
"""


def main():
    body = []
    head = HEAD.format(date=datetime.date.today().isoformat())
    for number, claim in enumerate(CLAIMS, 1):
        print(f"{number}/{len(CLAIMS)} {claim.text}", file=sys.stderr)
        measured, verdict, rule = claim.measure(Runner(claim))
        head += f"| [{number}](#claim-{number}) | {claim.text} | **{verdict}** |\n"
        body.append(f"## Claim {number}\n\n{claim.text} *({SOURCES[claim.source]})*\n\n"
                    f"**{verdict[0].upper() + verdict[1:]}.** Measured: {measured}.\n\n"
                    f"Rule: {rule}.\n\n```sh\n" + "\n".join(claim.commands) + "\n```\n")
    print(head + "\n" + "\n".join(body), end="")


if __name__ == "__main__":
    main()
