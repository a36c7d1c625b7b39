/* Writes the pages of hr view that a report links to. */
#pragma once

#include "host/suite/suite_compare.h"

struct suite_pages {
    const char *folder; /* made where it is not there */
    const char *before; /* folder of the base's traces; NULL: it has none */
    const char *after; /* folder of the traces */
};

#define SUITE_PAGES_DIFF "+diff" /* in the name of a page: of no benchmark */

/* Writes NAME.html of each benchmark that changed, is new, or is above a limit, and, where the base
 * has its trace, too, NAME+diff.html; sets has_page and has_diff of the pairs.  A page that cannot
 * be written is said on stderr and costs no other one.  Returns 0, or -1 with the failure filled.
 */
int suite_pages_write(const struct suite_pages *pages, struct suite_comparison *c,
                      struct run_failure *failure);
