/* Chooses how the guest's memory is backed under KVM: huge pages, filled beforehand, locked. */
#ifndef HOST_LAUNCH_LAUNCH_MEMORY_H
#define HOST_LAUNCH_LAUNCH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/launch/launch_notes.h"

/* What QEMU locks beside the guest's memory. */
#define LAUNCH_MEMORY_EMULATOR_BYTES (256ull << 20)

#define LAUNCH_MEMORY_HUGE_PAGE_BYTES (2ull << 20)

struct launch_memory {
    bool huge_pages; /* reserved ones, of 2 MiB */
    bool filled; /* all pages are there before the guest starts: no exit for a missing one */
    bool locked; /* the emulator is asked to; launch_memory_verify says whether it did */
    bool bound; /* to the NUMA node `node`; launch_numa.h */
    int node;
};

/* Whether `bytes` of guest memory fit into what ROOT/sys and ROOT/proc show as free; the emulator
 * may lock `lock_limit_bytes`, UINT64_MAX: all it wants.
 */
void launch_memory_choose(const char *root, uint64_t bytes, uint64_t lock_limit_bytes,
                          struct launch_memory *memory, struct launch_notes *notes);

/* Notes how much memory the emulator, process `pid`, has locked by what ROOT/proc says of it; warns
 * when it was asked to and the guest's `bytes` are not.  For when the guest runs.
 */
void launch_memory_verify(const char *root, pid_t pid, uint64_t bytes,
                          const struct launch_memory *memory, struct launch_notes *notes);

/* What this process and its children may lock; or, as far as can be told from here, the children of
 * a system daemon, which raises the limit for them.
 */
uint64_t launch_memory_lock_limit(bool of_daemon);

#endif
