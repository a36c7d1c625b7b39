/* Records of AMD's samples: in the form of the adaptive records that Intel's processors write
 * (drivers/pmu/pmu_precise.h), one in the buffer for each interrupt.
 *
 * The samples interrupt as counters do, by the vector of the local APIC's LVTPC entry: no NMI, as
 * the kernel takes a sample that it interrupted the program for before anything else.
 */
#include <errno.h>
#include <stddef.h>

#include "drivers/platform.h"
#include "drivers/pmu/ibs.h"
#include "drivers/pmu/pmu_hardware.h"
#include "drivers/pmu/pmu_precise.h"
#include "drivers/pmu/pmu_regs.h"
#include "include/run_ports.h"
#include "lib/x86.h"

#define WHATS 4u /* combinations of IBS_LOAD and IBS_STORE */

/* The two kinds of samples, and what stands for a counter's number in their events. */
enum { ENGINE_OP, ENGINE_FETCH };

static struct ibs_caps ibs;

/* The session's events, a bit each: those that ops of a kind are records of, and those of fetches.
 */
static uint32_t op_events[WHATS], fetch_events;

void ibs_records_probe(struct pmu_caps *caps)
{
    ibs_probe(&ibs);
    caps->no_records = ibs.missing;
    caps->sampled_records = ibs.missing == NULL;
    caps->record_sources = ibs.fine_sources ? HR_SOURCES_AMD_FINE : HR_SOURCES_AMD;
}

bool ibs_makes(const struct pmu_event *event)
{
    return event->encoding & (RUN_SELECT_IBS_OP | RUN_SELECT_IBS_FETCH);
}

static bool of_fetches(const struct pmu_event *event)
{
    return event->encoding & RUN_SELECT_IBS_FETCH;
}

int ibs_assign(struct pmu_event *event, struct pmu_refusal *refusal)
{
    uint64_t most = of_fetches(event) ? IBS_FETCH_PERIOD_MAX : ibs.op_period_max;

    if (event->record_period == 0)
        return -ENXIO;
    if (ibs.missing != NULL || (of_fetches(event) && !ibs.fetch))
        return -ENODEV;
    if (event->record_period < IBS_PERIOD_MIN || event->record_period > most) {
        refusal->value = event->record_period > most ? most : IBS_PERIOD_MIN;
        return -ERANGE;
    }
    event->record_period -= event->record_period % IBS_PERIOD_UNIT;
    event->source = HR_SOURCE_PMU;
    event->flags = HR_EVENT_USER;
    event->width_bits = AMD_COUNTER_BITS;
    event->counter = of_fetches(event) ? ENGINE_FETCH : ENGINE_OP;
    return 0;
}

_Static_assert(RUN_IBS_LOADS == IBS_LOAD && RUN_IBS_STORES == IBS_STORE, "filters of ops");

/* Without a filter an event's records are of all ops. */
static bool wants_op(const struct pmu_event *event, uint32_t what)
{
    return event->encoding & RUN_SELECT_IBS_OP &&
           (event->encoding_ext == 0 || event->encoding_ext & what);
}

/* Another CPU may read these at the same time: they never change once they are set. */
static void note_events(const struct pmu_session *session)
{
    uint32_t ops[WHATS] = {0}, fetches = 0;

    for (uint32_t i = 0; i < session->event_count; i++) {
        fetches |= (uint32_t)of_fetches(&session->events[i]) << i;
        for (uint32_t what = 0; what < WHATS; what++)
            ops[what] |= (uint32_t)wants_op(&session->events[i], what) << i;
    }
    for (uint32_t what = 0; what < WHATS; what++)
        op_events[what] = ops[what];
    fetch_events = fetches;
}

static void describe(const struct pmu_session *session, struct pmu_precise *area)
{
    area->kind = PMU_RECORD_ADAPTIVE;
    area->record_bytes = PMU_ADAPTIVE_BYTES;
    area->latency_shift = 0;
    area->ds.base = area->ds.index = (uint64_t)area->buffer;
    area->ds.maximum = area->ds.base + area->bytes - area->bytes % PMU_ADAPTIVE_BYTES;
    memset(area->bits, 0xff, sizeof area->bits);
    area->counters = 0;
    for (uint32_t i = 0; i < session->event_count; i++) {
        const struct pmu_event *event = &session->events[i];

        if (!ibs_makes(event))
            continue;
        area->events[i] = (uint8_t)i;
        area->bits[i] = 1ull << i;
        area->counters |= 1ull << i;
        pmu_precise_period(area, event, event->record_period);
    }
}

static uint64_t period_of(const struct pmu_precise *area, uint32_t engine)
{
    return (1 - area->ds.general_reset[engine]) & ~0ull >> (64 - AMD_COUNTER_BITS);
}

static void start_ops(const struct pmu_precise *area)
{
    ibs_op_start(period_of(area, ENGINE_OP));
}

static void start_fetches(const struct pmu_precise *area)
{
    ibs_fetch_start(&ibs, period_of(area, ENGINE_FETCH));
}

int ibs_records_start(const struct pmu_session *session, struct pmu_precise *area)
{
    note_events(session);
    describe(session, area);
    ibs_stop(&ibs);
    apic_write(ibs_lvt(ibs.lvt), apic_read(APIC_LVT_PMI));
    if (op_events[0] | op_events[IBS_LOAD] | op_events[IBS_STORE])
        start_ops(area);
    if (fetch_events)
        start_fetches(area);
    return 0;
}

void ibs_records_stop(const struct pmu_session *)
{
    ibs_stop(&ibs);
}

static void write_record(struct pmu_precise *area, const struct ibs_sample *sample, uint32_t events)
{
    const uint64_t record[] = {PMU_ADAPTIVE_MEMORY, sample->ip,     events,          x86_rdtsc(),
                               sample->address,     sample->source, sample->latency, 0};

    _Static_assert(sizeof record == PMU_ADAPTIVE_BYTES, "an adaptive record");
    if (sample->ip == 0 || events == 0 || area->ds.index + sizeof record > area->ds.maximum)
        return;
    memcpy((uint8_t *)area->ds.index, record, sizeof record);
    area->ds.index += sizeof record;
}

void ibs_records_collect(const struct pmu_session *, struct pmu_precise *area)
{
    struct ibs_sample sample;

    if (ibs_op_take(&ibs, &sample)) {
        write_record(area, &sample, op_events[sample.what]);
        start_ops(area);
    }
    if (fetch_events && ibs_fetch_take(&ibs, &sample)) {
        write_record(area, &sample, fetch_events);
        start_fetches(area);
    }
}

void ibs_records_reset(void)
{
    if (ibs.missing != NULL)
        return;
    platform_msr_write(MSR_AMD_IBS_OP_CTL, 0);
    if (ibs.fetch)
        platform_msr_write(MSR_AMD_IBS_FETCH_CTL, 0);
    apic_write(ibs_lvt(ibs.lvt), APIC_LVT_MASKED);
}
