/* Shows a sweep: the outputs of hr sweep show, rank, plot, view and export. */
#pragma once

#include "host/base/output.h"
#include "host/sweep/database/sweep_data.h"

enum sweep_format { SWEEP_TABLE, SWEEP_CSV, SWEEP_JSON };
enum sweep_by { SWEEP_BY_NONE, SWEEP_BY_PHASE, SWEEP_BY_FUNCTION, SWEEP_BY_BIN };

/* Prints all events with their means.  Returns the exit status. */
int sweep_show(const struct sweep_data *data, enum sweep_format format);

/* Prints what the events counted in each phase, function or part; `limit` of them, 0: all.  Returns
 * the exit status. */
int sweep_by_show(const struct sweep_data *data, const char *folder, enum sweep_by by,
                  enum sweep_format format, size_t limit);

/* Their pieces. */

/* Returns how wide names of events are. */
int sweep_show_columns(const struct sweep_data *data);
/* Prints what the sweep is of. */
void sweep_show_program(const struct sweep_data *data);
/* Prints the titles of columns, and a row of them: an event, of so many instructions. */
void sweep_show_titles(int columns);
void sweep_show_row(int columns, const struct sweep_measured *event,
                    const struct trial_spread *spread, double instructions);
/* Returns the counts in 1,000 instructions. */
double sweep_show_rate(const struct trial_spread *spread, double instructions);
/* Writes "runs,mean,...,source", or what stands between the braces of an event. */
void sweep_show_csv(struct output *out, const struct sweep_measured *event,
                    const struct trial_spread *spread, double instructions);
void sweep_show_json(struct output *out, const struct sweep_measured *event,
                     const struct trial_spread *spread, double instructions);
/* Writes a number with as many digits as it has. */
void sweep_show_number(struct output *out, double value);

#define SWEEP_SHOW_CSV "runs,mean,low,high,deviation,median,outliers,per_1000,source\n"

/* Prints metrics of these means, all or those of a list.  Returns the exit status. */
int sweep_metrics(const struct sweep_data *data, const char *list, enum sweep_format format);

/* Prints which events explain the event `target` along the axis, those that match a pattern of
 * `without` left out.  Returns the exit status. */
int sweep_rank(const struct sweep_data *data, const char *target, char **without,
               size_t without_count, enum sweep_format format);

/* Writes the picture of all correlations as SVG.  Returns the exit status. */
int sweep_plot(const struct sweep_data *data, const char *path);

/* Writes a page of all events and their correlations.  Returns the exit status. */
int sweep_view(const struct sweep_data *data, const char *path);

/* Writes autoperf's files into a folder that need not be there.  Returns the exit status. */
int sweep_export(const struct sweep_data *data, const char *folder);
