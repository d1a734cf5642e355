#include "kvcheck/sim/spec/presets.h"

#include <algorithm>
#include <array>
#include <vector>

#include "kvcheck/sim/spec/prompt_presets.h"

namespace kv {
namespace {

constexpr std::array<Preset, 28> table = {{
    {.name = "streaming-llm",
     .spec = "streaming:sinks=4,recent=508;positions=in-cache",
     .source = "Xiao et al., arXiv:2309.17453, section 3.2; code mit-han-lab/streaming-llm, "
               "streaming_llm/kv_cache.py, the __call__ path of its perplexity script",
     .differs =
         "Sinks and recent tokens are 512 together, as in the paper's table 6; the default of "
         "the class is 4 + 512.",
     .numbers = "perplexity, paper's table 6: Falcon-7B 12.84, MPT-7B 14.25 at 4 + 508; table 1, "
                "Llama-2-13B on one book: 5.40 at 4 + 1,020, a window without sinks 5,158"},
    {.name = "pythia-lazy",
     .spec = "streaming:sinks=8,recent=256;timing=lazy:64;positions=absolute",
     .source = "a reimplementation on Pythia-2.8b, pythia_streaming_patch.py: sinks and a window; "
               "the cache is trimmed only when it is 64 tokens over, and keys keep their absolute "
               "positions",
     .differs = "Its perplexity loop also trims after every chunk, which is "
                "timing=attend-then-trim;chunk=128.",
     .numbers = "its tables, perplexity on wikitext / PG19 at 1,000 tokens: 8 + 256 11.49 / 8.70, "
                "8 + 512 7.72 / 8.52, dense 6.97 / 8.57"},
    {.name = "reservoir",
     .spec = "reservoir:sinks=4;timing=trim-then-attend;positions=in-cache",
     .source = "Pan et al., \"An Experiment of Implementing Reservoir Sampling to StreamingLLM\", "
               "section 4, formulas (1) and (2)",
     .differs =
         "The paper does not say at which positions it attends. Its base code, streaming-llm, "
         "attends at in-cache positions and makes room first."},
    {.name = "reservoir-as-printed",
     .spec = "reservoir-as-printed:sinks=4;timing=trim-then-attend;positions=in-cache;unit=model",
     .source = "the same paper, figures 2 and 3: one sample for all layers and heads, drawn anew "
               "whenever room is made",
     .differs =
         "The mistakes of figure 3 in cutting tensors (the slices of layer 0 for every layer, "
         "empty slices past the end) are left out."},
    {.name = "h2o",
     .spec = "h2o",
     .source = "Zhang et al., arXiv:2306.14048, algorithm 1: half of the budget for heavy hitters, "
               "half for recent tokens",
     .differs =
         "The authors' three programs differ from each other. This is the real-drop program, "
         "per kv-head; the others are @h2o-flexgen and @h2o-masked."},
    {.name = "h2o-sinks",
     .spec = "h2o:sinks=8,recent=32,budget=264;timing=lazy:64;unit=layer",
     .source = "a reimplementation on Pythia-2.8b, h2o/pythia_streaming_h2o_patch.py, "
               "configuration h2o_8_32_264: one list of scores for all heads of a layer",
     .differs =
         "In the source the query that triggers a trim already sees the trimmed cache. Scores "
         "are averaged over heads; the source sums them, which gives the same ranking.",
     .numbers =
         "its tables, perplexity on wikitext / PG19: 8.84 / 10.16, streaming at 8 + 256 12.09 "
         "/ 8.76, dense 6.98 / 8.54"},
    {.name = "shift-ring",
     .spec = "streaming:sinks=4;timing=trim-then-attend;positions=shifted",
     .source = "intel/neural-speed, docs/infinite_inference.md: a ring buffer in which a newcomer "
               "takes the oldest slot behind the sinks, and all other keys are rotated back by one "
               "position",
     .differs =
         "Slots are mapped; they do not form a ring. Keys may be f32, f16 or bf16 (--storage); "
         "the source stores bf16 and rotates by f16 angles (--keys rotated-f16). Prompts may "
         "be read in chunks.",
     .storage = "bf16"},
    {.name = "discard-half",
     .spec = "streaming:sinks=4,recent=254;timing=lazy:253;positions=in-cache;vectors=re-evaluated",
     .source =
         "intel/neural-speed, docs/infinite_inference.md, and llama.cpp's main example before "
         "its context shift: when the context is full, half of the tokens behind the sinks are "
         "evicted and the rest is evaluated again",
     .differs =
         "The spec states a context of 512 with n_keep = 4. For another context write recent=R "
         "and lazy:R-1, which do not follow a budget. The trim comes after the token that "
         "fills the context; in the source it comes before the next token."},
    {.name = "window-recompute",
     .spec = "window;timing=trim-then-attend;positions=in-cache;vectors=re-evaluated",
     .source = "Xiao et al., arXiv:2309.17453, section 3.1: sliding window with re-computation",
     .differs = "nothing; its code was not published",
     .numbers = "perplexity, the paper's table 1, Llama-2-13B on one book at 1,024: 5.43, "
                "StreamingLLM 5.40, a window 5,158"},
    {.name = "gpt2-rolling",
     .spec = "streaming:sinks=3,recent=4;timing=trim-then-attend;positions=in-cache",
     .source = "a tutorial's rolling cache for GPT-2: 3 sinks, 7 slots, and a position id that "
               "remains that of the last slot for all later tokens",
     .differs =
         "nothing; learned positions are part of keys and values, so residents keep the "
         "positions at which they were fed, and only newcomers have the position of their rank"},
    {.name = "h2o-flexgen",
     .spec = "h2o:form=flexgen;unit=head",
     .source = "code FMInference/H2O, h2o_flexgen/flexgen/pytorch_backend.py and flex_opt.py: half "
               "heavy hitters, half recent tokens, each query head by itself; at every step the "
               "hitter with the least mass makes room for the oldest recent token",
     .differs = "The source's budget is hh_k hitters and hh_k - 1 recent tokens, where hh_k is a "
                "share of the prompt. Its sums have 16 bits. Its decoding does not mask padding."},
    {.name = "h2o-masked",
     .spec = "h2o:form=mask-simulation;unit=head",
     .source = "code FMInference/H2O, h2o_hf/utils_hh/modify_llama.py: the code behind the paper's "
               "accuracies, which hides tokens by a mask and frees none",
     .differs =
         "The source's sizes are shares of the prompt, usually 0.1 and 0.1. In the source "
         "(commit ac75c2a) a token that leaves the recent window is hidden for one step before "
         "it may be selected; here it is a candidate at once. Hidden tokens never return; in "
         "the source they may return where scores are 0."},
    {.name = "snapkv-hold",
     .spec = "snapkv:recent=32,select=once;unit=head",
     .source = "Li et al., arXiv:2404.14469; code FasterDecoding/SnapKV, window 32, kernel 7, the "
               "largest of neighbours; with chunk=N the selection considers a whole prompt of N "
               "tokens at once",
     .differs =
         "In the source the cache grows while the model generates. Here the budget holds, and "
         "a token that leaves the recent window after the prompt is evicted.",
     .numbers = "documentation of Zefan-Cai/KVCache-Factory, Llama-3-8B at 128 tokens, first "
                "column: 45.08, dense 47.78"},
    {.name = "pyramidkv-hold",
     .spec = "snapkv:recent=8,window=8,select=once;unit=head;budgets=pyramid:20",
     .source = "Cai et al., arXiv:2406.02069, section 3.2; code Zefan-Cai/KVCache-Factory, "
               "pyramidkv_utils.py, beta 20, with the window of 8 of run_longbench.py: SnapKV's "
               "selection under budgets that fall in even steps from layer to layer",
     .differs =
         "All layers together keep exactly what equal budgets keep; the code rounds each step "
         "down. A layer is not limited to the length of its prompt.",
     .numbers = "the code's documentation, Llama-3-8B at 128 tokens, first column: 44.57, SnapKV "
                "45.08, dense 47.78"},
    {.name = "ada-snapkv-hold",
     .spec = "snapkv:recent=32,select=once;unit=head;budgets=adaptive:0.2",
     .source =
         "Feng et al., arXiv:2407.11550, algorithm 1; code FFY0/AdaKV, "
         "adaptive_snapkv/monkeypatch/snapkv_utils.py, window 32, kernel 7, the largest of "
         "neighbours, floor 0.2: SnapKV's scores of all heads of a layer compete for what "
         "equal budgets hold; with chunk=N the selection considers a whole prompt of N tokens "
         "at once",
     .differs =
         "A layer keeps exactly what equal budgets keep, and each head at least its floor, as "
         "in AdaKVPress of NVIDIA/kvpress. The authors' code adds 0.2 of the equal share to "
         "0.8 of the pool's share and rounds each head's sum, so that a layer may keep some "
         "rows more or fewer. Its options to skip layers and to weight heads are left out. In "
         "the source the cache grows while the model generates; here the budget holds."},
    {.name = "ada-h2o",
     .spec = "h2o;unit=head;budgets=adaptive:0.2",
     .source = "the same rule over H2O's scores (Zhang et al., arXiv:2306.14048), which are "
               "comparable across heads because each query distributes a mass of 1 in each head",
     .differs =
         "The paper divides the budget once, after a prompt. Here it is divided at every trim, "
         "so that rows move between heads while the model generates."},
    {.name = "duo",
     .spec = "streaming:sinks=64,recent=256;budgets=retrieval:0.0",
     .source = "Xiao et al., arXiv:2410.10819, section 2; code mit-han-lab/duo-attention, "
               "static_kv_cache.py: heads that retrieve keep everything, and all others keep 64 "
               "sinks and 256 recent tokens",
     .differs = "The source learns for each model, by gates, which heads retrieve. Here the spec "
                "names them, and 0.0 is only an example: write ;budgets=retrieval:LAYER.HEAD+..."},
    {.name = "chunkkv-hold",
     .spec = "chunkkv:recent=32,length=10;unit=layer",
     .source = "Liu et al., arXiv:2502.00299, algorithm 1, chunks of 10; code NVIDIA/kvpress, "
               "ChunkKVPress over SnapKVPress, where the heads of a layer share their chunks; with "
               "chunk=N the selection considers a whole prompt of N tokens at once",
     .differs =
         "In the source the cache grows while the model generates; here the budget holds. The "
         "window is SnapKV's 32; in kvpress it is 64. Tokens that do not make a whole chunk "
         "are kept."},
    {.name = "rkv-hold",
     .spec = "rkv:recent=8,importance=middle,lone=first;timing=lazy:127",
     .source = "Cai et al., arXiv:2505.24133; code Zefan-Cai/R-KV: the last 8 tokens are kept, and "
               "their queries decide; the cache is trimmed once it is 128 tokens over the budget; "
               "lambda 0.1",
     .differs =
         "The code's default lambda is 0.07. The code trims after every 128th token of the stream, "
         "however many are stored. Of the query heads of a kv-head its largest logit counts; here "
         "their masses are averaged."},
    {.name = "semantic-block",
     .spec = "semantic-blocks:sinks=8,budget=264,likeness=dot,scores=rotated;"
             "timing=lazy:64;unit=layer",
     .source = "a reimplementation on Pythia-2.8b, compress/pythia_streaming_compress.py, "
               "configuration NoComp: 8 sinks, 128 recent tokens and 128 in blocks of 16",
     .differs =
         "Each head's query is compared with the keys of that head; the source compares means "
         "over heads. Tokens that do not make a whole block are kept; the source evicts them. "
         "The source's text says cosine, but its code does not compute it.",
     .numbers = "its table, perplexity on wikitext: 10.61, streaming at 8 + 256 11.49, dense 6.97"},
    {.name = "pos-aware",
     .spec = "token-classes:sinks=8,recent=64,budget=264,order=oldest;timing=lazy:64;unit=model",
     .source = "the same code, mode pos: 8 sinks, 192 content words, 64 recent tokens",
     .differs =
         "One list serves all layers, and the first layer does not thin it; in the source the "
         "layers above the first fall back to recency.",
     .numbers =
         "its table, perplexity on wikitext: 11.49, the same as streaming; 'differs' says why"},
    {.name = "paged-sink",
     .spec = "pages:sinks=4,page=16,first-page=pinned",
     .source = "a paged cache of pages of 16 tokens whose first is pinned, with 4 sinks",
     .differs = "The whole first page is visible; with first-page=masked only its sinks are."},
    {.name = "lacache",
     .spec = "ladder:sinks=4,order=interleaved;positions=in-cache",
     .source =
         "Shi et al., arXiv:2507.14204; code GATECH-EIC/LaCache, ppl/lacache/kv_cache.py: 4 "
         "sinks, span 16 and overlap 0 in 32 layers, so that each layer keeps one token of two",
     .differs =
         "The source protects as many of the newest tokens as there are layers. Here 12 % of "
         "the budget are protected; write recent=N for another number. The paper's ladder "
         "rises from layer to layer (order=rising); in the code neighbouring layers alternate."},
    {.name = "quest",
     .spec = "dense;visibility=top-pages:1024/16/2",
     .source = "Tang et al., arXiv:2406.10774, section 3; code mit-han-lab/quest, "
               "evaluation/quest_attention.py: pages of 16 tokens, ranked for each query head by "
               "the most that the page's least and greatest keys allow; two dense layers first",
     .differs =
         "In the source a prompt attends to everything and only generated tokens select pages; "
         "here every query selects. A query's own page is always among its pages, and of equal "
         "pages the newer comes first; the source ranks the own page like the others, and "
         "torch.topk decides between equals. The source reads at least 3 pages; here the spec "
         "states their number. 1,024 tokens is one budget of several."},
    {.name = "tova",
     .spec = "tova;unit=layer",
     .source = "Oren et al., arXiv:2401.06104; code schwartz-lab-NLP/TOVA, src/tova_cache.py",
     .differs = "Of equal scores the older token is evicted; in the source torch.topk decides."},
    {.name = "dense",
     .spec = "dense",
     .source = "plain causal attention over everything",
     .differs = "nothing"},
    {.name = "kivi",
     .spec = "dense;storage=kivi2",
     .source =
         "Liu et al., \"KIVI: A Tuning-Free Asymmetric 2bit Quantization for KV Cache\", ICML "
         "2024, arXiv:2402.02750: no token is evicted; keys are quantised per channel in "
         "groups of 32 tokens, values per token in groups of 32 channels; the newest remain "
         "exact: up to 128 keys, and 128 values",
     .differs =
         "Groups of 32 keys leave the residual one by one, so that 128 to 159 keys are exact; "
         "in the source all 128 leave at once, so that 0 to 127 are exact. Queries of a prompt "
         "meet quantised keys and values, as those of generated tokens do; in the source a "
         "prompt attends before it is quantised. Scales and zero points are bf16."},
    {.name = "window",
     .spec = "window",
     .source = "Xiao et al., arXiv:2309.17453, section 3.1: the window-attention baseline",
     .differs =
         "nothing in which tokens are kept; the published programs differ in the positions at "
         "which they attend, which are absolute here",
     .numbers = "perplexity, the paper's table 1, Llama-2-13B on one book at 1,024: 5,158"},
}};

}  // namespace

std::span<const Preset> presets() {
  static const std::vector<Preset> all = [] {
    std::vector<Preset> presets(table.begin(), table.end());
    const std::span<const Preset> of_prompts = prompt_presets();
    presets.insert(presets.end(), of_prompts.begin(), of_prompts.end());
    return presets;
  }();
  return all;
}

const Preset* find_preset(std::string_view name) {
  const std::span<const Preset> all = presets();
  const auto found = std::ranges::find(all, name, &Preset::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace kv
