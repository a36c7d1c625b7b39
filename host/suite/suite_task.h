/* A run of a benchmark on another machine: `hr suite task FOLDER NAME+NUMBER`.
 *
 * A task file has what the machine needs, in the form of a parcel (host/remote/remote_parcel.h):
 * the number of runs that do not count and the options of hr run, each with a zero at its end; what
 * the program reads from standard input; and the archive with the program.
 */
#pragma once

#include "host/suite/suite_runs.h"

#define SUITE_TASK ".task" /* tasks/NAME.task of the folder */
#define SUITE_TASK_THERE "task" /* in the folder of a machine that gets it by ssh */

/* Makes the task file of a benchmark.  Returns 0; 1 with the failure filled: this benchmark cannot
 * be packed; or -1 likewise: nothing can. */
int suite_task_make(const struct suite *suite, const struct suite_benchmark *b,
                    const struct suite_selection *selection, const char *folder,
                    struct run_failure *failure);

/* Implements the command.  Returns its exit status: 0 when there is a result, even of a run that
 * failed. */
int suite_task_command(int argc, char **argv);
