// h2o: a token is worth the attention it has gathered since it arrived; the lowest goes.
//
// Its score is the sum of its mass over the queries that saw it, its own included. Half of the
// budget is the recent window by default, the other half the heavy hitters. Among equal scores the
// older goes.
//
// The sum favours the old: under even attention the i-th of n tokens has gathered H_n - H_(i-1), so
// newcomers never displace anyone. normalise=age divides by the number of queries that saw the
// token, and they can.
//
// The authors published three codes that differ; form= chooses:
//
//   real-drop        the lowest of all candidates goes, the newcomer among them
//   flexgen          where one token leaves the recent window, the lowest of the older candidates
//                    goes and the newcomer stays whatever its score; where several do, as after a
//                    prompt, all are ranked
//   mask-simulation  victims are masked and stay stored, so that no memory is saved
//
// The mask simulation (at commit ac75c2a) zeroes the scores of what it hides, and hidden tokens
// gather nothing, so that they come back only where fewer candidates than fit have any score: its
// residents are those of real-drop. One token differs. The mask for the next query counts that
// query among the recent tokens, while the candidates end before the recent ones of this query. So
// a token that leaves the recent window is hidden for one step, however high its score, and is a
// candidate only after that. Earlier versions of that file showed it again by accident, as they
// wrote the scores' mask into the same memory. Neither the hole nor the accident is built here,
// nor is it that with recent=0 the code keeps the scores of what it hides, its slice of the last 0
// scores being all of them.
//
// Sizes that a code takes as shares of the prompt are given as counts: 0.1 and 0.1 of a prompt of
// 2,000 tokens is h2o:recent=200,budget=400;chunk=2000. flexgen's 0.1 is recent=199,budget=399: the
// new token takes the last place while it is attended to.
//
// Why double: after 10^5 queries a heavy token's sum is near 10^4, where a float's steps are 10^-3
// and most of what a query adds is lost; a double is still exact to 10^-12.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

enum class Normalise { none, age };
enum class H2oForm { real_drop, flexgen, mask_simulation };

std::unique_ptr<Policy> make_h2o(Normalise normalise, H2oForm form = H2oForm::real_drop);

PolicyEntry h2o_policy();

}  // namespace kv
