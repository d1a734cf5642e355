#include "kvcheck/sim/spec/presets.h"

#include <algorithm>
#include <array>

namespace kv {
namespace {

constexpr std::array<Preset, 28> table = {{
    {.name = "streaming-llm",
     .spec = "streaming:sinks=4,recent=508;positions=in-cache",
     .source = "Xiao et al., arXiv:2309.17453, section 3.2; code mit-han-lab/streaming-llm, "
               "streaming_llm/kv_cache.py, the __call__ path of its perplexity script",
     .differs =
         "sinks + recent = 512 as in the paper's table 6; the class's own default is 4 + 512",
     .numbers = "perplexity, paper's table 6: Falcon-7B 12.84, MPT-7B 14.25 at 4 + 508; table 1, "
                "Llama-2-13B on one book: 5.40 at 4 + 1,020, a window without sinks 5,158"},
    {.name = "pythia-lazy",
     .spec = "streaming:sinks=8,recent=256;timing=lazy:64;positions=absolute",
     .source = "a reimplementation on Pythia-2.8b, pythia_streaming_patch.py: sinks and a "
               "window, trimmed only when 64 tokens over, keys at their absolute positions",
     .differs = "its perplexity loop also trims after every chunk; that is "
                "timing=attend-then-trim;chunk=128",
     .numbers = "its tables, perplexity on wikitext / PG19 at 1,000 tokens: 8 + 256 11.49 / 8.70, "
                "8 + 512 7.72 / 8.52, dense 6.97 / 8.57"},
    {.name = "reservoir",
     .spec = "reservoir:sinks=4;timing=trim-then-attend;positions=in-cache",
     .source = "Pan et al., \"An Experiment of Implementing Reservoir Sampling to StreamingLLM\", "
               "section 4, formulas (1) and (2)",
     .differs = "the paper does not say at which positions it attends; its base code, "
                "streaming-llm, attends at in-cache ones and makes room first"},
    {.name = "reservoir-as-printed",
     .spec = "reservoir-as-printed:sinks=4;timing=trim-then-attend;positions=in-cache;unit=model",
     .source = "the same paper, figures 2 and 3: one sample for all layers and heads, drawn anew "
               "whenever room is made",
     .differs = "figure 3's slips in cutting tensors (layer 0's slices for every layer, empty "
                "slices past the end) are left out"},
    {.name = "h2o",
     .spec = "h2o",
     .source = "Zhang et al., arXiv:2306.14048, algorithm 1: half of the budget for heavy hitters, "
               "half for recent tokens",
     .differs = "the authors' three codes differ from each other; this is the real-drop one, "
                "per kv-head; the others are @h2o-flexgen and @h2o-masked"},
    {.name = "h2o-sinks",
     .spec = "h2o:sinks=8,recent=32,budget=264;timing=lazy:64;unit=layer",
     .source = "a reimplementation on Pythia-2.8b, h2o/pythia_streaming_h2o_patch.py, "
               "configuration h2o_8_32_264: one list of scores for all heads of a layer",
     .differs = "there the query that triggers a trim already sees the trimmed cache; scores are "
                "summed over heads there, averaged here, which ranks alike",
     .numbers =
         "its tables, perplexity on wikitext / PG19: 8.84 / 10.16, streaming at 8 + 256 12.09 "
         "/ 8.76, dense 6.98 / 8.54"},
    {.name = "shift-ring",
     .spec = "streaming:sinks=4;timing=trim-then-attend;positions=shifted",
     .source = "intel/neural-speed, docs/infinite_inference.md: a ring buffer whose newcomer takes "
               "the oldest slot behind the sinks, all other keys turned back by one",
     .differs =
         "slots are mapped, not a ring; keys may be f32, f16 or bf16 (--storage; there bf16, "
         "turned by f16 angles: --keys rotated-f16); prompts may be chunked",
     .storage = "bf16"},
    {.name = "discard-half",
     .spec = "streaming:sinks=4,recent=254;timing=lazy:253;positions=in-cache;vectors=re-evaluated",
     .source =
         "intel/neural-speed, docs/infinite_inference.md, and llama.cpp's main example before "
         "its context shift: when the context is full, half of the tokens behind the sinks "
         "go and the rest is evaluated again",
     .differs = "a context of 512 with n_keep = 4, written out: for another write recent=R and "
                "lazy:R-1, which do not follow a budget; the trim comes after the token that fills "
                "the context, there before the next"},
    {.name = "window-recompute",
     .spec = "window;timing=trim-then-attend;positions=in-cache;vectors=re-evaluated",
     .source = "Xiao et al., arXiv:2309.17453, section 3.1: sliding window with re-computation",
     .differs = "nothing; its code was not published",
     .numbers = "perplexity, the paper's table 1, Llama-2-13B on one book at 1,024: 5.43, "
                "StreamingLLM 5.40, a window 5,158"},
    {.name = "gpt2-rolling",
     .spec = "streaming:sinks=3,recent=4;timing=trim-then-attend;positions=in-cache",
     .source = "a tutorial's rolling cache for GPT-2: 3 sinks, 7 slots, the position id of what "
               "comes stays at the last one",
     .differs =
         "nothing: learned positions are in keys and values once they are made, so residents "
         "keep those that they were fed at, and only newcomers stand at their rank"},
    {.name = "h2o-flexgen",
     .spec = "h2o:form=flexgen;unit=head",
     .source = "code FMInference/H2O, h2o_flexgen/flexgen/pytorch_backend.py and flex_opt.py: half "
               "heavy hitters, half recent tokens, each query head on its own; at every step the "
               "lightest hitter makes way for the oldest recent token",
     .differs =
         "its budget is hh_k hitters and hh_k - 1 recent tokens, hh_k a share of the prompt; "
         "its sums are of 16 bits; its decoding leaves padding unmasked"},
    {.name = "h2o-masked",
     .spec = "h2o:form=mask-simulation;unit=head",
     .source = "code FMInference/H2O, h2o_hf/utils_hh/modify_llama.py: the code behind the paper's "
               "accuracies, which hides tokens by a mask and frees none",
     .differs = "its sizes are shares of the prompt, usually 0.1 and 0.1; there (commit ac75c2a) "
                "who leaves the recent window is hidden for one step before it may be chosen, here "
                "it is a candidate at once; hidden tokens never come back, there they may where "
                "scores are 0"},
    {.name = "snapkv",
     .spec = "snapkv:recent=32,select=once;unit=head",
     .source = "Li et al., arXiv:2404.14469; code FasterDecoding/SnapKV, window 32, kernel 7, the "
               "largest of neighbours; with chunk=N a prompt of N tokens is chosen from at once",
     .differs = "there the cache grows while generating; here the budget holds, and who leaves the "
                "recent window after the prompt goes",
     .numbers = "documentation of Zefan-Cai/KVCache-Factory, Llama-3-8B at 128 tokens, first "
                "column: 45.08, dense 47.78"},
    {.name = "pyramidkv",
     .spec = "snapkv:recent=32,select=once;unit=head;budgets=pyramid:20",
     .source = "Cai et al., arXiv:2406.02069, section 3.2; code Zefan-Cai/KVCache-Factory, "
               "pyramidkv_utils.py, beta 20: SnapKV's choice under budgets that fall in even steps "
               "from layer to layer",
     .differs = "all layers together keep exactly what equal budgets keep, where the code rounds "
                "each step down; a layer is not capped at its prompt's length",
     .numbers = "the code's documentation, Llama-3-8B at 128 tokens, first column: 44.57, SnapKV "
                "45.08, dense 47.78"},
    {.name = "ada-snapkv",
     .spec = "snapkv:recent=32,select=once;unit=head;budgets=adaptive:0.2",
     .source = "Feng et al., arXiv:2407.11550, algorithm 1; code FFY0/AdaKV, "
               "adaptive_snapkv/monkeypatch/snapkv_utils.py, window 32, kernel 7, the largest of "
               "neighbours, floor 0.2: SnapKV's scores of all heads of a layer compete for what "
               "equal budgets hold; with chunk=N a prompt of N tokens is chosen from at once",
     .differs =
         "a layer keeps exactly what equal budgets keep, each head at least its floor, as in "
         "NVIDIA/kvpress's AdaKVPress; the authors' code adds 0.2 of the equal share to 0.8 "
         "of the pool's and rounds each head's sum, so that a layer may keep some rows more "
         "or fewer; its options to skip layers and to weigh heads are left out; there the "
         "cache grows while generating, here the budget holds"},
    {.name = "ada-h2o",
     .spec = "h2o;unit=head;budgets=adaptive:0.2",
     .source =
         "the same rule over H2O's scores (Zhang et al., arXiv:2306.14048), which compare from "
         "head to head, as each query shares out 1 in each",
     .differs = "the paper deals once, after a prompt; here at every trim, so that heads give and "
                "take rows while generating"},
    {.name = "duo",
     .spec = "streaming:sinks=64,recent=256;budgets=retrieval:0.0",
     .source = "Xiao et al., arXiv:2410.10819, section 2; code mit-han-lab/duo-attention, "
               "static_kv_cache.py: heads that retrieve keep everything, all others 64 sinks and "
               "256 recent tokens",
     .differs = "which heads retrieve is learned there, by gates, for each model; here they are "
                "named, and 0.0 stands in for them: write ;budgets=retrieval:LAYER.HEAD+..."},
    {.name = "chunkkv",
     .spec = "chunkkv:recent=32,length=10;unit=layer",
     .source = "Liu et al., arXiv:2502.00299, algorithm 1, chunks of 10; code NVIDIA/kvpress, "
               "ChunkKVPress over SnapKVPress, where the heads of a layer share their chunks; with "
               "chunk=N a prompt of N tokens is chosen from at once",
     .differs = "there the cache grows while generating, here the budget holds; the window is "
                "SnapKV's 32, in kvpress 64; what makes no whole chunk stays"},
    {.name = "rkv",
     .spec = "rkv:recent=8;timing=lazy:127",
     .source = "Cai et al., arXiv:2505.24133; code Zefan-Cai/R-KV: the last 8 tokens are kept and "
               "asked, once 128 are over the budget it is trimmed; lambda 0.1",
     .differs =
         "the code's default lambda is 0.07; keys are compared before rotation; what a query "
         "pays is shared out over all that it sees"},
    {.name = "semantic-block",
     .spec = "semantic-blocks:sinks=8,budget=264,likeness=dot,scores=rotated;"
             "timing=lazy:64;unit=layer",
     .source = "a reimplementation on Pythia-2.8b, compress/pythia_streaming_compress.py, "
               "configuration NoComp: 8 sinks, 128 recent tokens and 128 in blocks of 16",
     .differs = "each head's query meets its own keys, there the means over heads meet; what makes "
                "no whole block stays, there it goes; its text says cosine, its code does not",
     .numbers = "its table, perplexity on wikitext: 10.61, streaming at 8 + 256 11.49, dense 6.97"},
    {.name = "pos-aware",
     .spec = "token-classes:sinks=8,recent=64,budget=264,order=oldest;timing=lazy:64;unit=model",
     .source = "the same code, mode pos: 8 sinks, 192 content words, 64 recent tokens",
     .differs = "one list for all layers, not thinned by the first: there layers above it fall "
                "back to recency",
     .numbers = "its table, perplexity on wikitext: 11.49, which is streaming's: see what differs"},
    {.name = "paged-sink",
     .spec = "pages:sinks=4,page=16,first-page=pinned",
     .source = "a paged cache of pages of 16 tokens whose first is pinned, with 4 sinks",
     .differs = "the whole first page is seen; with first-page=masked only its sinks are"},
    {.name = "lacache",
     .spec = "ladder:sinks=4,order=interleaved;positions=in-cache",
     .source = "Shi et al., arXiv:2507.14204; code GATECH-EIC/LaCache, ppl/lacache/kv_cache.py: 4 "
               "sinks, span 16 and overlap 0 in 32 layers, so that each layer keeps one of two",
     .differs = "there as many of the newest tokens are left alone as there are layers, here 12 % "
                "of the budget: write recent=N; the paper's ladder rises from layer to layer "
                "(order=rising), the code's layers take turns"},
    {.name = "quest",
     .spec = "dense;visibility=top-pages:1024/16/2",
     .source = "Tang et al., arXiv:2406.10774, section 3; code mit-han-lab/quest, "
               "evaluation/quest_attention.py: pages of 16 tokens, ranked for each query head by "
               "the most that the page's least and greatest keys allow; two dense layers first",
     .differs = "there a prompt attends to everything and only what is generated chooses, here "
                "every query does; a query's own page is always among its pages, and of equals the "
                "newer comes first, there the pages are ranked alike and torch.topk decides; there "
                "at least 3 pages, here as many as are written; 1,024 tokens is one budget of "
                "several"},
    {.name = "tova",
     .spec = "tova;unit=layer",
     .source = "Oren et al., arXiv:2401.06104; code schwartz-lab-NLP/TOVA, src/tova_cache.py",
     .differs = "among equals the older goes; there torch.topk decides"},
    {.name = "dense",
     .spec = "dense",
     .source = "plain causal attention over everything",
     .differs = "nothing"},
    {.name = "kivi",
     .spec = "dense",
     .source =
         "Liu et al., \"KIVI: A Tuning-Free Asymmetric 2bit Quantization for KV Cache\", ICML "
         "2024, arXiv:2402.02750: nobody is evicted; keys are quantised per channel in groups "
         "of 32 tokens, values per token in groups of 32 channels, the newest are exact: up to 128 "
         "keys, and 128 values",
     .differs = "groups of 32 keys leave the residual one by one, so that 128 to 159 are exact, "
                "there 128 at once, so that 0 to 127 are; queries of a prompt meet quantised keys "
                "and values as those of generated tokens do, there a prompt attends before it is "
                "quantised; scales and zero points are bf16",
     .storage = "kivi2"},
    {.name = "window",
     .spec = "window",
     .source = "Xiao et al., arXiv:2309.17453, section 3.1: the window-attention baseline",
     .differs = "nothing in who stays; codes differ in the positions they attend at, here absolute",
     .numbers = "perplexity, the paper's table 1, Llama-2-13B on one book at 1,024: 5,158"},
}};

}  // namespace

std::span<const Preset> presets() {
  return table;
}

const Preset* find_preset(std::string_view name) {
  const auto found = std::ranges::find(table, name, &Preset::name);
  return found == table.end() ? nullptr : &*found;
}

}  // namespace kv
