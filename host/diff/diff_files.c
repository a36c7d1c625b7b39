/* Compares the files that two programs read. */
#include "host/diff/diff_files.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "host/base/text.h"

#define LINES_MAX 10u

struct both {
    const char *path;
    const struct trace_used_file *before, *after; /* of one path; NULL: that run did not read it */
};

/* Without a hash of each the times decide. */
static bool is_same(const struct hr_host_file *a, const struct hr_host_file *b)
{
    if (a->bytes != b->bytes)
        return false;
    return a->flags == 0 && b->flags == 0 ? a->hash == b->hash : a->modified == b->modified;
}

static void print(FILE *out, const struct both *both)
{
    char safe[PATH_MAX], before[TEXT_QUANTITY_BYTES], after[TEXT_QUANTITY_BYTES];

    text_escape(safe, sizeof safe, both->path);
    if (both->before == NULL || both->after == NULL)
        fprintf(out, "# only %s read the file %s\n", both->before != NULL ? "before" : "after",
                safe);
    else if (both->before->file.bytes != both->after->file.bytes)
        fprintf(out, "# the file %s is not the same (%s, %s bytes)\n", safe,
                text_count(before, both->before->file.bytes),
                text_count(after, both->after->file.bytes));
    else
        fprintf(out, "# the file %s is not the same\n", safe);
}

/* Takes the next path of either list. */
static struct both next(const struct trace_files *a, const struct trace_files *b, size_t *i,
                        size_t *k)
{
    int order = *i == a->count ? 1 : *k == b->count ? -1 : strcmp(a->all[*i].path, b->all[*k].path);
    struct both both = {.path = order <= 0 ? a->all[*i].path : b->all[*k].path};

    if (order <= 0)
        both.before = &a->all[(*i)++];
    if (order >= 0)
        both.after = &b->all[(*k)++];
    return both;
}

void diff_files_print(FILE *out, const struct trace_files *before, const struct trace_files *after)
{
    size_t i = 0, k = 0, count = 0;

    while (i < before->count || k < after->count) {
        struct both both = next(before, after, &i, &k);

        if (both.before != NULL && both.after != NULL &&
            is_same(&both.before->file, &both.after->file))
            continue;
        if (count++ < LINES_MAX)
            print(out, &both);
    }
    if (count > LINES_MAX)
        fprintf(out, "# %zu more files are not the same; hr stat --files shows them\n",
                count - LINES_MAX);
}
