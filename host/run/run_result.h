/* Turns the result of a run into the last lines on stderr and an exit status. */
#pragma once

#include "host/collector/collect.h"
#include "host/collector/keep_files.h"
#include "host/launch/launch.h"
#include "host/options/options.h"
#include "host/run/relay.h"

struct run_result {
    const struct options *options;
    const struct launch_command *command;
    struct relay *relay;
    struct collector *collector;
    const struct keep_files *files;
    struct serve *serve;
    const struct network *network;
    struct run_failure *failure;
    int wait_status; /* of the emulator */
};

/* Closes the trace, prints messages and the summary, and returns the exit status. */
int run_result_finish(struct run_result *result);
