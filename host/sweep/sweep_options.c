/* Parses the options of hr sweep; those that concern a run are handed to hr run unchanged. */
#include "host/sweep/sweep_options.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/command_line.h"
#include "host/base/option.h"
#include "host/sweep/database/sweep_merge.h"
#include "host/sweep/runs/sweep_task.h"

#define WARM_UP_MAX 1000u
#define SEED_DEFAULT 1

enum {
    KEY_REPEAT = 256,
    KEY_WARM_UP,
    KEY_SEED,
    KEY_BINS,
    KEY_DRY_RUN,
    KEY_RESUME,
    KEY_USB,
    KEY_USB_OPTIONS,
    KEY_TARGET_CPU,
};

static const struct argp_option table[] = {
    {"output", 'o', "FOLDER", 0, "folder for the traces and results (default sweep)", 0},
    {"event", 'e', "LIST", 0,
     "events as for hr run, patterns such as 'MEM_LOAD*', groups, or all (default): every event of "
     "the CPU; may be repeated",
     0},
    {"repeat", KEY_REPEAT, "N", 0, "perform each run N times (default 1), in random order", 0},
    {"warmup", KEY_WARM_UP, "N", 0,
     "run the program N times before (default 1): the first run tells the CPU", 0},
    {"seed", KEY_SEED, "N", 0, "of the order of the runs (default 1)", 0},
    {"bins", KEY_BINS, "N", 0, "divide the program's instructions into N parts (default 200)", 0},
    {"dry-run", KEY_DRY_RUN, 0, 0, "run the program once, print the plan and stop", 0},
    {"resume", KEY_RESUME, 0, 0, "continue the sweep in FOLDER where it was interrupted", 0},
    {"quiet", 'q', 0, 0, "no plan, no progress and no table", 0},
    {0, 0, 0, 0, "By a machine that starts from a stick:", 1},
    {"usb", KEY_USB, "FILE", 0,
     "write the runs onto this stick, or into an image of one; hr sweep take takes the traces", 1},
    {"target-cpu", KEY_TARGET_CPU, "CPU", 0,
     "plan for this processor (intel-6-106, icx), or for the one of a trace (hr.bin)", 1},
    {"usb-options", KEY_USB_OPTIONS, "OPTIONS", 0,
     "for hr usb, such as '--machine lab-7 --network 192.168.7.1'", 1},
    {0, 0, 0, 0, "As for hr run:", 2},
    {0},
};

static const char help[] =
    "Measures many events of a program by running it again and again.\v"
    "Each run counts as many events as the CPU has counters for; nothing is multiplexed.  The "
    "traces and sweep.db, a database of all results, are put into FOLDER.  The program reads an "
    "empty standard input.\n\n"
    "  hr sweep take -o FOLDER STICK       take the traces from a stick, or from hr collect's "
    "folder\n"
    "  hr sweep show [FOLDER]              all events with their means and intervals\n"
    "  hr sweep rank --explain E [FOLDER]  which events explain event E\n"
    "  hr sweep plot -o FILE [FOLDER]      a picture of all correlations\n"
    "  hr sweep export autoperf [FOLDER]   the files of autoperf\n"
    "  hr sweep pair A ::: B               two programs at the same time\n\n"
    "Exit status: 0; 1 when an event could not be measured or runs do not agree; 125 when "
    "Microtome failed.\n\n"
    "Examples:\n"
    "  hr sweep --dry-run ./my-program          how many runs all events take\n"
    "  hr sweep --repeat 5 -o all ./my-program  measure each five times\n"
    "  hr sweep --resume -o all                 ... and continue after Ctrl-C\n"
    "  hr sweep --usb /dev/sdX --target-cpu icx -o all ./my-program   by another machine";

static error_t take_rest(struct sweep_options *o, struct argp_state *state)
{
    for (int i = state->next - 1; i < state->argc; i++)
        if (array_append_text(&o->sweep->program, &o->sweep->program_count, state->argv[i]) != 0)
            return ENOMEM;
    state->next = state->argc;
    return 0;
}

static void check_stick(const struct sweep_options *o, const struct argp_state *state)
{
    const struct sweep *sweep = o->sweep;

    if (sweep->usb != NULL && o->target == NULL && !o->resume)
        argp_error(state, "--usb: nobody can ask the machine before it starts; name its processor "
                          "with --target-cpu, or a trace that it made");
    if (o->target != NULL && (o->resume || (sweep->usb == NULL && !o->dry_run)))
        argp_error(state, "--target-cpu is for the first --usb of a sweep, and for --dry-run");
    if (sweep->usb_options != NULL && sweep->usb == NULL && !o->resume)
        argp_error(state, "--usb-options are for --usb FILE");
    if (o->target == NULL)
        return;
    if (o->warm_up > 1)
        argp_error(state, "--warmup: a stick performs each run once; leave it out");
    for (size_t i = 0; i < o->passed.count; i++)
        if (!sweep_task_is_packed(o->passed.texts[i]) &&
            !sweep_task_is_of_stick(o->passed.texts[i]))
            argp_error(state,
                       "%s is for an emulator here, and the runs are on a machine that "
                       "starts from a stick; leave it out",
                       o->passed.texts[i]);
}

static void check_end(const struct sweep_options *o, const struct argp_state *state)
{
    if (o->resume && o->dry_run)
        argp_error(state, "--dry-run: the folder of --resume has a plan already, in sweep.json");
    if (o->resume && (o->sweep->program_count != 0 || o->event_count != 0 || o->passed.count != 0))
        argp_error(state, "--resume: the folder knows the program, the events and the options; "
                          "name the folder alone");
    if (remote_where_is(&o->sweep->where) && o->sweep->usb != NULL)
        argp_error(state, "--hosts, --slurm and --usb: choose one of them");
    check_stick(o, state);
    if (!o->resume && o->sweep->program_count == 0)
        argp_error(state, "no program given");
}

static error_t take_text(char **field, const char *argument)
{
    free(*field);
    *field = strdup(argument);
    return *field != NULL ? 0 : ENOMEM;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {KEY_WARM_UP, OPTION_NUMBER, offsetof(struct sweep_options, warm_up), "warmup",
         "not a number of runs from 1 to 1000", 1, WARM_UP_MAX},
        {KEY_BINS, OPTION_NUMBER, offsetof(struct sweep_options, bins), "bins",
         "not a number from 1 to 10000", 1, SWEEP_BINS_MAX},
        {KEY_DRY_RUN, OPTION_FLAG, .offset = offsetof(struct sweep_options, dry_run)},
        {KEY_RESUME, OPTION_FLAG, .offset = offsetof(struct sweep_options, resume)},
        {'q', OPTION_FLAG, .offset = offsetof(struct sweep_options, quiet)},
        {0},
    };
    static const struct option_field sweep_fields[] = {
        {KEY_REPEAT, OPTION_NUMBER, offsetof(struct sweep, repeat), "repeat",
         "not a number of runs from 1 to 1000", 1, SWEEP_REPEAT_MAX},
        {KEY_SEED, OPTION_NUMBER, offsetof(struct sweep, seed), "seed", "not a number", 0,
         UINT32_MAX},
        {0},
    };
    struct sweep_options *o = state->input;

    if (option_store(fields, key, argument, o, state) ||
        option_store(sweep_fields, key, argument, o->sweep, state))
        return 0;
    switch (key) {
    case 'o':
        if (strlen(argument) >= sizeof o->sweep->folder)
            argp_error(state, "-o: the name of the folder is too long");
        snprintf(o->sweep->folder, sizeof o->sweep->folder, "%s", argument);
        return 0;
    case 'e':
        return -array_append_text(&o->events, &o->event_count, argument);
    case KEY_USB:
        return take_text(&o->sweep->usb, argument);
    case KEY_USB_OPTIONS:
        return take_text(&o->sweep->usb_options, argument);
    case KEY_TARGET_CPU:
        o->target = argument;
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->sweep->where;
        state->child_inputs[1] = &o->passed;
        return 0;
    case ARGP_KEY_ARG:
        return take_rest(o, state);
    case ARGP_KEY_END:
        check_end(o, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int sweep_options_parse(struct sweep_options *o, int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&remote_where_argp, 0, NULL, 1}, {&trial_options_argp, 0, NULL, 2}, {0}};
    static const struct argp argp = {.options = table,
                                     .parser = parse_option,
                                     .args_doc = "[--] PROGRAM [ARG...]\n--resume -o FOLDER\n"
                                                 "take|show|rank|plot|view|export|pair ...",
                                     .doc = help,
                                     .children = children};
    error_t error;

    o->warm_up = 1;
    o->bins = SWEEP_BINS_DEFAULT;
    o->sweep->repeat = 1;
    o->sweep->seed = SEED_DEFAULT;
    strcpy(o->sweep->folder, SWEEP_FOLDER_DEFAULT);
    error = command_line_parse(&argp, argc, argv, ARGP_IN_ORDER, o);
    o->sweep->options = o->passed.texts;
    o->sweep->option_count = o->passed.count;
    return error == 0 ? 0 : -ENOMEM;
}

void sweep_options_free(struct sweep_options *o)
{
    array_free_texts(&o->events, &o->event_count);
}
