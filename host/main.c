/* The hr command: finds the subcommand in a table and runs it. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/nearest.h"
#include "host/base/run_failure.h"
#include "host/completion.h"
#include "include/hr_format.h"
#include "include/version.h"
#include "lib/array.h"

#define LARGE_BYTES (256 << 10) /* of memory that is given back as soon as it is free */

static const struct command runs[] = {
    {"run", "run a program alone, sample it and write hr.bin", run_command},
    {"sweep", "measure every event of a program, over as many runs as that takes", sweep_command},
    {"compare", "run two programs in turn: what is different, and how sure that is",
     compare_command},
    {"suite", "run the benchmarks of microtome.toml, and gate changes by their limits",
     suite_command},
    {"ctl", "steer a run from outside: start, pause, poll, mark, stop, list", ctl_command},
    {"pack", "put a program, its files and its options into one archive", pack_command},
    {"collect", "receive a trace from a socket and write it as hr.bin", collect_command},
    {"usb", "make a stick that runs programs on a bare PC; take its results off", usb_command},
};

static const struct command readers[] = {
    {"stat", "summarise a trace: events, samples, intervals, losses, cost", stat_command},
    {"report", "functions of a trace by samples and by events", report_command},
    {"timeline", "rates over time: instructions a cycle, misses, CPU usage", timeline_command},
    {"hist", "distributions: intervals, cost, events a sample, system calls", hist_command},
    {"memory", "what the program allocated, which data it waited for, and which pages it used",
     memory_command},
    {"noise", "when the program did not run or was disturbed, and why", noise_command},
    {"latency", "how long probed functions took, and why some calls took longer", latency_command},
    {"diff", "what changed from one run to another; a gate for tests", diff_command},
    {"plot", "draw a trace as SVG pictures for papers", plot_command},
    {"annotate", "a function's instructions and source lines with their samples", annotate_command},
    {"view", "write a trace as one page for a browser", view_command},
    {"dump", "write every sample as CSV, or every record as text", dump_command},
    {"export", "write a trace for another tool: csv, folded stacks ...", export_command},
    {"check", "verify a trace and say what is damaged or missing", check_command},
};

static const struct command machine[] = {
    {"events", "list the events that a CPU can count, by name", events_command},
    {"doctor", "say whether this machine can give faithful runs, and what to change",
     doctor_command},
    {"bench", "time commands and compare them; measure the memory", bench_command},
};

static const struct group {
    const char *title;
    const struct command *commands;
    size_t count;
} groups[] = {
    {"Runs", runs, ARRAY_COUNT(runs)},
    {"Reading a trace", readers, ARRAY_COUNT(readers)},
    {"The machine", machine, ARRAY_COUNT(machine)},
};

static const struct command *find_command(const char *name)
{
    for (const struct group *group = groups; group < groups + ARRAY_COUNT(groups); group++)
        for (size_t i = 0; i < group->count; i++)
            if (strcmp(group->commands[i].name, name) == 0)
                return &group->commands[i];
    return NULL;
}

/* Returns the command that was meant, with at most two wrong letters; NULL: none. */
static const char *nearest_command(const char *name)
{
    const char *nearest = NULL;
    size_t least = 3;

    for (const struct group *group = groups; group < groups + ARRAY_COUNT(groups); group++)
        for (size_t i = 0; i < group->count; i++) {
            size_t distance = nearest_distance(name, group->commands[i].name);

            if (distance < least) {
                least = distance;
                nearest = group->commands[i].name;
            }
        }
    return nearest;
}

static int unknown_command(const char *name)
{
    const char *nearest = nearest_command(name);

    if (nearest != NULL)
        error_print("%s: unknown command; did you mean 'hr %s'?", name, nearest);
    else
        error_print("%s: unknown command; 'hr --help' lists the commands", name);
    return HR_EXIT_USAGE;
}

static int print_help(FILE *out)
{
    fputs("Usage: hr COMMAND [OPTION...] [ARGUMENT...]\n"
          "Microtome runs one program alone and looks at it every few microseconds.\n",
          out);
    for (const struct group *group = groups; group < groups + ARRAY_COUNT(groups); group++) {
        fprintf(out, "\n%s:\n", group->title);
        for (size_t i = 0; i < group->count; i++)
            fprintf(out, "  %-9s %s\n", group->commands[i].name, group->commands[i].summary);
    }
    fputs("\n  help CMD  show a command's options and examples\n\n"
          "      --help     show this text\n"
          "      --version  show the version\n",
          out);
    return out == stdout ? HR_EXIT_OK : HR_EXIT_USAGE;
}

static int run_command_entry(const struct command *command, int argc, char **argv)
{
    char name[32];

    snprintf(name, sizeof name, "hr %s", command->name);
    argv[0] = name;
    argp_err_exit_status = HR_EXIT_USAGE;
    return command->run(argc, argv);
}

static int help(int argc, char **argv)
{
    char option[] = "--help";
    char *help_argv[] = {NULL, option, NULL};
    const struct command *command;

    if (argc < 2)
        return print_help(stdout);
    command = find_command(argv[1]);
    return command != NULL ? run_command_entry(command, 2, help_argv) : unknown_command(argv[1]);
}

/* Not in the list, because only `make install` calls it. */
static int complete(int argc, char **argv)
{
    const struct command *all[64];
    size_t count = 0;

    for (const struct group *group = groups; group < groups + ARRAY_COUNT(groups); group++)
        for (size_t i = 0; i < group->count && count < ARRAY_COUNT(all); i++)
            all[count++] = &group->commands[i];
    return completion_command(all, count, argc, argv);
}

static int dispatch(int argc, char **argv)
{
    const struct command *command;

    if (argc < 2)
        return print_help(stderr);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help(stdout);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("hr (Microtome) %s, trace format %d.%d\n", VERSION_TEXT, HR_VERSION_MAJOR,
               HR_VERSION_MINOR);
        return HR_EXIT_OK;
    }
    if (strcmp(argv[1], "help") == 0)
        return help(argc - 1, argv + 1);
    if (strcmp(argv[1], "completion") == 0)
        return complete(argc - 1, argv + 1);
    command = find_command(argv[1]);
    if (command == NULL)
        return unknown_command(argv[1]);
    return run_command_entry(command, argc - 1, argv + 1);
}

/* A closed standard stream must not get the number of a file that hr opens.  Writing to one fails,
 * as it would otherwise, except for hr run: there the stream belongs to the program, and /dev/null
 * serves. */
static void occupy_standard_streams(bool writable)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd != 0 && writable ? O_WRONLY : O_RDONLY) != fd)
            exit(RUN_EXIT_FAILED);
}

int main(int argc, char **argv)
{
    int status;

    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES); /* else it rises, and tables that grew stay */
    error_protect_terminal();
    occupy_standard_streams(argc > 1 && strcmp(argv[1], "run") == 0);
    status = dispatch(argc, argv);

    if ((fflush(stdout) != 0 || ferror(stdout)) && status == HR_EXIT_OK) {
        error_print("standard output: %s; free some space or write elsewhere", strerror(errno));
        status = HR_EXIT_FAILED;
    }
    return status;
}
