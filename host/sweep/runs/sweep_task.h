/* One run of a sweep on another machine: `hr sweep task FOLDER JOB`.
 *
 * FOLDER has sweep.json and program.cpio.  The result is a parcel
 * (host/remote/remote_parcel.h): tasks/JOB.parcel of the folder, which gets its name when it
 * is whole, or standard output.
 */
#pragma once

#include "host/sweep/folder/sweep_folder.h"

/* Implements the command.  Returns its exit status: 0 when there is a result, even of a run that
 * failed. */
int sweep_task_command(int argc, char **argv);

/* Makes program.cpio by hr pack.  Returns 0, or -1 with the failure filled. */
int sweep_task_pack(const struct sweep *sweep, struct run_failure *failure);

/* Whether an option of hr run has a meaning for a stick: for the archive, or for hr usb alone. */
bool sweep_task_is_packed(const char *option);
bool sweep_task_is_of_stick(const char *option);

/* Writes the name of a job: "first", or its number.  Returns `name`. */
#define SWEEP_TASK_BYTES 24
char *sweep_task_name(const struct sweep *sweep, const struct sweep_job *job,
                      char name[SWEEP_TASK_BYTES]);

/* Returns the job of that name; NULL: there is none. */
struct sweep_job *sweep_task_find(struct sweep *sweep, const char *name);
