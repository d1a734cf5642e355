#!/bin/bash
# Builds commit 88ffc4d, where the work on speed began, with today's benchmarks of kernels in its own
# terms, for builds.py:  bench/kernels/older_build.sh FOLDER
# Its benchmarks of products then read 512 MB, as today's do.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(realpath -m "${1:?usage: older_build.sh FOLDER}")
git -C "$here" worktree add --detach "$folder" 88ffc4d
cd "$folder"
sed -i 's/{128} << 20) \/ bytes/{512} << 20) \/ bytes/' bench/model_bench.cpp
sed 's#kvcheck/##' "$here/base/aligned_floats.h" > base/aligned_floats.h
# Where the headers and names were, and what the functions took.
in_old_terms=(-e 's#"kvcheck/base/kernels/kernels.h"#"base/kernels.h"#'
              -e 's#"kvcheck/base/random/rng.h"#"base/rng.h"#'
              -e 's#"kvcheck/model/kernels/#"model/#'
              -e 's#"kvcheck/bench/kernels/#"bench/#'
              -e 's#"kvcheck/#"#'
              -e 's#kv::model::#kv::#g'
              -e 's#zeros.size(), 0)#zeros.size())#')
for name in kernel_data.h every_kernel_bench.cpp; do
  sed "${in_old_terms[@]}" "$here/bench/kernels/$name" > "bench/$name"
done
# Products had no stride, and relax() did not return where the least is.
perl -0pi -e 's/tokens,\s*rows,\s*out/tokens, out/g' bench/every_kernel_bench.cpp
perl -0pi -e 's/benchmark::DoNotOptimize\(\s*kernel\(\)\.relax\(([^;]*)\)\);/kernel().relax($1);\n    benchmark::DoNotOptimize(kernel().argmin_double(distance.data(), distance.size()));/' \
  bench/every_kernel_bench.cpp
cmake --preset release
ninja -C build/release kvcheck kvcheck_bench
