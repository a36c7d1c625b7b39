/* How `hr diff` shows changes. */
#pragma once

#include <stdio.h>

#include "host/base/output.h"
#include "host/diff/diff.h"

/* Changes of places that are not larger than `least` are left out; `limit` 0: all others. */
void diff_print(FILE *out, const struct diff *diff, const struct diff_limit *least,
                unsigned long limit, bool full_names);
void diff_rows_csv(struct output *out, const struct diff *diff, const struct diff_limit *least,
                   unsigned long limit);
void diff_rows_json(struct output *out, const struct diff *diff, const struct diff_limit *least,
                    unsigned long limit);

/* "+1,234", "-5", "0"; and "+1.25 %", "new", "gone". */
char *diff_change_text(char *out, const struct diff_change *change);
char *diff_relative_text(char *out, const struct diff_change *change);
