/* The options of hr run and hr pack: values, limits, and what is refused in which words. */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#include "host/options/options.h"

/* The sanitizer's hook: what options_parse allocates lives as long as the process, by contract. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0:handle_sigill=1";
}

#define ARGUMENTS_MAX 24

/* Parses a NULL-terminated list after "hr run". */
static int parse(struct options *o, struct run_failure *failure, const char *const *arguments)
{
    static char *argv[ARGUMENTS_MAX];
    int argc = 0;

    argv[argc++] = strdup("hr run");
    while (arguments[argc - 1] != NULL) {
        argv[argc] = strdup(arguments[argc - 1]);
        argc++;
    }
    argv[argc] = NULL;
    *failure = (struct run_failure){0};
    return options_parse(o, false, argc, argv, failure);
}

static void defaults(void **state)
{
    struct run_failure failure;
    struct options o;

    (void)state;
    assert_int_equal(parse(&o, &failure, (const char *[]){"prog", "-o", "x", NULL}), 0);
    assert_string_equal(o.output, "hr.bin");
    assert_int_equal(o.mode, HR_MODE_TIMER);
    assert_int_equal(o.interval_ns, 10000);
    assert_int_equal(o.memory_bytes, 1ull << 30);
    assert_int_equal(o.cpus, OPTIONS_CPUS_AUTO);
    assert_int_equal(o.events.count, 5);
    assert_string_equal(o.events.names[0], "instructions");
    assert_string_equal(o.events.names[4], "cache-misses");
    assert_int_equal(o.timeout_ns, 0);
}

static void call_graph_takes_a_word_that_is_a_kind(void **state)
{
    static const struct {
        const char *arguments[4];
        uint32_t kind, limit;
        const char *program;
    } cases[] = {
        {{"prog"}, 0, 0, "prog"},
        {{"-g", "prog"}, HR_STACK_FP, 127, "prog"},
        {{"-g", "fp", "prog"}, HR_STACK_FP, 127, "prog"},
        {{"-g", "fp,1", "prog"}, HR_STACK_FP, 1, "prog"},
        {{"-gfp,512", "prog"}, HR_STACK_FP, 512, "prog"},
        {{"--call-graph=dwarf", "prog"}, HR_STACK_DWARF, 8192, "prog"},
        {{"--call-graph", "dwarf,4K", "prog"}, HR_STACK_DWARF, 4096, "prog"},
        {{"-g", "dwarf,9", "prog"}, HR_STACK_DWARF, 16, "prog"},
        {{"-g", "--", "fp"}, HR_STACK_FP, 127, "fp"},
        {{"-g", "fpu", "x"}, HR_STACK_FP, 127, "fpu"},
        {{"-g", "dwarfish,8", "x"}, HR_STACK_FP, 127, "dwarfish,8"},
    };
    struct run_failure failure;
    struct options o;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse(&o, &failure, cases[i].arguments), 0);
        assert_int_equal(o.stacks.kind, cases[i].kind);
        assert_int_equal(o.stacks.limit, cases[i].limit);
        assert_string_equal(o.program[0], cases[i].program);
    }
}

static void call_graph_refuses_what_is_none(void **state)
{
    static const char *const cases[][2] = {
        {"-gx",
         "--call-graph x: unknown; use fp, fp,FRAMES, dwarf, dwarf,BYTES, python or python,FRAMES"},
        {"--call-graph=",
         "--call-graph : unknown; use fp, fp,FRAMES, dwarf, dwarf,BYTES, python or python,FRAMES"},
        {"-gfp,", "--call-graph fp,: not a number of frames from 1 to 512"},
        {"-gfp,0", "--call-graph fp,0: not a number of frames from 1 to 512"},
        {"-gfp,513", "--call-graph fp,513: not a number of frames from 1 to 512"},
        {"-gfp,-1", "--call-graph fp,-1: not a number of frames from 1 to 512"},
        {"-gfp,1,1", "--call-graph fp,1,1: not a number of frames from 1 to 512"},
        {"-gdwarf,0", "--call-graph dwarf,0: not a size in bytes from 1 to 32768"},
        {"-gdwarf,33K", "--call-graph dwarf,33K: not a size in bytes from 1 to 32768"},
        {"-gdwarf,x", "--call-graph dwarf,x: not a size in bytes from 1 to 32768"},
        {"-gdwarf,99999999999999999999",
         "--call-graph dwarf,99999999999999999999: not a size in bytes from 1 to 32768"},
    };
    struct run_failure failure;
    struct options o;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse(&o, &failure, (const char *[]){cases[i][0], "prog", NULL}), -1);
        assert_string_equal(failure.text, cases[i][1]);
    }
    assert_int_equal(parse(&o, &failure, (const char *[]){"-g", "--mode", "off", "prog", NULL}),
                     -1);
    assert_non_null(strstr(failure.text, "--mode off takes no samples"));
}

static void options_after_the_program_are_its_own(void **state)
{
    struct run_failure failure;
    struct options o;

    (void)state;
    assert_int_equal(parse(&o, &failure, (const char *[]){"-q", "prog", "-v", "--", "-i", NULL}),
                     0);
    assert_true(o.quiet);
    assert_false(o.verbose);
    assert_int_equal(o.program_count, 4);
    assert_string_equal(o.program[0], "prog");
    assert_string_equal(o.program[3], "-i");
    assert_null(o.program[4]);
    assert_int_equal(parse(&o, &failure, (const char *[]){"-q", "--", "-prog", "-v", NULL}), 0);
    assert_string_equal(o.program[0], "-prog");
    assert_int_equal(o.program_count, 2);
}

static void takes_values(void **state)
{
    struct run_failure failure;
    struct options o;

    (void)state;
    assert_int_equal(
        parse(&o, &failure,
              (const char *[]){"-i", "500ns", "--mem", "64M", "-m", "off", "--cpus", "3", "-e",
                               "cycles:u", "--timeout", "2s", "--env", "A=b", NULL}),
        -1);
    assert_int_equal(failure.exit_status, RUN_EXIT_FAILED);
    assert_non_null(strstr(failure.text, "no program"));
    assert_int_equal(o.interval_ns, 500);
    assert_int_equal(o.memory_bytes, 64ull << 20);
    assert_int_equal(o.mode, HR_MODE_OFF);
    assert_int_equal(o.cpus, 3);
    assert_int_equal(o.timeout_ns, 2000000000);
    assert_int_equal(o.environment.count, 1);
}

static void refuses_in_words(void **state)
{
    static const struct {
        const char *option;
        const char *value;
        const char *words;
    } bad[] = {
        {"-i", "499ns", "shortest"},
        {"-i", "1000", "unit"},
        {"-i", "2h", "longest"},
        {"--mem", "16M", "too little"},
        {"--mem", "much", "not a size"},
        {"-m", "fast", "unknown"},
        {"--cpus", "-1", "not a number"},
        {"--cpus", "65", "not a number"},
        {"--accel", "xen", "auto, kvm or tcg"},
        {"--timeout", "0", "not a time"},
        {"--env", "=x", "name is missing"},
        {"--env", "NO_SUCH_VARIABLE_HERE", "not in your environment"},
        {"-e", "instrucions", "instructions"},
        {"-e", "cycles:x", "unknown suffix"},
        {"-e", "cycles:pu", "unknown suffix"},
        {"-e", "cycles:uup", "unknown suffix"},
        {"-e", "cycles:p", "--mode pebs"},
        {"--load-latency", "2", "from 3"},
        {"--load-latency", "30", "for --mode pebs"},
        {"-e", "r1001c2", "raw bits"},
        {"-e", "MEM_INST_RETIRED.ALL_LOAD", "MEM_INST_RETIRED.ALL_LOADS"},
        {"-e", "cpu/event=1,umask=2", "slash"},
        {"-e", "cycles,cycles", "twice"},
        {"-e", "", "unknown event"},
        {"-e", "cycles,,branches", "unknown event"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct run_failure failure;
        struct options o;

        assert_int_equal(
            parse(&o, &failure, (const char *[]){bad[i].option, bad[i].value, "prog", NULL}), -1);
        assert_int_equal(failure.exit_status, RUN_EXIT_FAILED);
        if (strstr(failure.text, bad[i].words) == NULL)
            fail_msg("%s %s: \"%s\" lacks \"%s\"", bad[i].option, bad[i].value, failure.text,
                     bad[i].words);
    }
}

static void precise_events(void **state)
{
    static const struct {
        const char *arguments[8];
        const char *words; /* NULL: it is fine */
        unsigned precise; /* a bit each */
        uint64_t period;
    } cases[] = {
        {{"-m", "pebs"}, NULL, 3, 1009},
        {{"-m", "pebs", "-c", "100"}, NULL, 3, 100},
        {{"-m", "pebs", "-e", "cycles,branches"}, NULL, 1, 1009},
        {{"-m", "pebs", "-e", "cycles,branches:p,r1c4:upp"}, NULL, 6, 1009},
        {{"-m", "pebs", "-e", "cycles:k,cpu/event=0xc4/p"}, NULL, 2, 1009},
        {{"-m", "pebs", "-e", "aperf,cycles:p"}, NULL, 2, 1009},
        {{"-m", "pebs", "-e", "aperf"}, "makes records", 0, 0},
        {{"-m", "pebs", "-e", "none"}, "makes records", 0, 0},
        {{"-m", "pebs", "-c", "1"}, "each 2 events", 0, 0},
        {{"-m", "pebs", "-F", "100"}, "fixed periods", 0, 0},
        {{"-m", "pebs", "-g"}, NULL, 3, 1009},
        {{"-m", "pebs", "-i", "1us"}, "--interval", 0, 0},
        {{"-m", "pebs", "--counters-every", "2"}, "--counters-every", 0, 0},
        {{"--jitter"}, "for --mode pebs", 0, 0},
        {{"-m", "overflow", "--regs"}, "for --mode pebs", 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *arguments[10] = {0};
        struct run_failure failure;
        struct options o;
        size_t count = 0;

        for (; cases[i].arguments[count] != NULL; count++)
            arguments[count] = cases[i].arguments[count];
        arguments[count] = "prog";
        if (cases[i].words != NULL) {
            assert_int_equal(parse(&o, &failure, arguments), -1);
            assert_non_null(strstr(failure.text, cases[i].words));
            continue;
        }
        assert_int_equal(parse(&o, &failure, arguments), 0);
        assert_int_equal(o.mode, HR_MODE_PEBS);
        assert_int_equal(o.period, cases[i].period);
        for (size_t n = 0; n < o.events.count; n++)
            assert_int_equal(o.precise[n], cases[i].precise >> n & 1);
    }
}

static void splits_events(void **state)
{
    static const char *const wanted[] = {"cycles:k", "cpu/event=0xc0,umask=1,inv/uk", "r01c2:uk",
                                         "MEM_INST_RETIRED:ALL_LOADS:c=2:u", "LLC-loads"};
    struct run_failure failure;
    struct options o;

    (void)state;
    assert_int_equal(parse(&o, &failure,
                           (const char *[]){"-e",
                                            "cycles:k,cpu/event=0xc0,umask=1,inv/uk,r01c2:uk,"
                                            "MEM_INST_RETIRED:ALL_LOADS:c=2:u,LLC-loads",
                                            "prog", NULL}),
                     0);
    assert_int_equal(o.events.count, sizeof wanted / sizeof wanted[0]);
    for (size_t i = 0; i < o.events.count; i++)
        assert_string_equal(o.events.names[i], wanted[i]);
}

static void no_events_are_a_choice(void **state)
{
    struct run_failure failure;
    struct options o;

    (void)state;
    assert_int_equal(parse(&o, &failure, (const char *[]){"-e", "none", "prog", NULL}), 0);
    assert_int_equal(o.events.count, 0);
    assert_int_equal(
        parse(&o, &failure, (const char *[]){"-e", "none", "-c", "1000", "prog", NULL}), -1);
    assert_non_null(strstr(failure.text, "needs an event that interrupts"));
}

static void a_long_unknown_event_is_no_overflow(void **state)
{
    struct run_failure failure;
    struct options o;
    char name[4000];

    (void)state;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    assert_int_equal(parse(&o, &failure, (const char *[]){"-e", name, "prog", NULL}), -1);
    assert_non_null(strstr(failure.text, "unknown event"));
}

static void published_ports(void **state)
{
    static const char *const wrong[] = {"80",         "x:80",        "80:x",         "80:0",
                                        "65536:80",   "80:80/sctp",  "80:80/",       "::80:80",
                                        "[::1:80:80", "host:80:80",  "127.0.0.1:80", ":80:80",
                                        "",           "80:80:80:80", "0.0.0.0.0:1:1"};
    struct run_failure failure;
    struct options o;

    (void)state;
    assert_int_equal(
        parse(&o, &failure,
              (const char *[]){"--publish", "8080:80", "--publish", "0.0.0.0:0:53/udp",
                               "--publish=[::1]:1:2/tcp", "--network=user", "prog", NULL}),
        0);
    assert_true(o.network);
    assert_int_equal(o.published_count, 3);
    assert_string_equal(o.published[0].address, "127.0.0.1");
    assert_int_equal(o.published[0].host_port, 8080);
    assert_int_equal(o.published[0].guest_port, 80);
    assert_true(o.published[1].udp && o.published[1].host_port == 0);
    assert_true(o.published[2].v6 && !o.published[2].udp);
    assert_string_equal(o.published[2].address, "::1");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(parse(&o, &failure, (const char *[]){"--publish", wrong[i], "prog", NULL}),
                         -1);
    assert_int_equal(parse(&o, &failure, (const char *[]){"--network", "bridge", "prog", NULL}),
                     -1);
    assert_int_equal(parse(&o, &failure, (const char *[]){"prog", NULL}), 0);
    assert_true(!o.network && o.published_count == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(call_graph_takes_a_word_that_is_a_kind),
        cmocka_unit_test(call_graph_refuses_what_is_none),
        cmocka_unit_test(options_after_the_program_are_its_own),
        cmocka_unit_test(takes_values),
        cmocka_unit_test(refuses_in_words),
        cmocka_unit_test(precise_events),
        cmocka_unit_test(splits_events),
        cmocka_unit_test(no_events_are_a_choice),
        cmocka_unit_test(a_long_unknown_event_is_no_overflow),
        cmocka_unit_test(published_ports),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
