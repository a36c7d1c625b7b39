/* Finds the program's pages for call stacks, through the page tables that are in use. */
#include "guest/sample/stack_page.h"
#include "guest/sample/stack_walk.h"
#include "lib/x86.h"

/* Tables and pages do not change while this CPU is in a sampler, also in an NMI.  A CPU that
 * withdraws memory clears its entries, and before it frees anything it waits until every other CPU
 * that runs a thread in this address space has answered (cross_flush).  A CPU does not answer while
 * its sampler runs: it answers by VECTOR_ATTENTION, which the sampler blocks with interrupts off,
 * or while it spins for the lock, where an NMI runs as a whole between two instructions.  So a walk
 * is over before the answer, or begins after it and finds the entries cleared.  On the CPU that
 * withdraws, it finds them as they are between two instructions.  A CPU without a thread does not
 * answer, and takes no stacks. */
const uint8_t *stack_page(uint64_t address)
{
    return stack_page_from(x86_read_cr3(), address);
}
