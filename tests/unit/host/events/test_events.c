/* Events by name: encodings on four CPUs and on unknown ones, suffixes, raw forms, refusals, and
 * what the guest is told.
 */
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

#include "host/base/nearest.h"
#include "host/events/events.h"
#include "host/run/relay_cpu.h"
#include "lib/pmu/events.h"

#define USR (1ull << 16)
#define OS (1ull << 17)
#define NONE UINT64_MAX /* the event does not exist there */

/* The sanitizer's hook: libpfm4 keeps what it allocates when it starts. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0:handle_sigill=1";
}

enum { ICELAKE, SKYLAKE, MILAN, EPYC, FLAVOURS };

static const char *const flavours[FLAVOURS] = {"Icelake-Server,model=106,pmu=on", "Skylake-Server",
                                               "EPYC-Milan", "EPYC"};

static struct events_cpu cpu_of(const char *text)
{
    struct events_cpu cpu;

    assert_int_equal(events_cpu_parse(&cpu, text), 0);
    return cpu;
}

/* The select bits, or NONE. */
static uint64_t select_of(const struct events_cpu *cpu, const char *event)
{
    struct run_failure failure = {0};
    struct events_encoding encoding;

    return events_resolve(cpu, event, &encoding, &failure) == 0 ? encoding.select : NONE;
}

static const struct {
    const char *event;
    uint64_t select[FLAVOURS]; /* without USR */
} wanted[] = {
    {"cycles", {0x3c, 0x3c, 0x76, 0x76}},
    {"cpu-cycles", {0x3c, 0x3c, 0x76, 0x76}},
    {"instructions", {0xc0, 0xc0, 0xc0, 0xc0}},
    {"ref-cycles", {0x300, 0x300, NONE, NONE}},
    {"bus-cycles", {0x13c, 0x13c, NONE, NONE}},
    {"branches", {0xc4, 0xc4, 0xc2, 0xc2}},
    {"branch-instructions", {0xc4, 0xc4, 0xc2, 0xc2}},
    {"branch-misses", {0xc5, 0xc5, 0xc3, 0xc3}},
    {"cache-references", {0x4f2e, 0x4f2e, 0xff60, 0xff60}},
    {"cache-misses", {0x412e, 0x412e, 0x0964, 0x0964}},
    {"LLC-misses", {0x412e, 0x412e, 0x0964, 0x0964}},
    {"L1-dcache-loads", {0x81d0, 0x81d0, 0x0129, 0x0129}},
    {"L1-dcache-load-misses", {0x08d1, 0x08d1, 0x3f41, 0x0141}},
    {"L1-dcache-stores", {0x82d0, 0x82d0, 0x0229, 0x0229}},
    {"mem-loads", {0x01cd, 0x01cd, RUN_SELECT_IBS_OP, RUN_SELECT_IBS_OP}},
    {"mem-stores", {0x82d0, 0x82d0, RUN_SELECT_IBS_OP, RUN_SELECT_IBS_OP}},
    {"ibs_op", {NONE, NONE, RUN_SELECT_IBS_OP, RUN_SELECT_IBS_OP}},
    {"ibs_fetch", {NONE, NONE, RUN_SELECT_IBS_FETCH, RUN_SELECT_IBS_FETCH}},
    {"LLC-loads", {0x01b7, 0x01b7, NONE, NONE}},
    {"LLC-load-misses", {0x20d1, 0x20d1, 0x4843, 0x4843}},
    {"LLC-stores", {0x01b7, 0x01b7, NONE, NONE}},
    {"LLC-store-misses", {0x01b7, 0x01b7, NONE, NONE}},
    {"dTLB-load-misses", {0x0e08, 0x0e08, 0xf045, 0xf045}},
    {"iTLB-load-misses", {0x0e85, 0x0e85, 0xff85, 0xff85}},
    {"stalled-cycles-frontend", {NONE, NONE, 0x00a9, 0x0287}},
    {"stalled-cycles-backend", {NONE, NONE, NONE, 0x0187}},
    {"MEM_INST_RETIRED.ALL_LOADS", {0x81d0, 0x81d0, NONE, NONE}},
    {"MEM_INST_RETIRED:ALL_STORES", {0x82d0, 0x82d0, NONE, NONE}},
    {"mem_load_retired.l1_hit", {0x01d1, 0x01d1, NONE, NONE}},
    {"CYCLE_ACTIVITY.STALLS_L1D_MISS", {0xc000ca3, 0xc000ca3, NONE, NONE}},
    {"MEM_LOAD_RETIRED:L1_MISS:c=1:i=1:e=1", {0x18408d1, 0x18408d1, NONE, NONE}},
    {"LS_DISPATCH.LD_DISPATCH", {NONE, NONE, 0x0129, 0x0129}},
    {"RETIRED_INSTRUCTIONS", {NONE, NONE, 0x00c0, 0x00c0}},
    {"DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM.MEM_IO_LCL", {NONE, NONE, 0x0843, NONE}},
    {"DATA_CACHE_ACCESSES", {NONE, NONE, NONE, 0x0040}},
    {"r81d0", {0x81d0, 0x81d0, 0x81d0, 0x81d0}},
    {"r100000120", {0x100000120, 0x100000120, 0x100000120, 0x100000120}},
    {"r400000120", {NONE, NONE, 0x400000120, 0x400000120}},
    {"cpu/event=0xd0,umask=0x81/", {0x81d0, 0x81d0, 0x81d0, 0x81d0}},
    {"cpu/event=192,cmask=2,inv,edge=1/", {0x28400c0, 0x28400c0, 0x28400c0, 0x28400c0}},
    {"cpu/event=0x520,umask=1/", {NONE, NONE, 0x500000120, 0x500000120}},
};

static void encodes_for_each_flavour(void **state)
{
    (void)state;
    for (int flavour = 0; flavour < FLAVOURS; flavour++) {
        struct events_cpu cpu = cpu_of(flavours[flavour]);

        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
            uint64_t select = wanted[i].select[flavour];
            uint64_t got = select_of(&cpu, wanted[i].event);

            if (got != (select == NONE ? NONE : select | USR))
                fail_msg("%s on %s: got %llx", wanted[i].event, flavours[flavour],
                         (unsigned long long)got);
        }
    }
}

static void companions(void **state)
{
    static const struct {
        const char *event;
        uint64_t select;
        uint64_t companion;
    } known[] = {
        {"LLC-loads", 0x101b7, 0x10001},
        {"OCR.DEMAND_RFO_L3_MISS", 0x101b7, 0x3f3fc00002},
        {"MEM_TRANS_RETIRED.LOAD_LATENCY:ldlat=30", 0x101cd, 30},
        {"FRONTEND_RETIRED.L1I_MISS", 0x101c6, 0x12},
        {"cpu/event=0xb7,umask=1,offcore_rsp=0x10001/", 0x101b7, 0x10001},
        {"cpu/event=0xcd,umask=1,ldlat=50/", 0x101cd, 50},
        {"cycles", 0x1003c, 0},
    };
    struct events_cpu icelake = cpu_of("intel-6-106");
    struct events_cpu milan = cpu_of("amd-25-1");

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct run_failure failure = {0};
        struct events_encoding encoding;

        assert_int_equal(events_resolve(&icelake, known[i].event, &encoding, &failure), 0);
        assert_int_equal(encoding.select, known[i].select);
        assert_int_equal(encoding.companion, known[i].companion);
    }
    for (uint64_t i = 0; i < 3; i++) {
        static const char *const names[] = {"ibs_op", "mem-loads", "mem-stores"};
        struct run_failure failure = {0};
        struct events_encoding encoding;

        assert_int_equal(events_resolve(&milan, names[i], &encoding, &failure), 0);
        assert_int_equal(encoding.companion, i);
    }
    assert_int_equal(select_of(&icelake, "cpu/event=0xc0,offcore_rsp=1/"), NONE);
    assert_int_equal(select_of(&milan, "cpu/event=0xb7,umask=1,offcore_rsp=1/"), NONE);
}

static void suffixes_choose_rings(void **state)
{
    static const char *const names[] = {"cycles", "MEM_INST_RETIRED.ALL_LOADS",
                                        "MEM_INST_RETIRED:ALL_LOADS", "r81d0",
                                        "cpu/event=0xd0,umask=0x81/"};
    static const struct {
        const char *suffix;
        uint64_t rings;
    } suffixes[] = {{"", USR}, {":u", USR}, {":k", OS}, {":uk", USR | OS}, {":ku", USR | OS}};
    struct events_cpu cpu = cpu_of("intel-6-85");

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (size_t j = 0; j < sizeof suffixes / sizeof suffixes[0]; j++) {
            char event[64];

            snprintf(event, sizeof event, "%s%s", names[i], suffixes[j].suffix);
            assert_int_equal(select_of(&cpu, event) & (USR | OS), suffixes[j].rings);
        }
    assert_int_equal(select_of(&cpu, "cpu/event=0xd0/k"), OS | 0xd0);
    assert_true(events_is_generic("cycles"));
    assert_true(events_is_generic("cycles:u"));
    assert_false(events_is_generic("cycles:k"));
    assert_false(events_is_generic("r81d0"));
    assert_false(events_is_generic("MEM_INST_RETIRED.ALL_LOADS"));
}

static void refuses_early(void **state)
{
    static const struct {
        const char *event;
        const char *words;
    } bad[] = {
        {"", "name is missing"},
        {":u", "name is missing"},
        {"cycles:pk", "unknown suffix ':pk'"},
        {"cycles:u:k", "unknown suffix ':u:k'"},
        {"r81d0:x", "unknown suffix ':x'"},
        {"r3003c", "rings are the suffixes"},
        {"r1000000000000000000", "raw bits"},
        {"cpu/event=0xc0", "slash"},
        {"cpu/event=0xc0/x", "unknown suffix ':x'"},
        {"cpu/event=/", "'' is not a number"},
        {"cpu/event=-1/", "'-1' is not a number"},
        {"cpu/event=0x1000/", "at most 0xfff"},
        {"cpu/umask=256/", "at most 0xff"},
        {"cpu/name=x/", "not a number"},
        {"cpu//", "'' is unknown"},
        {"MEM_INST_RETIRED.ALL_LOAD", "nearest known: MEM_INST_RETIRED.ALL_LOADS,"},
        {"MEM_LOAD_RETIRED", "MEM_LOAD_RETIRED."},
        {"icx::INST_RETIRED:ANY_P", "unknown event"},
        {"instructions\n", "unknown event"},
        {"OFFCORE_RESPONSE_0.READS_TO_CORE_REMOTE_CACHE_SNOOP_HIT_WITH_FWD", "longer than 63"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct run_failure failure = {0};

        assert_int_equal(events_check(bad[i].event, &failure), -1);
        assert_int_equal(failure.exit_status, RUN_EXIT_FAILED);
        if (strstr(failure.text, bad[i].words) == NULL)
            fail_msg("%s: \"%s\" lacks \"%s\"", bad[i].event, failure.text, bad[i].words);
    }
}

static void accepts_what_some_cpu_has(void **state)
{
    static const char *const good[] = {"LS_DISPATCH.LD_DISPATCH:uk", "MEM_UOPS_RETIRED.ALL_LOADS",
                                       "LLC_REFERENCES", "rc0",
                                       "MEM_TRANS_RETIRED.LOAD_LATENCY:ldlat=30:u"};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct run_failure failure = {0};

        assert_int_equal(events_check(good[i], &failure), 0);
    }
}

static void says_what_is_not_on_this_cpu(void **state)
{
    struct events_cpu cpu = cpu_of("EPYC-Milan");
    struct run_failure failure = {0};
    struct events_encoding encoding;

    (void)state;
    assert_int_equal(events_resolve(&cpu, "DATA_CACHE_ACCESSES", &encoding, &failure), -1);
    assert_int_equal(failure.exit_status, RUN_EXIT_FAILED);
    assert_non_null(strstr(failure.text, "'DATA_CACHE_ACCESSES' does not exist"));
    assert_non_null(strstr(failure.text, "AMD family 25 model 1 (amd64_fam19h_zen3)"));
    assert_non_null(strstr(failure.text, "hr events --cpu amd-25-1"));
}

static void unknown_cpus_have_architectural_events(void **state)
{
    struct events_cpu cpu = cpu_of("intel-6-250");

    (void)state;
    assert_null(events_cpu_table(&cpu));
    assert_int_equal(select_of(&cpu, "cycles"), USR | 0x3c);
    assert_int_equal(select_of(&cpu, "LLC_MISSES"), USR | 0x412e);
    assert_int_equal(select_of(&cpu, "r81d0"), USR | 0x81d0);
    assert_int_equal(select_of(&cpu, "L1-dcache-loads"), NONE);
    cpu = cpu_of("amd-26-2");
    assert_null(events_cpu_table(&cpu));
    assert_int_equal(select_of(&cpu, "cycles:k"), OS | 0x76);
    assert_int_equal(select_of(&cpu, "ref-cycles"), USR | 0x100000120);
    assert_int_equal(select_of(&cpu, "LLC_MISSES"), NONE);
}

static void tells_cpus_apart(void **state)
{
    static const struct {
        enum run_cpu_vendor vendor;
        uint32_t signature;
        const char *table;
    } known[] = {
        {RUN_CPU_INTEL, 0x606a6, "icx"},
        {RUN_CPU_INTEL, 0x50654, "skx"},
        {RUN_CPU_INTEL, 0x50656, "clx"},
        {RUN_CPU_INTEL, 0x306c4, "hsw"},
        {RUN_CPU_INTEL, 0x306d2, "bdw"},
        {RUN_CPU_INTEL, 0x706e5, "icl"},
        {RUN_CPU_INTEL, 0x806f4, "spr"},
        {RUN_CPU_AMD, 0x800f12, "amd64_fam17h_zen1"},
        {RUN_CPU_AMD, 0x830f10, "amd64_fam17h_zen2"},
        {RUN_CPU_AMD, 0xa00f11, "amd64_fam19h_zen3"},
        {RUN_CPU_AMD, 0xa10f11, "amd64_fam19h_zen4"},
    };
    struct events_cpu cpu;

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        events_cpu_from_signature(&cpu, known[i].vendor, known[i].signature);
        assert_string_equal(events_cpu_table(&cpu), known[i].table);
    }
    events_cpu_from_signature(&cpu, RUN_CPU_OTHER, 0x606a6);
    assert_null(events_cpu_table(&cpu));
    assert_int_equal(cpu_of("Skylake-Server-v5").model, 85);
    assert_int_equal(cpu_of("EPYC-Rome").model, 49);
    assert_int_equal(cpu_of("GenuineIntel-6-0x6a").model, 106);
    assert_int_equal(events_cpu_parse(&cpu, "EPYCX"), -1);
    assert_int_equal(events_cpu_parse(&cpu, "intel-6"), -1);
    assert_int_equal(events_cpu_parse(&cpu, "intel-6-106x"), -1);
    assert_int_equal(events_cpu_parse(&cpu, "intel-6-256"), -1);
    assert_int_equal(events_cpu_parse(&cpu, "EPYC,model="), -1);
}

static void answers_the_guest(void **state)
{
    struct events_wanted asked = {.names = {"cycles:uk", "LLC-loads", "ref-cycles"}, .count = 3};
    struct run_message question = {RUN_GUEST_CPU, RUN_CPU_INTEL,
                                   0x50654 | 4ull << 32 | 4ull << 40 | 3ull << 48};
    static const struct run_message answers[] = {
        {RUN_HOST_EVENT, 0, 0x3003c}, {RUN_HOST_EVENT_EXT, 1, 0x10001},
        {RUN_HOST_EVENT, 1, 0x101b7}, {RUN_HOST_EVENT, 2, 0x10300},
        {RUN_HOST_EVENTS_END, 0, 3},
    };
    struct run_message got[RELAY_CPU_ANSWER_MAX];
    struct run_failure failure = {0};

    (void)state;
    assert_int_equal(relay_cpu_answer(&asked, &question, got, &failure), 5);
    assert_memory_equal(got, answers, sizeof answers);
    question.value &= (1ull << 48) - 1; /* no fixed counters */
    assert_int_equal(relay_cpu_answer(&asked, &question, got, &failure), 5);
    assert_int_equal(got[3].value, 0x1013c);
    question.flag = RUN_CPU_AMD;
    assert_int_equal(relay_cpu_answer(&asked, &question, got, &failure), 0);
    assert_int_equal(failure.exit_status, RUN_EXIT_FAILED);
}

/* Whatever a hostile guest says, the answer fits and nothing breaks. */
static void any_question_has_an_answer(void **state)
{
    struct events_wanted asked = {.count = 0};
    struct run_message got[RELAY_CPU_ANSWER_MAX];
    struct test_random random = {7};

    (void)state;
    for (const struct event_info *e = events_table; e->name && asked.count < HR_EVENTS_MAX; e++)
        asked.names[asked.count++] = (char *)e->name;
    for (int i = 0; i < 2000; i++) {
        struct run_message question = {RUN_GUEST_CPU, (uint32_t)test_random_next(&random),
                                       test_random_next(&random)};
        struct run_failure failure = {0};

        if (i % 2 == 0)
            question.flag %= 3;
        assert_true(relay_cpu_answer(&asked, &question, got, &failure) <= RELAY_CPU_ANSWER_MAX);
    }
}

static void nearest_names(void **state)
{
    struct nearest n;
    char list[256];

    (void)state;
    assert_int_equal(nearest_distance("cycles", "CYCLES"), 0);
    assert_int_equal(nearest_distance("A:B", "a.b"), 0);
    assert_int_equal(nearest_distance("kitten", "sitting"), 3);
    assert_int_equal(nearest_distance("", "abc"), 3);
    nearest_init(&n, "branch");
    assert_string_equal(nearest_list(&n, list, sizeof list), "");
    nearest_offer(&n, "cycles");
    nearest_offer(&n, "branches");
    nearest_offer(&n, "branch-misses");
    nearest_offer(&n, "branches");
    nearest_offer(&n, "ranch");
    assert_string_equal(nearest_list(&n, list, sizeof list), "ranch, branches, branch-misses");
    assert_int_equal(strlen(nearest_list(&n, list, 8)), 7);
    nearest_init(&n, "no_such_function"); /* what is far away is no answer */
    nearest_offer(&n, "main");
    nearest_offer(&n, "_IO_new_file_write");
    assert_int_equal(n.count, 0);
}

static void collect(void *context, const char *name, const char *description)
{
    (void)description;
    strcat(context, name);
    strcat(context, " ");
}

static void registers_are_known_by_name(void **state)
{
    struct events_cpu intel = cpu_of("Icelake-Server"), amd = cpu_of("EPYC-Milan");
    struct events_cpu zen1 = cpu_of("amd-23-1"), genoa = cpu_of("amd-25-17");
    struct events_encoding encoding = {1, 1, 1};
    struct run_failure failure = {0};
    char names[256] = "";

    (void)state;
    assert_int_equal(events_check("aperf", &failure), 0);
    assert_true(events_is_register("smi"));
    assert_false(events_is_register("cycles"));
    assert_int_equal(events_check("aperf:u", &failure), -1); /* rings cannot be chosen */
    assert_non_null(strstr(failure.text, "aperf,"));
    assert_int_equal(events_resolve(&amd, "mperf", &encoding, &failure), 0);
    assert_int_equal(encoding.select | encoding.companion | encoding.counters, 0);
    assert_int_equal(events_resolve(&intel, "smi", &encoding, &failure), 0);
    assert_int_equal(events_resolve(&amd, "smi", &encoding, &failure), -1);
    events_list_registers(&intel, collect, names);
    assert_string_equal(names,
                        "aperf mperf smi llc-occupancy mbm-total mbm-local imc-reads imc-writes ");
    names[0] = 0;
    events_list_registers(&amd, collect, names);
    assert_string_equal(names, "aperf mperf llc-occupancy mbm-total mbm-local "
                               "df-channel0 df-channel1 df-channel2 df-channel3 "
                               "df-channel4 df-channel5 df-channel6 df-channel7 ");
    names[0] = 0;
    events_list_registers(&zen1, collect, names);
    assert_string_equal(names, "aperf mperf llc-occupancy mbm-total mbm-local ");
    names[0] = 0;
    events_list_registers(&genoa, collect, names);
    assert_string_equal(names,
                        "aperf mperf llc-occupancy mbm-total mbm-local imc-reads imc-writes ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodes_for_each_flavour),
        cmocka_unit_test(companions),
        cmocka_unit_test(suffixes_choose_rings),
        cmocka_unit_test(refuses_early),
        cmocka_unit_test(accepts_what_some_cpu_has),
        cmocka_unit_test(says_what_is_not_on_this_cpu),
        cmocka_unit_test(unknown_cpus_have_architectural_events),
        cmocka_unit_test(tells_cpus_apart),
        cmocka_unit_test(answers_the_guest),
        cmocka_unit_test(any_question_has_an_answer),
        cmocka_unit_test(nearest_names),
        cmocka_unit_test(registers_are_known_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
