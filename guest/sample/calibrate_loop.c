/* The calibration's loop in ring 3, and rounds of it with and without sampling. */
#include <string.h>

#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/sample/calibrate_loop.h"
#include "guest/sample/overflow.h"
#include "guest/sample/ring.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampling.h"
#include "guest/vm/vm_access.h"
#include "lib/x86.h"

#define CODE_ADDRESS 0x10000
#define EMULATED_ROUNDS 3 /* enough for times that are not exact */
#define HARDWARE_NS 1000000000 /* for all rounds together; later ones are skipped */

struct round {
    uint64_t sample_ticks; /* the whole cost; 0: no sample fell into the round */
    uint64_t seen_ticks; /* what guest/sample/share.h sees of it */
    uint64_t read_ticks;
    uint64_t late_ticks;
};

static uint64_t shortest_plain; /* the loop without samples */
static uint64_t deadline; /* TSC: no further round begins after it */

void calibrate_begin(struct vm_space *space)
{
    if (vm_map(space, CODE_ADDRESS, PAGE_BYTES, VM_READ | VM_WRITE | VM_EXEC, 0, true, false) < 0)
        panic("no memory to calibrate the sampler");
    deadline = x86_rdtsc() + run_ns_to_ticks(HARDWARE_NS);
}

void calibrate_load(struct vm_space *space, uint32_t iterations)
{
    /* mov $iterations, %ecx; 1: dec %ecx; jnz 1b; syscall */
    uint8_t code[] = {0xb9, 0, 0, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0x0f, 0x05};

    memcpy(code + 1, &iterations, sizeof iterations);
    if (vm_write(space, CODE_ADDRESS, code, sizeof code))
        panic("no memory to calibrate the sampler");
}

static void start_sampling(struct cpu *cpu)
{
    cpu->share.not_before =
        0; /* each loop begins with a fresh state; in shared mode, also its clock */
    if (sampling.mode == HR_MODE_TIMER) {
        sampler_start(cpu, cpu->clock.stop_mask ? 0 : x86_rdtsc());
        return;
    }
    overflow_start(cpu);
    run.pmu->start(&sampling.session);
}

uint64_t calibrate_run(struct cpu *cpu, bool sampled)
{
    const struct trap_frame frame = {.rax = UINT64_MAX, /* no call of Linux's */
                                     .rip = CODE_ADDRESS,
                                     .cs = SELECTOR_USER_CODE,
                                     .rflags = 2 | 1u << 9,
                                     .rsp = CODE_ADDRESS,
                                     .ss = SELECTOR_USER_DATA};
    struct ring *ring = cpu->ring;
    uint64_t start;

    ring_reset(ring);
    if (sampled)
        start_sampling(cpu);
    start = x86_rdtsc();
    user_enter(&frame);
    sampling.trigger->stop();
    return cpu->clock.enter_ticks - start;
}

uint32_t calibrate_samples(const struct ring *ring)
{
    uint32_t count = 0;

    for (uint64_t i = 0; i < ring->head; i++)
        count += ring_slot(ring, i)->kind == 0;
    return count;
}

static const struct trace_slot *last_sample(const struct ring *ring)
{
    uint64_t i = ring->head - 1;

    while (ring_slot(ring, i)->kind != 0)
        i--;
    return ring_slot(ring, i);
}

/* Runs the loop without and with sampling.  The difference is the cost of its samples, entries and
 * exits included.  On several emulated CPUs no cost is hidden, but other users of the host's CPUs
 * would add to the difference: there the sample's own times are better. */
static struct round calibrate_measure(struct cpu *cpu)
{
    uint64_t plain = calibrate_run(cpu, false);
    uint64_t sampled = calibrate_run(cpu, true);
    const struct ring *ring = cpu->ring;
    struct round round = {0};
    uint32_t samples = calibrate_samples(ring);
    const struct trace_slot *last;

    if (samples == 0 || (run.clock.virtual_time && cpu->clock.stop_mask && sampled < plain))
        return round;
    last = last_sample(ring);
    round.read_ticks = last->cost_ticks;
    round.seen_ticks = cpu->share.last_ticks;
    if (sampling.mode == HR_MODE_OVERFLOW && !cpu->clock.stop_mask) /* the brief way sets this */
        round.seen_ticks = cpu->share.returned - last->time;
    round.late_ticks =
        cpu->clock.stop_mask ? last->time % sampling.interval_ticks : cpu->share.late_ticks;
    if (plain < shortest_plain || run.clock.virtual_time)
        shortest_plain = plain;
    if (run.emulated && !cpu->clock.stop_mask) /* from its interrupt to its return */
        round.sample_ticks = cpu->clock.exit_ticks - last->time;
    else
        round.sample_ticks = sampled > shortest_plain ? (sampled - shortest_plain) / samples : 0;
    if (!run.emulated && round.sample_ticks < round.seen_ticks + 1)
        round.sample_ticks = round.seen_ticks + 1; /* the two loops differed by more than samples */
    return round;
}

static uint64_t calibrate_median(uint64_t *values, unsigned count)
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

uint64_t calibrate_settled(uint64_t *values, unsigned count)
{
    uint64_t middle = calibrate_median(values, count); /* sorts them */

    return run.clock.virtual_time || count == 0 ? middle : values[0];
}

static bool enough(unsigned rounds)
{
    if (run.clock.virtual_time)
        return false;
    return (run.emulated && rounds >= EMULATED_ROUNDS) || (int64_t)(x86_rdtsc() - deadline) >= 0;
}

uint64_t calibrate_rounds(struct cpu *cpu, bool stacks)
{
    uint64_t samples[CALIBRATE_ROUNDS], reads[CALIBRATE_ROUNDS], lates[CALIBRATE_ROUNDS],
        seen[CALIBRATE_ROUNDS];
    unsigned count = 0;

    shortest_plain = UINT64_MAX;
    for (unsigned i = 0; i < CALIBRATE_ROUNDS && (i == 0 || !enough(count)); i++) {
        struct round round = calibrate_measure(cpu);
        if (sampling.mode == HR_MODE_TIMER && run.clock.virtual_time && cpu->clock.stop_mask)
            sampler_trim((int64_t)round.late_ticks, stacks);
        if (round.sample_ticks == 0)
            continue;
        samples[count] = round.sample_ticks;
        lates[count] = round.late_ticks;
        seen[count] = round.seen_ticks;
        reads[count++] = round.read_ticks;
    }
    sampling.calibration.sample_ticks = calibrate_settled(samples, count);
    sampling.calibration.read_ticks = calibrate_median(reads, count);
    sampling.calibration.rounds = count;
    if (sampling.mode == HR_MODE_TIMER) {
        uint64_t late = calibrate_median(lates, count);
        sampling.calibration.late_ticks = late > UINT32_MAX ? UINT32_MAX : (uint32_t)late;
    }
    return calibrate_settled(seen, count);
}
