/* drivers/pmu/pmu_umc.c: AMD's memory controllers and data fabric over fake registers. */
#include "tests/unit/drivers/fake_x86.h"

#include "tests/unit/drivers/fake_msr.h"

#include "drivers/pmu/pmu_umc.c"

static struct processor cpu;
static uint32_t active, umc_counters, version, hypervisor, features;

void processor_read(struct processor *out)
{
    *out = cpu;
}

bool processor_has_leaf(uint32_t leaf)
{
    assert_int_equal(leaf, 0x80000022);
    return true;
}

struct cpuid_result x86_cpuid(uint32_t leaf, uint32_t subleaf)
{
    (void)subleaf;
    if (leaf == 1)
        return (struct cpuid_result){.ecx = hypervisor};
    return leaf == 0x80000001 ? (struct cpuid_result){.ecx = features}
                              : (struct cpuid_result){
                                    .eax = version, .ebx = umc_counters << 16 | 6, .ecx = active};
}

uint8_t pmu_hardware_count(uint32_t mask)
{
    return (uint8_t)__builtin_popcount(mask);
}

/* Genoa with three of twelve controllers in use, four counters each. */
static void begin(uint32_t family, uint32_t model)
{
    memset(&fake, 0, sizeof fake);
    cpu = (struct processor){.amd = true, .signature = {.family = family, .model = model}};
    version = 1;
    active = 0x111;
    umc_counters = 12;
    hypervisor = 0;
    features = 1u << 24;
    for (uint32_t msr = 0xc0010800; msr < 0xc0010818; msr++)
        fake_add(msr, 0, 0);
    for (uint32_t msr = 0xc0010240; msr < 0xc0010248; msr++)
        fake_add(msr, 0, 0);
}

static void all_controllers_count_reads_and_writes(void **state)
{
    (void)state;
    begin(0x19, 0x11);
    assert_true(pmu_umc_probe());
    assert_int_equal(fake.write_count, 0);
    pmu_umc_start();
    fake_expect_writes((const uint64_t[][2]){{0xc0010801, 0},
                                             {0xc0010800, 0x8000010a},
                                             {0xc0010803, 0},
                                             {0xc0010802, 0x8000020a},
                                             {0xc0010809, 0},
                                             {0xc0010808, 0x8000010a},
                                             {0xc001080b, 0},
                                             {0xc001080a, 0x8000020a},
                                             {0xc0010811, 0},
                                             {0xc0010810, 0x8000010a},
                                             {0xc0010813, 0},
                                             {0xc0010812, 0x8000020a},
                                             {0, 0}});
    fake_find(0xc0010801)->value = 1;
    fake_find(0xc0010809)->value = 0x100000000;
    fake_find(0xc0010811)->value = 3;
    fake_find(0xc001080b)->value = 9;
    assert_int_equal(pmu_umc_read(false), 0x100000004);
    assert_int_equal(pmu_umc_read(true), 9);
}

static void processors_without_them(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 6; wrong++) {
        begin(wrong == 0 ? 0x17 : 0x19, 0x11);
        cpu.amd = wrong != 1;
        version = wrong != 2;
        active = wrong == 3 ? 0 : active;
        umc_counters = wrong == 4 ? 5 : umc_counters; /* one each is too few */
        if (wrong == 5)
            fake_find(0xc0010813)->msr = 1; /* it faults */
        assert_false(pmu_umc_probe());
        assert_int_equal(fake.write_count, 0);
    }
}

static void a_channel_of_the_fabric_takes_a_counter(void **state)
{
    (void)state;
    begin(0x17, 0x31);
    assert_true(pmu_umc_fabric_probe());
    begin(0x19, 0x01);
    assert_true(pmu_umc_fabric_probe());
    pmu_umc_fabric_start(pmu_umc_fabric_msr(0), 0);
    fake_expect_writes(
        (const uint64_t[][2]){{0xc0010240, 0}, {0xc0010241, 0}, {0xc0010240, 0x403807}, {0, 0}});
    pmu_umc_fabric_start(pmu_umc_fabric_msr(3), 7); /* event 1C7H */
    fake_expect_writes(
        (const uint64_t[][2]){{0xc0010246, 0}, {0xc0010247, 0}, {0xc0010246, 0x1004038c7}, {0, 0}});
    assert_int_equal(pmu_umc_fabric_msr(3), 0xc0010247);
}

static void processors_without_a_known_fabric(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 6; wrong++) {
        begin(0x19, wrong == 0 ? 0x11 : 0x01); /* Zen 4 */
        if (wrong == 1)
            cpu.signature = (struct x86_signature){.family = 0x17, .model = 0x01}; /* Zen 1 */
        cpu.amd = wrong != 2;
        hypervisor = wrong == 3 ? 1u << 31 : 0;
        features = wrong == 4 ? 0 : features;
        if (wrong == 5)
            fake_find(0xc0010240)->msr = 1;
        assert_false(pmu_umc_fabric_probe());
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_controllers_count_reads_and_writes),
        cmocka_unit_test(processors_without_them),
        cmocka_unit_test(a_channel_of_the_fabric_takes_a_counter),
        cmocka_unit_test(processors_without_a_known_fabric),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
