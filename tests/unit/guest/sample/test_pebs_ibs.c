/* AMD's samples from the interrupt to the accesses of a trace: fake registers of drivers/pmu/ibs.c,
 * its records, the samples that guest/sample/pebs.c makes of them, as coded in the trace. */
#include <asm/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/x86.h"

#define x86_cpuid fake_cpuid
#define x86_rdmsr fake_rdmsr
#define x86_wrmsr fake_wrmsr
#define x86_rdpmc fake_rdpmc

struct cpuid_result x86_cpuid(uint32_t leaf, uint32_t subleaf);
uint64_t x86_rdmsr(uint32_t msr);
uint64_t x86_rdpmc(uint32_t counter);
void x86_wrmsr(uint32_t msr, uint64_t value);

#include "tests/unit/drivers/fake_msr.h"
#include "tests/unit/test.h"

#include "drivers/pmu/ibs.c"
#include "drivers/pmu/ibs_records.c"
#include "guest/sample/trigger_pebs.c"
#include "host/scan/access_source.c"
#include "tests/unit/guest/sample/fake_pebs.h"

#define EVENTS 4u /* loads, stores, fetches; the fourth one only counts */
#define PERIOD 1008u
#define IBS_LVT 1u
#define CODE 0x401000u
#define DATA 0x7f0000001238u

static struct cpu *this_cpu; /* what GS has in the kernel */
static struct ring ring;
static uint64_t offset, counters[EVENTS];

struct cpuid_result fake_cpuid(uint32_t leaf, uint32_t subleaf)
{
    (void)subleaf;
    return leaf == 0x80000001 ? (struct cpuid_result){.ecx = 1u << 10}
                              : (struct cpuid_result){.eax = 0x3ff};
}

void processor_read(struct processor *out)
{
    *out = (struct processor){.amd = true, .signature = {.family = 0x19, .model = 0x21}};
}

bool processor_has_leaf(uint32_t leaf)
{
    (void)leaf;
    return true;
}

void cpu_empty_at_calls(void)
{
}

bool sampler_make_room(struct cpu *of, uint64_t now)
{
    (void)now;
    return ring_reserve(of->ring) != NULL;
}

struct trace_slot *trigger_open(struct cpu *of)
{
    return ring_reserve(of->ring);
}

void trigger_close(struct cpu *of)
{
    ring_publish(of->ring);
}

static void read_counters(const struct pmu_session *session, uint64_t ticks, uint64_t *values)
{
    (void)ticks;
    for (uint32_t i = 0; i < session->event_count; i++)
        values[i] = 555 + i;
}

static void end_of_interrupt(void)
{
    assert_int_equal(fake_find(0x80b)->value, 0);
    fake_find(0x80b)->value = 1;
}

static void add_event(uint64_t encoding, uint64_t companion, uint64_t period)
{
    struct pmu_event *event = &sampling.session.events[sampling.session.event_count++];
    struct pmu_refusal refusal;

    *event = (struct pmu_event){
        .encoding = encoding, .encoding_ext = companion, .record_period = period};
    if (period)
        assert_int_equal(ibs_assign(event, &refusal), 0);
}

static void add_registers(void)
{
    memset(&fake, 0, sizeof fake);
    for (uint32_t msr = 0xc0011030; msr <= 0xc001103d; msr++)
        fake_add(msr, 0, 0);
    fake_find(0xc001103a)->value = 0x100 | IBS_LVT;
    fake_add(0x850 + IBS_LVT, 0x10000, 0);
    fake_add(0x834, 0x10000, 0);
    fake_add(0x80b, 1, 0);
}

static void begin(void)
{
    static const struct pmu_driver driver = {.precise_start = ibs_records_start,
                                             .precise_stop = ibs_records_stop,
                                             .precise_collect = ibs_records_collect,
                                             .read = read_counters};

    memset(&sampling, 0, sizeof sampling);
    memset(counters, 0, sizeof counters);
    sampling.precise = true;
    add_registers();
    run.pmu = &driver;
    ibs_records_probe(&run.pmu_caps);
    assert_null(run.pmu_caps.no_records);
    add_event(RUN_SELECT_IBS_OP, RUN_IBS_LOADS, PERIOD + 1);
    add_event(RUN_SELECT_IBS_OP, RUN_IBS_STORES, PERIOD + 1);
    add_event(RUN_SELECT_IBS_FETCH, 0, PERIOD + 1);
    add_event(0xc0, 0, 0);
    offset = 1000;
    this_cpu->clock.offset = &offset;
    fake_pebs_begin(this_cpu, &ring, 64);
    trigger_pebs.prepare(this_cpu);
}

/* The processor has followed an op of the program's, and interrupts. */
static void op(uint64_t ip, uint64_t data2, uint64_t data3)
{
    fake_find(0xc0011033)->value |= 1u << 18;
    fake_find(0xc0011034)->value = ip;
    fake_find(0xc0011035)->value = 0;
    fake_find(0xc0011036)->value = data2;
    fake_find(0xc0011037)->value = data3;
    fake_find(0xc0011038)->value = DATA;
}

/* The only sample in the ring, as a reader of the trace finds its access. */
static const struct trace_slot *drain(struct hr_access *access)
{
    static struct trace_accesses written;
    struct trace_access_state state = {0};
    struct hr_access put = {0};
    struct trace_slot *slot = ring_slot(&ring, ring.tail);
    const uint8_t *end;
    uint8_t *at;

    assert_int_equal(ring.head, ring.tail + 1);
    pebs_complete(this_cpu->pebs, slot, counters);
    memcpy(&put, &slot->counters[EVENTS], offsetof(struct hr_access, registers));
    memset(&written, 0, sizeof written);
    at = trace_access_put(&written.state, written.coded, &put, false);
    end = trace_access_get(&state, written.coded, at, access, false);
    assert_ptr_equal(end, at);
    ring.tail = ring.head;
    return slot;
}

static void expect_source(const struct hr_access *access, const char *text)
{
    static struct trace_info info;
    char room[ACCESS_SOURCE_BYTES];

    info.accesses.sources = run.pmu_caps.record_sources;
    assert_string_equal(access_source_text(&info, access, room), text);
}

static void starts_with_the_interrupt_that_counters_have(void **state)
{
    (void)state;
    begin();
    assert_int_equal(fake_find(0x850 + IBS_LVT)->value, VECTOR_PRECISE);
    assert_int_equal(fake_find(0xc0011033)->value, PERIOD / 16 | 1u << 19 | 1u << 17);
    assert_int_equal(fake_find(0xc0011030)->value, PERIOD / 16 | 1ull << 48);
    trigger_pebs.stop();
    assert_int_equal(fake_find(0xc0011033)->value | fake_find(0xc0011030)->value, 0);
    fake_pebs_end();
}

static void a_load_becomes_an_access(void **state)
{
    const struct trace_slot *slot;
    struct hr_access access;
    uint64_t before;

    (void)state;
    begin();
    before = x86_rdtsc();
    op(CODE, 3, 213ull << 32 | 1u << 20 | 1u << 17 | 1u << 7 | 1);
    pebs_interrupt(NULL);
    end_of_interrupt();
    slot = drain(&access);
    assert_int_equal(slot->ip, CODE);
    assert_int_equal(slot->tid, 77);
    assert_in_range(slot->time, before - offset, x86_rdtsc() - offset);
    assert_int_equal(slot->counters[0], PERIOD);
    assert_int_equal(slot->counters[1] | slot->counters[2] | slot->counters[3], 0);
    assert_int_equal(access.address, DATA);
    assert_int_equal(access.latency, 213);
    assert_int_equal(access.events, 1);
    expect_source(&access, "memory");
    assert_int_equal(fake_find(0xc0011033)->value, PERIOD / 16 | 1u << 19 | 1u << 17); /* goes on */
    pebs_interrupt(NULL); /* of nothing */
    end_of_interrupt();
    assert_int_equal(ring.head, ring.tail);
    fake_pebs_end();
}

static void ops_go_to_the_events_that_they_are_of(void **state)
{
    struct hr_access access;

    (void)state;
    begin();
    op(CODE, 0, 1u << 17 | 1u << 3 | 2);
    pebs_interrupt(NULL);
    drain(&access);
    assert_int_equal(access.events, 2);
    assert_int_equal(access.latency, 0);
    expect_source(&access, "store L1 TLB-miss");
    op(CODE, 2, 90ull << 32 | 1u << 20 | 1u << 17 | 1u << 15 | 1u << 7 | 3);
    pebs_interrupt(NULL);
    assert_int_equal(drain(&access)->counters[1], 2 * PERIOD);
    assert_int_equal(access.events, 3);
    expect_source(&access, "store LLC locked");
    op(CODE, 0, 0); /* neither: no event wants it */
    pebs_interrupt(NULL);
    assert_int_equal(ring.head, ring.tail);
    fake_pebs_end();
}

static void fetches_are_samples_too(void **state)
{
    const struct trace_slot *slot;
    struct hr_access access;

    (void)state;
    begin();
    fake_find(0xc0011031)->value = CODE + 64;
    fake_find(0xc0011030)->value |= 0xfull << 48 | 31ull << 32;
    pebs_interrupt(NULL);
    slot = drain(&access);
    assert_int_equal(slot->ip, CODE + 64);
    assert_int_equal(slot->counters[2], PERIOD);
    assert_int_equal(access.address, CODE + 64);
    assert_int_equal(access.latency, 31);
    assert_int_equal(access.events, 4);
    expect_source(&access, "L2");
    assert_int_equal(fake_find(0xc0011030)->value, PERIOD / 16 | 1ull << 48);
    fake_pebs_end();
}

/* An entry comes first: the sample is still that of the thread that made it.  What the kernel did
 * is dropped, also when it halts. */
static void only_the_program_is_sampled(void **state)
{
    struct hr_access access;

    (void)state;
    begin();
    op(CODE, 0, 1u << 17 | 1);
    pebs_entered();
    this_cpu->tid = 78;
    op(0xffffffff80001000, 0, 1u << 17 | 1);
    pebs_interrupt_in_kernel(NULL);
    end_of_interrupt();
    assert_int_equal(fake_find(0xc0011033)->value & 1u << 18, 0);
    op(0xffffffff80001000, 0, 1u << 17 | 1);
    pebs_interrupt(NULL);
    assert_int_equal(drain(&access)->tid, 77);
    expect_source(&access, "L1");
    fake_pebs_end();
}

/* A count is known of records alone, as the periods of the drawn ones are not told. */
static void counts_are_those_of_records(void **state)
{
    uint64_t values[EVENTS], periods[16];

    (void)state;
    begin();
    sampling.jitter = true;
    for (uint32_t i = 0; i < 16; i++) {
        op(CODE, 0, 1u << 17 | 1);
        pebs_interrupt(NULL);
        periods[i] = (fake_find(0xc0011033)->value & 0xffff) * 16;
        assert_in_range(periods[i], PERIOD - PERIOD / 8 - 16, PERIOD + PERIOD / 8);
    }
    assert_true(periods[14] != periods[15] || periods[13] != periods[14]);
    trigger_pebs.read(this_cpu, values);
    assert_int_equal(values[0], 16 * PERIOD);
    assert_int_equal(values[1] | values[2], 0);
    assert_int_equal(values[3], 558); /* which a counter counts */
    trigger_pebs.pause(this_cpu);
    assert_int_equal(fake_find(0xc0011033)->value, 0);
    trigger_pebs.resume(this_cpu, 0);
    trigger_pebs.read(this_cpu, values);
    assert_int_equal(values[0], 16 * PERIOD);
    fake_pebs_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_with_the_interrupt_that_counters_have),
        cmocka_unit_test(a_load_becomes_an_access),
        cmocka_unit_test(ops_go_to_the_events_that_they_are_of),
        cmocka_unit_test(fetches_are_samples_too),
        cmocka_unit_test(only_the_program_is_sampled),
        cmocka_unit_test(counts_are_those_of_records),
    };

    this_cpu = &cpus[1];
    this_cpu->self = this_cpu;
    if (syscall(SYS_arch_prctl, ARCH_SET_GS, this_cpu) != 0) /* where cpu_this looks */
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
