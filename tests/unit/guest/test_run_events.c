/* guest/run_events.c and run_encodings.c: encodings that the archive brings along, for this CPU,
 * another, and damaged; what a refusal says.
 */
#include "tests/unit/test.h"

#include <stdio.h>

#include "drivers/pmu/pmu_msr.c"
#include "guest/run_encodings.c"
#include "guest/run_events.c"

struct run_config run;
struct sampling sampling;
struct pmu_refusal pmu_start_refusal;
static char logged[4][512];
static unsigned lines;
static unsigned asked; /* times that the host was asked */

void log_line(const char *format, ...)
{
    va_list arguments;

    assert_true(lines < 4);
    va_start(arguments, format);
    format_text_v(logged[lines++], sizeof logged[0], format, arguments);
    va_end(arguments);
}

void panic(const char *format, ...)
{
    fail_msg("panic: %s", format);
    for (;;)
        continue;
}

static uint32_t registers_there; /* HR_MACHINE_* of this CPU */

uint32_t monitor_probe(void)
{
    return registers_there;
}

uint32_t pmu_rdt_probe(void)
{
    return 0;
}

int pmu_rdt_start(void)
{
    return 0;
}

uint64_t pmu_rdt_read(uint8_t event)
{
    return event;
}

bool pmu_imc_probe(void)
{
    return false;
}

void pmu_imc_start(void)
{
}

uint64_t pmu_imc_read(bool writes)
{
    return writes;
}

uint8_t pmu_imc_bits(void)
{
    return 32;
}

bool pmu_imc_claim(void)
{
    return false;
}

bool pmu_imc_tells(void)
{
    return false;
}

bool pmu_umc_fabric_probe(void)
{
    return false;
}

uint32_t pmu_umc_fabric_msr(uint32_t counter)
{
    return counter;
}

void pmu_umc_fabric_start(uint32_t counter, uint32_t channel)
{
    (void)counter;
    (void)channel;
}

int pebs_try(void)
{
    return 0;
}

int service_encode_events(void)
{
    asked++;
    return 0;
}

/* Two counters of a kind; the second event of a pair with encodings 1 and 2 collides. */
static int fake_assign(const struct pmu_caps *caps, struct pmu_session *session,
                       struct pmu_refusal *refusal)
{
    (void)caps;
    for (uint32_t i = 0; i < session->event_count; i++) {
        *refusal = (struct pmu_refusal){.event = i, .msr = 0x1a6};
        if (i == 2)
            return -ENOSPC;
        if (session->events[i].encoding == 2 && session->events[0].encoding == 1)
            return -EBUSY;
        if (session->events[i].encoding == 3)
            return -EOPNOTSUPP;
    }
    return 0;
}

static const struct pmu_driver fake_driver = {.name = "fake", .assign = fake_assign};

const struct pmu_driver *pmu_probe(struct pmu_caps *caps)
{
    caps->needs_encodings = true;
    caps->general_held = 1u << 2 | 1u << 5;
    caps->fixed_held = 1u << 1;
    return &fake_driver;
}

static struct transport fake_transport = {.host = true};
const struct transport *transport = &fake_transport;

static char manifest_bytes[1024];
static size_t manifest_used;

static void add(const char *key, const char *value)
{
    manifest_used =
        manifest_append(manifest_bytes, sizeof manifest_bytes, manifest_used, key, value);
    assert_int_not_equal(manifest_used, 0);
}

/* A group of encodings for CPUs; any of them may be NULL. */
static void add_group(const char *list, const char *first, const char *second)
{
    if (list)
        add("target-cpu", list);
    if (first)
        add("event-encoding", first);
    if (second)
        add("event-encoding", second);
}

static void begin_manifest(void)
{
    manifest_used = 0;
    add("version", "1");
    add("event", "one");
    add("event", "two");
}

static void open_manifest(void)
{
    run = (struct run_config){0};
    memset(&sampling, 0, sizeof sampling);
    fake_transport.host = true;
    assert_int_equal(manifest_open(&run.manifest, manifest_bytes, manifest_used), 0);
    run.events = run.manifest;
    lines = asked = 0;
    run_read_events();
}

/* A manifest of two events, for `cpu`, or for none when it is NULL. */
static void begin(const char *cpu, const char *first, const char *second)
{
    begin_manifest();
    add_group(cpu, first, second);
    open_manifest();
}

static void counters_of_others_are_named(void **state)
{
    (void)state;
    begin(NULL, NULL, NULL);
    assert_int_equal(lines, 1);
    assert_non_null(strstr(logged[0], "left out: 2, 5, fixed 1; "));
    assert_int_equal(run_encode_events(), 0);
    assert_int_equal(asked, 1);
}

static void the_archive_encodes_for_this_cpu(void **state)
{
    char here[CPU_BYTES];

    (void)state;
    name_cpu(here);
    begin(here, "101b7:3f3ffc0002:f", "ffffffffffffffff:0:0");
    assert_int_equal(run_encode_events(), 0);
    assert_int_equal(asked, 0);
    assert_int_equal(sampling.session.events[0].encoding, 0x101b7);
    assert_int_equal(sampling.session.events[0].encoding_ext, 0x3f3ffc0002);
    assert_int_equal(sampling.session.events[0].allowed_counters, 0xf);
    assert_int_equal(sampling.session.events[1].encoding, UINT64_MAX);
    assert_int_equal(sampling.session.events[1].allowed_counters, 0);
}

static void and_for_no_other(void **state)
{
    (void)state;
    begin("intel-6-9999", "c0:0:0", "c4:0:0");
    assert_int_equal(run_encode_events(), -ENODEV);
    assert_non_null(strstr(logged[1], "encoded for intel-6-9999, and this CPU is "));
    assert_int_equal(sampling.session.event_count, 0);
}

/* This CPU's name, and its vendor's. */
static void name_here(char here[CPU_BYTES], char vendor[CPU_BYTES])
{
    name_cpu(here);
    strcpy(vendor, here);
    *strchr(vendor, '-') = 0;
}

static void the_group_that_names_this_cpu_is_taken(void **state)
{
    char here[CPU_BYTES], vendor[CPU_BYTES], list[128];

    (void)state;
    name_here(here, vendor);
    snprintf(list, sizeof list, "intel-6-9998,%s,amd-99-9", here);
    begin_manifest();
    add_group("intel-6-9999,amd-99-1", "1:0:0", "2:0:0");
    add_group(vendor, "3:0:0", "4:0:0");
    add_group(list, "5:0:0", "6:0:0");
    add_group("intel-6-1,amd-1-1", "7:0:0", "8:0:0");
    open_manifest();
    assert_int_equal(run_encode_events(), 0);
    assert_int_equal(sampling.session.events[0].encoding, 5);
    assert_int_equal(sampling.session.events[1].encoding, 6);
    assert_int_equal(asked, 0);
}

static void a_vendor_stands_for_its_other_cpus(void **state)
{
    char here[CPU_BYTES], vendor[CPU_BYTES], longer[CPU_BYTES + 1];

    (void)state;
    name_here(here, vendor);
    snprintf(longer, sizeof longer, "%s0", here);
    begin_manifest();
    add_group(longer, "1:0:0", "2:0:0");
    add_group("intel,amd,x86", "3:0:0", "4:0:0");
    open_manifest();
    assert_int_equal(run_encode_events(), 0);
    assert_int_equal(sampling.session.events[0].encoding, 3);
    begin_manifest();
    add_group(longer, "1:0:0", "2:0:0");
    add_group(",,", "3:0:0", "4:0:0");
    open_manifest();
    assert_int_equal(run_encode_events(), -ENODEV);
    assert_non_null(strstr(logged[1], "not encoded for this CPU, which is "));
}

/* The group's own are missing: those before it are not taken for them. */
static void groups_are_cut_off(void **state)
{
    char here[CPU_BYTES];

    (void)state;
    name_cpu(here);
    begin_manifest();
    add_group("intel-6-9999", "1:0:0", "2:0:0");
    add_group(here, "3:0:0", NULL);
    open_manifest();
    assert_int_equal(run_encode_events(), -EINVAL);
    begin_manifest();
    add_group("intel-6-9999", "1:0:0", NULL);
    add_group(here, NULL, NULL);
    open_manifest();
    assert_int_equal(run_encode_events(), -EINVAL);
}

static void nobody_to_ask(void **state)
{
    (void)state;
    begin(NULL, NULL, NULL);
    fake_transport.host = false;
    assert_int_equal(run_encode_events(), -ENODEV);
    assert_int_equal(asked, 0);
    assert_int_equal(sampling.session.event_count, 0);
    assert_non_null(strstr(logged[1], "no host to ask; pack it with --target-cpu "));
}

/* A stub, or virtual time, needs no encodings. */
static void without_counters_none_are_needed(void **state)
{
    (void)state;
    begin("intel-6-9999", "c0:0:0", "damaged");
    fake_transport.host = false;
    run.pmu_caps.needs_encodings = false;
    assert_int_equal(run_encode_events(), 0);
    assert_int_equal(sampling.session.event_count, 2);
    assert_int_equal(sampling.session.events[0].encoding, 0);
}

static void damage_is_refused(void **state)
{
    static const char *const bad[] = {
        "",       "c0",       "c0:0",           "c0:0:",   "c0::0",   ":0:0",
        "C0:0:0", "c0:0:0:0", "c0:0:100000000", " c0:0:0", "c0:0:0 ", "10000000000000000:0:0",
    };
    char here[CPU_BYTES];

    (void)state;
    name_cpu(here);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        begin(here, "c0:0:0", bad[i]);
        assert_int_equal(run_encode_events(), -EINVAL);
        assert_non_null(strstr(logged[1], "encoding of event two is damaged"));
    }
    begin(here, "c0:0:0", NULL);
    assert_int_equal(run_encode_events(), -EINVAL);
}

static void refusals_say_what_fits(void **state)
{
    (void)state;
    begin(NULL, NULL, NULL);
    sampling.session.event_count = 3;
    strcpy(sampling.session.events[2].name, "three");
    lines = 0;
    assert_int_equal(run_assign_events(), -ENOSPC);
    assert_non_null(strstr(logged[0], "event three: no counter is left"));
    assert_string_equal(logged[1],
                        LOG_NOTICE "these events fit at once: one, two; in another run: three");
    begin(NULL, NULL, NULL);
    sampling.session.events[0].encoding = 1;
    sampling.session.events[1].encoding = 2;
    lines = 0;
    assert_int_equal(run_assign_events(), -EBUSY);
    assert_non_null(strstr(logged[0], "events one and two need one register"));
    assert_non_null(strstr(logged[1], "at once: one; in another run: two"));
    assert_int_equal(sampling.session.event_count, 0);
}

/* A manifest of one counter's event behind this one. */
static int start_status;

static int fake_start(const struct pmu_session *session)
{
    assert_int_equal(session->period, run.asked.mode == HR_MODE_OVERFLOW ? 1000 : 0);
    return start_status;
}

static void fake_stop(const struct pmu_session *session)
{
    (void)session;
}

static void registers_that_are_missing_are_named(void **state)
{
    static const struct pmu_driver driver = {
        .name = "fake", .assign = fake_assign, .start = fake_start, .stop = fake_stop};

    (void)state;
    begin(NULL, NULL, NULL);
    run.pmu = &driver;
    sampling.session.events[1].encoding = 3;
    assert_int_equal(run_assign_events(), -EOPNOTSUPP);
    assert_non_null(strstr(logged[1], "event two: MSR 1a6H holds a part of it and does not keep"));
    for (int of_one = 0; of_one < 2; of_one++) {
        begin(NULL, NULL, NULL);
        run.pmu = &driver;
        run.asked.mode = of_one ? HR_MODE_OVERFLOW : HR_MODE_TIMER;
        run.pmu_caps.period_max = 1000;
        start_status = 0;
        run_try_events();
        assert_int_equal(lines, 1);
        assert_int_equal(run.start_error, 0);
        assert_int_equal(sampling.session.event_count, 2);
        start_status = -EIO;
        pmu_start_refusal = (struct pmu_refusal){
            .event = of_one ? 1 : PMU_NO_EVENT, .msr = 0x187, .value = 0x1004100c4};
        run_try_events();
        assert_non_null(strstr(logged[1], of_one ? "event two: this machine does not take it: "
                                                   "writing 1004100c4 to MSR 187H faults"
                                                 : "the fake counters cannot be started: writing "
                                                   "1004100c4 to MSR 187H faults"));
        assert_int_equal(run.start_error, -EIO);
        assert_int_equal(sampling.session.event_count, 0);
        assert_int_equal(sampling.session.period, 0);
        run_try_events(); /* on the next CPU */
        assert_int_equal(lines, 2);
    }
}

static int fake_precise_start(const struct pmu_session *session, struct pmu_precise *area)
{
    (void)session;
    (void)area;
    return 0;
}

static int assign_all(const struct pmu_caps *caps, struct pmu_session *session,
                      struct pmu_refusal *refusal)
{
    (void)caps;
    (void)session;
    (void)refusal;
    return 0;
}

static int assign_rounded(const struct pmu_caps *caps, struct pmu_session *session,
                          struct pmu_refusal *refusal)
{
    (void)caps;
    session->events[1].record_period &= ~15ull;
    refusal->event = 1;
    refusal->value = 144;
    return session->events[1].record_period == 0    ? -ENXIO
           : session->events[1].record_period < 144 ? -ERANGE
                                                    : 0;
}

static void begin_precise(uint64_t encoding, uint64_t period)
{
    static const struct pmu_driver driver = {
        .name = "fake", .assign = assign_all, .precise_start = fake_precise_start};

    begin(NULL, NULL, NULL);
    sampling.precise = true;
    run.pmu = &driver;
    run.pmu_caps = (struct pmu_caps){.period_max = 1000, .vendor = RUN_CPU_INTEL};
    sampling.session.events[1].encoding = encoding;
    sampling.session.events[1].record_period = period;
}

/* Mode pebs: what the machine must have, and what its events may be. */
static void precise_events_are_checked(void **state)
{
    static const struct pmu_driver without = {.name = "fake", .assign = assign_all};

    (void)state;
    begin_precise(0xc0, 100);
    run.pmu_caps.vendor = 0;
    run.pmu = &without;
    assert_int_equal(run_encode_events(), -ENODEV);
    assert_non_null(
        strstr(logged[1], "this machine has no hardware counters; use --mode overflow"));
    begin_precise(0xc0, 100);
    run.pmu_caps.no_records = "CPUID lacks it";
    assert_int_equal(run_encode_events(), -ENODEV);
    assert_int_equal(asked, 0);
    assert_non_null(strstr(logged[1], "records of precise events: CPUID lacks it; use"));
    begin_precise(0xc0, 1001);
    assert_int_equal(run_assign_events(), -ERANGE);
    begin_precise(PMU_SELECT_KERNEL | 0xc0, 0); /* it only counts */
    assert_int_equal(run_assign_events(), 0);
    begin_precise(PMU_SELECT_KERNEL | 0xc0, 100);
    assert_int_equal(run_assign_events(), -EINVAL);
    assert_non_null(strstr(logged[1], "event two: mode pebs has records of ring 3 alone"));
    begin_precise(0x101cd, 100);
    assert_int_equal(run_assign_events(), 0);
    assert_int_equal(sampling.session.events[1].encoding_ext, 3); /* all loads */
    assert_int_equal(sampling.latency_least, 3);
    assert_int_equal(sampling.period, 100);
}

/* Likewise of a processor that samples rather than counts: AMD's. */
static void sampled_events_are_checked(void **state)
{
    static const struct pmu_driver driver = {
        .name = "fake", .assign = assign_rounded, .precise_start = fake_precise_start};

    (void)state;
    begin_precise(0, 999);
    run.pmu = &driver;
    run.asked.period = 999;
    assert_int_equal(run_assign_events(), 0);
    assert_int_equal(sampling.period, 992);
    assert_int_equal(run.asked.period, 992);
    begin_precise(0, 0);
    run.pmu = &driver;
    assert_int_equal(run_assign_events(), -ENXIO);
    assert_non_null(strstr(logged[1], "event two: this processor only samples it; use --mode"));
    begin_precise(0, 100);
    run.pmu = &driver;
    assert_int_equal(run_assign_events(), -ERANGE);
    assert_non_null(strstr(logged[1], "event two the nearest that this processor can do is 144"));
    begin_precise(0, 999);
    run.pmu = &driver;
    run.pmu_caps.sampled_records = sampling.session.registers = true;
    assert_int_equal(run_assign_events(), -EINVAL);
    assert_non_null(strstr(logged[1], "do not record registers"));
}

static void begin_register(const char *name, uint32_t there)
{
    size_t used = manifest_append(manifest_bytes, sizeof manifest_bytes, 0, "version", "1");

    used = manifest_append(manifest_bytes, sizeof manifest_bytes, used, "event", name);
    used = manifest_append(manifest_bytes, sizeof manifest_bytes, used, "event", "one");
    run = (struct run_config){0};
    memset(&sampling, 0, sizeof sampling);
    assert_int_equal(manifest_open(&run.manifest, manifest_bytes, used), 0);
    run.events = run.manifest;
    registers_there = there;
    lines = 0;
    run_read_events();
    lines = 0;
}

static void registers_are_events_too(void **state)
{
    (void)state;
    begin_register("aperf", HR_MACHINE_APERF);
    assert_int_equal(run_assign_events(), 0);
    assert_string_equal(sampling.session.events[0].name, "one");
    assert_int_equal(sampling.session.events[1].source, HR_SOURCE_MSR);
    assert_false(run.counts_kernel); /* nothing that could be stopped */
}

static void registers_that_are_not_there_are_named(void **state)
{
    (void)state;
    begin_register("aperf", HR_MACHINE_SMI);
    assert_int_equal(run_assign_events(), -ENODEV);
    assert_non_null(strstr(logged[0], "event aperf: this CPU does not have the register"));
    assert_non_null(strstr(logged[0], "leave it out, or run on hardware"));
    assert_int_equal(sampling.session.event_count, 0);
    begin_register("smi", 0);
    assert_int_equal(run_assign_events(), -ENODEV);
    assert_non_null(strstr(logged[0], "only Intel's processors count SMIs"));
}

static void registers_trigger_no_samples(void **state)
{
    (void)state;
    begin_register("smi", HR_MACHINE_SMI);
    run.asked.mode = HR_MODE_OVERFLOW;
    run.pmu_caps.overflow = true;
    sampling.session.event_count = 1;
    assert_int_equal(run_assign_events(), -ENODEV);
    assert_non_null(strstr(logged[0], "--mode overflow needs counters"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_that_are_missing_are_named),
        cmocka_unit_test(precise_events_are_checked),
        cmocka_unit_test(sampled_events_are_checked),
        cmocka_unit_test(registers_are_events_too),
        cmocka_unit_test(registers_that_are_not_there_are_named),
        cmocka_unit_test(registers_trigger_no_samples),
        cmocka_unit_test(counters_of_others_are_named),
        cmocka_unit_test(the_archive_encodes_for_this_cpu),
        cmocka_unit_test(and_for_no_other),
        cmocka_unit_test(the_group_that_names_this_cpu_is_taken),
        cmocka_unit_test(a_vendor_stands_for_its_other_cpus),
        cmocka_unit_test(groups_are_cut_off),
        cmocka_unit_test(nobody_to_ask),
        cmocka_unit_test(without_counters_none_are_needed),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(refusals_say_what_fits),
    };
    return cmocka_run_group_tests_name("run_events", tests, NULL, NULL);
}
