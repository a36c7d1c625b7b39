/* hr sweep pair: how two programs slow each other down, by what their CPUs share. */
#include "host/pair/pair.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/array.h"
#include "host/base/command_line.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/base/text.h"
#include "host/launch/launch_accel.h"
#include "host/launch/launch_pin.h"
#include "host/pair/pair_measure.h"
#include "host/run/run_child.h"
#include "host/trial/trial_options.h"
#include "host/trial/trial_process.h"
#include "lib/array.h"

#define BETWEEN ":::" /* of the two programs */
#define RISEN 1.05 /* events are shown that rose by more */

enum { KEY_PLACEMENT = 256, KEY_REPEAT, KEY_ACCEL, KEY_RUN };

struct wish {
    struct pair_plan plan;
    bool kinds[PAIR_KINDS];
    bool all; /* those that there are */
    bool csv;
    bool forced; /* --accel kvm */
};

static const struct argp_option options[] = {
    {"placement", KEY_PLACEMENT, "LIST", 0,
     "CPUs that share a core (smt), no core but an L2 (l2) or an L3 (l3), or that are in two "
     "sockets (socket); all (default): those that there are",
     0},
    {"repeat", KEY_REPEAT, "N", 0, "run each N times and take the medians (default 3)", 0},
    {"format", 'f', "FORMAT", 0, "table (default) or csv", 0},
    {"accel", KEY_ACCEL, "KIND", 0, "kvm: even where KVM seems slow", 0},
    {0, 0, 0, 0, "As for hr run:", 2},
    {"event", 'e', "LIST", 0, "", 2},
    {"interval", 'i', "TIME", 0, "", 2},
    {"env", KEY_RUN, "K=V", 0, "", 2},
    {"file", KEY_RUN + 1, "PATH", 0, "", 2},
    {"kernel", KEY_RUN + 2, "FILE", 0, "", 2},
    {"mem", KEY_RUN + 3, "SIZE", 0, "", 2},
    {"qemu", KEY_RUN + 4, "PATH", 0, "", 2},
    {"root", KEY_RUN + 5, "DIR", 0, "", 2},
    {"timeout", KEY_RUN + 6, "TIME", 0, "", 2},
    {0}};

static error_t take_placement(struct wish *w, char *list, struct argp_state *state)
{
    char *rest;

    w->all = false;
    for (char *word = strtok_r(list, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
        int kind = option_word(word, pair_kind_names, PAIR_KINDS);

        if (strcmp(word, "all") == 0)
            w->all = true;
        else if (kind < 0)
            argp_error(state, "--placement %s: choose smt, l2, l3, socket or all", word);
        else
            w->kinds[kind] = true;
    }
    return 0;
}

static error_t take_programs(struct wish *w, struct argp_state *state)
{
    char **words = &state->argv[state->next - 1];
    size_t count = (size_t)(state->argc - (state->next - 1)), between = 0;

    while (between < count && strcmp(words[between], BETWEEN) != 0)
        between++;
    if (between == 0 || between + 1 >= count)
        argp_error(state, "name two programs, with " BETWEEN " between them");
    w->plan.programs[0] = (struct pair_program){words, between};
    w->plan.programs[1] = (struct pair_program){words + between + 1, count - between - 1};
    state->next = state->argc;
    return 0;
}

static error_t take_run_option(struct pair_plan *plan, int key, const char *argument)
{
    const struct argp_option *option = options;

    while (option->doc != NULL && option->key != key)
        option++;
    if (option->doc == NULL || key == 0)
        return ARGP_ERR_UNKNOWN;
    return -trial_options_append(option, argument, &plan->options, &plan->option_count);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const char *const formats[] = {"table", "csv"};
    static const struct option_field fields[] = {
        {KEY_REPEAT, OPTION_NUMBER, offsetof(struct wish, plan.repeat), "repeat",
         "not a number of runs from 1 to 1000", 1, PAIR_REPEAT_MAX},
        {0},
    };
    struct wish *w = state->input;
    int format;

    if (option_store(fields, key, argument, w, state))
        return 0;
    switch (key) {
    case KEY_PLACEMENT:
        return take_placement(w, argument, state);
    case KEY_ACCEL:
        if (strcmp(argument, "kvm") != 0)
            argp_error(state, "--accel %s: two programs share nothing but under KVM", argument);
        w->forced = true;
        return 0;
    case 'f':
        format = option_word(argument, formats, ARRAY_COUNT(formats));
        if (format < 0)
            argp_error(state, "--format %s: choose table or csv", argument);
        w->csv = format == 1;
        return 0;
    case ARGP_KEY_ARG:
        return take_programs(w, state);
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "name two programs, with " BETWEEN " between them");
        return EINVAL;
    default:
        return take_run_option(&w->plan, key, argument);
    }
}

static int check_kvm(const struct wish *w, struct run_failure *failure)
{
    const char *why = "/dev/kvm cannot be used";

    if (w->forced ? access("/dev/kvm", R_OK | W_OK) == 0 : launch_accel_kvm_is_fast(&why))
        return 0;
    return run_fail(failure,
                    "hr sweep pair needs KVM, because emulated programs share neither a core nor "
                    "caches (here: %s); use a machine whose KVM works",
                    why);
}

/* The CPUs that this process may use. */
static int find_usable(cpu_set_t *usable, struct run_failure *failure)
{
    struct launch_pin_host host;

    if (launch_pin_read_host("", &host, failure) != 0)
        return -1;
    CPU_AND(usable, &host.online, &host.own);
    CPU_OR(usable, usable, &host.isolated);
    return 0;
}

static double ratio(double together, double alone)
{
    return alone > 0 ? together / alone : 0;
}

static void print_events(const struct pair_measured *m)
{
    char name[80], before[TEXT_QUANTITY_BYTES], after[TEXT_QUANTITY_BYTES];
    size_t shown = 0;

    for (size_t e = 0; e < m->events; e++) {
        double by = ratio(m->together.totals[e], m->alone.totals[e]);

        if (by < RISEN)
            continue;
        printf("           %-36s %14s %14s %8.2f\n", text_escape(name, sizeof name, m->names[e]),
               text_count(before, (uint64_t)m->alone.totals[e]),
               text_count(after, (uint64_t)m->together.totals[e]), by);
        shown++;
    }
    if (shown == 0)
        printf("           %s\n",
               m->events != 0 ? "no event rose by 5 %" : "no counters here: the times alone");
}

static void print(const struct wish *w, enum pair_kind kind, const struct pair_place *place,
                  int which, const struct pair_measured *m)
{
    char name[200], before[TEXT_QUANTITY_BYTES], after[TEXT_QUANTITY_BYTES];

    text_escape(name, sizeof name, w->plan.programs[which].words[0]);
    printf("%-7s %2d %-36s %14s %14s %8.2f %8.0f %%\n", pair_kind_names[kind], place->cpus[which],
           name, text_time(before, m->alone.time_ns), text_time(after, m->together.time_ns),
           ratio(m->together.time_ns, m->alone.time_ns), 100 * m->together.company);
    print_events(m);
}

static void print_csv(const struct wish *w, enum pair_kind kind, const struct pair_place *place,
                      int which, const struct pair_measured *m)
{
    char name[200];

    (void)w;
    for (size_t e = 0; e <= m->events; e++)
        printf("%s,%d,%c,%s,%.0f,%.0f,%.4f\n", pair_kind_names[kind], place->cpus[which],
               'A' + which, e == 0 ? "time_ns" : text_escape(name, sizeof name, m->names[e - 1]),
               e == 0 ? m->alone.time_ns : m->alone.totals[e - 1],
               e == 0 ? m->together.time_ns : m->together.totals[e - 1], m->together.company);
}

static int measure_place(const struct wish *w, enum pair_kind kind, const struct pair_place *place,
                         struct run_failure *failure)
{
    static struct pair_measured measured;

    for (int which = 0; which < 2; which++) {
        if (pair_measure(&w->plan, place, which, &measured, failure) != 0)
            return -1;
        (w->csv ? print_csv : print)(w, kind, place, which, &measured);
        fflush(stdout);
    }
    return 0;
}

static void print_head(const struct wish *w)
{
    if (w->csv)
        printf("placement,cpu,program,quantity,alone,together,company\n");
    else
        printf("# medians of %lu run%s; company: how much of the time the other program ran\n"
               "%-7s %2s %-36s %14s %14s %8s %10s\n",
               w->plan.repeat, w->plan.repeat == 1 ? "" : "s", "shared", "cpu", "program", "alone",
               "together", "ratio", "company");
}

static int measure(struct wish *w, struct run_failure *failure)
{
    struct pair_place place;
    cpu_set_t usable;
    size_t found = 0;

    if (check_kvm(w, failure) != 0 || find_usable(&usable, failure) != 0 ||
        run_child_folder(w->plan.folder, "pair", failure) != 0)
        return -1;
    trial_process_begin();
    for (enum pair_kind kind = 0; kind < PAIR_KINDS; kind++) {
        if (!w->all && !w->kinds[kind])
            continue;
        if (pair_place_find("", &usable, kind, &place) == 0) {
            if (found++ == 0)
                print_head(w);
            if (measure_place(w, kind, &place, failure) != 0)
                return -1;
        } else if (w->kinds[kind]) {
            return run_fail(failure, "--placement %s: this machine has no two usable CPUs of %s",
                            pair_kind_names[kind], pair_kind_words[kind]);
        }
    }
    return found != 0 ? 0
                      : run_fail(failure, "there are no two usable CPUs that share a core, a cache "
                                          "or nothing; the pair needs two");
}

static void remove_folder(const struct pair_plan *plan)
{
    static const char *const names[] = {"0.hr", "1.hr", "0.err", "1.err"};
    char path[300];

    for (size_t i = 0; i < ARRAY_COUNT(names) && plan->folder[0] != 0; i++) {
        snprintf(path, sizeof path, "%.250s/%s", plan->folder, names[i]);
        unlink(path);
    }
    if (plan->folder[0] != 0)
        rmdir(plan->folder);
}

int pair_command(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "A [ARG...] " BETWEEN " B [ARG...]",
        .doc = "Runs two programs at the same time on CPUs that share something, and each alone: "
               "how they slow each other down, and which events rise.\v"
               "While one is measured, the other one is started again whenever it ends."};
    static char name[] = "hr sweep pair";
    struct wish w = {.plan = {.repeat = 3}, .all = true};
    struct run_failure failure = {0};

    argv[0] = name;
    argp_err_exit_status = RUN_EXIT_FAILED;
    if (command_line_parse(&argp, argc, argv, ARGP_IN_ORDER, &w) != 0)
        return error_exit(RUN_EXIT_FAILED, "out of memory; end other programs");
    if (measure(&w, &failure) != 0)
        error_print("%s", failure.text);
    remove_folder(&w.plan);
    array_free_texts(&w.plan.options, &w.plan.option_count);
    return failure.exit_status;
}
