/* Shows a sweep: the outputs of hr sweep show, rank, plot, view and export. */
#pragma once

#include "host/sweep/sweep_data.h"

enum sweep_format { SWEEP_TABLE, SWEEP_CSV, SWEEP_JSON };

/* Prints all events with their means.  Returns the exit status. */
int sweep_show(const struct sweep_data *data, enum sweep_format format);

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
