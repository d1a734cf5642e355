// What the laws of chance measure, one function each; statistical_laws.cpp says what they mean.
// Each draws streams of its own.
#pragma once

#include "kvcheck/properties/law.h"
#include "kvcheck/properties/statistics/chance_law.h"

namespace kv::properties {

StatisticalVerdict measure_exact(Family& family, const Effort& effort);
StatisticalVerdict measure_inclusion(Family& family, const Effort& effort);
StatisticalVerdict measure_pairs(Family& family, const Effort& effort);
StatisticalVerdict measure_acceptance(Family& family, const Effort& effort);
StatisticalVerdict measure_age_rank(Family& family, const Effort& effort);
StatisticalVerdict measure_contrasts(Family& family, const Effort& effort);
StatisticalVerdict measure_independence(Family& family, const Effort& effort);
StatisticalVerdict measure_age_law(Family& family, const Effort& effort);
StatisticalVerdict measure_chunks(Family& family, const Effort& effort);

// The law that a family claims at its requested size. Requires that it claims one.
ChanceLaw claimed_law(const Family& family);

}  // namespace kv::properties
