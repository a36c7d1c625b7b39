/* Keeps baselines by git's plumbing. */
#include "host/suite/suite_git.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/suite/suite_baseline.h"
#include "host/trial/trial_git.h"

#define HASH_BYTES 80
#define REF_BYTES 200

static char *set_ref(char ref[REF_BYTES], const char *name, const char *ending)
{
    snprintf(ref, REF_BYTES, SUITE_BASELINE_REF "%.90s%s", name, ending);
    return ref;
}

bool suite_git_has(const char *name)
{
    struct run_failure failure = {0};
    char ref[REF_BYTES];
    struct trial_git call = {
        .arguments = {"rev-parse", "-q", "--verify", set_ref(ref, name, "^{commit}")}};
    int status = trial_git(&call, &failure);

    free(call.output);
    return status == 0;
}

/* The blob and the tree. */
static int save_tree(const struct suite_results *results, char tree[HASH_BYTES],
                     struct run_failure *failure)
{
    char blob[HASH_BYTES], list[HASH_BYTES + 60];
    struct trial_git put = {.arguments = {"hash-object", "-w", "--stdin"}};
    struct trial_git make = {.arguments = {"mktree"}, .input = list};
    char *text = suite_results_text(results);
    int result;

    if (text == NULL)
        return run_fail(failure, "out of memory; end other programs");
    put.input = text;
    result = trial_git_line(&put, blob, HASH_BYTES, failure);
    free(text);
    if (result != 0)
        return -1;
    snprintf(list, sizeof list, "100644 blob %s\t" SUITE_RESULTS_NAME "\n", blob);
    return trial_git_line(&make, tree, HASH_BYTES, failure);
}

int suite_git_save(const char *name, const struct suite_results *results,
                   struct run_failure *failure)
{
    char ref[REF_BYTES], commit_ref[REF_BYTES], tree[HASH_BYTES], commit[HASH_BYTES];
    char parent[HASH_BYTES] = "", message[REF_BYTES];
    struct trial_git find = {.arguments = {"rev-parse", set_ref(commit_ref, name, "^{commit}")}};
    /* A container of CI has no user who could be named as the author. */
    struct trial_git make = {.arguments = {"-c", "user.name=Microtome", "-c",
                                           "user.email=microtome@localhost", "commit-tree", tree,
                                           "-m", message}};
    struct trial_git set = {.arguments = {"update-ref", set_ref(ref, name, ""), commit, parent}};

    if (save_tree(results, tree, failure) != 0)
        return -1;
    snprintf(message, sizeof message, "Results of the suite, baseline %.90s", name);
    if (suite_git_has(name)) {
        if (trial_git_line(&find, parent, HASH_BYTES, failure) != 0)
            return -1;
        make.arguments[8] = "-p";
        make.arguments[9] = parent;
    }
    if (trial_git_line(&make, commit, HASH_BYTES, failure) != 0)
        return -1;
    return trial_git_line(&set, tree, HASH_BYTES,
                          failure); /* an empty parent: it must not be there yet */
}

int suite_git_read(const char *name, struct suite_results *results, struct run_failure *failure)
{
    char object[REF_BYTES];
    struct trial_git call = {
        .arguments = {"cat-file", "blob", set_ref(object, name, ":" SUITE_RESULTS_NAME)}};
    int result = trial_git_line(&call, NULL, 0, failure);

    if (result == 0)
        result = suite_results_parse(results, object, call.output, call.output_bytes, failure);
    free(call.output);
    return result;
}

int suite_git_prune(const char *name, struct run_failure *failure)
{
    char ref[REF_BYTES], line[HASH_BYTES];
    struct trial_git call = {.arguments = {"update-ref", "-d", set_ref(ref, name, "")}};

    return trial_git_line(&call, line, HASH_BYTES, failure);
}

int suite_git_list(struct suite_texts *names, struct run_failure *failure)
{
    struct trial_git call = {
        .arguments = {"for-each-ref", "--format=%(refname:lstrip=3)", SUITE_BASELINE_REF}};
    int result = trial_git_line(&call, NULL, 0, failure);
    char *save = NULL;

    for (char *line = result == 0 ? strtok_r(call.output, "\n", &save) : NULL;
         line != NULL && result == 0; line = strtok_r(NULL, "\n", &save))
        if (suite_is_name(line) && array_append_text(&names->list, &names->count, line) != 0)
            result = run_fail(failure, "out of memory; end other programs");
    free(call.output);
    return result;
}
