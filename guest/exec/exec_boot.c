/* Loads the first program, which the manifest names. */
#include <errno.h>
#include <string.h>

#include "guest/base/log.h"
#include "guest/exec/exec.h"
#include "guest/exec/exec_program.h"
#include "guest/file/files.h"
#include "guest/fs/fs.h"
#include "guest/memory/phys.h"
#include "guest/trace/trace.h"

int (*exec_mount)(const struct process *process);

/* Finds the program and checks it. */
static int find_first(struct process *process, struct exec_plan *plan)
{
    const char *name = manifest_text(&process->manifest, "program", NULL);
    enum elf64_status status;
    struct fs_found found;
    int error;

    if (name == NULL) {
        log_notice("the manifest names no program");
        return -ENOENT;
    }
    if (fs_walk(NULL, fs_root, name, FS_FOLLOW, &found) != 0) {
        log_notice("the run archive has no %s", name);
        return -ENOENT;
    }
    plan->file_name = manifest_text(&process->manifest, "program-path", name);
    error = exec_image_open(found.entry, true, &plan->program, &status);
    if (error)
        log_notice("%s: %s", plan->file_name, elf64_status_text(status));
    plan->record = error ? NULL : exec_program_new(found.entry, plan->file_name);
    fs_found_release(&found);
    return error || plan->record != NULL ? error : -ENOMEM;
}

/* Counts the manifest's strings. */
static int survey_strings(const struct process *process, struct exec_plan *plan)
{
    uint64_t room = exec_strings_room(process->space->stack_limit);
    int error;

    plan->arguments = (struct exec_strings){.manifest = &process->manifest, .key = "arg"};
    plan->environment = (struct exec_strings){.manifest = &process->manifest, .key = "env"};
    error = exec_strings_survey(&plan->arguments, &room);
    if (!error)
        error = exec_strings_survey(&plan->environment, &room);
    if (!error && !plan->arguments.count)
        error = -EINVAL;
    if (error)
        log_notice("%s: %s", plan->file_name,
                   error == -E2BIG ? "arguments and environment exceed 2 MiB, or one 128 KiB"
                                   : "no arguments");
    return error;
}

static int make_first(struct exec_plan *plan)
{
    int error = exec_make(plan);

    if (error == -ENOMEM)
        log_notice("%s: its %lu KiB do not fit in memory; %lu KiB are free, try a larger --mem",
                   plan->file_name, (plan->program.elf.high - plan->program.elf.low) >> 10,
                   phys_free_bytes() >> 10);
    else if (error)
        log_notice("%s needs its interpreter, which cannot be had: error %d", plan->file_name,
                   -error);
    return error;
}

/* Makes the working directory even if the archive has nothing in it. */
static int set_directory(struct process *process)
{
    const char *cwd = manifest_text(&process->manifest, "cwd", "/");
    struct fs_found found;
    int error = cwd[0] == '/' && strlen(cwd) < FS_PATH_MAX ? 0 : -EINVAL;

    if (!error)
        error = fs_make_directories(cwd, 0755);
    if (!error)
        error = fs_walk(NULL, fs_root, cwd, FS_FOLLOW | FS_DIRECTORY, &found);
    if (error) {
        log_notice("the working directory %s cannot be had: error %d", cwd, -error);
        return error;
    }
    process->place->directory = found.entry;
    fs_entry_hold(process->place->directory);
    fs_found_release(&found);
    return 0;
}

int exec_load(struct process *process, struct exec_plan *plan)
{
    uint64_t prefault = 0;
    int error = find_first(process, plan);

    trace_map_forget();
    if (!error)
        error = survey_strings(process, plan);
    process->program = plan->record;
    if (!error)
        error = exec_mount(process);
    if (!error)
        error = set_directory(process);
    manifest_number(&process->manifest, "prefault", &prefault);
    plan->space = process->space;
    plan->space->prefault = prefault != 0;
    if (!error)
        error = make_first(plan);
    if (!error)
        error = files_open_streams(process);
    process->given = plan->given;
    if (!error)
        exec_announce(plan);
    plan->record = NULL; /* the process has both */
    plan->space = NULL;
    exec_free(plan);
    return error;
}
