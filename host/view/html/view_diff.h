/* hr view --diff: the page of two traces, with their difference as a flame graph and a table. */
#pragma once

#include "host/base/output.h"
#include "host/diff/diff_tree.h"

/* Writes the page.  0 or -ENOMEM; errors of `out` stay there. */
int view_diff_write(struct output *out, const struct diff_tree *tree);
