"""What whole commands of kvcheck take, for compare.py: seconds of the processor, and memory."""
import json
import os
import subprocess
import sys
import tempfile


def took(words):
    """(seconds of the processor, peak MiB) of a command. A process of its own starts it, because a child's peak
    is never below the memory of the process that it was forked from."""
    done = subprocess.run([sys.executable, __file__, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"compare.py: '{' '.join(map(str, words))}' failed: {done.stderr.strip()[-400:]}")
    seconds, memory = done.stdout.split()[-2:]
    return float(seconds), float(memory)


def fastest(words, times=3):
    """The least seconds and memory of several runs."""
    runs = [took(words) for _ in range(times)]
    return min(seconds for seconds, _ in runs), min(memory for _, memory in runs)


def replay(kvcheck, trace, *options):
    return [kvcheck, "replay", trace, "--threads", "1", "--quiet", *options]


def served_policies(kvcheck, trace):
    """The names of the policies that the trace serves."""
    printed = subprocess.run([*replay(kvcheck, trace, "--policy", "all", "--budget", "256"), "--json", "-"],
                             capture_output=True, text=True, check=True).stdout
    return [cell["policy"] for cell in map(json.loads, printed.splitlines()) if cell["type"] == "cell"]


def policy_replay(kvcheck, trace, name):
    budget = [] if name == "dense" else ["--budget", "256"]
    return replay(kvcheck, trace, "--policy", name, *budget)


def policy_shares(kvcheck, trace):
    """((name, share of the time of all) of each policy, less what every replay takes; the dearest first), and the
    seconds of all."""
    names = served_policies(kvcheck, trace)
    base, _ = fastest(replay(kvcheck, trace, "--policy", "streaming", "--budget", "256"))
    seconds, _ = fastest(replay(kvcheck, trace, "--policy", "all", "--budget", "256"))
    shares = []
    for name in names:
        own, _ = fastest(policy_replay(kvcheck, trace, name))
        shares.append((name, max(0.0, own - base) / seconds))
    return sorted(shares, key=lambda share: -share[1]), seconds


def oracle_seconds(kvcheck, tokens):
    """What the optimum of one head at a quarter of the tokens takes, and the memory."""
    words = replay(kvcheck, f"synthetic:zipf:tokens={tokens},heads=1", "--policy", "streaming", "--budget",
                   tokens // 4)
    with_it = fastest([*words, "--oracle", "--oracle-tokens", tokens], 1 if tokens > 4096 else 2)
    return with_it[0] - fastest(words, 2)[0], with_it[1]


def long_replay(kvcheck, tokens):
    """Rows of one synthetic head, which are made as they are read."""
    return took(replay(kvcheck, f"synthetic:zipf:tokens={tokens},heads=1", "--policy", "streaming", "--budget",
                       512))


def sampled_replay(kvcheck, tokens, every):
    """One kv-head with four query heads of 128, of which one query in `every` is recorded."""
    with tempfile.TemporaryDirectory() as folder:
        full, sampled = folder + "/full.safetensors", folder + "/sampled.safetensors"
        took([kvcheck, "trace", "generate",
              f"zipf:tokens={tokens},heads=4,kv_heads=1,head_dim=128,kind=qkv", "-o", full])
        took([kvcheck, "trace", "slice", full, "--queries", f"every:{every}", "-o", sampled])
        return took(replay(kvcheck, sampled, "--policy", "streaming", "--budget", 512))


def file_replay(kvcheck):
    """Seconds a row of a replay from a file of 268 MB in the page cache. Its rows are as long as those of
    replay_bench.cpp, with which they are compared."""
    layers, heads, tokens = 4, 32, 1024
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/rows.safetensors"
        took([kvcheck, "trace", "generate", f"zipf:tokens={tokens},layers={layers},heads={heads},dtype=f16", "-o", path])
        seconds, _ = fastest(replay(kvcheck, path, "--policy", "streaming:budget=512"))
    return seconds / (layers * heads * tokens)


def chao_replay(kvcheck, budget):
    """Seconds under a policy whose decisions search among its residents."""
    return fastest(replay(kvcheck, "synthetic:zipf:tokens=8192,heads=1", "--policy", "reservoir-chao", "--budget",
                          budget))[0]


def shared_trace(kvcheck, folder):
    """Queries, keys and values for policy_shares."""
    path = folder + "/qkv.safetensors"
    took([kvcheck, "trace", "generate", "zipf:tokens=1024,heads=8,layers=2,head_dim=64,kind=qkv", "-o", path])
    return path


def shared_rows(kvcheck, folder):
    """Rows of attention for the policies that need no more."""
    path = folder + "/rows.safetensors"
    took([kvcheck, "trace", "generate", "zipf:tokens=1024,heads=16,dtype=f16", "-o", path])
    return path


def run_alone(words):
    """Runs a command, and prints its seconds and its peak MiB."""
    with open(os.devnull, "wb") as nothing:
        child = subprocess.Popen(words, stdout=nothing)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
    return child.returncode


if __name__ == "__main__":
    sys.exit(run_alone(sys.argv[1:]))
