/* Runs a program once, as a child that is hr run. */
#include "host/trial/trial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/monotonic.h"
#include "host/base/text.h"
#include "lib/crc32c.h"
#include "lib/splitmix.h"

#define FIXED 10 /* arguments apart from options and program, with the NULL at the end */

int trial_output_read(const char *path, struct trial_output *output)
{
    char bytes[65536];
    FILE *file = fopen(path, "re");
    size_t count;

    *output = (struct trial_output){0};
    if (file == NULL)
        return -errno;
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0) {
        output->crc32c = crc32c(output->crc32c, bytes, count);
        output->bytes += count;
    }
    fclose(file);
    return 0;
}

/* The caller frees the list alone. */
static char **arguments(const struct trial *trial, const char *trace)
{
    char **all = calloc(FIXED + trial->option_count + trial->program_count, sizeof all[0]);
    size_t count = 0;

    if (all == NULL)
        return NULL;
    all[count++] = (char *)"hr";
    all[count++] = (char *)"run";
    all[count++] = (char *)"-q";
    all[count++] = (char *)"-o";
    all[count++] = (char *)trace;
    for (size_t i = 0; i < trial->option_count; i++)
        all[count++] = trial->options[i];
    if (trial->events != NULL) {
        all[count++] = (char *)"-e";
        all[count++] = trial->events;
    }
    all[count++] = (char *)"--";
    for (size_t i = 0; i < trial->program_count; i++)
        all[count++] = trial->program[i];
    return all;
}

int trial_run(const struct trial *trial, const struct trial_files *files,
              struct trial_output *output, struct run_failure *failure)
{
    char **all = arguments(trial, files->trace);
    int status;

    if (all == NULL)
        return run_fail(failure, "out of memory; end other programs");
    unlink(files->trace);
    status = run_child_in(&trial->place, all, files->output, files->errors, failure);
    free(all);
    if (status >= 0 && trial_output_read(files->output, output) != 0)
        return run_fail(failure, "cannot read '%s': %s", files->output, strerror(errno));
    return status;
}

void trial_remove(const struct trial_files *files)
{
    unlink(files->trace);
    unlink(files->output);
    unlink(files->errors);
}

int trial_folder_make(struct trial_folder *f, const char *name, struct run_failure *failure)
{
    if (run_child_folder(f->path, name, failure) != 0)
        return -1;
    snprintf(f->trace, sizeof f->trace, "%s/hr.bin", f->path);
    snprintf(f->output, sizeof f->output, "%s/output", f->path);
    snprintf(f->errors, sizeof f->errors, "%s/errors", f->path);
    return 0;
}

void trial_folder_remove(const struct trial_folder *f)
{
    const struct trial_files files = {f->trace, f->output, f->errors};

    if (f->path[0] == 0)
        return;
    trial_remove(&files);
    rmdir(f->path);
}

/* Fisher and Yates's shuffle. */
void trial_order(uint32_t *order, uint32_t count, uint64_t *state)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = (uint32_t)(splitmix_next(state) % (i + 1));

        order[i] = order[other];
        order[other] = i;
    }
}

void trial_show(struct progress *line, size_t done, size_t count, uint64_t start_ns)
{
    uint64_t each = done != 0 ? (monotonic_ns() - start_ns) / done : 0;
    char text[160], left[TEXT_QUANTITY_BYTES];

    if (done == 0)
        snprintf(text, sizeof text, "%zu of %zu runs", done, count);
    else
        snprintf(text, sizeof text, "%zu of %zu runs, %s left", done, count,
                 text_time(left, (double)each * (double)(count - done)));
    progress_show(line, text);
}
