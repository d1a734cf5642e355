#include "reports/results.h"
