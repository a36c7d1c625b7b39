/* Reads the manifest into the run. */
#include <errno.h>
#include <string.h>

#include "guest/fs.h"
#include "guest/log.h"
#include "guest/overflow.h"
#include "guest/run.h"
#include "lib/muldiv.h"

#define NS_PER_SECOND 1000000000ull
#define LIST_BYTES (HR_EVENTS_MAX * sizeof((struct pmu_event *)0)->name)
#define HELD_BYTES 512

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

static void read_events(void)
{
    size_t position = 0;
    const char *name;

    while ((name = manifest_next(&run.manifest, "event", &position))) {
        if (run.session.event_count == HR_EVENTS_MAX)
            panic("manifest: more than %d events", HR_EVENTS_MAX);
        struct pmu_event *event = &run.session.events[run.session.event_count++];
        if (strlen(name) >= sizeof event->name)
            panic("manifest: event name too long");
        memcpy(event->name, name, strlen(name) + 1);
    }
}

static uint32_t find_mode(const char *name)
{
    static const char *const names[] = {
        [HR_MODE_OFF] = "off",           [HR_MODE_TIMER] = "timer",           [HR_MODE_IPI] = "ipi",
        [HR_MODE_OVERFLOW] = "overflow", [HR_MODE_INSTRUCTED] = "instructed",
    };

    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i] && strcmp(name, names[i]) == 0)
            return i;
    }
    panic("manifest: mode %s is unknown", name);
}

void run_read_manifest(void)
{
    const struct fs_node *node;
    const char *mode;

    if (fs_find("/", "/" RUN_MANIFEST_NAME, &node))
        panic("the archive holds no manifest: not an archive of hr pack");
    if (manifest_open(&run.manifest, node->data, node->bytes))
        panic("the archive's manifest is damaged");
    mode = manifest_text(&run.manifest, "mode", "timer");
    run.mode = find_mode(mode);
    run.paused = number("paused", 0) != 0;
    run.shared = number("cpus", 0) == 0;
    run.emulated = number("emulated", 0) != 0;
    run.start_unix_ns = number("start-unix-ns", 0);
    run.process.manifest = run.manifest;
    run.process.pid = PROCESS_ID;
}

/* The first event's samples hold its whole count: guest/overflow.c. */
static int prepare_overflow(void)
{
    const struct pmu_event *event = &run.session.events[0];

    if (!run.pmu_caps.overflow || run.session.event_count == 0) {
        log_notice("--mode overflow needs counters that interrupt, and the %s driver has none; "
                   "use --mode timer",
                   run.pmu->name);
        return -ENODEV;
    }
    if (run.period > run.pmu_caps.period_max) {
        log_notice("--count %lu: the counters of this CPU can be set to at most %lu", run.period,
                   run.pmu_caps.period_max);
        return -ERANGE;
    }
    run.overflow_mask = event->width_bits < 64 ? (1ull << event->width_bits) - 1 : ~0ull;
    return 0;
}

/* Appends ", NAME" or "NAME" when it still fits. */
static void append_name(char *list, size_t room, const char *name)
{
    size_t used = strlen(list);

    format_text(list + used, room - used, "%s%s", used ? ", " : "", name);
}

/* What fits together: events are taken in order, each that the counters still have room for; what
 * is left is for another run. */
static void log_fitting(void)
{
    static struct pmu_session fitting;
    static char together[LIST_BYTES], rest[LIST_BYTES];
    struct pmu_refusal ignored;

    fitting.event_count = 0;
    together[0] = rest[0] = 0;
    for (uint32_t i = 0; i < run.session.event_count; i++) {
        fitting.events[fitting.event_count++] = run.session.events[i];
        bool fits = run.pmu->assign(&run.pmu_caps, &fitting, &ignored) == 0;
        if (!fits)
            fitting.event_count--;
        append_name(fits ? together : rest, LIST_BYTES, run.session.events[i].name);
    }
    log_notice("these events fit at once: %s; in another run: %s", together, rest);
}

static void log_refusal(int status, const struct pmu_refusal *refusal)
{
    const char *name = run.session.events[refusal->event].name;

    if (status == -ENOENT)
        log_notice(
            "event %s: this machine has no hardware counters, and only generic events have a "
            "stub; see hr events",
            name);
    else if (status == -ENODEV)
        log_notice(
            "event %s: this CPU says that it does not have it (CPUID), or the counters that can "
            "count it are held by somebody else; leave it out",
            name);
    else if (status == -EBUSY)
        log_notice("events %s and %s need one register with different values; count them in two "
                   "runs",
                   run.session.events[refusal->other].name, name);
    else if (status == -ENOSPC)
        log_notice(
            "event %s: no counter is left for it; %u general and %u fixed counters serve the "
            "events before it; count fewer at once",
            name, run.pmu_caps.general_counters, run.pmu_caps.fixed_counters);
    else
        log_notice("event %s: the %s counters cannot count it so; see docs/pmu.md", name,
                   run.pmu->name);
    if (status == -ENOSPC || status == -EBUSY)
        log_fitting();
}

int run_assign_events(void)
{
    struct pmu_refusal refusal = {0};
    int status = run.pmu->assign(&run.pmu_caps, &run.session, &refusal);

    if (status)
        log_refusal(status, &refusal);
    else if (run.mode == HR_MODE_OVERFLOW)
        status = prepare_overflow();
    for (uint32_t i = 0; i < run.session.event_count; i++)
        run.counts_kernel |= run.session.events[i].flags & HR_EVENT_KERNEL;
    if (status)
        run.session.event_count = 0; /* the trace of the refused run has no counters */
    return status;
}

/* Counters that somebody else has are not used, and that is said: fewer events fit. */
static void log_held(void)
{
    char held[HELD_BYTES] = "";
    char name[16];

    for (uint32_t n = 0; n < 32; n++) {
        if (run.pmu_caps.general_held & 1u << n) {
            format_text(name, sizeof name, "%u", n);
            append_name(held, sizeof held, name);
        }
    }
    for (uint32_t n = 0; n < 32; n++) {
        if (run.pmu_caps.fixed_held & 1u << n) {
            format_text(name, sizeof name, "fixed %u", n);
            append_name(held, sizeof held, name);
        }
    }
    if (held[0])
        log_notice("counters in use by the firmware or the host, or not counting, are left out: "
                   "%s; on the host, sysctl kernel.nmi_watchdog=0 frees one",
                   held);
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
    read_events();
    run.pmu = pmu_probe(&run.pmu_caps);
    log_held();
}
