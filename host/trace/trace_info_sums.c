/* Adds up what CPUs report at the end of a trace. */
#include "host/trace/trace_info_sums.h"

static uint64_t add(uint64_t a, uint64_t b)
{
    return a + b >= a ? a + b : UINT64_MAX;
}

/* Marks a CPU in a set; whether it was in it already. */
static bool is_repeated(uint8_t *cpus, uint16_t cpu)
{
    uint8_t bit = (uint8_t)(1u << cpu % 8);
    bool before = (cpus[cpu / 8] & bit) != 0;

    cpus[cpu / 8] |= bit;
    return before;
}

enum trace_status trace_info_take_nmi(struct trace_info *info, const struct trace_record *record)
{
    struct trace_nmis *nmis = &info->nmis;
    struct hr_rec_nmi nmi;

    if (!trace_body(record, &nmi, sizeof nmi, NULL, NULL))
        return TRACE_BAD_RECORD;
    if (is_repeated(nmis->cpus, nmi.cpu)) {
        nmis->repeated++;
        return TRACE_OK;
    }
    nmis->samples = add(nmis->samples, nmi.samples);
    nmis->spurious = add(nmis->spurious, nmi.spurious);
    nmis->unknown = add(nmis->unknown, nmi.unknown);
    info->has_nmis = true;
    return TRACE_OK;
}

enum trace_status trace_info_take_activity(struct trace_info *info,
                                           const struct trace_record *record)
{
    struct hr_rec_activity one, *sum = &info->activity.sum;

    if (!trace_body(record, &one, sizeof one, NULL, NULL))
        return TRACE_BAD_RECORD;
    if (is_repeated(info->activity.cpus, one.cpu))
        return TRACE_OK;
    sum->interruptions = add(sum->interruptions, one.interruptions);
    sum->switches = add(sum->switches, one.switches);
    sum->slices = add(sum->slices, one.slices);
    sum->blocks = add(sum->blocks, one.blocks);
    sum->wakeups = add(sum->wakeups, one.wakeups);
    info->has_activity = true;
    return TRACE_OK;
}

enum trace_status trace_info_take_calls(struct trace_info *info, const struct trace_record *record)
{
    struct hr_rec_calls calls;

    if (!trace_body(record, &calls, sizeof calls, NULL, NULL))
        return TRACE_BAD_RECORD;
    if (!info->has_calls)
        info->calls = calls;
    info->has_calls = true;
    return TRACE_OK;
}

enum trace_status trace_info_take_share(struct trace_info *info, const struct trace_record *record)
{
    struct trace_share *share = &info->share;
    struct hr_rec_share one;

    if (!trace_body(record, &one, sizeof one, NULL, NULL))
        return TRACE_BAD_RECORD;
    if (is_repeated(share->cpus, one.cpu))
        return TRACE_OK;
    share->skipped = add(share->skipped, one.skipped);
    share->stolen_ns = add(share->stolen_ns, one.stolen_ns);
    if (one.spacing_ticks > share->spacing_ticks)
        share->spacing_ticks = one.spacing_ticks;
    share->steal_known |= (one.flags & 1) != 0;
    info->has_share = true;
    return TRACE_OK;
}
