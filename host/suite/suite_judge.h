/* Judges one limit of a benchmark. */
#pragma once

#include "host/suite/suite_compare.h"

/* `pair->after` has counts. */
void suite_judge(const struct suite_pair *pair, const struct suite_limit *limit,
                 struct suite_verdict *verdict);
