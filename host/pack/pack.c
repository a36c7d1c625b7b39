/* Puts a program, its arguments and its files into one archive. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/object/object_cache.h"
#include "host/pack/archive/pack_archive.h"
#include "host/pack/archive/pack_manifest.h"
#include "host/pack/collect/pack_collect.h"
#include "host/pack/pack.h"
#include "include/run_manifest.h"

#define KERNEL_BYTES (16ull << 20) /* what the kernel needs in addition to archive and program */

static int add_program(struct pack_collector *c)
{
    struct pack_program *program = &c->pack->program;
    struct pack_list *list = &c->pack->list;
    int result = pack_list_begin(list, program->path, false, "the program");

    if (result == 0)
        result = pack_list_add_path(list, program->found, NULL);
    if (result == 0)
        result = pack_list_add_path(list, program->path, NULL);
    for (size_t i = 0; i < program->script_count && result == 0; i++) {
        result = pack_list_begin(list, program->scripts[i], false, "the program, a script");
        if (result == 0)
            result = pack_list_add_path(list, program->scripts[i], NULL);
    }
    if (result == 0)
        return 0;
    return run_fail(c->failure, "%s: %s", program->arguments[0], strerror(-result));
}

/* Adds the working directory, and directories that programs expect to be writable. */
static int add_directories(struct pack_collector *c)
{
    struct pack_list *list = &c->pack->list;
    const char *home = pack_environment_get(&c->pack->environment, "HOME");
    char cwd[PATH_MAX];

    if ((c->pack->program.root == NULL && getcwd(cwd, sizeof cwd) != NULL &&
         pack_list_add_directory(list, cwd, 0755) != 0) ||
        (home != NULL && home[0] == '/' && pack_list_add_directory(list, home, 0755) != 0))
        return run_fail(c->failure, "out of memory; end other programs");
    return 0;
}

/* The kernel needs the program and its interpreter; all else comes from the tree when it is looked
 * for. */
static int collect_of_tree(struct pack_collector *c)
{
    struct pack_program *program = &c->pack->program;
    struct pack_list *list = &c->pack->list;
    int result;

    list->root = program->root;
    result = add_program(c);
    if (result == 0 && program->interpreter[0] != 0 &&
        pack_list_add_path(list, program->interpreter, NULL) != 0)
        result = run_fail(c->failure, "%s: out of memory", program->interpreter);
    list->root = NULL;
    if (result == 0)
        result = pack_collect_input(c);
    if (result == 0)
        result = pack_collect_given(c);
    return result == 0 ? add_directories(c) : result;
}

static int collect_all(struct pack_collector *c)
{
    struct pack *pack = c->pack;

    if (pack_program_find(c->options, &pack->program, c->failure) != 0)
        return -1;
    pack->memory_bytes = pack->program.memory_bytes;
    if (pack_environment_make(&pack->environment, c->options, &pack->program) != 0)
        return run_fail(c->failure, "out of memory; end other programs");
    if (pack_list_add_directory(&pack->list, "/tmp", 01777) != 0)
        return run_fail(c->failure, "out of memory; end other programs");
    if (pack->program.root != NULL)
        return collect_of_tree(c);
    if (pack_collect_input(c) != 0 || add_program(c) != 0 || pack_collect_given(c) != 0 ||
        pack_collect_libraries(c) != 0 || pack_collect_arguments(c) != 0 || add_directories(c) != 0)
        return -1;
    return pack_collect_runtime(c);
}

static int check_memory(const struct pack *pack, const struct options *o,
                        struct run_failure *failure)
{
    uint64_t needed = pack->list.bytes + pack->memory_bytes + KERNEL_BYTES;

    if (needed <= o->memory_bytes)
        return 0;
    return run_fail_as(failure, RUN_EXIT_NOT_EXECUTABLE,
                       "%s with its files needs at least %lu MB and the guest has %lu MB; give "
                       "it more with --mem",
                       o->program[0], (needed + (1u << 20) - 1) >> 20, o->memory_bytes >> 20);
}

int pack_collect(struct pack *pack, const struct options *o, const struct launch_machine *machine,
                 struct run_failure *failure)
{
    struct pack_collector collector = {
        .pack = pack,
        .options = o,
        .machine = machine,
        .failure = failure,
    };
    int result;

    *pack = (struct pack){.memory_bytes = 0};
    result = collect_all(&collector);
    if (result == 0)
        result = pack_collect_probes(&collector);
    pack_libraries_free(&collector.libraries);
    return result == 0 ? check_memory(pack, o, failure) : -1;
}

/* Keeps the files that may run, so that the trace has names after a rebuild. */
static void keep_objects(const struct pack *pack, const struct launch_machine *machine)
{
    struct object_cache cache;

    object_cache_begin(&cache);
    for (size_t i = 0; i < pack->list.count; i++) {
        const struct pack_entry *entry = pack->list.entries[i];

        if (entry->source != NULL && object_cache_wants(entry->source))
            object_cache_keep(&cache, entry->source);
    }
    if (machine->kernel != NULL && object_cache_wants(machine->kernel))
        object_cache_keep(&cache, machine->kernel);
    object_cache_end(&cache);
}

int pack_write(const struct pack *pack, const struct options *o,
               const struct launch_machine *machine, int fd, struct run_failure *failure)
{
    char *manifest = malloc(RUN_MANIFEST_BYTES_MAX);
    size_t used;
    int result;

    if (manifest == NULL)
        return run_fail(failure, "out of memory; end other programs");
    result =
        pack_manifest_write(o, machine, pack, manifest, RUN_MANIFEST_BYTES_MAX, &used, failure);
    if (result == 0)
        result = pack_archive_write(pack, manifest, used, fd, failure);
    free(manifest);
    if (result == 0)
        keep_objects(pack, machine);
    return result;
}

void pack_free(struct pack *pack)
{
    pack_program_free(&pack->program);
    pack_environment_free(&pack->environment);
    pack_list_free(&pack->list);
    probe_free(&pack->probe);
    free(pack->probes);
}

void pack_print_probes(const struct pack *pack, const struct options *o, FILE *out)
{
    probe_table_print(&pack->probe.table, o->verbose, out);
}

void pack_print(const struct pack *pack, const struct options *o, FILE *out)
{
    if (o->verbose)
        pack_list_print(&pack->list, out);
    for (size_t i = 0; i < pack->notes.count; i++)
        if (o->verbose || (pack->notes.lines[i].warning && !o->quiet))
            fprintf(out, "hr: %s\n", pack->notes.lines[i].text);
}
