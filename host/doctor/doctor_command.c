/* hr doctor: reports whether this host can give faithful runs, and what to change. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/base/command_line.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/base/run_failure.h"
#include "host/base/terminal.h"
#include "host/doctor/doctor.h"
#include "host/doctor/doctor_measure.h"

#define COLUMNS_MIN 80u
#define COLUMNS_MAX 120u
#define COLUMNS_DEFAULT 100u /* not a terminal */

enum {
    KEY_JSON = 256,
    KEY_QEMU,
    KEY_ROOT,
    KEY_MEASURE,
    KEY_ACCEL,
    KEY_CPU,
    KEY_PIN,
};

struct request {
    const char *root;
    struct measure_options runs; /* with --measure; without qemu */
    bool measure;
    bool json;
    bool details;
};

static const struct argp_option doctor_options[] = {
    {"json", KEY_JSON, NULL, 0, "Print one JSON object: checks, faithful, verdict", 0},
    {"measure", KEY_MEASURE, NULL, 0,
     "Boot the guest for some seconds and say what sampling costs here", 0},
    {"accel", KEY_ACCEL, "KIND", 0, "With --measure: auto (default), kvm or tcg", 0},
    {"cpu", KEY_CPU, "MODEL", 0, "With --measure: QEMU's CPU model", 0},
    {"pin", KEY_PIN, "LIST", 0, "With --measure: host CPUs for the guest's, such as 4,5", 0},
    {"qemu", KEY_QEMU, "PATH", 0, "The emulator that runs will use", 0},
    {"verbose", 'v', NULL, 0, "Show the effect of what is in order, too", 0},
    {"root", KEY_ROOT, "DIR", OPTION_HIDDEN, "Read /sys and /proc below DIR", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {KEY_JSON, OPTION_FLAG, .offset = offsetof(struct request, json)},
        {KEY_QEMU, OPTION_TEXT, .offset = offsetof(struct request, runs.qemu)},
        {KEY_MEASURE, OPTION_FLAG, .offset = offsetof(struct request, measure)},
        {KEY_ACCEL, OPTION_TEXT, .offset = offsetof(struct request, runs.accel)},
        {KEY_CPU, OPTION_TEXT, .offset = offsetof(struct request, runs.cpu)},
        {KEY_PIN, OPTION_TEXT, .offset = offsetof(struct request, runs.pin)},
        {KEY_ROOT, OPTION_TEXT, .offset = offsetof(struct request, root)},
        {'v', OPTION_FLAG, .offset = offsetof(struct request, details)},
        {0},
    };

    return option_store(fields, key, argument, state->input, state) ? 0 : ARGP_ERR_UNKNOWN;
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
    if (!request.measure &&
        (request.runs.accel != NULL || request.runs.cpu != NULL || request.runs.pin != NULL))
        return error_exit(
            RUN_EXIT_FAILED,
            "--accel, --cpu and --pin are options of the runs of --measure; add --measure");
    return request.measure ? doctor_measure(&request.runs, request.json) : examine(&request);
}
