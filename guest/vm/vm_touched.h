/* Which pages the program has touched since the last look, from the accessed and dirty bits of its
 * page tables (Intel SDM volume 3, "Accessed and Dirty Flags").
 *
 * The bits exist at each level, so a look visits only tables through which something was reached:
 * its work is proportional to what was touched.  From vm_touched_start() on, new entries have
 * neither bit.  What the kernel reads and writes for the program goes past these tables and is not
 * seen.  Context: the kernel lock's holder.
 */
#pragma once

#include "guest/vm/vm.h"
#include "lib/trace/trace_pages.h"

/* Boot: before any memory of the program is filled. */
void vm_touched_start(void);

typedef void vm_touched_take(void *context, const struct trace_pages_run *run);

/* Calls `take`, which may be NULL, with each run of touched pages, in the order of addresses.  With
 * `clear` clears the bits; then every CPU must forget its translations (cross_flush).  Returns
 * whether anything was touched. */
bool vm_touched_look(const struct vm_space *space, vm_touched_take *take, void *context,
                     bool clear);
