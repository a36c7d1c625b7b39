/* drivers/processor/: what CPUID and registers say of a processor, and what they do not. */
#include "tests/unit/drivers/fake_x86.h"

#include "tests/unit/drivers/fake_msr.h"

#include "drivers/processor/caches.c"
#include "drivers/processor/monitor.c"
#include "drivers/processor/processor.c"
#include "drivers/processor/topology.c"

#define LEAVES 32
#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct {
    uint32_t leaf, subleaf;
    struct cpuid_result result;
} leaves[LEAVES];
static uint32_t leaf_count;
static uint64_t tsc;
static uint64_t microcode; /* what CPUID 1 leaves in its register, as Intel's does; 0: nothing */

struct cpuid_result x86_cpuid(uint32_t leaf, uint32_t subleaf)
{
    if (leaf == 1 && microcode && fake_find(0x8b))
        fake_find(0x8b)->value = microcode;
    for (uint32_t i = 0; i < leaf_count; i++)
        if (leaves[i].leaf == leaf && leaves[i].subleaf == subleaf)
            return leaves[i].result;
    return (struct cpuid_result){0};
}

uint64_t x86_rdtsc(void)
{
    return tsc += 100;
}

static struct cpuid_result *leaf_add(uint32_t leaf, uint32_t subleaf, struct cpuid_result result)
{
    assert_true(leaf_count < LEAVES);
    leaves[leaf_count].leaf = leaf;
    leaves[leaf_count].subleaf = subleaf;
    leaves[leaf_count].result = result;
    return &leaves[leaf_count++].result;
}

static struct cpuid_result *leaf_find(uint32_t leaf)
{
    for (uint32_t i = 0; i < leaf_count; i++)
        if (leaves[i].leaf == leaf)
            return &leaves[i].result;
    fail_msg("no leaf %x", leaf);
    return NULL;
}

/* The names that both vendors' processors have. */
static void begin(uint32_t highest, const char *vendor, uint32_t signature)
{
    struct cpuid_result names = {.eax = highest};

    memset(&fake, 0, sizeof fake);
    leaf_count = 0;
    microcode = 0;
    memcpy(&names.ebx, vendor, 4);
    memcpy(&names.edx, vendor + 4, 4);
    memcpy(&names.ecx, vendor + 8, 4);
    leaf_add(0, 0, names);
    leaf_add(1, 0, (struct cpuid_result){.eax = signature});
    leaf_add(0x80000000, 0, (struct cpuid_result){.eax = 0x8000001e});
    leaf_add(0x80000007, 0, (struct cpuid_result){.edx = CPUID_EXT_7_EDX_INVARIANT_TSC});
}

/* Ice Lake as a machine of its own has it. */
static void begin_intel(void)
{
    begin(0x1f, "GenuineIntel", 0x000706a6);
    leaf_find(1)->ecx = CPUID_1_ECX_EST;
    leaf_find(1)->edx = CPUID_1_EDX_ACPI | CPUID_1_EDX_HTT;
    leaf_add(6, 0,
             (struct cpuid_result){.eax = CPUID_6_EAX_SENSOR | CPUID_6_EAX_TURBO |
                                          CPUID_6_EAX_PACKAGE | CPUID_6_EAX_HWP,
                                   .ecx = CPUID_6_ECX_APERF_MPERF});
    leaf_add(0x16, 0, (struct cpuid_result){2100, 3400, 100, 0});
    fake_add(0x8b, 0, 0);
    microcode = 0xf4ull << 32;
    fake_add(0x1a0, 1, 0);
    fake_add(0x770, 1, 0);
    fake_add(0x774, 0x80002008, 0);
    fake_add(0x198, 0x2200, 0);
    fake_add(0x199, 0x1500, 0);
    fake_add(0x34, 17, 0);
    fake_add(0x19c, 0x88330002, 0);
    fake_add(0x1b1, 0x88300000, 0);
    fake_add(0xe8, 1000, 0);
    fake_find(0xe8)->step = 400;
    fake_add(0xe7, 2000, 0);
    fake_find(0xe7)->step = 300;
}

static void begin_amd(void)
{
    begin(0x10, "AuthenticAMD", 0x00a20f12);
    leaf_add(6, 0, (struct cpuid_result){.ecx = CPUID_6_ECX_APERF_MPERF});
    leaf_find(0x80000007)->edx |= CPUID_EXT_7_EDX_PSTATES | CPUID_EXT_7_EDX_BOOST;
    fake_add(0x8b, 0xa201210, 0);
    fake_add(0xc0010015, 0, 0);
    fake_add(0xc0010062, 1, 0);
    fake_add(0xc0010063, 2, 0);
    fake_add(0xe8, 0, 0);
    fake_find(0xe8)->step = 1;
    fake_add(0xe7, 0, 0);
    fake_find(0xe7)->step = 1;
}

static void reads_an_intel_processor(void **state)
{
    struct processor p;

    (void)state;
    begin_intel();
    leaf_add(0x80000002, 0, (struct cpuid_result){0x65746e49, 0x2952286c, 0x6f655820, 0x4b4c206e});
    processor_read(&p);
    assert_string_equal(p.vendor, "GenuineIntel");
    assert_string_equal(p.brand, "Intel(R) Xeon LK");
    assert_string_equal(p.hypervisor, "");
    assert_true(p.intel && !p.amd);
    assert_int_equal(p.signature.family, 6);
    assert_int_equal(p.signature.model, 0x7a);
    assert_int_equal(p.microcode, 0xf4);
    fake_expect_writes((const uint64_t[][2]){{0x8b, 0}, {0, 0}});
    assert_int_equal(p.base_mhz, 2100);
    assert_int_equal(p.max_mhz, 3400);
    assert_int_equal(p.bus_mhz, 100);
    assert_int_equal(p.turbo, TURBO_ON);
    assert_true(p.invariant_tsc);
    assert_true(p.hwp);
    assert_int_equal(p.hwp_request, 0x80002008);
    assert_true(p.pstates);
    assert_int_equal(p.pstate_now, 34);
    assert_int_equal(p.pstate_wanted, 21);
}

static void turbo_is_on_off_or_none(void **state)
{
    struct processor p;

    (void)state;
    begin_intel();
    fake_find(0x1a0)->value = 1ull << 38; /* the firmware's switch clears CPUID's bit too */
    leaf_find(6)->eax &= ~CPUID_6_EAX_TURBO;
    processor_read(&p);
    assert_int_equal(p.turbo, TURBO_OFF);
    fake_find(0x1a0)->value = 0;
    processor_read(&p);
    assert_int_equal(p.turbo, TURBO_NONE);
    begin_amd();
    processor_read(&p);
    assert_int_equal(p.turbo, TURBO_ON);
    fake_find(0xc0010015)->value = 1u << 25;
    processor_read(&p);
    assert_int_equal(p.turbo, TURBO_OFF);
    leaf_find(0x80000007)->edx = 0;
    processor_read(&p);
    assert_int_equal(p.turbo, TURBO_NONE);
    assert_false(p.pstates);
    begin(1, "VIA VIA VIA ", 0x6f1);
    processor_read(&p);
    assert_int_equal(p.turbo, TURBO_UNKNOWN);
}

static void reads_an_amd_processor(void **state)
{
    struct processor p;

    (void)state;
    begin_amd();
    processor_read(&p);
    assert_true(p.amd && !p.intel);
    assert_int_equal(p.signature.family, 0x19);
    assert_int_equal(p.signature.model, 0x21);
    assert_int_equal(p.microcode, 0xa201210);
    fake_expect_writes((const uint64_t[][2]){{0, 0}}); /* AMD's loads microcode when written */
    assert_int_equal(p.base_mhz, 0);
    assert_true(p.pstates);
    assert_int_equal(p.pstate_now, 2);
    assert_int_equal(p.pstate_wanted, 1);
    assert_false(p.hwp);
}

static void what_faults_is_unknown(void **state)
{
    struct processor p;

    (void)state;
    begin_intel();
    fake.count = 0;
    leaf_find(1)->ecx |= CPUID_1_ECX_HYPERVISOR;
    leaf_add(0x40000000, 0,
             (struct cpuid_result){.ebx = 0x4b4d564b, .ecx = 0x564b4d56, .edx = 0x4d});
    processor_read(&p);
    assert_string_equal(p.hypervisor, "KVMKVMKVM");
    assert_int_equal(p.microcode, 0);
    assert_int_equal(p.turbo, TURBO_UNKNOWN);
    assert_false(p.hwp || p.pstates);
    assert_int_equal(monitor_probe(), 0);
}

static void cores_of_a_hybrid_have_a_kind(void **state)
{
    (void)state;
    begin_intel();
    leaf_add(0x1a, 0, (struct cpuid_result){.eax = 0x20000001});
    assert_int_equal(processor_core_kind(), 0);
    leaf_add(7, 0, (struct cpuid_result){.edx = CPUID_7_EDX_HYBRID});
    assert_int_equal(processor_core_kind(), 0x20);
}

/* ---- what happened meanwhile ---- */

static void finds_what_there_is(void **state)
{
    (void)state;
    begin_intel();
    assert_int_equal(monitor_probe(),
                     HR_MACHINE_APERF | HR_MACHINE_SMI | HR_MACHINE_THERMAL | HR_MACHINE_PACKAGE);
    begin_amd();
    assert_int_equal(monitor_probe(), HR_MACHINE_APERF);
}

/* Emulators answer 0 for any register; CPUID does not promise these, or they stand still. */
static void zeros_are_not_taken_for_registers(void **state)
{
    (void)state;
    begin_intel();
    fake_find(0xe8)->step = 0;
    fake_find(0x19c)->value = 0;
    leaf_find(6)->eax = 0;
    assert_int_equal(monitor_probe(), HR_MACHINE_SMI);
    begin_intel();
    fake_find(0xe7)->step = 0;
    assert_false(monitor_probe() & HR_MACHINE_APERF);
    begin_intel();
    leaf_find(6)->ecx = 0;
    assert_false(monitor_probe() & HR_MACHINE_APERF);
    begin_intel();
    leaf_find(1)->eax = 0xf29; /* a Pentium 4 counts no SMIs */
    assert_false(monitor_probe() & HR_MACHINE_SMI);
    begin_amd();
    fake_add(0x34, 5, 0);
    assert_false(monitor_probe() & HR_MACHINE_SMI);
    begin(1, "GenuineIntel", 0x6f1); /* no leaf 6 */
    leaf_find(1)->edx = CPUID_1_EDX_ACPI;
    fake_add(0x19c, 0, 0);
    assert_int_equal(monitor_probe(), 0);
}

static void reads_what_it_found(void **state)
{
    struct monitor_reading r;

    (void)state;
    begin_intel();
    monitor_read(HR_MACHINE_APERF | HR_MACHINE_SMI | HR_MACHINE_THERMAL | HR_MACHINE_PACKAGE, &r);
    assert_int_equal(r.aperf, 1000);
    assert_int_equal(r.mperf, 2000);
    assert_int_equal(r.smi, 17);
    assert_int_equal(r.thermal, 0x88330002);
    assert_int_equal(r.package, 0x88300000);
    assert_true(r.tsc != 0);
    monitor_read(0, &r);
    assert_int_equal(r.tsc | r.aperf | r.mperf | r.smi | r.thermal | r.package, 0);
}

static void logs_are_cleared_where_there_are_some(void **state)
{
    (void)state;
    begin_intel();
    assert_int_equal(monitor_clear_logs(HR_MACHINE_THERMAL | HR_MACHINE_PACKAGE), HR_MACHINE_LOGS);
    fake_expect_writes((const uint64_t[][2]){{0x19c, 0}, {0x1b1, 0}, {0, 0}});
    assert_int_equal(monitor_clear_logs(HR_MACHINE_THERMAL), HR_MACHINE_LOGS);
    fake_expect_writes((const uint64_t[][2]){{0x19c, 0}, {0, 0}});
    assert_int_equal(monitor_clear_logs(HR_MACHINE_SMI), 0);
    fake_expect_writes((const uint64_t[][2]){{0, 0}});
    fake_find(0x1b1)->msr = 0xffff;
    assert_int_equal(monitor_clear_logs(HR_MACHINE_THERMAL | HR_MACHINE_PACKAGE), 0);
}

static void spinning_measures_the_frequency(void **state)
{
    uint64_t before = tsc;

    (void)state;
    begin_intel();
    struct monitor_frequency f = monitor_spin(HR_MACHINE_APERF, 5000);
    assert_int_equal(f.aperf, 400);
    assert_int_equal(f.mperf, 300);
    assert_in_range(tsc - before, 5000, 6000);
    before = tsc;
    f = monitor_spin(HR_MACHINE_SMI, 5000);
    assert_int_equal(f.aperf + f.mperf, 0);
    assert_in_range(tsc - before, 0, 100);
}

/* ---- topology ---- */

static void expect_topology(uint32_t core_shift, uint32_t package_shift)
{
    struct topology t;

    topology_read(&t);
    assert_int_equal(t.core_shift, core_shift);
    assert_int_equal(t.package_shift, package_shift);
}

static void extended_leaves_say_the_shape(void **state)
{
    (void)state;
    begin_intel();
    leaf_add(0xb, 0, (struct cpuid_result){1, 2, 0x100, 0});
    leaf_add(0xb, 1, (struct cpuid_result){4, 16, 0x201, 0});
    expect_topology(1, 4);
    leaf_add(0x1f, 0, (struct cpuid_result){1, 2, 0x100, 0});
    leaf_add(0x1f, 1, (struct cpuid_result){3, 8, 0x201, 0});
    leaf_add(0x1f, 2, (struct cpuid_result){7, 64, 0x502, 0}); /* a die */
    expect_topology(1, 7);
    leaf_find(0x1f)->eax = 9; /* threads need more bits than packages: nonsense is bounded */
    expect_topology(9, 9);
}

static void amd_says_it_elsewhere(void **state)
{
    (void)state;
    begin_amd();
    leaf_find(0)->eax = 6;
    leaf_add(0x80000001, 0, (struct cpuid_result){.ecx = CPUID_EXT_1_ECX_TOPOLOGY});
    leaf_add(0x80000008, 0, (struct cpuid_result){.ecx = 4u << 12 | 15});
    leaf_add(0x8000001e, 0, (struct cpuid_result){.ebx = 1u << 8});
    expect_topology(1, 4);
    leaf_find(0x80000008)->ecx = 11; /* no size of ids: from 12 threads */
    expect_topology(1, 4);
}

static void old_leaves_say_it_roughly(void **state)
{
    (void)state;
    begin(4, "GenuineIntel", 0x106a5);
    leaf_find(1)->edx = CPUID_1_EDX_HTT;
    leaf_find(1)->ebx = 16u << 16;
    leaf_add(4, 0, (struct cpuid_result){.eax = 7u << 26 | 0x21});
    expect_topology(1, 4);
    leaf_find(4)->eax = 0; /* no word on cores */
    expect_topology(0, 4);
    leaf_find(1)->edx = 0;
    expect_topology(0, 0);
    begin(4, "GenuineIntel", 0x106a5);
    leaf_find(1)->edx = CPUID_1_EDX_HTT; /* and 0 ids */
    expect_topology(0, 0);
}

static void ids_are_counted(void **state)
{
    const struct topology t = {1, 4};
    const uint32_t ids[] = {0, 1, 2, 3, 16, 18, 19, 1024};

    (void)state;
    struct topology_count count = topology_count(&t, ids, COUNT(ids));
    assert_int_equal(count.threads, 8);
    assert_int_equal(count.cores, 5);
    assert_int_equal(count.packages, 3);
    assert_true(topology_siblings(&t, 18, 19));
    assert_false(topology_siblings(&t, 18, 18));
    assert_false(topology_siblings(&t, 17, 18));
}

static void threads_of_one_core_come_last(void **state)
{
    const struct topology t = {1, 4};
    uint32_t ids[] = {0, 1, 2, 3, 4, 5}, apart[] = {0, 2, 4, 1, 3, 5}, odd[] = {3, 2, 9, 8, 1};
    uint32_t all[IDS_MAX];

    (void)state;
    topology_spread(&t, ids, COUNT(ids), 0);
    assert_memory_equal(ids, ((uint32_t[]){0, 2, 4, 1, 3, 5}), sizeof ids);
    topology_spread(&t, apart, COUNT(apart), 0); /* as firmware should list them */
    assert_memory_equal(apart, ((uint32_t[]){0, 2, 4, 1, 3, 5}), sizeof apart);
    topology_spread(&t, odd, COUNT(odd), 2); /* the boot CPU is none of the first */
    assert_memory_equal(odd, ((uint32_t[]){2, 9, 1, 3, 8}), sizeof odd);
    for (uint32_t i = 0; i < IDS_MAX; i++)
        all[i] = 5; /* the firmware's nonsense */
    topology_spread(&t, all, IDS_MAX, 5);
    assert_int_equal(all[IDS_MAX - 1], 5);
    const struct topology one = {31, 31};
    for (uint32_t i = 0; i < IDS_MAX; i++)
        all[i] = i;
    topology_spread(&one, all, IDS_MAX, 7);
    assert_int_equal(all[0], 7);
    assert_int_equal(all[1], 0);
    assert_int_equal(all[IDS_MAX - 1], IDS_MAX - 1);
}

/* ---- caches ---- */

static void caches_are_described(void **state)
{
    struct cache cache;

    (void)state;
    begin_intel();
    leaf_add(4, 0, (struct cpuid_result){1u << 14 | 0x121, 11u << 22 | 63, 63, 0});
    cache = caches_get(0);
    assert_int_equal(cache.level, 1);
    assert_int_equal(cache.type, CACHE_DATA);
    assert_int_equal(cache.ways, 12);
    assert_int_equal(cache.threads, 2);
    assert_int_equal(caches_kib(&cache), 48);
    assert_int_equal(caches_get(1).type, CACHE_NONE);
    begin_amd(); /* without 8000001DH's words: the plain leaves */
    leaf_add(0x80000005, 0, (struct cpuid_result){.ecx = 64u << 24 | 2u << 16 | 64});
    cache = caches_get(0);
    assert_int_equal(caches_kib(&cache), 64);
    for (uint32_t i = 1; i < 8; i++)
        assert_int_equal(caches_get(i).type, CACHE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_an_intel_processor),
        cmocka_unit_test(turbo_is_on_off_or_none),
        cmocka_unit_test(reads_an_amd_processor),
        cmocka_unit_test(what_faults_is_unknown),
        cmocka_unit_test(cores_of_a_hybrid_have_a_kind),
        cmocka_unit_test(finds_what_there_is),
        cmocka_unit_test(zeros_are_not_taken_for_registers),
        cmocka_unit_test(reads_what_it_found),
        cmocka_unit_test(logs_are_cleared_where_there_are_some),
        cmocka_unit_test(spinning_measures_the_frequency),
        cmocka_unit_test(extended_leaves_say_the_shape),
        cmocka_unit_test(amd_says_it_elsewhere),
        cmocka_unit_test(old_leaves_say_it_roughly),
        cmocka_unit_test(ids_are_counted),
        cmocka_unit_test(threads_of_one_core_come_last),
        cmocka_unit_test(caches_are_described),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
