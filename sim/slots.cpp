#include "sim/slots.h"
