/* Names of code that was made at run time, by the process that made it. */
#include <errno.h>

#include "host/base/array.h"
#include "host/trace/trace_names.h"

/* Returns what is known of a pid, or NULL. */
static struct trace_names_made *find(const struct trace_names *names, uint32_t pid)
{
    for (size_t i = 0; i < names->made_count; i++)
        if (names->made[i].pid == pid)
            return &names->made[i];
    return NULL;
}

static int add_file(struct trace_names *names, const struct trace_jit_file *file)
{
    struct trace_names_made *made = find(names, file->meta.pid);

    if (made == NULL) {
        if (array_grow(&names->made, names->made_count, sizeof names->made[0]) != 0)
            return -ENOMEM;
        made = &names->made[names->made_count++];
        *made = (struct trace_names_made){.pid = file->meta.pid};
    }
    return trace_jit_add(&made->jit, file);
}

int trace_names_make(struct trace_names *names)
{
    uint64_t place = 0;
    int error = 0;

    for (size_t i = 0; i < names->file_count && error == 0; i++)
        error = add_file(names, &names->files[i]);
    for (size_t i = 0; i < names->made_count && error == 0; i++) {
        names->made[i].jit.place = place;
        error = trace_jit_finish(&names->made[i].jit);
        place = names->made[i].jit.place;
    }
    return error;
}

const struct trace_jit_code *trace_names_made(const struct trace_names *names, uint64_t address,
                                              const struct trace_jit **jit)
{
    uint64_t tag = (address >> TRACE_NAMES_TAG_SHIFT) - TRACE_NAMES_TAGS;

    if (tag < names->made_count) {
        *jit = &names->made[tag].jit;
        return trace_jit_find(*jit, trace_names_untagged(address));
    }
    for (size_t i = names->made_count; i-- > 0;) {
        const struct trace_jit_code *code = trace_jit_find(&names->made[i].jit, address);

        *jit = &names->made[i].jit;
        if (code != NULL)
            return code;
    }
    return NULL;
}

uint64_t trace_names_of_pid(const struct trace_names *names, uint32_t pid, uint64_t address,
                            uint64_t time_ns)
{
    const struct trace_names_made *made = find(names, pid);
    uint64_t place;

    if (made == NULL)
        return 0;
    place = trace_jit_place(&made->jit, address, time_ns);
    if (place != address)
        return place;
    if (trace_jit_find(&made->jit, address) == NULL)
        return 0;
    return address | (TRACE_NAMES_TAGS + (uint64_t)(made - names->made)) << TRACE_NAMES_TAG_SHIFT;
}

uint64_t trace_names_place(const struct trace_names *names, uint64_t address, uint64_t time_ns)
{
    uint64_t place = address;

    for (size_t i = names->made_count; i-- > 0 && place == address;)
        place = trace_jit_place(&names->made[i].jit, address, time_ns);
    return place;
}
