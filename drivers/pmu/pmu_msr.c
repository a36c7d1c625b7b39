/* Reads registers in addition to the counters. */
#include "drivers/pmu/pmu_msr.h"

#include <errno.h>
#include <string.h>

#include "drivers/pmu/pmu_imc.h"
#include "drivers/pmu/pmu_rdt.h"
#include "drivers/pmu/pmu_umc.h"
#include "drivers/processor/monitor.h"
#include "lib/pmu/msr_events.h"
#include "lib/x86.h"

#define KINDS_RDT (1u << MSR_EVENT_OCCUPANCY | 1u << MSR_EVENT_TOTAL | 1u << MSR_EVENT_LOCAL)
#define KINDS_IMC (1u << MSR_EVENT_IMC_READS | 1u << MSR_EVENT_IMC_WRITES)

_Static_assert(MSR_EVENT_FABRIC_LAST - MSR_EVENT_FABRIC + 1 == PMU_UMC_FABRIC_CHANNELS, "channels");

static bool is_fabric(uint8_t kind)
{
    return kind >= MSR_EVENT_FABRIC && kind <= MSR_EVENT_FABRIC_LAST;
}

static const struct pmu_driver *beneath; /* whose layer this is */
static struct pmu_session counted; /* the events that the driver sees */
static uint32_t registers[HR_EVENTS_MAX]; /* and the registers that follow them */
static uint8_t kinds[HR_EVENTS_MAX]; /* of each of them: enum msr_event_kind */
static uint32_t register_count;
static uint32_t fabric_count; /* of them, those of the data fabric */
static uint32_t kinds_used; /* a bit each */

/* Counters first, in their order, then registers in theirs. */
static void pmu_msr_part(struct pmu_session *session)
{
    static struct pmu_event behind[HR_EVENTS_MAX];
    uint32_t kept = 0, moved = 0;

    for (uint32_t i = 0; i < session->event_count; i++) {
        if (msr_events_find(session->events[i].name) != NULL)
            behind[moved++] = session->events[i];
        else
            session->events[kept++] = session->events[i];
    }
    memcpy(session->events + kept, behind, moved * sizeof *behind);
    counted.event_count = kept;
    counted.period = session->period;
    counted.precise = session->precise;
    counted.registers = session->registers;
    memcpy(counted.events, session->events, kept * sizeof *session->events);
}

/* Only what is asked for is looked for: to probe a device is to touch it. */
static bool is_there(const struct msr_event *event)
{
    switch (event->kind) {
    case MSR_EVENT_PLAIN:
        return monitor_probe() & event->needs;
    case MSR_EVENT_IMC_READS:
    case MSR_EVENT_IMC_WRITES:
        return pmu_imc_probe();
    default:
        return is_fabric(event->kind) ? pmu_umc_fabric_probe() : pmu_rdt_probe() >> event->kind & 1;
    }
}

static int assign_registers(struct pmu_session *session, struct pmu_refusal *refusal)
{
    register_count = 0;
    fabric_count = 0;
    kinds_used = 0;
    for (uint32_t i = counted.event_count; i < session->event_count; i++) {
        struct pmu_event *event = &session->events[i];
        const struct msr_event *found = msr_events_find(event->name);
        uint32_t msr = found->msr;

        refusal->event = i;
        if (!is_there(found))
            return -ENODEV;
        if (is_fabric(found->kind)) {
            if (fabric_count == PMU_UMC_FABRIC_COUNTERS)
                return -ENOSPC;
            msr = pmu_umc_fabric_msr(fabric_count++);
        }
        kinds_used |= 1u << found->kind;
        kinds[register_count] = found->kind;
        event->encoding = registers[register_count++] = msr;
        event->encoding_ext = found->kind;
        event->flags = HR_EVENT_USER | HR_EVENT_KERNEL;
        event->source = HR_SOURCE_MSR;
        event->width_bits = found->width_bits ? found->width_bits : pmu_imc_bits();
    }
    return 0;
}

static int msr_assign(const struct pmu_caps *caps, struct pmu_session *session,
                      struct pmu_refusal *refusal)
{
    int status;

    pmu_msr_part(session);
    status = beneath->assign(caps, &counted, refusal);
    memcpy(session->events, counted.events, counted.event_count * sizeof *counted.events);
    return status ? status : assign_registers(session, refusal);
}

static void start_fabric(void)
{
    if (!fabric_count || !pmu_imc_claim())
        return;
    for (uint32_t i = 0; i < register_count; i++)
        if (is_fabric(kinds[i]))
            pmu_umc_fabric_start(registers[i], kinds[i] - MSR_EVENT_FABRIC);
}

static int msr_start(const struct pmu_session *session)
{
    if (kinds_used & KINDS_IMC)
        pmu_imc_start();
    start_fabric();
    if (kinds_used & KINDS_RDT && pmu_rdt_start() != 0) {
        pmu_start_refusal = (struct pmu_refusal){.event = PMU_NO_EVENT, .msr = PMU_RDT_MSR};
        return -EIO;
    }
    counted.period = session->period;
    counted.precise = session->precise;
    return beneath->start(&counted);
}

static void msr_stop(const struct pmu_session *session)
{
    counted.period = session->period;
    beneath->stop(&counted);
}

static void msr_pause(const struct pmu_session *)
{
    beneath->pause(&counted);
}

static void msr_resume(const struct pmu_session *)
{
    beneath->resume(&counted);
}

static int msr_precise_start(const struct pmu_session *, struct pmu_precise *area)
{
    return beneath->precise_start(&counted, area);
}

static void msr_precise_stop(const struct pmu_session *)
{
    beneath->precise_stop(&counted);
}

static void msr_precise_collect(const struct pmu_session *, struct pmu_precise *area)
{
    beneath->precise_collect(&counted, area);
}

static uint64_t read_special(uint8_t kind, uint32_t msr)
{
    if (is_fabric(kind))
        return pmu_imc_tells() ? x86_rdmsr(msr) : 0;
    if (kind >= MSR_EVENT_IMC_READS)
        return pmu_imc_read(kind == MSR_EVENT_IMC_WRITES);
    return pmu_rdt_read(kind);
}

/* No register here can fault: assign has seen them all. */
static void read_registers(uint64_t *values)
{
    values += counted.event_count;
    for (uint32_t i = 0; i < register_count; i++)
        pmu_store(&values[i], kinds[i] == MSR_EVENT_PLAIN ? x86_rdmsr(registers[i])
                                                          : read_special(kinds[i], registers[i]));
}

static void msr_read(const struct pmu_session *, uint64_t user_instructions, uint64_t *values)
{
    beneath->read(&counted, user_instructions, values);
    read_registers(values);
}

static void msr_read_others(const struct pmu_session *, uint64_t user_instructions,
                            uint64_t *values)
{
    beneath->read_others(&counted, user_instructions, values);
    read_registers(values);
}

const struct pmu_driver *pmu_msr_layer(const struct pmu_driver *under,
                                       const struct pmu_session *session)
{
    static struct pmu_driver layer;
    bool any = false;

    for (uint32_t i = 0; i < session->event_count; i++)
        any |= msr_events_find(session->events[i].name) != NULL;
    if (!any)
        return under;
    beneath = under;
    layer = (struct pmu_driver){
        .name = under->name,
        .probe = under->probe,
        .assign = msr_assign,
        .start = msr_start,
        .stop = msr_stop,
        .pause = msr_pause,
        .resume = msr_resume,
        .precise_start = under->precise_start != NULL ? msr_precise_start : NULL,
        .precise_stop = under->precise_stop != NULL ? msr_precise_stop : NULL,
        .precise_served = under->precise_served,
        .precise_collect = under->precise_collect != NULL ? msr_precise_collect : NULL,
        .read = msr_read,
        .read_others = under->read_others != NULL ? msr_read_others : NULL,
    };
    return &layer;
}
