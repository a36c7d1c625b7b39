/* How hr bench shows its figures, and the files that it writes. */
#pragma once

#include <stdio.h>

#include "host/bench/bench.h"

/* The table, what is fastest, and what is odd. */
void bench_show(FILE *out, const struct bench *bench);

/* Writes the figures to a file: FILE.json and .csv as hyperfine does, times in seconds, with the
 * events; FILE.md for people.  Returns 0, or -1 with the failure filled. */
int bench_export(const struct bench *bench, const char *path, bool force,
                 struct run_failure *failure);

/* Whether there is a format for the file's name. */
bool bench_export_is_known(const char *path);

/* Returns the events to show: those that were measured, instructions and cycles first; at most two,
 * numbers of the job's events; -1: none. */
void bench_show_events(const struct bench_job *job, int events[2]);

/* Returns how many times as long as the fastest a job takes, and the deviation of that. */
double bench_relative(const struct bench_job *job, const struct bench_job *fastest,
                      double *deviation);
