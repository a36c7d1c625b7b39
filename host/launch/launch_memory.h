/* Chooses how KVM guest memory is backed: huge pages, filled beforehand, locked. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/launch/launch_notes.h"

/* What QEMU locks in addition to the guest's memory. */
#define LAUNCH_MEMORY_EMULATOR_BYTES (256ull << 20)

#define LAUNCH_MEMORY_HUGE_PAGE_BYTES (2ull << 20)

struct launch_memory {
    bool huge_pages; /* reserved huge pages of 2 MiB */
    bool filled; /* all pages exist before the guest starts, so that none causes an exit */
    bool locked; /* the emulator is asked to lock; launch_memory_verify tells whether it did */
    bool bound; /* bound to the NUMA node `node`; launch_numa.h */
    int node;
};

/* Chooses by whether `bytes` of guest memory fit into what ROOT/sys and ROOT/proc show as free.
 * The emulator may lock `lock_limit_bytes`; UINT64_MAX: unlimited. */
void launch_memory_choose(const char *root, uint64_t bytes, uint64_t lock_limit_bytes,
                          struct launch_memory *memory, struct launch_notes *notes);

/* Returns a number of the huge pages of 2 MiB that a directory of ROOT/sys tells of; 0: it does
 * not.
 */
uint64_t launch_memory_huge_pages(const char *root, const char *of, const char *name);

/* Notes how much memory the emulator, process `pid`, has locked according to ROOT/proc; warns if it
 * was asked to and the guest's `bytes` are not locked.  Call it when the guest runs. */
void launch_memory_verify(const char *root, pid_t pid, uint64_t bytes,
                          const struct launch_memory *memory, struct launch_notes *notes);

/* Returns how many bytes this process and its children may lock; with `of_daemon`, an estimate for
 * the children of a system daemon, which raises their limit. */
uint64_t launch_memory_lock_limit(bool of_daemon);
