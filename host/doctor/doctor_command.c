/* hr doctor: reports whether this host can give faithful runs, and what to change. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/command_line.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/run_failure.h"
#include "host/base/terminal.h"
#include "host/doctor/doctor.h"
#include "host/doctor/doctor_measure.h"

#define COLUMNS_MIN 80u
#define COLUMNS_MAX 120u
#define COLUMNS_DEFAULT 100u /* not a terminal */

enum {
    OPTION_JSON = 256,
    OPTION_QEMU,
    OPTION_ROOT,
    OPTION_MEASURE,
    OPTION_ACCEL,
    OPTION_CPU,
    OPTION_PIN,
};

struct request {
    const char *root;
    struct measure_options runs; /* with --measure; without qemu */
    bool measure;
    bool json;
    bool details;
};

static const struct argp_option doctor_options[] = {
    {"json", OPTION_JSON, NULL, 0, "Print one JSON object: checks, faithful, verdict", 0},
    {"measure", OPTION_MEASURE, NULL, 0,
     "Boot the guest for some seconds and say what sampling costs here", 0},
    {"accel", OPTION_ACCEL, "KIND", 0, "With --measure: auto (default), kvm or tcg", 0},
    {"cpu", OPTION_CPU, "MODEL", 0, "With --measure: QEMU's CPU model", 0},
    {"pin", OPTION_PIN, "LIST", 0, "With --measure: host CPUs for the guest's, such as 4,5", 0},
    {"qemu", OPTION_QEMU, "PATH", 0, "The emulator that runs will use", 0},
    {"verbose", 'v', NULL, 0, "Show the effect of what is in order, too", 0},
    {"root", OPTION_ROOT, "DIR", OPTION_HIDDEN, "Read /sys and /proc below DIR", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct request *r = state->input;

    switch (key) {
    case OPTION_JSON:
        r->json = true;
        return 0;
    case OPTION_QEMU:
        r->runs.qemu = argument;
        return 0;
    case OPTION_MEASURE:
        r->measure = true;
        return 0;
    case OPTION_ACCEL:
        r->runs.accel = argument;
        return 0;
    case OPTION_CPU:
        r->runs.cpu = argument;
        return 0;
    case OPTION_PIN:
        r->runs.pin = argument;
        return 0;
    case OPTION_ROOT:
        r->root = argument;
        return 0;
    case 'v':
        r->details = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static unsigned int find_columns(void)
{
    unsigned int columns = terminal_columns(STDOUT_FILENO, COLUMNS_DEFAULT);

    return columns < COLUMNS_MIN ? COLUMNS_MIN : columns > COLUMNS_MAX ? COLUMNS_MAX : columns;
}

static int examine(const struct request *request)
{
    static struct doctor_host host;
    static struct doctor_report report;
    int error = 0;

    host.root = request->root;
    doctor_facts_gather(&host.facts, request->runs.qemu);
    doctor_examine(&host, &report);
    if (request->json)
        error = doctor_print_json(stdout, &report);
    else
        doctor_print_table(stdout, &report, find_columns(), terminal_colours(STDOUT_FILENO),
                           request->details);
    if (error != 0 || fflush(stdout) != 0 || ferror(stdout))
        return error_exit(RUN_EXIT_FAILED,
                          "standard output: %s; free some space or write elsewhere",
                          strerror(error != 0 ? -error : errno));
    return report.faithful ? HR_EXIT_OK : HR_EXIT_FAILED;
}

int doctor_command(int argc, char **argv)
{
    static const struct argp argp = {
        .options = doctor_options,
        .parser = parse_option,
        .doc =
            "Says whether this machine can give faithful runs (hardware counters, at the CPU's "
            "speed, undisturbed) and what to change.\v"
            "The exit status is 0 if it can, 1 if it cannot, 125 if that could not be found "
            "out; with --measure it is 0 when everything was measured.  docs/lab-setup.md explains "
            "each setting.",
    };
    struct request request = {.root = ""};

    argp_err_exit_status = RUN_EXIT_FAILED; /* 1 and 2 are verdicts */
    command_line_parse(&argp, argc, argv, 0, &request);
    if (request.root[0] != 0 && access(request.root, X_OK) != 0)
        return error_exit(RUN_EXIT_FAILED, "--root %s: %s", request.root, strerror(errno));
    if (!request.measure && (request.runs.accel || request.runs.cpu || request.runs.pin))
        return error_exit(RUN_EXIT_FAILED,
                          "--accel, --cpu and --pin are for the runs of --measure; give that, too");
    return request.measure ? doctor_measure(&request.runs, request.json) : examine(&request);
}
