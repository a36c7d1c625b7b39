/* The pages of benchmarks, by hr view. */
#include "host/suite/suite_pages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/error.h"
#include "host/run/run_child.h"

struct page {
    char traces[2][SUITE_PATH_BYTES]; /* before, after */
    char file[SUITE_PATH_BYTES];
};

static bool is_wanted(const struct suite_comparison *c, const struct suite_pair *pair)
{
    if (pair->after == NULL || pair->after->problem != NULL)
        return false;
    for (size_t i = 0; i < pair->after->limits.count; i++)
        if (pair->verdicts[i].answer == SUITE_ABOVE)
            return true;
    return c->before == NULL || pair->before == NULL || pair->changed;
}

static bool find_trace(const char *folder, const char *name, char trace[SUITE_PATH_BYTES])
{
    if (folder == NULL)
        return false;
    snprintf(trace, SUITE_PATH_BYTES, "%.4000s/%.70s.hr", folder, name);
    return access(trace, R_OK) == 0;
}

/* Writes a page, with `diff` that of a change.  Returns 1, 0: it was not written, said; or -1 with
 * the failure filled. */
static int write_page(const struct suite_pages *pages, const char *name, bool diff,
                      struct page *page, struct run_failure *failure)
{
    char errors[SUITE_PATH_BYTES], reason[RUN_CHILD_REASON_BYTES];
    char *view[] = {(char *)"hr", (char *)"view", (char *)"--force", (char *)"-o",
                    page->file,   (char *)"--",   page->traces[1],   NULL};
    char *changes[] = {
        (char *)"hr",     (char *)"view", (char *)"--force", (char *)"-o",    page->file,
        (char *)"--diff", (char *)"--",   page->traces[0],   page->traces[1], NULL};
    int status;

    snprintf(page->file, sizeof page->file, "%.4000s/%.70s%s.html", pages->folder, name,
             diff ? SUITE_PAGES_DIFF : "");
    snprintf(errors, sizeof errors, "%.4000s/%.70s.err", pages->folder, name);
    status = run_child(diff ? changes : view, NULL, errors, failure);
    if (status > 0)
        error_print("no page of %s: %s", name, run_child_reason(errors, reason));
    unlink(errors);
    return status < 0 ? -1 : status == 0;
}

int suite_pages_write(const struct suite_pages *pages, struct suite_comparison *c,
                      struct run_failure *failure)
{
    static struct page page;
    int view = 0, diff = 0;

    if (mkdir(pages->folder, 0777) != 0 && errno != EEXIST)
        return run_fail(failure, "cannot make the folder '%s': %s", pages->folder, strerror(errno));
    for (size_t i = 0; i < c->pair_count && view >= 0 && diff >= 0; i++) {
        struct suite_pair *pair = &c->pairs[i];

        if (!is_wanted(c, pair))
            continue;
        if (!find_trace(pages->after, pair->name, page.traces[1])) {
            error_print("no page of %s: '%s' is missing", pair->name, page.traces[1]);
            continue;
        }
        view = write_page(pages, pair->name, false, &page, failure);
        if (view >= 0 && pair->before != NULL &&
            find_trace(pages->before, pair->name, page.traces[0]))
            diff = write_page(pages, pair->name, true, &page, failure);
        else
            diff = 0;
        pair->has_page = view > 0;
        pair->has_diff = diff > 0;
    }
    return view < 0 || diff < 0 ? -1 : 0;
}
