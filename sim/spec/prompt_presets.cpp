#include "kvcheck/sim/spec/prompt_presets.h"

#include <array>

namespace kv {
namespace {

constexpr std::array<Preset, 9> table = {{
    {.name = "snapkv-prompt",
     .spec = "snapkv:recent=32,ratio=0.5;unit=head;compress=question",
     .source = "Li et al., arXiv:2404.14469, section 4; code FasterDecoding/SnapKV, "
               "snapkv_utils.py: the whole prompt with its question is read, its last 32 queries "
               "vote once, and the cache grows while the model answers",
     .differs =
         "The source states a number of tokens (write budget=1024); a share is how NVIDIA/kvpress "
         "states it, whose compression_ratio is 1 - ratio. Its SnapKVPress has a window of 64, the "
         "mean of five neighbours instead of the largest of seven, and one selection for the query "
         "heads of a kv-head (docs/specs.md). For a question that is asked later write "
         "compress=prompt."},
    {.name = "pyramidkv-prompt",
     .spec = "snapkv:recent=8,window=8,ratio=0.5;unit=head;budgets=pyramid:20;compress=question",
     .source = "Cai et al., arXiv:2406.02069, section 3.2; code Zefan-Cai/KVCache-Factory, "
               "pyramidkv_utils.py, beta 20, with the window of 8 of run_longbench.py: SnapKV's "
               "selection after the whole prompt, under budgets that fall from layer to layer",
     .differs =
         "The code rounds each step down; here all layers together keep exactly what equal budgets "
         "keep. A layer whose share exceeds the prompt keeps the prompt, and the others keep no "
         "more for it. The code raises the least share there, and keeps as much in every layer "
         "once the ratio is above 1/2 + 8/n, where the prompt has n tokens."},
    {.name = "ada-snapkv-prompt",
     .spec = "snapkv:recent=32,ratio=0.5;unit=head;budgets=adaptive:0.2;compress=question",
     .source = "Feng et al., arXiv:2407.11550, algorithm 1; code FFY0/AdaKV, snapkv_utils.py, "
               "window 32, kernel 7, floor 0.2: after the whole prompt, SnapKV's scores of all "
               "heads of a layer compete once for what equal budgets hold",
     .differs =
         "The authors' code adds 0.2 of the equal share to 0.8 of the pool's share; here each "
         "head keeps at least its floor, as in AdaKVPress of NVIDIA/kvpress."},
    {.name = "chunkkv-prompt",
     .spec = "chunkkv:recent=32,length=10,ratio=0.5;unit=layer;compress=question",
     .source = "Liu et al., arXiv:2502.00299, algorithm 1, chunks of 10; code NVIDIA/kvpress, "
               "ChunkKVPress over SnapKVPress: whole chunks of a prompt are kept, once",
     .differs =
         "As in the paper, chunks have 10 tokens, and scores are not pooled over neighbours; "
         "kvpress has 20 and pools them. The window is SnapKV's 32, whose tokens are kept; "
         "in kvpress it is 64, and its chunks compete, too. Kvpress keeps a share of the "
         "chunks; here as many whole chunks are kept as the share of the tokens has room "
         "for. Tokens that do not make a whole chunk are kept."},
    {.name = "keydiff-prompt",
     .spec = "keydiff:sinks=0,recent=0,ratio=0.5;compress=prompt",
     .source = "Park et al., arXiv:2504.15364; code NVIDIA/kvpress, KeyDiffPress: after the "
               "prompt, without its question, the keys that are least like the mean of all keys "
               "are kept",
     .differs =
         "The paper evicts block by block while it reads, which is keydiff:sinks=0,recent=0 with "
         "chunk=N and a budget; kvpress once, as here."},
    {.name = "lagkv-prompt",
     .spec = "lagkv:sinks=4,recent=0,lag=128,partitions=ranked,ratio=0.5;compress=prompt",
     .source = "Liang et al., arXiv:2504.04704; code NVIDIA/kvpress, LagKVPress with 4 sinks, "
               "partitions of 128 tokens and no cross scoring: after the prompt, without its "
               "question, each partition keeps the same share of its tokens by how they stand out "
               "in the next one",
     .differs =
         "A prompt shorter than 260 tokens has no partition with a score and keeps its newest "
         "tokens, as in the code. The authors' own code has 16 sinks, keeps the last partition "
         "whole, and goes on while the model answers."},
    {.name = "expected-attention-prompt",
     .spec = "expected-attention:sinks=4,recent=0,ratio=0.5,covariance=full,softmax=middle,"
             "epsilon=0.01,skip=4;budgets=adaptive:0.2;compress=prompt",
     .source = "Devoto et al., arXiv:2510.00636; code NVIDIA/kvpress, evaluate_registry.py: "
               "AdaKVPress over ExpectedAttentionPress with epsilon 0.01. After the prompt, "
               "without its question, the heads of a layer compete with the attention that "
               "queries like those of the prompt would pay to their keys",
     .differs = "Each head keeps its 4 sinks and at least 0.2 of an equal share of the rest. In "
                "the code the floor of 0.2 includes the sinks."},
    {.name = "kvzip-prompt",
     .spec = "kvzip:sinks=4,recent=0,ratio=0.5,pass=2000;budgets=adaptive:0;compress=prompt",
     .source =
         "Kim et al., arXiv:2505.23416, algorithm 1; code snu-mllab/KVzip, level \"pair\", and "
         "NVIDIA/kvpress, KVzipPress with 4 sinks: the model repeats the prompt, without its "
         "question, and keeps the keys to which any query of the repetition attended most",
     .differs =
         "The heads of a layer compete for what equal budgets hold, without a floor. In the source "
         "the heads of all layers compete; KVzipPress with layerwise=True does as here. The source "
         "keeps the system prompt in place of 4 sinks and does not count it. Of the request see "
         "the policy kvzip."},
    {.name = "rkv-prompt",
     .spec = "rkv:recent=8,importance=middle,lone=first,ratio=0.5;compress=question+every:128",
     .source = "Cai et al., arXiv:2505.24133; code Zefan-Cai/R-KV: the prompt is compressed, and "
               "then the cache after every 128 tokens of the answer, since reasoning is longer "
               "than its prompt",
     .differs =
         "The source states a number of tokens; write budget=1024. The code's default lambda is "
         "0.07. It counts 128 tokens from the stream's begin, here from the answer's. Of the query "
         "heads of a kv-head its largest logit counts; here their masses are averaged."},
}};

}  // namespace

std::span<const Preset> prompt_presets() {
  return table;
}

}  // namespace kv
