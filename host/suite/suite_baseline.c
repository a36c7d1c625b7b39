/* Keeps baselines as files, and finds them wherever they are. */
#include "host/suite/suite_baseline.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/array.h"
#include "host/base/nearest.h"
#include "host/base/text.h"
#include "host/suite/suite_git.h"

#define ENDING ".json"

static int check_name(const char *name, struct run_failure *failure)
{
    char safe[100];

    if (suite_is_name(name))
        return 0;
    return run_fail_as(failure, 2,
                       "'%s' is no name of a baseline: at most %u letters, digits and . _ -",
                       text_escape(safe, sizeof safe, name), SUITE_NAME_BYTES);
}

static char *path_of(const char *folder, const char *name, char path[SUITE_PATH_BYTES])
{
    snprintf(path, SUITE_PATH_BYTES, "%.4000s/%.70s" ENDING, folder, name);
    return path;
}

static int list_folder(const char *folder, struct suite_texts *names, struct run_failure *failure)
{
    DIR *open = opendir(folder);
    struct dirent *entry;
    int result = 0;

    while (open != NULL && result == 0 && (entry = readdir(open)) != NULL) {
        size_t bytes = strlen(entry->d_name);

        if (bytes <= strlen(ENDING) || strcmp(entry->d_name + bytes - strlen(ENDING), ENDING) != 0)
            continue;
        entry->d_name[bytes - strlen(ENDING)] = 0;
        if (suite_is_name(entry->d_name))
            result = array_append_text(&names->list, &names->count, entry->d_name);
    }
    if (open != NULL)
        closedir(open);
    if (names->count != 0)
        qsort(names->list, names->count, sizeof names->list[0], array_compare_texts);
    return result == 0 ? 0 : run_fail(failure, "out of memory; end other programs");
}

int suite_baseline_list(const struct suite_store *store, struct suite_texts *names,
                        struct run_failure *failure)
{
    return store->git ? suite_git_list(names, failure) : list_folder(store->folder, names, failure);
}

/* `where` says where it was looked for. */
static int missing(const struct suite_store *stores, size_t count, const char *name,
                   const char *where, struct run_failure *failure)
{
    struct run_failure ignored = {0};
    struct suite_texts names = {0};
    char list[256], safe[100];
    struct nearest nearest;

    for (size_t i = 0; i < count; i++)
        (void)suite_baseline_list(&stores[i], &names, &ignored);
    nearest_init(&nearest, name);
    for (size_t i = 0; i < names.count; i++)
        nearest_offer(&nearest, names.list[i]);
    suite_texts_free(&names);
    nearest_list(&nearest, list, sizeof list);
    return run_fail_as(failure, 2, "there is no baseline '%s' %s; %s%s%s",
                       text_escape(safe, sizeof safe, name), where,
                       nearest.count != 0 ? "near: " : "'hr suite baseline save ",
                       nearest.count != 0 ? list : safe, nearest.count != 0 ? "" : "' keeps one");
}

static int missing_in(const struct suite_store *store, const char *name,
                      struct run_failure *failure)
{
    char where[300];

    snprintf(where, sizeof where, "in %.280s",
             store->git ? "git (" SUITE_BASELINE_REF ")" : store->folder);
    return missing(store, 1, name, where, failure);
}

static bool has(const struct suite_store *store, const char *name)
{
    char path[SUITE_PATH_BYTES];

    return store->git ? suite_git_has(name) : access(path_of(store->folder, name, path), F_OK) == 0;
}

int suite_baseline_save(const struct suite_store *store, const char *name,
                        const struct suite_results *results, struct run_failure *failure)
{
    char path[SUITE_PATH_BYTES];

    if (check_name(name, failure) != 0)
        return -1;
    if (store->git)
        return suite_git_save(name, results, failure);
    if (mkdir(store->folder, 0777) != 0 && errno != EEXIST)
        return run_fail_as(failure, 2, "cannot make the folder '%s': %s", store->folder,
                           strerror(errno));
    return suite_results_write(results, path_of(store->folder, name, path), failure);
}

int suite_baseline_read(const struct suite_store *store, const char *name,
                        struct suite_results *results, struct run_failure *failure)
{
    char path[SUITE_PATH_BYTES];

    if (check_name(name, failure) != 0)
        return -1;
    if (!has(store, name))
        return missing_in(store, name, failure);
    return store->git ? suite_git_read(name, results, failure)
                      : suite_results_read(results, path_of(store->folder, name, path), failure);
}

int suite_baseline_prune(const struct suite_store *store, const char *name,
                         struct run_failure *failure)
{
    char path[SUITE_PATH_BYTES];

    if (check_name(name, failure) != 0)
        return -1;
    if (!has(store, name))
        return missing_in(store, name, failure);
    if (store->git)
        return suite_git_prune(name, failure);
    if (unlink(path_of(store->folder, name, path)) == 0)
        return 0;
    return run_fail_as(failure, 2, "cannot remove '%s': %s", path, strerror(errno));
}

int suite_baseline_find(const char *folder, const char *name, struct suite_results *results,
                        struct run_failure *failure)
{
    const struct suite_store stores[] = {{folder, false}, {folder, true}};
    char where[400];

    if (access(name, F_OK) == 0)
        return suite_results_read(results, name, failure);
    for (size_t i = 0; i < 2 && suite_is_name(name); i++)
        if (has(&stores[i], name))
            return suite_baseline_read(&stores[i], name, results, failure);
    snprintf(
        where, sizeof where,
        "as a file, in %.200s, or in git (git fetch origin 'refs/microtome/*:refs/microtome/*' "
        "gets those of others)",
        folder);
    return missing(stores, 2, name, where, failure);
}
