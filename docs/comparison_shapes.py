"""Effects known from the literature, tested in the numbers of docs/comparison.md."""
import math

from comparison_runs import AGES, BUDGET, evaluated
from measuring import counted, half_width, mean, run_lines


def verdict(differences, least=0.0):
    """Whether the 95 % interval of the mean difference lies above `least`, as the effect requires."""
    centre, width = mean(differences), half_width(differences)
    if centre - width > least:
        return "Reproduced"
    return "**Not reproduced**" if centre + width < least else "**Not decided**"


def where(differences):
    """In how many heads the difference is positive. Heads are not a sample, so there is no verdict."""
    ahead = sum(d > 0 for d in differences)
    return (f"it is positive in {ahead} of {len(differences)} heads, which decides nothing because heads are not a "
            "sample")


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def masses(a, b):
    return f"{a.get('open', 'retained_mass'):.3f} against {b.get('open', 'retained_mass'):.3f}"


def sinks_lost(rows, _):
    window, stream = rows["window"], rows["streaming"]
    return (f"{verdict(minus(window.closed['logs'], stream.closed['logs']), math.log(1.2))}: a window loses "
            f"the sinks. Its perplexity is {window.perplexity():.2f} against {stream.perplexity():.2f} with sinks, "
            f"where the effect requires a fifth more; its mass is {masses(window, stream)}. The model was trained "
            "with a sink-forming term, so this shows the cost of losing a sink. It does not show that sinks form.")


def heavy_hitters(rows, paths):
    h2o, stream = rows["h2o"], rows["streaming"]
    long = [evaluated(row.spec, paths, False, 0) for row in (h2o, stream)]
    ahead = minus(h2o.open["by_text"], stream.open["by_text"])
    there = minus(h2o.elsewhere["heads"], stream.elsewhere["heads"])
    return (f"{verdict(ahead)}: heavy hitters retain more attention than sinks + recent. Mass is "
            f"{masses(h2o, stream)}, and the difference by text is {mean(ahead):+.4f} ± {half_width(ahead):.4f}. On "
            "the trace of another model, a single text of 512 tokens, the difference by head is "
            f"{mean(there):+.3f} ± {half_width(there):.3f}; {where(there)}. The gain depends on the length of the "
            f"text: in windows of 256, perplexity is {h2o.perplexity():.2f} against {stream.perplexity():.2f}; on "
            f"the same texts uncut it is {long[0]['perplexity']:.2f} against {long[1]['perplexity']:.2f}. "
            "[Claim 18](claims.md#claim-18) measures the same with in-cache positions, on the held-out text alone.")


def old_tokens(*_):
    """If all keys have the same weight except for noise, sums of attention decide by age. The rule: above
    the least lifetime that the recent window allows, evicted tokens live less than a tenth as long as with
    sums divided by age."""
    recent = BUDGET // 2
    stream = "synthetic:uniform:tokens=512"
    lives = []
    for field in ("none", "age"):
        spec = f"h2o:sinks=0,recent={recent},budget={BUDGET},normalise={field}"
        lives.append(run_lines(f"replay {stream} --policy '{spec}' --json -")[0]["lifetime_mean"])
    least = recent + 1
    found = lives[0] - least < 0.1 * (lives[1] - least)
    return (f"{'Reproduced' if found else '**Not reproduced**'}: under even attention h2o is biased to old "
            f"tokens. If all keys have the same weight except for noise (`{stream}`), the tokens that it evicts "
            f"have lived {lives[0]:.2f} tokens on average. The least that a recent window of {recent} allows is "
            f"{least}, so almost no new token displaces one of the first. With sums divided by age "
            f"(`normalise=age`) they have lived {lives[1]:.1f} tokens.")


def reservoirs(rows, _):
    kept, printed = rows["reservoir"], rows["reservoir-as-printed"]
    said = []
    for first, last in AGES:
        asked = counted(kept.closed["rows"], first, last)[1]
        said.append(f"{printed.recall(first, last):.2f} against {kept.recall(first, last):.2f} for {first} to "
                    f"{last} tokens ({asked})")
    recalls = [row.text_recalls(64, 256) for row in (kept, printed)]
    law = run_lines(f"uniformity reservoir-as-printed:sinks=4,recent=28,budget={BUDGET} --tokens 256 "
                    "--trials 5000 --json -", (0, 1))[0]["sentence"]
    gain = minus(*recalls)
    return (f"{verdict(gain)}: the printed reservoir forgets by age what the formula keeps. It recalls these "
            f"shares of facts, compared with the formula and by the tokens since the fact was stated: "
            f"{', '.join(said)}. The numbers in brackets are the questions over all texts and seeds. From 64 "
            f"tokens on, the formula is ahead by {mean(gain):.2f} ± {half_width(gain):.2f} over the texts. "
            f"`kvcheck uniformity` explains it, over 5,000 streams: {law}.")


def positions(rows, paths):
    specs = [f"streaming:budget={BUDGET}", f"streaming:budget={BUDGET};positions=in-cache"]
    absolute, ranked = (evaluated(spec, paths, False, 0) for spec in specs)
    short = rows["streaming"].closed, rows["@streaming-llm"].closed
    return (f"{verdict(minus(absolute['logs'], ranked['logs']))}: beyond the trained length, positions in the "
            f"cache are better than absolute ones. For sinks + recent on the texts uncut, perplexity is "
            f"{ranked['perplexity']:.2f} against {absolute['perplexity']:.2f}. Within the trained length, in "
            f"windows of 256, it is {short[1]['perplexity']:.3f} against {short[0]['perplexity']:.3f}.")


def shapes(rows, paths):
    found = [shape(rows, paths) for shape in (sinks_lost, heavy_hitters, old_tokens, reservoirs, positions)]
    found.append("Not drawn: the per-token logs of large models that others have published, because the "
                 "repository holds none.")
    return "\n".join("* " + text for text in found)
