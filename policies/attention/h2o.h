// h2o: scores a token by the attention that it has gathered since it arrived, and evicts the token
// with the lowest score.
//
// The score is the sum of the token's mass over the queries that saw it, its own query included. By
// default half of the budget is the recent window and the other half holds the heavy hitters. Among
// equal scores the older token is evicted.
//
// The sum favours old tokens: under even attention the i-th of n tokens has gathered H_n - H_(i-1),
// so a newcomer never displaces another token. normalise=age divides the sum by the number of
// queries that saw the token, and then newcomers can.
//
// The authors published three codes that differ. The parameter form= selects one of them:
//
//   real-drop        evicts the lowest of all candidates, the newcomer included
//   flexgen          evicts the lowest of the older candidates and keeps the newcomer, whatever its
//                    score, if one token leaves the recent window; ranks all candidates if several
//                    do, as after a prompt
//   mask-simulation  masks the victims but keeps their rows, so that no memory is saved
//
// The mask simulation (at commit ac75c2a) sets the scores of the tokens that it hides to zero, and
// hidden tokens gather nothing. They come back only if fewer candidates have a score than fit, so
// its residents are those of real-drop. One token differs. The mask for the next query counts that
// query among the recent tokens, while the candidates end before the recent tokens of this query. A
// token that leaves the recent window is therefore hidden for one step, however high its score, and
// becomes a candidate only after that. Earlier versions of that file showed this token by accident,
// because they wrote the mask of the scores into the same memory. This policy reproduces neither
// behaviour. It also does not reproduce that the code keeps the scores of hidden tokens with
// recent=0, where its slice of the last 0 scores selects all of them.
//
// Sizes that a code takes as shares of the prompt are given as counts: 0.1 and 0.1 of a prompt of
// 2,000 tokens is h2o:recent=200,budget=400;chunk=2000. flexgen's 0.1 is recent=199,budget=399,
// because the new token takes the last place while it is attended to.
//
// Sums are doubles: after 10^5 queries the sum of a heavy token is near 10^4, where neighbouring
// floats are 10^-3 apart and most of what a query adds would be lost. A double is still exact to
// 10^-12.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

enum class Normalise { none, age };
enum class H2oForm { real_drop, flexgen, mask_simulation };

std::unique_ptr<Policy> make_h2o(Normalise normalise, H2oForm form = H2oForm::real_drop);

PolicyEntry h2o_policy();

}  // namespace kv
