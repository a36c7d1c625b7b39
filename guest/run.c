/* Reads the manifest into the run. */
#include <errno.h>
#include <string.h>

#include "guest/fs.h"
#include "guest/log.h"
#include "guest/overflow.h"
#include "guest/run.h"
#include "lib/modes.h"
#include "lib/muldiv.h"
#include "lib/stack_kinds.h"

#define NS_PER_SECOND 1000000000ull

struct run run;

uint32_t run_program_cpu(uint32_t index)
{
    return run.shared ? 0 : index - 1;
}

uint64_t run_ticks_to_ns(uint64_t ticks)
{
    if (run.clock.hz == NS_PER_SECOND)
        return ticks;
    return muldiv(ticks, NS_PER_SECOND, run.clock.hz);
}

uint64_t run_ns_to_ticks(uint64_t ns)
{
    if (run.clock.hz == NS_PER_SECOND)
        return ns;
    return muldiv(ns, run.clock.hz, NS_PER_SECOND);
}

static uint64_t number(const char *key, uint64_t otherwise)
{
    uint64_t value = otherwise;
    int status = manifest_number(&run.manifest, key, &value);

    if (status && status != -ENOENT)
        panic("manifest: %s is not a number", key);
    return value;
}

void run_read_manifest(void)
{
    struct inode *inode;
    const char *mode;

    if (fs_find("/" RUN_MANIFEST_NAME, &inode) || !inode_contents(inode))
        panic("the archive holds no manifest: not an archive of hr pack");
    if (manifest_open(&run.manifest, inode_contents(inode), inode->bytes))
        panic("the archive's manifest is damaged");
    mode = manifest_text(&run.manifest, "mode", "timer");
    int found = modes_find(mode);
    if (found < 0 || found == HR_MODE_PEBS)
        panic("manifest: mode %s is not one of this kernel", mode);
    run.mode = (uint32_t)found;
    run.paused = number("paused", 0) != 0;
    run.shared = number("cpus", 0) == 0;
    run.emulated = number("emulated", 0) != 0;
    run.start_unix_ns = number("start-unix-ns", 0);
    run.process.manifest = run.manifest;
    run.process.pid = PROCESS_ID;
}

static void read_stacks(void)
{
    const char *kind = manifest_text(&run.manifest, "stacks", NULL);
    uint64_t limit = number("stacks-limit", 0);

    if (!kind)
        return;
    run.stacks.kind = stack_kinds_find(kind);
    if (!run.stacks.kind || !stack_kinds_limit_ok(run.stacks.kind, limit))
        panic("manifest: no stacks of kind %s with limit %lu", kind, limit);
    run.stacks.limit = (uint32_t)limit;
}

void run_read_sampling(void)
{
    run.interval_ticks = run_ns_to_ticks(number("interval", 10000));
    if (run.interval_ticks == 0)
        panic("manifest: interval is 0");
    run.frequency_hz = number("frequency", 0);
    if (run.frequency_hz)
        run.wanted_ticks = run.clock.hz / run.frequency_hz;
    run.period = run.frequency_hz ? OVERFLOW_PERIOD_FIRST : number("period", 0);
    read_stacks();
    run_read_events();
}
