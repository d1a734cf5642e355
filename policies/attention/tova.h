// tova: a token is worth the attention that the last query paid it; the lowest goes.
//
// Nothing is protected by default: even the newest token may go at once. Among equal scores the
// older goes.
//
// Source: Oren et al., "Transformers are Multi-State RNNs", arXiv:2401.06104, the policy TOVA; code
// schwartz-lab-NLP/TOVA, src/tova_cache.py.
// Differs: there one set of residents serves all heads of a layer, ranked by the heads' mean; here
// that is the cache's setting `unit` (preset @tova sets unit=layer, the spec's default is
// kv-head). There ties fall as torch.topk lets them.
// Cost: O(residents) time a query; one float per resident.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_tova();

PolicyEntry tova_policy();

}  // namespace kv
