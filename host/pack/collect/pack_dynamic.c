/* Collects the interpreter and the libraries of a dynamic program. */
#include <errno.h>
#include <string.h>

#include "host/pack/collect/pack_collect.h"

static int fail(struct pack_collector *c, const char *what, int error)
{
    return run_fail(c->failure, "%s: %s", what, strerror(error));
}

static int add_interpreter(struct pack_collector *c)
{
    const char *path = c->pack->program.interpreter;
    struct pack_list *list = &c->pack->list;
    int result = pack_list_begin(list, path, true, "the program's interpreter");

    if (result == 0)
        result = pack_list_add_path(list, path, NULL);
    return result == 0 ? 0 : fail(c, path, -result);
}

int pack_collect_libraries(struct pack_collector *c)
{
    const struct pack_program *program = &c->pack->program;
    struct pack_libraries *l = &c->libraries;
    int result;

    pack_libraries_init(l, &c->pack->list, program->interpreter);
    if (program->interpreter[0] == 0)
        return 0;
    l->any_cpu = c->machine->kvm || c->options->cpu != NULL;
    l->library_path = pack_environment_get(&c->pack->environment, "LD_LIBRARY_PATH");
    l->preload = pack_environment_get(&c->pack->environment, "LD_PRELOAD");
    if (add_interpreter(c) != 0)
        return -1;
    result = pack_libraries_add(l, program->path);
    c->pack->memory_bytes += l->memory_bytes;
    if (result == -ELIBACC) /* worded like ld.so's message, which users know */
        return run_fail_as(c->failure, RUN_EXIT_NOT_FOUND,
                           "%s: error while loading shared libraries: %s: cannot open shared "
                           "object file: No such file or directory (needed by %s)",
                           program->arguments[0], l->missing, l->missed_by);
    return result == 0 ? 0 : fail(c, program->path, -result);
}
