/* Null-sample calibration: a loop in ring 3, run with and without sampling. */
#include <errno.h>
#include <string.h>

#include "guest/calibrate.h"
#include "guest/log.h"
#include "guest/overflow.h"
#include "guest/ring.h"
#include "guest/run.h"
#include "guest/sampler.h"
#include "guest/uaccess.h"
#include "guest/vm_access.h"
#include "lib/x86.h"

#define ROUNDS 9 /* odd: the median is one of them */
#define CODE_ADDRESS 0x10000

/* Samples a round: many enough for a mean, few enough for the ring. */
#define VIRTUAL_INTERVAL_TICKS 500
#define VIRTUAL_LOOP 4000
#define HARDWARE_INTERVAL_NS 20000
#define HARDWARE_LOOP 400000

/* More than the kernel needs from arming the timer to ring 3. */
#define VIRTUAL_LEAD_TICKS 200
#define HARDWARE_LEAD_NS 2000

#define OVERFLOWS 8 /* samples a round in overflow mode */
#define EVENTS_A_TICK 4 /* of ring 0, at most: instructions retired */
#define PROGRAM_SHARE 9 /* sampling shall take at most nine tenths: nine times the program */

struct round {
    uint64_t sample_ticks; /* 0: no sample fell into the round */
    uint64_t read_ticks;
    uint64_t late_ticks;
};

static int load_code(struct vm_space *space, uint32_t iterations)
{
    /* mov $iterations, %ecx; 1: dec %ecx; jnz 1b; syscall */
    uint8_t code[] = {0xb9, 0, 0, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0x0f, 0x05};

    memcpy(code + 1, &iterations, sizeof iterations);
    int64_t at =
        vm_map(space, CODE_ADDRESS, PAGE_BYTES, VM_READ | VM_WRITE | VM_EXEC, 0, true, false);
    if (at < 0)
        return (int)at;
    return vm_write(space, CODE_ADDRESS, code, sizeof code);
}

static void start_sampling(struct cpu *cpu)
{
    if (run.mode == HR_MODE_TIMER) {
        sampler_start(cpu, cpu->stop_mask ? 0 : x86_rdtsc());
        return;
    }
    overflow_start(cpu);
    run.pmu->start(&run.session);
}

/* Runs the loop once; the ticks from entering ring 3 to the system call that ends it. */
static uint64_t run_loop(struct cpu *cpu, bool sampled)
{
    const struct trap_frame frame = {.rip = CODE_ADDRESS,
                                     .cs = SELECTOR_USER_CODE,
                                     .rflags = 2 | 1u << 9,
                                     .rsp = CODE_ADDRESS,
                                     .ss = SELECTOR_USER_DATA};
    struct ring *ring = cpu->ring;

    ring_reset(ring);
    if (sampled)
        start_sampling(cpu);
    uint64_t start = x86_rdtsc();
    user_enter(&frame);
    sampler_stop();
    return cpu->enter_ticks - start;
}

static struct round measure(struct cpu *cpu)
{
    uint64_t plain = run_loop(cpu, false);
    uint64_t sampled = run_loop(cpu, true);
    const struct ring *ring = cpu->ring;
    struct round round = {0};

    if (ring->head == 0 || (cpu->stop_mask && sampled < plain))
        return round;
    const struct trace_slot *last = ring_slot(ring, ring->head - 1);
    if (cpu->stop_mask)
        round.sample_ticks = (sampled - plain) / ring->head;
    else /* the last entry was that sample: from its interrupt to its return */
        round.sample_ticks = cpu->exit_ticks - last->time;
    round.read_ticks = last->cost_ticks;
    if (run.mode == HR_MODE_TIMER)
        round.late_ticks = cpu->stop_mask ? last->time % run.interval_ticks
                                          : last->time - (cpu->next_due - run.interval_ticks);
    return round;
}

static uint64_t median(uint64_t *values, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        for (unsigned j = i; j > 0 && values[j] < values[j - 1]; j--) {
            uint64_t swap = values[j];
            values[j] = values[j - 1];
            values[j - 1] = swap;
        }
    }
    return count ? values[count / 2] : 0;
}

/* Ticks of one RDPMC: natively some tens, thousands where a hypervisor traps it. */
static uint64_t measure_rdpmc(void)
{
    uint64_t ticks[ROUNDS];

    if (run.session.event_count == 0 || run.session.events[0].source != HR_SOURCE_PMU)
        return 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t start = x86_rdtsc();
        __asm__ volatile(".rept 16; rdpmc; .endr" ::"c"(run.session.events[0].counter)
                         : "eax", "edx");
        ticks[i] = (x86_rdtsc() - start) / 16;
    }
    return median(ticks, ROUNDS);
}

/* stacks: samples have call stacks; this one's is empty. */
static void measure_rounds(struct cpu *cpu, bool stacks)
{
    uint64_t samples[ROUNDS], reads[ROUNDS], lates[ROUNDS];
    unsigned count = 0;

    for (unsigned i = 0; i < ROUNDS; i++) {
        struct round round = measure(cpu);
        if (run.mode == HR_MODE_TIMER && run.clock.virtual_time && cpu->stop_mask)
            sampler_trim((int64_t)round.late_ticks, stacks);
        if (round.sample_ticks == 0)
            continue;
        samples[count] = round.sample_ticks;
        lates[count] = round.late_ticks;
        reads[count++] = round.read_ticks;
    }
    run.calibration.sample_ticks = median(samples, count);
    run.calibration.read_ticks = median(reads, count);
    run.calibration.rounds = count;
    if (run.mode == HR_MODE_TIMER) {
        uint64_t late = median(lates, count);
        run.calibration.late_ticks = late > UINT32_MAX ? UINT32_MAX : (uint32_t)late;
    }
}

/* Sampling, and the least that the program shall have beside it. */
static uint64_t with_share(uint64_t sampling)
{
    return sampling + sampling / PROGRAM_SHARE + 1;
}

/* For an event that comes `counted` times in `ticks`, by what a sample costs as far as is known. */
static uint64_t shortest_period(uint64_t counted, uint64_t ticks)
{
    uint64_t width = run.clock.virtual_time ? 1 : EVENTS_A_TICK;
    uint64_t period = counted * run.calibration.sample_ticks / ticks / PROGRAM_SHARE + 1;
    uint64_t handler = with_share(width * run.calibration.sample_ticks);

    if (run.session.events[0].flags & HR_EVENT_KERNEL && period < handler)
        period = handler; /* the handler's own events may be counted, and cannot fill it */
    return period;
}

/* What an overflow sample costs, and how often the first event comes in the loop at least: together
 * the shortest period that leaves the program a tenth of the time. */
static void measure_overflow(struct cpu *cpu)
{
    uint64_t counts[HR_EVENTS_MAX];
    uint64_t wanted_ticks = run.wanted_ticks;

    run.pmu->start(&run.session);
    uint64_t ticks = run_loop(cpu, false);
    run.pmu->read(&run.session, cpu->user_ticks, counts);
    counts[0] = (counts[0] + PMU_START_BEFORE_END) & run.overflow_mask;
    uint64_t period = counts[0] / OVERFLOWS;
    run.period_min = shortest_period(0, ticks); /* until the cost of overflow samples is known */
    if (run.period_min > 1 && period < 2 * run.period_min)
        period = 2 * run.period_min;
    if (period == 0 || counts[0] < period)
        return; /* rarer than samples are dear */
    run.wanted_ticks = 0; /* a period that stays */
    run.mode = HR_MODE_OVERFLOW;
    run.session.period = period;
    measure_rounds(cpu, run.stacks.kind != 0);
    run.wanted_ticks = wanted_ticks;
    run.session.period = 0;
    run.period_min = shortest_period(counts[0], ticks);
}

/* Refuses a rate that would leave the program next to nothing. */
static void check_rate(void)
{
    uint64_t ticks_min = with_share(run.calibration.sample_ticks);

    if (run.wanted_ticks == 0 && run.period < run.period_min)
        log_notice("--count %lu: too short a period: a sample costs %lu ns here and the program "
                   "would not get on; use %lu or more",
                   run.period, run_ticks_to_ns(run.calibration.sample_ticks), run.period_min);
    else if (run.wanted_ticks && run.wanted_ticks < ticks_min)
        log_notice("--freq %lu: too high: a sample costs %lu ns here and the program would not get "
                   "on; use %lu or less",
                   run.frequency_hz, run_ticks_to_ns(run.calibration.sample_ticks),
                   run.clock.hz / ticks_min);
    else {
        if (run.period < run.period_min)
            run.period = run.period_min; /* of one that adapts, the first */
        return;
    }
    run.start_error = -ERANGE;
    run.session.event_count = 0;
}

void calibrate(struct cpu *cpu)
{
    struct vm_space space;
    uint64_t interval = run.interval_ticks;
    uint32_t mode = run.mode;
    bool paused = cpu->paused;

    if (vm_space_init(&space) ||
        load_code(&space, run.clock.virtual_time ? VIRTUAL_LOOP : HARDWARE_LOOP))
        panic("no memory to calibrate the sampler");
    run.interval_ticks =
        run.clock.virtual_time ? VIRTUAL_INTERVAL_TICKS : run_ns_to_ticks(HARDWARE_INTERVAL_NS);
    sampler_set_lead(run.clock.virtual_time ? VIRTUAL_LEAD_TICKS
                                            : (int64_t)run_ns_to_ticks(HARDWARE_LEAD_NS));
    run.mode = HR_MODE_TIMER;
    cpu->paused = false; /* what a sample costs does not depend on when the trigger starts */
    cpu->thread = NULL; /* the loop's system call leaves ring 3 */
    x86_write_cr3(space.root);
    run.calibration.rdpmc_ticks = measure_rdpmc();
    measure_rounds(cpu, false);
    if (run.stacks.kind) {
        cpu_save_all();
        measure_rounds(cpu, true);
    }
    if (mode == HR_MODE_OVERFLOW && run.start_error == 0)
        measure_overflow(cpu);
    x86_write_cr3(vm_kernel_root());
    run.interval_ticks = interval;
    run.mode = mode;
    cpu->paused = paused;
    ring_reset(cpu->ring);
    vm_space_free(&space);
    if (mode == HR_MODE_OVERFLOW && run.start_error == 0)
        check_rate();
}
