#include "sim/unit_cache.h"
