/* The gate of hr compare: --fail-above. */
#pragma once

#include "host/compare/compare.h"

/* Decides by instructions, or by the first event where they were not counted.  Says why it does not
 * pass.  Returns HR_EXIT_OK, HR_EXIT_FAILED where it grew by more, or HR_EXIT_USAGE where that
 * cannot be decided. */
int compare_gate(const struct compare *compare, const struct compare_row *rows, uint32_t count,
                 const struct diff_limit *limit);
