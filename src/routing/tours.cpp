#include "penstock/routing/tours.h"
