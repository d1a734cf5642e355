#include "sim/presets.h"
