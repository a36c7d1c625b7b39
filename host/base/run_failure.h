/* Why a run failed: a text for people and the exit status.  The code that knows the reason fills
 * it; the command prints it once. */
#pragma once

enum { /* exit statuses of `hr run` other than the program's own */
       RUN_EXIT_TIMEOUT = 124,
       RUN_EXIT_FAILED = 125,
       RUN_EXIT_NOT_EXECUTABLE = 126,
       RUN_EXIT_NOT_FOUND = 127,
       RUN_EXIT_SIGNAL_BASE = 128,
};

struct run_failure {
    int exit_status; /* 0: no failure yet */
    char text[1024];
};

/* Fill the failure unless it already holds one: with RUN_EXIT_FAILED, or with another exit status.
 * Return -1, for `return run_fail`. */
int run_fail(struct run_failure *failure, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int run_fail_as(struct run_failure *failure, int exit_status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
