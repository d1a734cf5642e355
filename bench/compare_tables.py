"""The tables of compare.py. A run is a dictionary of numbers by name; of several runs each cell shows the least
and the most."""
import re

import numpy_loops

HEAD_DIM = 64
SHAPES = {"plain": "12/12/64", "grouped": "32/8/128"}
# Per row: a product and a sum for each channel of every key up to the query, for the logits and for the output.
FLOP_PER_ROW = 4 * HEAD_DIM * (numpy_loops.TOKENS + 1) / 2
# The sampled trace is one of 8 x 32 kv-heads, and a quarter of 131,072 tokens: the work grows with their square.
WHOLE_OF_SAMPLED = 8 * 32 * 16


def span(values, form):
    """The least and the most of the values as text, "1.2 to 1.3", or one if they look alike."""
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low} to {high}"


class Runs:
    def __init__(self, runs):
        self.runs = runs

    def names(self, *starts):
        """The names in all runs that begin so, in the order of the first."""
        return [name for name in self.runs[0]
                if name.startswith(starts) and all(name in run for run in self.runs)]

    def values(self, name, per="", times=1.0):
        """Of each run the number, divided by that of `per`."""
        return [times * run[name] / (run[per] if per else 1) for run in self.runs]

    def cell(self, name, form="{:.2f}", per="", times=1.0):
        return span(self.values(name, per, times), form)


def table(head, rows):
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


class Goals:
    """Rows of the table of goals."""

    def __init__(self):
        self.rows = []

    def add(self, work, values, goal, form="{:.2f}", most=False):
        """A goal is the least that the worst run must reach, or the most."""
        worst = max(values) if most else min(values)
        met = worst <= goal if most else worst >= goal
        if not met and form.format(worst) == form.format(goal):
            form = "{:.3f}"
        by = "" if met else f"no: {form.format(worst)}"
        self.rows.append((work, span(values, form), ("≤ " if most else "≥ ") + form.format(goal), by or "yes"))

    def add_best_peer(self, work, ratios, runs):
        """The ratio to the peer that is hardest to beat, whose name is the last word of a ratio's name."""
        if ratios:
            worst = min(ratios, key=lambda name: min(runs.values(name)))
            name = worst.split(" of_")[1] if " of_" in worst else worst.split()[3]
            self.add(f"{work}, to the best peer ({name})", runs.values(worst), 1.0)


def decode_name(shape, storage, residents, scattered=False):
    return f"BM_decode/{shape}_{storage}{'_scattered' if scattered else ''}/{residents} of_read"


def ratio_names(runs, name):
    """Of a benchmark of attention the counters of other libraries."""
    start = name.replace("of_read", "of_")
    return [one for one in runs.names(start) if not one.endswith((" of_read", " of_rows"))]


def attention_goals(runs, goals):
    least = {"plain": {"f16": 0.75, "f32": 0.88}, "grouped": {"f16": 0.75, "f32": 0.65}}
    for shape, storages in least.items():
        for storage, goal in storages.items():
            for residents in (2048, 4096):
                goals.add(f"decode attention {SHAPES[shape]} {storage}, {residents:,} residents, of the read bound",
                          runs.values(decode_name(shape, storage, residents)), goal)
            for residents in (512, 2048, 4096):
                goals.add_best_peer(f"decode attention {SHAPES[shape]} {storage}, {residents:,} residents",
                                    ratio_names(runs, decode_name(shape, storage, residents)), runs)
    for name in runs.names("BM_decode/"):
        shape, storage, *rest = name.split("/")[1].split("_")
        residents = name.split("/")[2].split()[0]
        if rest and name.endswith(" of_read"):
            goals.add(f"the same, {SHAPES[shape]} {storage} in scattered slots, of contiguous ones",
                      runs.values(name, decode_name(shape, storage, residents)), 0.85)


def replay_goals(runs, goals):
    rate = " items_per_second"
    goals.add("replay of rows, one policy at 512, million rows/s",
              runs.values("attention/streaming/1 thread" + rate, times=1e-6), 5.0)
    goals.add("replay of rows without top-k, of the read bound",
              runs.values("attention/streaming, top 0/1 thread" + rate, "read bound" + rate), 0.6)
    goals.add("dense rows of queries, keys and values, GFLOP/s",
              runs.values("rows/qkv, top 16" + rate, times=FLOP_PER_ROW / 1e9), 150.0, "{:.0f}")
    dearest = max(runs.names("share "), key=lambda name: max(runs.values(name)))
    goals.add(f"the dearest policy ({dearest.split()[1]}), of `--policy all`", runs.values(dearest), 0.12,
              most=True)
    goals.add("a row of a file of 268 MB by the command, to one in memory",
              [run["file s"] * run["attention/streaming/1 thread" + rate] for run in runs.runs], 1.5, most=True)
    for tokens, most in ((4096, 3.0), (8192, 20.0)):
        goals.add(f"the oracle of one head at {tokens:,} tokens, s", runs.values(f"oracle {tokens} s"), most,
                  "{:.1f}", most=True)
    goals.add("32 layers × 8 kv-heads × 4 of 131,072 tokens, one query in 64, core-hours",
              runs.values("sampled s", times=WHOLE_OF_SAMPLED / 3600), 3.0, most=True)
    goals.add("synthetic rows of one head, 16,384 tokens, peak MiB", runs.values("rows 16384 MiB"), 100.0, "{:.0f}",
              most=True)
    goals.add("a million decisions without attention (reservoir, 512), s",
              [1e6 / value for value in runs.values("BM_decisions/reservoir_r_512" + rate)], 1.0, "{:.3f}",
              most=True)
    goals.add("a replay under reservoir-chao with 4,096 residents, to one with 256",
              runs.values("chao 4096 s", "chao 256 s"), 1.1, most=True)


def read_bound(run, size, threads=1):
    """The rate at which the largest number of bytes is read that is not above `size`: the caches hold more of what
    is smaller, so that a share of this bound is too low rather than too high."""
    end = ("" if threads == 1 else f"/threads:{threads}") + " bytes_per_second"
    sizes = [int(found[1]) for found in (re.fullmatch(f"BM_read/([0-9]+){end}", name) for name in run) if found]
    largest = max(mib for mib in sizes if mib == min(sizes) or mib << 20 <= size)
    return run[f"BM_read/{largest}{end}"]


def peers_of(runs, kind, threads):
    start = f"model {kind} {threads} "
    return dict.fromkeys(name[len(start):].split(" ")[0] for name in runs.names(start))


def model_goals(runs, goals):
    for kind in ("f32", "f16"):
        at = f"model {kind} "
        for threads in (1, 2):
            for what in ("decode", "prompt"):
                ratios = [name for name in runs.names(f"{at}{threads} ") if name.endswith(what + " ratio")]
                goals.add_best_peer(f"110 M {kind}, {what}, {threads} thread{'s' * (threads - 1)}", ratios, runs)
        for threads in (1, 2):
            goals.add(f"110 M {kind}, decode, {threads} thread{'s' * (threads - 1)}, of the bandwidth bound",
                      [run[f"{at}{threads} kvcheck decode"] * run[f"{kind} bytes"] /
                       read_bound(run, run[f"{kind} bytes"], threads) for run in runs.runs], 0.85)
        goals.add(f"110 M {kind}, prompt, 2 threads to 1",
                  runs.values(f"{at}2 kvcheck prompt", f"{at}1 kvcheck prompt"), 1.9)
    for weights in ("int8", "nf4"):
        goals.add(f"110 M, {weights} weights, decode, 1 thread, of their bound",
                  [run[f"weights {weights} bytes"] / run[f"weights {weights} s"] /
                   read_bound(run, run[f"weights {weights} bytes"]) for run in runs.runs], 0.75)


def target_goals(runs, goals):
    kinds, works = targets_of(runs)
    for work in works if kinds[:2] == ["avx512", "avx2"] else []:
        if work.startswith("attend "):
            goals.add(f"{work}, kernels for AVX2 to those for AVX-512", runs.values(f"targets/{work}/avx2 of_best"),
                      0.5)


def goal_table(runs):
    goals = Goals()
    attention_goals(runs, goals)
    target_goals(runs, goals)
    replay_goals(runs, goals)
    if "f32 bytes" in runs.runs[0]:
        model_goals(runs, goals)
    return table(("work", "measured", "goal", "met"), goals.rows)


def replay_table(runs):
    rate, rows = " items_per_second", []
    for name in runs.names("read bound", "rows/attention", "attention/"):
        if not name.endswith(rate):
            continue
        plain = name[:-len(rate)]
        one = "2 threads" not in name
        policy = "numpy " + plain.split("/")[1].split(",")[0] if "/" in plain else ""
        rows.append((plain, runs.cell(name, times=1e-6), runs.cell(name, per="read bound" + rate) if one else "",
                     runs.cell(name, per=policy) if one and policy in runs.runs[0] else ""))
    return table(("replay of attention rows, 512 residents, 1,024 tokens", "million rows/s",
                  "of the read bound", "times NumPy"), rows)


def eight_in_one_pass(runs):
    rate = " items_per_second"
    single = [name for name in runs.names("attention/")
              if name.endswith("1 thread" + rate) and "eight" not in name and ", top" not in name]
    values = []
    for run in runs.runs:
        mean = sum(1 / run[name] for name in single) / len(single)
        values.append(1 / run["attention/all eight/1 thread" + rate] / mean)
    numpy = ", ".join(f"{name.split()[1]} {runs.cell(name, times=1e-6)}" for name in runs.names("numpy "))
    return (f"Eight policies in one pass take {span(values, '{:.2f}')} times the mean of one alone. NumPy, million "
            f"rows/s: {numpy}.")


def qkv_table(runs):
    rate = " items_per_second"
    return table(("replay of queries, keys and values", "thousand rows/s", "GFLOP/s of the dense rows"),
                 [(name[:-len(rate)], runs.cell(name, "{:.0f}", times=1e-3),
                   runs.cell(name, "{:.0f}", times=FLOP_PER_ROW / 1e9) if name.startswith("rows/") else "")
                  for name in runs.names("rows/qkv", "qkv/") if name.endswith(rate)])


def share_table(runs):
    shares = runs.names("share ")[:8]
    return table(("policy", "of the time of `--policy all`"),
                 [(name.split()[1], runs.cell(name)) for name in shares])


def decode_table(runs):
    shown = [name for name in runs.names("BM_decode/") if name.endswith(" of_read")]
    rivals = list(dict.fromkeys(one.split(" of_")[1] for name in shown for one in ratio_names(runs, name)))
    rows = []
    for name in shown:
        shape, storage, *rest = name.split("/")[1].split("_")
        ratios = [name.replace("of_read", "of_" + rival) for rival in rivals]
        rows.append((f"{SHAPES[shape]} {storage}" + (", scattered slots" if rest else ""),
                     f"{int(name.split('/')[2].split()[0]):,}", runs.cell(name),
                     runs.cell(name.replace("of_read", "of_rows")),
                     *(runs.cell(ratio) if ratio in runs.runs[0] else "" for ratio in ratios)))
    return table(("decode attention, cold: query heads/kv heads/channels, storage", "residents",
                  "of the read bound", "of reading the rows", *(f"kvcheck : {rival}" for rival in rivals)), rows)


def product_table(runs):
    bound = "BM_read/512 bytes_per_second"
    rows = [(f"reading {mib} MiB", runs.cell(f"BM_read/{mib} bytes_per_second", "{:.1f}", times=1e-9) + " GB/s", "")
            for mib in (64, 80, 120, 208, 416)]
    for mib in (208, 416):
        name = f"BM_read/{mib}/threads:2 bytes_per_second"
        if name in runs.runs[0]:
            rows.append((f"reading {mib} MiB, two threads", runs.cell(name, "{:.1f}", times=1e-9) + " GB/s", ""))
    rows.append(("read bound: 512 MiB", runs.cell(bound, "{:.1f}", times=1e-9) + " GB/s", "1"))
    for name in runs.names("BM_product/", "BM_quantised/"):
        if not name.endswith(" bytes_per_second"):
            continue
        kind, tokens = name.split()[0].split("/")[1:3]
        flops = name.replace("bytes_per_second", "gflops")
        if tokens == "1":
            rows.append((f"{kind}, 1 token", runs.cell(name, "{:.1f}", times=1e-9) + " GB/s",
                         runs.cell(name, per=bound)))
        elif flops in runs.runs[0]:
            rows.append((f"{kind}, {tokens} tokens", runs.cell(flops, "{:.0f}") + " GFLOP/s", ""))
    return table(("product with a matrix of 3,072 × 768, cold", "rate", "of the read bound"), rows)


def decision_table(runs):
    rate = " items_per_second"
    return table(("decisions without attention: policy and budget", "million tokens/s"),
                 [(name[:-len(rate)].split("/")[1], runs.cell(name, "{:.1f}", times=1e-6))
                  for name in runs.names("BM_decisions/") if name.endswith(rate)])


def uniformity_table(runs):
    rate = " items_per_second"
    return table(("decisions of `kvcheck uniformity`, with their counts", "million/s"),
                 [(name[:-len(rate)].split("/")[1], runs.cell(name, "{:.1f}", times=1e-6))
                  for name in runs.names("BM_uniformity/") if name.endswith(rate)])


def targets_of(runs):
    """The kernels by their processors, the best first, and what they are measured on."""
    named = [name.split(" of_")[0].split("/")[1:] for name in runs.names("targets/") if " of_" in name]
    return list(dict.fromkeys(kind for _, kind in named)), list(dict.fromkeys(work for work, _ in named))


def target_table(runs):
    kinds, works = targets_of(runs)
    rows = [(work, *(runs.cell(f"targets/{work}/{kind} of_scalar", "{:.1f}") for kind in kinds),
             *(runs.cell(f"targets/{work}/{kind} of_best") for kind in kinds[1:2])) for work in works]
    return table(("work on data in the caches", *(f"{kind} : scalar" for kind in kinds),
                  *(f"{kind} : {kinds[0]}" for kind in kinds[1:2])), rows)


def command_table(runs):
    works = [(f"the oracle of one head at {tokens:,} tokens", f"oracle {tokens}") for tokens in (2048, 4096, 8192)]
    works += [(f"synthetic rows of one head, {tokens:,} tokens", f"rows {tokens}") for tokens in (16384, 32768)]
    works += [("q/k/v of one kv-head of 4 × 128, 32,768 tokens, one query in 64", "sampled")]
    return table(("command, 1 thread", "s of the processor", "peak MiB"),
                 [(work, runs.cell(at + " s", "{:.1f}"), runs.cell(at + " MiB", "{:.0f}"))
                  for work, at in works])


def model_table(runs):
    rows = []
    for kind in ("f32", "f16"):
        for threads in (1, 2):
            at = f"model {kind} {threads} "
            for name in peers_of(runs, kind, threads):
                cells = []
                for what in ("prompt", "decode"):
                    known = f"{at}{name} {what}" in runs.runs[0]
                    ratio = f"{at}{name} {what} ratio"
                    cells += [runs.cell(f"{at}{name} {what}", "{:.1f}") if known else "",
                              runs.cell(ratio) if ratio in runs.runs[0] else ""]
                rows.append((kind, str(threads), name, *cells))
    return table(("110 M random weights", "threads", "program", "prompt of 512, tokens/s", "kvcheck : it",
                  "decode, tokens/s", "kvcheck : it"), rows)


def page(processor, commit, found):
    runs = Runs(found)
    count = "one run" if len(found) == 1 else f"{len(found)} runs"
    head = (f"{processor}; commit {commit}; {count}, from the least to the most; load before each run: "
            f"{', '.join('%.1f' % run['load'] for run in found)}.")
    parts = [head, goal_table(runs), replay_table(runs), eight_in_one_pass(runs), qkv_table(runs),
             share_table(runs), decode_table(runs), product_table(runs), decision_table(runs),
             uniformity_table(runs), command_table(runs), target_table(runs)]
    if "f32 bytes" in found[0]:
        parts.append(model_table(runs))
    return "\n\n".join(parts) + "\n"
