"""The shapes that the field knows, looked for in the numbers of docs/comparison.md."""
import math

from comparison_runs import AGES, BUDGET, evaluated
from measuring import counted, half_width, mean, run_lines


def verdict(differences, least=0.0):
    """Of differences that should lie above `least`: by the 95 % interval of their mean."""
    centre, width = mean(differences), half_width(differences)
    if centre - width > least:
        return "Reproduced"
    return "**Not reproduced**" if centre + width < least else "**Not decided**"


def where(differences):
    """In words, whether most heads agree; they are no sample, so no verdict."""
    ahead = sum(d > 0 for d in differences)
    return f"ahead in {ahead} of {len(differences)} heads, which are no sample and decide nothing"


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def masses(a, b):
    return f"{a.get('open', 'retained_mass'):.3f} against {b.get('open', 'retained_mass'):.3f}"


def sinks_lost(rows, _):
    window, stream = rows["window"], rows["streaming"]
    return (f"{verdict(minus(window.closed['logs'], stream.closed['logs']), math.log(1.2))}: a window loses "
            f"the sinks. Perplexity {window.perplexity():.2f} against {stream.perplexity():.2f} with them "
            f"(asked for: a fifth more); mass {masses(window, stream)}. The model was trained with a "
            "sink-forming term: this shows what losing a sink costs, not that sinks grow.")


def heavy_hitters(rows, paths):
    h2o, stream = rows["h2o"], rows["streaming"]
    long = [evaluated(row.spec, paths, False, 0) for row in (h2o, stream)]
    ahead = minus(h2o.open["by_text"], stream.open["by_text"])
    there = minus(h2o.elsewhere["heads"], stream.elsewhere["heads"])
    return (f"{verdict(ahead)}: heavy hitters keep more attention than sinks + recent. Mass "
            f"{masses(h2o, stream)}, by text {mean(ahead):+.4f} ± {half_width(ahead):.4f}. On the trace of "
            f"another model, a single text of 512 tokens, by head {mean(there):+.3f} ± "
            f"{half_width(there):.3f}: {where(there)}. What it is worth depends on the text's length: "
            f"in windows of 256 perplexity is {h2o.perplexity():.2f} against {stream.perplexity():.2f}, on "
            f"the same texts uncut {long[0]['perplexity']:.2f} against {long[1]['perplexity']:.2f}. "
            "[Claim 18](claims.md#claim-18) measures the same with positions in the cache, on the held-out "
            "text alone.")


def old_tokens(*_):
    """Where all weigh the same but for noise, sums decide by age. The rule: beyond the least that the
    recent tokens allow, evicted ones live not a tenth as long as when sums are divided by age."""
    recent = BUDGET // 2
    stream = "synthetic:uniform:tokens=512"
    lives = []
    for field in ("none", "age"):
        spec = f"h2o:sinks=0,recent={recent},budget={BUDGET},normalise={field}"
        lives.append(run_lines(f"replay {stream} --policy '{spec}' --json -")[0]["lifetime_mean"])
    least = recent + 1
    found = lives[0] - least < 0.1 * (lives[1] - least)
    return (f"{'Reproduced' if found else '**Not reproduced**'}: under even attention h2o is biased to old "
            f"tokens. Where all keys weigh the same but for noise (`{stream}`), what it evicts has lived "
            f"{lives[0]:.2f} tokens on average, and {least} is the least that {recent} recent ones allow: "
            "next to no newcomer ever displaces one of the first. With sums divided by age (`normalise=age`) "
            f"it is {lives[1]:.1f}.")


def reservoirs(rows, _):
    kept, printed = rows["reservoir"], rows["reservoir-as-printed"]
    said = []
    for first, last in AGES:
        asked = counted(kept.closed["rows"], first, last)[1]
        said.append(f"{first} to {last} tokens ago {printed.recall(first, last):.2f} against "
                    f"{kept.recall(first, last):.2f} ({asked})")
    recalls = [row.text_recalls(64, 256) for row in (kept, printed)]
    law = run_lines(f"uniformity reservoir-as-printed:sinks=4,recent=28,budget={BUDGET} --tokens 256 "
                    "--trials 5000 --json -", (0, 1))[0]["sentence"]
    gain = minus(*recalls)
    return (f"{verdict(gain)}: the printed reservoir forgets by age what the formula keeps. Facts recalled "
            f"by the printed one and the formula, told {', '.join(said)}; in brackets the questions, over "
            f"all texts and seeds. From 64 tokens on the formula is ahead by {mean(gain):.2f} ± "
            f"{half_width(gain):.2f} over the texts. The law behind it, over 5,000 streams: {law}.")


def positions(rows, paths):
    specs = [f"streaming:budget={BUDGET}", f"streaming:budget={BUDGET};positions=in-cache"]
    absolute, ranked = (evaluated(spec, paths, False, 0) for spec in specs)
    short = rows["streaming"].closed, rows["@streaming-llm"].closed
    return (f"{verdict(minus(absolute['logs'], ranked['logs']))}: past the trained length positions in the "
            f"cache do better than absolute ones. Sinks + recent on the texts uncut: perplexity "
            f"{ranked['perplexity']:.2f} against {absolute['perplexity']:.2f}. Within the trained length, in "
            f"windows of 256, {short[1]['perplexity']:.3f} against {short[0]['perplexity']:.3f}.")


def shapes(rows, paths):
    found = [shape(rows, paths) for shape in (sinks_lost, heavy_hitters, old_tokens, reservoirs, positions)]
    found.append("Not drawn: the per-token logs of large models that others have published; the repository "
                 "holds none.")
    return "\n".join("* " + text for text in found)
