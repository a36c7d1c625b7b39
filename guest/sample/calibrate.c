/* Null-sample calibration: what a sample, a reading and an overflow cost, from rounds of a loop. */
#include <errno.h>

#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/memory/vm_kernel.h"
#include "guest/sample/calibrate.h"
#include "guest/sample/calibrate_loop.h"
#include "guest/sample/repeat.h"
#include "guest/sample/ring.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampling.h"
#include "guest/sample/share.h"
#include "guest/vm/vm.h"
#include "lib/x86.h"

#define READINGS 16 /* of a counter, in a row */
#define RDMSR_FACTOR 2 /* used if it costs less than RDPMC divided by this */

/* Samples a round: enough for a mean, few enough for the ring. */
#define VIRTUAL_INTERVAL_TICKS 500
#define VIRTUAL_LOOP 4000
#define HARDWARE_LOOP 400000
#define HARDWARE_GROWTH 4
#define SCALE_ROUNDS 3
#define HARDWARE_LOOP_MAX (16u * HARDWARE_LOOP)
#define HARDWARE_SAMPLES 6 /* in the time of the loop, if they are cheap enough */
#define HARDWARE_SPACING 4 /* otherwise their distance, times the cost that the kernel sees */

/* More than the kernel needs from arming the timer to ring 3. */
#define VIRTUAL_LEAD_TICKS 200
#define HARDWARE_LEAD_NS 200000 /* enough even if each exit of a virtual machine is expensive */

#define OVERFLOWS 8 /* samples a round in overflow mode */
#define EVENTS_A_TICK 4 /* of ring 0, at most: instructions retired */
#define PROGRAM_SHARE 9 /* in virtual time sampling takes at most nine tenths */

static uint64_t seen_ticks; /* what guest/sample/share.h sees of a sample, by the last rounds */

static inline __attribute__((always_inline)) uint64_t reading_ticks(uint64_t (*read)(uint32_t),
                                                                    uint32_t index)
{
    uint64_t ticks[CALIBRATE_ROUNDS];

    for (unsigned i = 0; i < CALIBRATE_ROUNDS; i++) {
        uint64_t start = x86_rdtsc();
#pragma GCC unroll 16
        for (unsigned n = 0; n < READINGS; n++)
            read(index);
        ticks[i] = (x86_rdtsc() - start) / READINGS;
    }
    return calibrate_settled(ticks, CALIBRATE_ROUNDS);
}

/* Returns the ticks of one RDPMC: natively some tens, thousands if a hypervisor traps it.  If the
 * hypervisor does not trap RDMSR of the counter's register, uses that from now on. */
static uint64_t measure_rdpmc(void)
{
    uint64_t rdpmc, rdmsr;

    if (sampling.session.event_count == 0 || sampling.session.events[0].source != HR_SOURCE_PMU)
        return 0;
    rdpmc = reading_ticks(x86_rdpmc, sampling.session.events[0].counter);
    rdmsr = reading_ticks(x86_rdmsr, pmu_first_counter_msr());
    if (rdmsr >= rdpmc / RDMSR_FACTOR)
        return rdpmc;
    log_line("counters are read by RDMSR, in %lu ns; RDPMC takes %lu ns", run_ticks_to_ns(rdmsr),
             run_ticks_to_ns(rdpmc));
    run.pmu = pmu_by_msr(run.pmu);
    sampling_choose_reader();
    return rdmsr;
}

/* Returns the ticks of sampling plus the least time that the program must have with it. */
static uint64_t with_share(uint64_t ticks)
{
    return ticks + ticks / PROGRAM_SHARE + 1;
}

/* Returns the shortest period for an event that comes `counted` times in `ticks`, from the cost of
 * a sample as far as it is known. */
static uint64_t shortest_period(uint64_t counted, uint64_t ticks)
{
    uint64_t width = run.clock.virtual_time ? 1 : EVENTS_A_TICK;
    uint64_t period = counted * sampling.calibration.sample_ticks / ticks / PROGRAM_SHARE + 1;
    uint64_t handler = with_share(width * sampling.calibration.sample_ticks);

    if (sampling.session.events[0].flags & HR_EVENT_KERNEL && period < handler)
        period = handler; /* the handler's own events may be counted, but must not fill a period */
    return period;
}

/* Finds out whether each delivered interrupt masks the local APIC's entry, as on Intel's CPUs but
 * not on AMD's and some hypervisors: if a second interrupt comes without unmasking, it does not. */
static void find_masking(struct cpu *cpu)
{
    sampling.pmi_masks = false;
    calibrate_run(cpu, true);
    sampling.pmi_masks = calibrate_samples(cpu->ring) < 2;
}

/* Measures what an overflow sample costs, and the least rate of the first event in the loop.  From
 * these follows the shortest period that leaves the program a tenth of the time, unless
 * guest/sample/share.h takes care of that. */
static void measure_overflow(struct cpu *cpu)
{
    uint64_t counts[HR_EVENTS_MAX], ticks, period;

    sampling.pmi_masks = true;
    run.pmu->start(&sampling.session);
    ticks = calibrate_run(cpu, false);
    run.pmu->read(&sampling.session, cpu->clock.user_ticks, counts);
    counts[0] = (counts[0] + PMU_START_BEFORE_END) & sampling.overflow_mask;
    period = counts[0] / OVERFLOWS;
    sampling.period_min =
        shortest_period(0, ticks); /* until the cost of overflow samples is known */
    if (sampling.period_min > 1 && period < 2 * sampling.period_min)
        period = 2 * sampling.period_min;
    if (period == 0 || counts[0] < period)
        return; /* the event is too rare for this limit to matter */
    sampling_set_mode(HR_MODE_OVERFLOW);
    if (!run.shared && (!run.stacks.kind || run.stacks.kind == HR_STACK_FP))
        cpu_sample_briefly(run.stacks.kind != 0);
    sampling.session.period = period;
    sampling.follows = sampling.share_factor != 0; /* the period stays otherwise */
    seen_ticks = calibrate_rounds(cpu, run.stacks.kind != 0);
    find_masking(cpu);
    sampling.period_min = shortest_period(counts[0], ticks);
}

/* Refuses a rate that would leave the program almost no time. */
static void check_rate(void)
{
    uint64_t ticks_min = with_share(sampling.calibration.sample_ticks);
    const struct run_asked *asked = &run.asked;

    if (sampling.share_factor)
        return; /* samples are skipped as needed */
    if (asked->wanted_ticks == 0 && asked->period < sampling.period_min)
        log_notice("--count %lu: too short a period: a sample costs %lu ns here and the program "
                   "would not get on; use %lu or more",
                   asked->period, run_ticks_to_ns(sampling.calibration.sample_ticks),
                   sampling.period_min);
    else if (asked->wanted_ticks && asked->wanted_ticks < ticks_min)
        log_notice("--freq %lu: too high: a sample costs %lu ns here and the program would not get "
                   "on; use %lu or less",
                   asked->frequency_hz, run_ticks_to_ns(sampling.calibration.sample_ticks),
                   run.clock.hz / ticks_min);
    else {
        sampling.period = sampling.period_min; /* the least period; the first one if it adapts */
        return;
    }
    run.start_error = -ERANGE;
    sampling.session.event_count = 0;
}

/* Takes one sample in the middle of the loop, which works however long a sample takes.  Returns the
 * ticks from when it was due until it was handled, or 0 if the loop ended before it. */
static uint64_t single_sample(struct cpu *cpu, uint64_t plain)
{
    sampling.interval_ticks = plain / 2 + 1;
    share_set(plain, plain, 50);
    cpu->share.last_ticks = cpu->share.late_ticks = 0;
    calibrate_run(cpu, true);
    if (cpu->clock.stop_mask) /* the clock stands still while it is handled */
        return calibrate_samples(cpu->ring) ? plain / HARDWARE_SAMPLES : 0;
    return cpu->share.last_ticks + cpu->share.late_ticks;
}

/* Real hardware: makes the loop longer until it is long enough for all samples of a round. */
static void find_scale(struct cpu *cpu, struct vm_space *space)
{
    uint64_t iterations = HARDWARE_LOOP, plain, seen;

    for (;;) {
        calibrate_load(space, (uint32_t)iterations);
        plain = calibrate_run(cpu, false);
        seen = 0;
        for (unsigned i = 0; i < SCALE_ROUNDS; i++) {
            uint64_t ticks = single_sample(cpu, plain);
            if (ticks && (ticks < seen || !seen))
                seen = ticks;
        }
        if (seen && plain >= HARDWARE_SAMPLES * seen)
            break;
        if (iterations >= HARDWARE_LOOP_MAX)
            break;
        iterations *= HARDWARE_GROWTH;
    }
    if (!seen)
        seen = plain / HARDWARE_SAMPLES;
    sampling.interval_ticks = plain / HARDWARE_SAMPLES + 1;
    if (sampling.interval_ticks < HARDWARE_SPACING * seen)
        sampling.interval_ticks = HARDWARE_SPACING * seen;
    if (sampling.interval_ticks > plain / 2) /* something held up the samples above */
        sampling.interval_ticks = plain / 2;
    share_set(cpu->share.last_ticks + 1, cpu->share.last_ticks + 1, 50);
}

/* Returns how late this sample of the loop came.  The first one is on time. */
static uint64_t late_sample(struct cpu *cpu, uint32_t index)
{
    calibrate_run(cpu, true);
    return ring_slot(cpu->ring, index)->time % sampling.interval_ticks;
}

/* Has samples come by the timer's periodic mode: finds how long a handler is that does not program
 * the timer, and how long the one must wait that begins.  Both begin too large. */
static void calibrate_repeat(struct cpu *cpu)
{
    uint64_t late;

    repeat.handler = 2 * VIRTUAL_LEAD_TICKS;
    repeat.wait = late_sample(cpu, 1);
    repeat.lag = repeat.missed;
    late = late_sample(cpu, 2);
    repeat.handler -= late;
    repeat.wait -= late;
    late = late_sample(cpu, calibrate_samples(cpu->ring) - 1);
    if (late == 0 && cpu->trigger.repeats_at) {
        sampling.calibration.sample_ticks = repeat.handler;
    } else {
        log_line("the timer's periods are not exact: it is armed for each sample");
        repeat.handler = 0;
    }
}

static void calibrate_timer(struct cpu *cpu, struct vm_space *space)
{
    sampling_set_mode(HR_MODE_TIMER);
    sampling_choose_reader();
    if (run.clock.virtual_time) {
        calibrate_load(space, VIRTUAL_LOOP);
        sampling.interval_ticks = VIRTUAL_INTERVAL_TICKS;
        sampler_set_lead(VIRTUAL_LEAD_TICKS);
        if (!run.shared)
            share_set(VIRTUAL_LEAD_TICKS, VIRTUAL_LEAD_TICKS, 50);
    } else {
        sampler_set_lead((int64_t)run_ns_to_ticks(HARDWARE_LEAD_NS));
        find_scale(cpu, space);
    }
    sampling.calibration.rdpmc_ticks = measure_rdpmc();
    seen_ticks = calibrate_rounds(cpu, false);
    if (run.clock.virtual_time && run.shared && !apic.tsc_deadline && !run.stacks.kind &&
        !run.asked.counters_rest)
        calibrate_repeat(cpu);
    if (run.stacks.kind) {
        cpu_save_all(run.stacks.kind == HR_STACK_FP);
        seen_ticks = calibrate_rounds(cpu, true);
    }
}

/* Sets the program's share from what the last rounds found. */
static void keep_share(const struct cpu *cpu)
{
    uint64_t whole = sampling.calibration.sample_ticks;

    if (run.clock.virtual_time && run.shared)
        return;
    if (sampling.calibration.rounds == 0) {
        log_notice("calibration: no sample could be taken in a loop of ring 3; what sampling costs "
                   "is unknown, and samples are at least 1 ms apart");
        whole = run_ns_to_ticks(500000);
    }
    if (cpu->clock.stop_mask)
        sampler_set_lead((int64_t)whole);
    share_set(cpu->clock.stop_mask || !seen_ticks ? whole : seen_ticks, whole,
              run.asked.max_overhead);
}

void calibrate(struct cpu *cpu)
{
    struct vm_space space;
    bool overflow = run.asked.mode == HR_MODE_OVERFLOW && run.start_error == 0;
    bool paused = cpu->trigger.paused;

    if (vm_space_init(&space))
        panic("no memory to calibrate the sampler");
    calibrate_begin(&space);
    cpu->trigger.paused =
        false; /* what a sample costs does not depend on when the trigger starts */
    cpu->thread = NULL; /* the loop's system call leaves ring 3 */
    x86_write_cr3(space.root);
    calibrate_timer(cpu, &space);
    if (overflow)
        measure_overflow(cpu);
    x86_write_cr3(vm_kernel_root());
    cpu->frames.floor = CPU_NO_PAGE;
    cpu->trigger.paused = paused;
    ring_reset(cpu->ring);
    vm_space_release(&space);
    keep_share(cpu);
    if (overflow)
        check_rate();
}
