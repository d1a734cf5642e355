#include "sim/spec.h"
