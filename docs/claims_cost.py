"""How docs/claims.py measures what is claimed of memory and time."""
from claims_runs import CONDITION, FAILS, HOLDS, UNDECIDED, exponent, quoted
from measuring import median

SIZES = "sinks=4,recent=28,budget=64"

# Order statistics of so many runs that enclose their median with 96 % (binomial).
REPEATS, OUTSIDE = 25, 7

# Runs whose best time is taken.
BEST_OF = 5


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


def best(run, words, key):
    """The rows of a command; of BEST_OF runs each with the shortest time, as neighbours on the machine
    can only make it longer."""
    runs = [run.speed(words)] + [run.speed(words, fresh=True) for _ in range(BEST_OF - 1)]
    return [min(same, key=lambda row: row[key]) for same in zip(*runs)]


def attention_over(run, spec, lengths):
    words = f"--policy '{spec}' --length {','.join(map(str, lengths))} --tokens 32"
    return best(run, words, "attention_s")


def slope_of(rows):
    return exponent([(row["length"], row["attention_s"]) for row in rows])


def steps_of(rows):
    """How many times longer the next token's attention takes, from length to length."""
    return [b["attention_s"] / a["attention_s"] for a, b in zip(rows, rows[1:])]


def many(numbers):
    return ", ".join(f"{number:.1f}" for number in numbers)


def token_exponent(run, spec, budgets, key):
    rows = []
    for budget in budgets:
        words = f"--policy '{spec}' --budget {budget} --length {2 * budget} --chunk 64 --tokens 32"
        rows += best(run, words, key)
    return exponent([(budget, row[key]) for budget, row in zip(budgets, rows)])


LENGTHS = (512, 1024, 2048, 4096)
BUDGETS = (512, 1024, 2048)


def linear(slope):
    return 0.75 < slope < 1.25


def dense_complexity(run):
    rows = attention_over(run, "dense;chunk=64", LENGTHS)
    slope, before_last = slope_of(rows), slope_of(rows[:-1])
    text = (f"attention per token grows as T^{slope:.2f}, so T tokens cost T^{1 + slope:.2f}; at each "
            f"doubling {many(steps_of(rows))} times, from {rows[0]['kv_bytes'] / 2**20:.0f} MiB of keys and "
            f"values to {rows[-1]['kv_bytes'] / 2**20:.0f}")
    verdict = HOLDS if linear(slope) else CONDITION if linear(before_last) else FAILS
    return text, verdict, ("the exponent per token is within 1 +- 0.25; the condition: only before the last "
                           "doubling, after which keys and values may be more than the processor's caches hold")


def bounded_complexity(spec):
    def measure(run):
        over_t = slope_of(attention_over(run, spec + ";chunk=64", LENGTHS))
        over_l = token_exponent(run, spec, BUDGETS, "attention_s")
        good = abs(over_t) < 0.15 and linear(over_l)
        return (f"attention per token grows as T^{over_t:.2f} and L^{over_l:.2f}: T tokens cost "
                f"T^{1 + over_t:.2f} L^{over_l:.2f}",
                HOLDS if good else FAILS, "exponents within 0 +- 0.15 and 1 +- 0.25")
    return measure


def recompute_complexity(run):
    def over(budgets, tokens):
        words = ("--policy '@window-recompute' --budget {0} --length {1} --chunk 64 --tokens " + str(tokens))
        rows = [best(run, words.format(budget, budget + 64), "token_s")[0] for budget in budgets]
        return exponent([(budget, row["token_s"]) for budget, row in zip(budgets, rows)])

    short, long = over((128, 256, 512, 1024), 24), over((2048, 4096), 4)
    rows = best(run, "--policy '@window-recompute' --budget 128 --length 256,512,1024 --chunk 64 --tokens 24",
                "token_s")
    over_t = exponent([(row["length"], row["token_s"]) for row in rows])
    text = (f"a token costs T^{over_t:.2f}, and L^{short:.2f} from L = 128 to 1,024, L^{long:.2f} from 2,048 to "
            "4,096: the products with weights are linear in L, attention is quadratic")
    constant = abs(over_t) < 0.15
    verdict = HOLDS if constant and short > 1.5 else CONDITION if constant and long > 1.5 else FAILS
    return text, verdict, ("the exponent of T is within 0 +- 0.15 and that of L nearer to 2 than to 1; the "
                           "condition: only where L is so long that attention outweighs the weights")


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
    rows = best(run, "--policy 'dense;chunk=64' --policy 'streaming:sinks=4,recent=252;chunk=64' "
                     f"--length {','.join(map(str, lengths))} --tokens 64", "attention_s")
    dense = [row["attention_s"] for row in rows if row["spec"].startswith("dense")]
    stream = [row["attention_s"] for row in rows if row["spec"].startswith("streaming")]
    text = ("microseconds per token after 1,024, 2,048 and 8,192 tokens: sinks + recent "
            + ", ".join(f"{s * 1e6:.0f}" for s in stream) + "; dense "
            + ", ".join(f"{s * 1e6:.0f}" for s in dense))
    good = max(stream) < 1.25 * min(stream) and dense[-1] > 4 * dense[0]
    return text, HOLDS if good else FAILS, "within 25 %, while dense grows at least 4 times"


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


def shifting_ratios(run, storage, budget):
    """What shifting adds, of runs side by side: one of each kind at a time, REPEATS times."""
    base = f"streaming:sinks=4,budget={budget};timing=trim-then-attend"
    words = (f"{quoted([base + ';positions=in-cache', base + ';positions=shifted'])} "
             f"--chunk 1 --length 2048 --tokens 1 --storage {storage}")
    ratios = []
    for _ in range(REPEATS):
        fresh, shifted = (row["first_token_s"] for row in run.speed(words, fresh=True))
        ratios.append(shifted / fresh - 1)
    return sorted(ratios)


def shifting_cost(run):
    text, below, above = [], {}, {}
    for budget in (256, 128):
        words = []
        for storage in ("f32", "f16"):
            ratios = shifting_ratios(run, storage, budget)
            low, high = ratios[OUTSIDE], ratios[-1 - OUTSIDE]
            below[budget] = below.get(budget, True) and high < 0.1
            above[budget] = above.get(budget, False) or low > 0.1
            words.append(f"{median(ratios):+.1%} with {storage} keys (96 % interval {low:+.1%} to {high:+.1%})")
        text.append(f"of {budget} residents " + ", ".join(words))
    verdict = HOLDS if below[256] and below[128] else CONDITION if above[256] and below[128] else \
        FAILS if above[128] else UNDECIDED
    return (f"2,048 tokens one by one, against turning the query once per run and no key ever; the median of "
            f"{REPEATS} pairs of runs: " + "; ".join(text), verdict,
            "the whole interval lies below a tenth, of 256 and of 128 residents, for both storages; the "
            "condition: of 128 it does and of 256 it lies above; with 128 one number turns per 24 weights, as "
            "by its sizes in a model of 7 billion weights with 2,048 residents; an interval that encloses a "
            "tenth decides nothing")


def exponential(run):
    rows = attention_over(run, "dense;chunk=64", LENGTHS)
    sizes = [b["kv_bytes"] / a["kv_bytes"] for a, b in zip(rows, rows[1:])]
    steps = steps_of(rows)
    text = (f"dense, from {LENGTHS[0]:,} to {LENGTHS[-1]:,} tokens: at each doubling bytes grow {many(sizes)} "
            f"times and the attention time of the next token {many(steps)} times")
    grows = [factors[-1] > factors[0] ** 2 for factors in (sizes, steps)]
    return text, HOLDS if all(grows) else FAILS, \
        ("of both, the factor of the last doubling is above the square of the first's: an exponential squares it at "
         "every doubling, a power of T has the same at each")
