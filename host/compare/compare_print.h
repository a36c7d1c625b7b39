/* How `hr compare` shows what is different. */
#pragma once

#include <stdio.h>

#include "host/base/output.h"
#include "host/base/text.h"
#include "host/compare/compare.h"

#define COMPARE_SHARE 0.01 /* the effect whose number of runs is said */

struct compare_shown {
    const struct compare_row *rows;
    uint32_t count;
    unsigned long limit; /* of functions; 0: all */
};

void compare_print(FILE *out, const struct compare *compare, const struct compare_shown *shown);
void compare_print_csv(struct output *out, const struct compare *compare,
                       const struct compare_shown *shown);
void compare_print_json(struct output *out, const struct compare *compare,
                        const struct compare_shown *shown);

/* The share of the mean before, as "+0.44 %", "new" where there was none. */
char *compare_share(char text[TEXT_QUANTITY_BYTES], const struct trial_difference *difference,
                    double change);
