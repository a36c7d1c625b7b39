/* Makes worktrees of two revisions and builds in them.
 *
 * Their folders' names have the same length: a program finds its own path on its stack, so another
 * length would move everything there.
 */
#include "host/compare/compare_git.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/text.h"
#include "host/run/run_child.h"
#include "host/trial/trial_git.h"

#define LOG_TAIL 4096

static void path_of(const struct compare_git *git, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", git->folder, name);
}

/* The last line of a log that is not empty, escaped. */
static char *last_line(const char *path, char text[RUN_CHILD_REASON_BYTES])
{
    char line[RUN_CHILD_REASON_BYTES], last[RUN_CHILD_REASON_BYTES] = "it said nothing";
    FILE *file = fopen(path, "re");

    if (file != NULL) {
        if (fseek(file, -LOG_TAIL, SEEK_END) != 0)
            rewind(file);
        while (fgets(line, sizeof line, file) != NULL) {
            line[strcspn(line, "\n")] = 0;
            if (line[0] != 0)
                strcpy(last, line);
        }
        fclose(file);
    }
    return text_escape(text, RUN_CHILD_REASON_BYTES, last);
}

/* Runs git, and takes the first line of its output.  `what` has gone wrong where git says nothing.
 */
static int git_line(struct trial_git *call, const char *revision, const char *what, char *line,
                    size_t room, struct run_failure *failure)
{
    char safe[RUN_CHILD_REASON_BYTES];
    int status = trial_git(call, failure);

    if (status > 0)
        run_fail(failure, "--git %s: %s", revision,
                 text_escape(safe, sizeof safe, call->error[0] != 0 ? call->error : what));
    if (status == 0 && line != NULL)
        snprintf(line, room, "%.*s", (int)strcspn(call->output, "\n"), call->output);
    free(call->output);
    return status == 0 ? 0 : -1;
}

static int build(const struct compare_git *git, int side, struct run_failure *failure)
{
    const struct run_child_place place = {.directory = git->places[side]};
    char log[PATH_MAX], reason[RUN_CHILD_REASON_BYTES];
    int status;

    if (git->build == NULL)
        return 0;
    path_of(git, "log", log);
    status = run_child_shell(&place, git->build, NULL, log, failure);
    if (status > 0)
        run_fail(failure, "--build of %s ended with status %d: %s", git->revisions[side], status,
                 last_line(log, reason));
    unlink(log);
    return status == 0 ? 0 : -1;
}

static int make_one(struct compare_git *git, int side, const char *prefix,
                    struct run_failure *failure)
{
    char commit[128], tree[PATH_MAX], name[PATH_MAX];
    struct trial_git find = {
        .arguments = {"rev-parse", "--verify", "--quiet", "--end-of-options", name}};
    struct trial_git add = {.arguments = {"worktree", "add", "--quiet", "--detach", tree, commit}};

    path_of(git, side == 0 ? "0" : "1", tree);
    snprintf(name, sizeof name, "%.4000s^{commit}", git->revisions[side]);
    if (git_line(&find, git->revisions[side], "no such revision here", commit, sizeof commit,
                 failure) != 0)
        return -1;
    git->made[side] = true;
    if (git_line(&add, git->revisions[side], "no worktree could be made", NULL, 0, failure) != 0)
        return -1;
    if (strlen(tree) + strlen(prefix) + 2 > PATH_MAX)
        return run_fail(failure, "--git: the name of the folder is too long");
    strcat(strcat(strcpy(git->places[side], tree), "/"), prefix);
    if (access(git->places[side], X_OK) != 0)
        return run_fail(failure, "--git %s: it has no folder '%s'; start from another one",
                        git->revisions[side], prefix);
    return build(git, side, failure);
}

int compare_git_make(struct compare_git *git, struct run_failure *failure)
{
    char prefix[PATH_MAX / 2];
    struct trial_git find = {.arguments = {"rev-parse", "--show-prefix"}};

    if (run_child_folder(git->folder, "compare", failure) != 0 ||
        git_line(&find, git->revisions[0], "no repository here", prefix, sizeof prefix, failure) !=
            0)
        return -1;
    for (int side = 0; side < 2; side++)
        if (make_one(git, side, prefix, failure) != 0)
            return -1;
    return 0;
}

void compare_git_remove(struct compare_git *git)
{
    struct run_failure ignored = {0};
    char tree[PATH_MAX];

    for (int side = 0; side < 2; side++) {
        struct trial_git remove = {.arguments = {"worktree", "remove", "--force", tree}};

        path_of(git, side == 0 ? "0" : "1", tree);
        if (git->made[side])
            git_line(&remove, "", "", NULL, 0, &ignored);
        git->made[side] = false;
    }
    if (git->folder[0] != 0)
        rmdir(git->folder);
    git->folder[0] = 0;
}
