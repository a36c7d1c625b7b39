/* What getrusage and wait4 tell of used resources. */
#include "guest/syscall/process/usage.h"

#include <linux/resource.h>

#include "guest/base/run.h"
#include "guest/memory/phys.h"
#include "guest/vm/uaccess.h"

int usage_write(uint64_t to, uint64_t all_ticks, uint64_t user_ticks, const struct thread_use *use)
{
    uint64_t user = run_ticks_to_ns(user_ticks), all = run_ticks_to_ns(all_ticks);
    uint64_t system = all > user ? all - user : 0;
    const struct rusage usage = {
        /* other members are 0, on Linux too or here */
        .ru_utime = {(int64_t)(user / NS_PER_SECOND), (int64_t)(user % NS_PER_SECOND / 1000)},
        .ru_stime = {(int64_t)(system / NS_PER_SECOND), (int64_t)(system % NS_PER_SECOND / 1000)},
        .ru_maxrss = (int64_t)(phys_peak_bytes() >> 10),
        .ru_minflt = (int64_t)use->page_faults,
        .ru_nvcsw = (int64_t)use->waits,
        .ru_nivcsw = (int64_t)use->preemptions};

    return copy_to_user(to, &usage, sizeof usage);
}

int usage_write_process(uint64_t to, const struct process *process)
{
    const struct process_use *children = &process->children_use;
    struct thread_use sum = process->use;

    sum.page_faults += children->use.page_faults;
    sum.waits += children->use.waits;
    sum.preemptions += children->use.preemptions;
    return usage_write(to, process->used_ticks + children->used_ticks,
                       sum.user_ticks + children->use.user_ticks, &sum);
}
