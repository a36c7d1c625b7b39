/* Keeps the list of machines that performed runs. */
#include "host/remote/remote_machines.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/base/array.h"

uint32_t remote_machines_find(const struct remote_machines *m, const char *name)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (strcmp(m->list[i].name, name) == 0)
            return i + 1;
    return 0;
}

const char *remote_machines_name(const struct remote_machines *m, uint32_t number)
{
    return number != 0 ? m->list[number - 1].name : "";
}

/* Replaces the machine of that name, or appends it.  Returns its number plus 1; 0: no room. */
static uint32_t put(struct remote_machines *m, const struct remote_machine *machine)
{
    uint32_t number = remote_machines_find(m, machine->name);

    if (number == 0) {
        if (m->count == REMOTE_MACHINES_MAX ||
            array_grow(&m->list, m->count, sizeof m->list[0]) != 0)
            return 0;
        number = (uint32_t)++m->count;
    }
    m->list[number - 1] = *machine;
    return number;
}

uint32_t remote_machines_note(struct remote_machines *m, const char *path,
                              const struct remote_parcel *parcel, struct run_failure *failure)
{
    struct remote_machine machine = {.name = ""};
    uint32_t number = remote_machines_find(m, parcel->host);
    FILE *file;

    memcpy(machine.name, parcel->host, sizeof machine.name);
    memcpy(machine.kernel, parcel->kernel, sizeof machine.kernel);
    memcpy(machine.processor, parcel->processor, sizeof machine.processor);
    if (number != 0 && memcmp(&m->list[number - 1], &machine, sizeof machine) == 0)
        return number;
    number = put(m, &machine);
    if (number == 0) {
        run_fail(failure, "too many machines");
        return 0;
    }
    file = fopen(path, "ae");
    if (file != NULL &&
        fprintf(file, "%s,%s,%s\n", machine.name, machine.kernel, machine.processor) > 0 &&
        fclose(file) == 0)
        return number;
    run_fail(failure, "cannot write '%s': %s", path, strerror(errno));
    return 0;
}

void remote_machines_read(struct remote_machines *m, const char *path)
{
    char line[512];
    FILE *file = fopen(path, "re");
    struct remote_machine machine;

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        machine = (struct remote_machine){.name = ""};
        if (sscanf(line, "%63[^,\n],%95[^,\n],%95[^,\n]", machine.name, machine.kernel,
                   machine.processor) == 3 &&
            put(m, &machine) == 0)
            break;
    }
    if (file != NULL)
        fclose(file);
}
