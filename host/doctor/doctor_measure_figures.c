/* Draws conclusions from the runs of hr doctor --measure. */
#include "host/doctor/doctor_measure.h"
#include "host/summary/summary_sampling.h"

/* Each sample has the first event's count: all periods up to it, including skipped ones, plus what
 * the program executed between each overflow and its sample. */
static void take_skid(struct measure_run *run, const struct summary *s)
{
    uint64_t periods = s->samples + s->info.share.skipped;
    uint64_t within = periods * s->info.sampling.period_events;

    if (run->mode != HR_MODE_OVERFLOW || s->samples == 0 || s->lost != 0 || s->last[0] < within)
        return;
    run->skid_known = true;
    run->skid = (double)(s->last[0] - within) / (double)s->samples;
}

void doctor_measure_take(struct measure_run *run, const struct summary *s)
{
    const struct hr_meta_calibration *c = &s->info.calibration;
    bool whole = false;

    if (s->info.has_calibration && run->mode != HR_MODE_OFF) {
        run->sample_ns = trace_info_ns(&s->info, c->sample_ticks);
        run->late_ns = trace_info_ns(&s->info, c->late_ticks);
        run->rdpmc_ns = trace_info_ns(&s->info, c->rdpmc_ticks);
        run->rdpmc_trapped = summary_rdpmc_is_trapped(&s->info);
    }
    if (s->info.event_count != 0) {
        uint32_t source = s->info.events[0].meta.source;

        run->counted = summary_event_total(s, 0, &whole);
        run->counts = whole && (source == HR_SOURCE_PMU || source == HR_SOURCE_ICOUNT);
        take_skid(run, s);
    }
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

static uint64_t error_of(const struct measure_run *run)
{
    return run->counted > MEASURE_INSTRUCTIONS ? run->counted - MEASURE_INSTRUCTIONS
                                               : MEASURE_INSTRUCTIONS - run->counted;
}

void doctor_measure_merge(struct measure_run *run, const struct measure_run *again)
{
    run->sample_ns = lesser(run->sample_ns, again->sample_ns);
    run->late_ns = lesser(run->late_ns, again->late_ns);
    if (lesser(run->rdpmc_ns, again->rdpmc_ns) != run->rdpmc_ns) {
        run->rdpmc_ns = again->rdpmc_ns;
        run->rdpmc_trapped = again->rdpmc_trapped;
    }
    if (error_of(again) > error_of(run))
        run->counted = again->counted;
    if (!run->skid_known || (again->skid_known && again->skid > run->skid)) {
        run->skid_known = again->skid_known;
        run->skid = again->skid;
    }
}

uint64_t doctor_measure_interval_ns(uint64_t sample_ns, unsigned int percent)
{
    return (sample_ns * 100 + percent - 1) / percent;
}

static bool has_cost(const struct measure_run *run)
{
    return run->left_out[0] == 0 && run->sample_ns != 0;
}

const struct measure_run *doctor_measure_largest(const struct measure *m, enum hr_mode mode)
{
    const struct measure_run *largest = NULL;

    for (unsigned int i = 0; i < m->run_count; i++) {
        const struct measure_run *run = &m->runs[i];

        if (run->mode == mode && has_cost(run) &&
            (largest == NULL || run->events > largest->events))
            largest = run;
    }
    return largest;
}

uint64_t doctor_measure_exit_ns(const struct measure *m)
{
    const struct measure_run *largest = doctor_measure_largest(m, HR_MODE_TIMER);

    if (m->emulated || largest == NULL || !largest->rdpmc_trapped)
        return 0;
    for (unsigned int i = 0; i < m->run_count; i++) {
        const struct measure_run *run = &m->runs[i];

        if (run->mode == HR_MODE_TIMER && run->events == 0 && has_cost(run) &&
            largest->events != 0 && largest->sample_ns > run->sample_ns)
            return (largest->sample_ns - run->sample_ns) / largest->events;
    }
    return largest->rdpmc_ns;
}

void doctor_measure_exactness(const struct measure *m, struct doctor_measure_exactness *e)
{
    bool off = false, sampled = false;

    *e = (struct doctor_measure_exactness){.known = false};
    for (unsigned int i = 0; i < m->run_count; i++) {
        const struct measure_run *run = &m->runs[i];
        int64_t difference = (int64_t)(run->counted - MEASURE_INSTRUCTIONS);

        if (run->left_out[0] != 0 || !run->counts)
            continue;
        if (run->mode == HR_MODE_OFF) {
            e->without = difference;
            off = true;
            continue;
        }
        e->least = !sampled || difference < e->least ? difference : e->least;
        e->most = !sampled || difference > e->most ? difference : e->most;
        sampled = true;
    }
    e->known = off && sampled;
}
