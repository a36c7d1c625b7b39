/* Keeps names of locks. */
#include "host/follow/follow_locks.h"

#include <asm/unistd_64.h>
#include <errno.h>
#include <stdlib.h>

int follow_locks_init(struct follow_locks *locks, struct symbols *symbols,
                      const struct trace_info *info)
{
    locks->symbols = symbols;
    locks->info = info;
    locks->all = calloc(FOLLOW_LOCKS_ROOM, sizeof locks->all[0]);
    return locks->all != NULL ? 0 : -ENOMEM;
}

void follow_locks_free(struct follow_locks *locks)
{
    free(locks->all);
    locks->all = NULL;
}

const char *follow_locks_name(struct follow_locks *locks, const struct follow_wait *wait)
{
    const struct trace_processes *processes = &locks->info->processes;
    const struct hr_rec_wait record = {
        .time = wait->from, .address = wait->address, .tid = wait->tid, .number = wait->number};
    uint32_t process, space = 0;
    struct follow_lock *lock;
    uint64_t until;

    if (wait->number != __NR_futex || wait->address == 0 || wait->joins != 0)
        return NULL;
    process = trace_processes_of(processes, wait->tid, wait->from);
    if (trace_processes_any(processes))
        space = trace_processes_space(processes, process, wait->from, &until);
    lock = &locks->all[(wait->address ^ (uint64_t)space << 32) * 0x9e3779b97f4a7c15ull >> 52];
    if (lock->name[0] == 0 || lock->address != wait->address || lock->space != space) {
        lock->address = wait->address;
        lock->space = space;
        wait_name(locks->symbols, locks->info, &record, lock->name);
    }
    return lock->name;
}
