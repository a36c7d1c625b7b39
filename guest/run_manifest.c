/* Reads the manifest into the run's configuration. */
#include <errno.h>
#include <string.h>

#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/fs/fs.h"
#include "guest/run_manifest.h"
#include "guest/sample/overflow.h"
#include "guest/sample/python.h"
#include "guest/sample/sampling.h"
#include "guest/thread/process.h"
#include "guest/vm/vm_fill.h"
#include "guest/vm/vm_touched.h"
#include "lib/boot/modes.h"
#include "lib/format.h"
#include "lib/trace/stack_kinds.h"
#include "lib/x86.h"

/* The hypervisor leaf of QEMU without a hypervisor: "TCGTCGTCGTCG" in EBX, ECX, EDX */
#define TCG_WORD 0x54474354u
#define TCG_WORD2 0x43544743u
#define TCG_WORD3 0x47435447u

static uint64_t manifest_number_or(const char *key, uint64_t otherwise)
{
    uint64_t value = otherwise;
    int status = manifest_number(&run.manifest, key, &value);

    if (status && status != -ENOENT)
        panic("manifest: %s is not a number", key);
    return value;
}

/* Fits the run to the CPUs present: a stick may boot on any machine. */
static void fit_cpus(void)
{
    uint32_t offered = run.machine.cpu_count;

    if (run.boot->entry != BOOT_ENTRY_UEFI || run.wanted_cpus == 0)
        return;
    if (run.asked.mode == HR_MODE_IPI && offered < 3) {
        log_notice("--mode ipi needs three CPUs, and this machine has %u: --mode timer", offered);
        run.asked.mode = HR_MODE_TIMER;
    }
    if (offered < 2) {
        log_notice("--cpus %u: this machine has one CPU, which does everything", run.wanted_cpus);
        run.wanted_cpus = 0;
    }
}

static void find_input(void)
{
    struct inode *inode;

    if (fs_find("/" RUN_STDIN_NAME, &inode) || inode_contents(inode) == NULL)
        return;
    run.input = inode_contents(inode);
    run.input_bytes = inode->bytes;
}

/* An archive may have sets of events, of which each repetition on a stick has its own. */
static void choose_events(void)
{
    const struct manifest whole = run.manifest;

    if (manifest_divide(&whole, run.boot->repetition, &run.manifest, &run.events) != 0 &&
        run.boot->repetition != 0)
        panic("manifest: no events for repetition %u: more repetitions in microtome.conf than the "
              "archive is for",
              run.boot->repetition);
}

void run_read_manifest(void)
{
    struct inode *inode;
    const char *mode;
    int found;

    if (fs_find("/" RUN_MANIFEST_NAME, &inode) || inode_contents(inode) == NULL)
        panic("the archive holds no manifest: not an archive of hr pack");
    if (manifest_open(&run.manifest, inode_contents(inode), inode->bytes))
        panic("the archive's manifest is damaged");
    choose_events();
    mode = manifest_text(&run.manifest, "mode", "timer");
    found = modes_find(mode);
    if (found < 0)
        panic("manifest: mode %s is not one of this kernel", mode);
    run.exact = found == HR_MODE_EXACT;
    run.latency = found == HR_MODE_LATENCY;
    run.asked.mode = run.exact || run.latency ? HR_MODE_OFF : (uint32_t)found;
    run.asked.max_overhead = (uint32_t)manifest_number_or("max-overhead", 50);
    if (run.asked.max_overhead < 1 || run.asked.max_overhead > 90)
        panic("manifest: max-overhead is not between 1 and 90 percent");
    run.asked.counters_rest = (uint32_t)manifest_number_or("counters-every", 1) - 1;
    if (run.asked.counters_rest == UINT32_MAX)
        panic("manifest: counters-every is not at least 1");
    sampling.precise = found == HR_MODE_PEBS;
    sampling.jitter = manifest_number_or("jitter", 0) != 0;
    sampling.session.registers = manifest_number_or("registers", 0) != 0;
    run.asked.paused = manifest_number_or("paused", 0) != 0;
    run.wanted_cpus = (uint32_t)manifest_number_or("cpus", 0);
    fit_cpus();
    run.shared = run.wanted_cpus == 0;
    run.emulated = manifest_number_or("emulated", 0) != 0;
    run.start_unix_ns =
        run.boot->unix_ns ? run.boot->unix_ns : manifest_number_or("start-unix-ns", 0);
    run.timeout_ns = run.boot->timeout_ns ? run.boot->timeout_ns : manifest_number_or("timeout", 0);
    run.duration_ns = manifest_number_or("duration", 0);
    format_text(run.hostname, sizeof run.hostname, "%s",
                manifest_text(&run.manifest, "hostname", "microtome"));
    run.terminals = manifest_number_or("tty", 0);
    run.rows = manifest_number_or("rows", 24);
    run.columns = manifest_number_or("columns", 80);
    find_input();
    process_first.manifest = run.manifest;
    process_first.pid = PROCESS_ID;
}

void run_find_emulation(void)
{
    struct cpuid_result leaf = {0};

    if (run.boot->entry != BOOT_ENTRY_UEFI)
        return; /* the manifest says it */
    if (x86_cpuid(1, 0).ecx >> 31)
        leaf = x86_cpuid(0x40000000, 0);
    run.emulated = run.clock.virtual_time ||
                   (leaf.ebx == TCG_WORD && leaf.ecx == TCG_WORD2 && leaf.edx == TCG_WORD3);
}

static void read_stacks(void)
{
    const char *kind = manifest_text(&run.manifest, "stacks", NULL);
    uint64_t limit = manifest_number_or("stacks-limit", 0);

    run.waits = manifest_number_or("waits", 0) != 0;
    run.allocations = manifest_number_or("alloc", 0) != 0;
    run.alloc_min = manifest_number_or("alloc-min", 0);
    run.alloc_every = manifest_number_or("alloc-every", 1);
    if (run.alloc_every == 0)
        panic("manifest: alloc-every is not at least 1");
    run.pages_ticks = run_ns_to_ticks(manifest_number_or("pages", 0));
    if (run.pages_ticks)
        vm_touched_start();
    vm_fill_small = manifest_number_or("pages-split", 0) != 0;
    if (kind == NULL)
        return;
    run.stacks.kind = stack_kinds_find(kind);
    if (!run.stacks.kind || !stack_kinds_limit_ok(run.stacks.kind, limit))
        panic("manifest: no stacks of kind %s with limit %lu", kind, limit);
    run.stacks.limit = (uint32_t)limit;
    python_start();
}

void run_read_sampling(void)
{
    run.asked.interval_ticks = run_ns_to_ticks(manifest_number_or("interval", 10000));
    if (run.asked.interval_ticks == 0)
        panic("manifest: interval is 0");
    run.asked.frequency_hz = manifest_number_or("frequency", 0);
    if (run.asked.frequency_hz)
        run.asked.wanted_ticks = run.clock.hz / run.asked.frequency_hz;
    run.asked.period =
        run.asked.frequency_hz ? OVERFLOW_PERIOD_FIRST : manifest_number_or("period", 0);
    read_stacks();
    run_read_events();
}
