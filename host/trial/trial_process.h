/* Processes that run at the same time: ssh, the commands of Slurm, two programs. */
#pragma once

#include <sys/types.h>

/* From now on signals that end hr are told by trial_process_wait. */
void trial_process_begin(void);

/* Ends that. */
void trial_process_end(void);

/* Starts a program, found by PATH, with files for its standard input, output and error; NULL:
 * /dev/null.  It ends when hr ends.  Returns its number or -errno. */
pid_t trial_process_start(const char *const argv[], const char *in, const char *out,
                          const char *errors);

/* Waits until one of them ends, for `timeout_ms` at most.  Returns its number with its exit status
 * (127: it could not be started), 0 after the time, or minus the number of a signal that is to end
 * hr. */
pid_t trial_process_wait(int timeout_ms, int *status);

/* Starts a program and waits for its end.  Returns its exit status, or minus the number of a
 * signal. */
int trial_process_run(const char *const argv[], const char *in, const char *out,
                      const char *errors);
