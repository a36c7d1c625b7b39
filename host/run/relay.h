/* Moves bytes between the emulator's ports and the outside until the run is over: the trace to the
 * collector, output to the command's own streams, input on request, the log to memory, control
 * messages both ways.
 *
 * Everything that arrives is hostile.  Nothing is lost: a run ends when the emulator has ended and
 * every port is drained, or when the user insists.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/base/progress.h"
#include "host/base/run_failure.h"
#include "host/collector/collect.h"
#include "host/collector/keep_files.h"
#include "host/ctl/ctl_server.h"
#include "host/launch/launch.h"
#include "host/network/network.h"
#include "host/options/options.h"
#include "host/run/relay_boot.h"
#include "host/run/relay_input.h"
#include "host/run/relay_log.h"
#include "host/run/relay_output.h"
#include "host/serve/serve.h"
#include "include/run_ports.h"

enum relay_slot { /* the descriptors that the loop waits for */
                  RELAY_SIGNALS,
                  RELAY_WAKE,
                  RELAY_CHILD,
                  RELAY_TRACE,
                  RELAY_LOG,
                  RELAY_CONSOLE,
                  RELAY_ERRORS,
                  RELAY_FILES,
                  RELAY_CONTROL,
                  RELAY_INPUT_READ,
                  RELAY_INPUT_WRITE,
                  RELAY_CTL_LISTENER,
                  RELAY_CTL_CLIENT,
                  RELAY_SLOTS,
};

struct relay {
    const struct options *options;
    struct launch *launch;
    struct collector *collector;
    struct run_failure *failure;
    struct progress progress;
    struct relay_boot boot;
    struct relay_output outputs[2]; /* stdout, stderr */
    struct relay_input input;
    struct relay_log log; /* of the guest's kernel */
    struct relay_log console; /* COM1: the report of a panic */
    struct relay_log errors; /* of the emulator itself */
    struct keep_files *files; /* NULL: no files were requested */
    struct ctl_server ctl;
    struct network *network; /* has the guest's connections, in a thread of its own */
    struct serve *serve; /* answers the guest's requests for files in a thread of its own */
    uint8_t control[sizeof(struct run_message)];
    size_t control_bytes;
    bool verified; /* launch_memory_verify has checked the guest's memory */
    bool encoded; /* the guest got the encodings of its events */
    bool open[RELAY_SLOTS]; /* the descriptor has not reached its end */
    int signals; /* signalfd */
    int wake; /* eventfd */
    uint64_t timeout_ns; /* CLOCK_MONOTONIC; UINT64_MAX: none; likewise the next ones */
    uint64_t kill_ns; /* when to kill the emulator */
    uint64_t abandon_ns; /* when to give up blocked output */
    uint64_t leave_ns; /* when to give up ports that are still open after the emulator's end */
    uint64_t draw_ns;
    /* results */
    int stop_signal; /* sent with RUN_HOST_STOP, 0 if none was */
    int user_signal; /* SIGINT, SIGTERM or SIGHUP; 0 if none came */
    bool broken[2]; /* the guest knows that the reader of stdout, stderr is gone */
    bool done; /* the guest sent RUN_GUEST_DONE */
    bool timed_out;
    bool killed; /* we killed the emulator */
    bool abandoned;
    bool left;
};

/* Returns whether output of the program was given up before it was written. */
bool relay_lost_output(const struct relay *r);

/* Blocks the signals that end a run, and opens a descriptor that reads them.  Call it before
 * launch_start and before any thread exists.  Returns the descriptor, or -1 with the failure
 * filled. */
int relay_catch_signals(struct run_failure *failure);

/* Runs until the emulator has ended.  `files` takes the data of the files port, if there is one;
 * `serve` and `network`, which are open then, answer what comes from the ports of these names.
 * Returns 0, or -1 if it could not begin. */
int relay_run(struct relay *r, const struct options *o, struct launch *launch,
              struct collector *collector, struct keep_files *files, struct serve *serve,
              struct network *network, int signals, struct run_failure *failure);
