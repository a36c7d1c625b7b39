/* The run's events: named by the manifest, encoded by it or by the host, given to counters. */
#include <errno.h>
#include <string.h>

#include "drivers/pmu/pmu_msr.h"
#include "drivers/pmu/pmu_regs.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/run_manifest.h"
#include "guest/sample/pebs.h"
#include "guest/sample/sampling.h"
#include "guest/service/service_cpu.h"
#include "guest/transport/transport.h"
#include "include/run_ports.h"
#include "lib/pmu/msr_events.h"

#define LIST_BYTES (HR_EVENTS_MAX * sizeof((struct pmu_event *)0)->name)
#define HELD_BYTES 512

/* Mode pebs: after how many events each one makes a record, in the order of the events; 0: it only
 * counts. */
static uint64_t next_period(size_t *position)
{
    const char *text = manifest_next(&run.manifest, "event-period", position);
    uint64_t period = 0;

    for (; text != NULL && *text >= '0' && *text <= '9'; text++)
        period = period * 10 + (uint64_t)(*text - '0');
    return period;
}

static void read_names(void)
{
    size_t position = 0, periods = 0;
    const char *name;

    while ((name = manifest_next(&run.events, "event", &position)) != NULL) {
        struct pmu_event *event;

        if (sampling.session.event_count == HR_EVENTS_MAX)
            panic("manifest: more than %d events", HR_EVENTS_MAX);
        event = &sampling.session.events[sampling.session.event_count++];
        event->record_period = next_period(&periods);
        if (strlen(name) >= sizeof event->name)
            panic("manifest: event name too long");
        memcpy(event->name, name, strlen(name) + 1);
    }
}

/* Appends ", NAME" or "NAME" if it still fits. */
static void append_name(char *list, size_t room, const char *name)
{
    size_t used = strlen(list);

    format_text(list + used, room - used, "%s%s", used ? ", " : "", name);
}

/* Logs the counters that other software holds: they are not used, so fewer events fit. */
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

/* Without counters, stubs are only for explicitly requested events: of the default events only the
 * first is kept, which virtual time makes exact (trace_meta.c names the others). */
static void omit_stubs(void)
{
    if (!run.pmu_caps.needs_encodings && sampling.session.event_count > 1 &&
        manifest_text(&run.manifest, "default-events", NULL) != NULL)
        sampling.session.event_count = 1;
}

void run_read_events(void)
{
    read_names();
    run.pmu = pmu_msr_layer(pmu_probe(&run.pmu_caps), &sampling.session);
    omit_stubs();
    log_held();
}

/* The processor must be able to write records; this is known before events are. */
static int check_records(void)
{
    if (run.pmu->precise_start == NULL || run.pmu_caps.no_records != NULL) {
        log_notice("--mode pebs needs a processor that writes records of precise events: %s; use "
                   "--mode overflow",
                   run.pmu_caps.no_records != NULL ? run.pmu_caps.no_records
                                                   : "this machine has no hardware counters");
        return -ENODEV;
    }
    return 0;
}

int run_encode_events(void)
{
    bool ask = transport->host && manifest_text(&run.events, "target-cpu", NULL) == NULL;
    int status = sampling.precise ? check_records() : 0;

    if (status) {
        sampling.session.event_count = 0; /* the trace of the refused run has no counters */
        return status;
    }
    if (!run.pmu_caps.needs_encodings || sampling.session.event_count == 0)
        return 0;
    status = ask ? service_encode_events() : run_use_encodings();
    if (!ask && status)
        sampling.session.event_count = 0; /* the trace of the refused run has no counters */
    return status;
}

/* Logs which events fit together.  They are taken in order while the counters have room; the rest
 * need another run. */
static void log_fitting(void)
{
    static struct pmu_session fitting;
    static char together[LIST_BYTES], rest[LIST_BYTES];
    struct pmu_refusal ignored;

    fitting.event_count = 0;
    together[0] = rest[0] = 0;
    for (uint32_t i = 0; i < sampling.session.event_count; i++) {
        bool fits;

        fitting.events[fitting.event_count++] = sampling.session.events[i];
        fits = run.pmu->assign(&run.pmu_caps, &fitting, &ignored) == 0;
        if (!fits)
            fitting.event_count--;
        append_name(fits ? together : rest, LIST_BYTES, sampling.session.events[i].name);
    }
    log_notice("these events fit at once: %s; in another run: %s", together, rest);
}

/* Why a CPU does not have the register of an event. */
static const char *register_reason(const struct msr_event *event)
{
    if (event->kind == MSR_EVENT_IMC_READS || event->kind == MSR_EVENT_IMC_WRITES)
        return "memory controllers are known of Intel's client processors up to Ice Lake, its "
               "servers from Skylake to Emerald Rapids and AMD's from Zen 4 on, not of virtual "
               "machines";
    if (event->cpus == MSR_CPUS_FABRIC)
        return "the data fabric's counters are known of AMD's Zen 2 and 3, not of virtual machines";
    if (event->kind != MSR_EVENT_PLAIN)
        return "CPUID leaf FH offers no such monitoring of the cache, as in virtual machines";
    if (event->needs == HR_MACHINE_SMI)
        return "only Intel's processors count SMIs";
    return "CPUID leaf 6 offers APERF and MPERF seldom in virtual machines";
}

static void log_refusal(int status, const struct pmu_refusal *refusal)
{
    const char *name = sampling.session.events[refusal->event].name;

    if (status == -ENODEV && msr_events_find(name) != NULL)
        log_notice("event %s: this CPU does not have the register, or it stands still: %s; leave "
                   "it out, or run on hardware without a hypervisor",
                   name, register_reason(msr_events_find(name)));
    else if (status == -ENOENT)
        log_notice(
            "event %s: this machine has no hardware counters, and only generic events have a "
            "stub; see hr events",
            name);
    else if (status == -ENODEV)
        log_notice(
            "event %s: this CPU says that it does not have it (CPUID), or the counters that can "
            "count it are held by somebody else; leave it out",
            name);
    else if (status == -EOPNOTSUPP)
        log_notice("event %s: MSR %xH holds a part of it and does not keep what is written: "
                   "virtual machines have no such register; leave the event out, or run without a "
                   "hypervisor",
                   name, refusal->msr);
    else if (status == -EBUSY)
        log_notice("events %s and %s need one register with different values; count them in two "
                   "runs",
                   sampling.session.events[refusal->other].name, name);
    else if (status == -ENXIO)
        log_notice("event %s: this processor only samples it; use --mode pebs, and :p after the "
                   "name if another event has it",
                   name);
    else if (status == -ERANGE)
        log_notice("--count %lu: for event %s the nearest that this processor can do is %lu",
                   sampling.session.events[refusal->event].record_period, name, refusal->value);
    else if (status == -ENOSPC)
        log_notice("event %s: " RUN_LOG_NO_COUNTER "; %u general and %u fixed counters serve the "
                   "events before it; count fewer at once",
                   name, run.pmu_caps.general_counters, run.pmu_caps.fixed_counters);
    else
        log_notice("event %s: the %s counters cannot count it so; see docs/pmu.md", name,
                   run.pmu->name);
    if (status == -ENOSPC || status == -EBUSY)
        log_fitting();
}

/* The first event's samples hold its whole count: guest/sample/overflow.c. */
static int prepare_overflow(void)
{
    const struct pmu_event *event = &sampling.session.events[0];

    if (!run.pmu_caps.overflow || sampling.session.event_count == 0 ||
        event->source == HR_SOURCE_MSR) {
        log_notice("--mode overflow needs counters that interrupt, and the %s driver has none; "
                   "use --mode timer",
                   run.pmu->name);
        return -ENODEV;
    }
    if (run.asked.period > run.pmu_caps.period_max) {
        log_notice("--count %lu: the counters of this CPU can be set to at most %lu",
                   run.asked.period, run.pmu_caps.period_max);
        return -ERANGE;
    }
    sampling.overflow_mask = event->width_bits < 64 ? (1ull << event->width_bits) - 1 : ~0ull;
    return 0;
}

#define EVENT_CODE 0xffffull /* and unit mask */
#define EVENT_LOAD_LATENCY 0x01cdull /* SDM "Load Latency Performance Monitoring Facility" */
#define EVENT_LOAD_LATENCY_NEHALEM 0x100bull
#define LATENCY_LEAST 3 /* the least that the register takes: all loads */

/* Sets what loads the events of load latency count. */
static void choose_latency(void)
{
    uint64_t asked = 0;

    manifest_number(&run.manifest, "load-latency", &asked);
    for (uint32_t i = 0; i < sampling.session.event_count; i++) {
        struct pmu_event *event = &sampling.session.events[i];
        uint64_t code = event->encoding & EVENT_CODE;

        if (run.pmu_caps.vendor != RUN_CPU_INTEL ||
            (code != EVENT_LOAD_LATENCY && code != EVENT_LOAD_LATENCY_NEHALEM))
            continue;
        if (asked || !event->encoding_ext)
            event->encoding_ext = asked ? asked : LATENCY_LEAST;
        sampling.latency_least = (uint32_t)event->encoding_ext;
    }
}

/* Before events get counters: what they may be. */
static int prepare_precise(void)
{
    const struct pmu_session *session = &sampling.session;

    for (uint32_t i = 0; i < session->event_count; i++) {
        const struct pmu_event *event = &session->events[i];

        if (event->record_period > run.pmu_caps.period_max) {
            log_notice("--count %lu: the counters of this CPU can be set to at most %lu",
                       event->record_period, run.pmu_caps.period_max);
            return -ERANGE;
        }
        if (event->record_period && event->encoding & PMU_SELECT_KERNEL) {
            log_notice("event %s: mode pebs has records of ring 3 alone; leave :k out, or let "
                       "another event be the precise one (:p)",
                       event->name);
            return -EINVAL;
        }
    }
    if (run.pmu_caps.sampled_records &&
        (session->registers || manifest_text(&run.manifest, "load-latency", NULL) != NULL)) {
        log_notice("--regs, --load-latency: AMD's processors do not record registers or leave "
                   "loads out; run without");
        return -EINVAL;
    }
    choose_latency();
    return 0;
}

/* Of the first event that makes records; a driver may have rounded it. */
static uint64_t record_period(void)
{
    for (uint32_t i = 0; i < sampling.session.event_count; i++)
        if (sampling.session.events[i].record_period)
            return sampling.session.events[i].record_period;
    return 0;
}

static void log_fault(const struct pmu_refusal *refusal)
{
    if (refusal->event < sampling.session.event_count)
        log_notice("event %s: this machine does not take it: writing %lx to MSR %xH faults; leave "
                   "the event or its modifiers out, or run without a hypervisor",
                   sampling.session.events[refusal->event].name, refusal->value, refusal->msr);
    else
        log_notice("the %s counters cannot be started: writing %lx to MSR %xH faults; run without "
                   "counters (--cpu host,pmu=off), or without a hypervisor",
                   run.pmu->name, refusal->value, refusal->msr);
}

void run_try_events(void)
{
    if (run.start_error || !run.pmu_caps.needs_encodings || sampling.session.event_count == 0)
        return;
    if (run.asked.mode == HR_MODE_OVERFLOW)
        sampling.session.period = run.pmu_caps.period_max; /* does not end before stop */
    run.start_error = run.pmu->start(&sampling.session);
    if (!run.start_error && sampling.precise)
        run.start_error = pebs_try();
    run.pmu->stop(&sampling.session);
    sampling.session.period = 0;
    if (!run.start_error)
        return;
    log_fault(&pmu_start_refusal);
    sampling.session.event_count = 0;
}

static int give_counters(void)
{
    struct pmu_refusal refusal = {0};
    int status = run.pmu->assign(&run.pmu_caps, &sampling.session, &refusal);

    if (status)
        log_refusal(status, &refusal);
    else if (run.asked.mode == HR_MODE_OVERFLOW)
        status = prepare_overflow();
    else if (sampling.precise)
        run.asked.period = sampling.period = record_period();
    return status;
}

int run_assign_events(void)
{
    int status = sampling.precise ? prepare_precise() : 0;

    if (status == 0)
        status = give_counters();
    for (uint32_t i = 0; i < sampling.session.event_count; i++)
        run.counts_kernel |= sampling.session.events[i].source != HR_SOURCE_MSR &&
                             sampling.session.events[i].flags & HR_EVENT_KERNEL;
    if (status)
        sampling.session.event_count = 0; /* the trace of the refused run has no counters */
    return status;
}
