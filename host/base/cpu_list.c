/* Parses and writes lists of CPUs. */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/cpu_list.h"

/* Parses a decimal number without a sign; returns false if there is none. */
static bool parse_number(const char **text, long *value)
{
    char *end;

    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    *value = strtol(*text, &end, 10);
    *text = end;
    return true;
}

static int append_range(struct cpu_list *list, cpu_set_t *seen, long first, long last)
{
    if (first >= CPU_SETSIZE || last >= CPU_SETSIZE)
        return -ERANGE;
    if (last < first)
        return -EINVAL;
    for (long cpu = first; cpu <= last; cpu++) {
        if (CPU_ISSET(cpu, seen))
            return -EEXIST;
        CPU_SET(cpu, seen);
        list->cpus[list->count++] = (int)cpu;
    }
    return 0;
}

int cpu_list_parse(const char *text, struct cpu_list *list)
{
    cpu_set_t seen;

    list->count = 0;
    CPU_ZERO(&seen);
    if (text[strspn(text, " \n")] == 0)
        return 0;
    for (;;) {
        long first, last;
        int result;

        if (!parse_number(&text, &first))
            return -EINVAL;
        last = first;
        if (*text == '-') {
            text++;
            if (!parse_number(&text, &last))
                return -EINVAL;
        }
        result = append_range(list, &seen, first, last);
        if (result != 0)
            return result;
        if (*text != ',')
            return text[strspn(text, " \n")] == 0 ? 0 : -EINVAL;
        text++;
    }
}

int cpu_list_read(const char *path, cpu_set_t *set)
{
    char line[4096];
    struct cpu_list list;
    FILE *file = fopen(path, "re");
    int result;

    CPU_ZERO(set);
    if (file == NULL)
        return -errno;
    if (fgets(line, sizeof line, file) == NULL)
        line[0] = 0;
    fclose(file);
    result = cpu_list_parse(line, &list);
    for (size_t i = 0; result == 0 && i < list.count; i++)
        CPU_SET(list.cpus[i], set);
    return result;
}

const char *cpu_list_format(const cpu_set_t *set, char *out, size_t room)
{
    size_t used = 0;

    out[0] = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        char piece[32];
        int last = cpu;
        size_t bytes;

        if (!CPU_ISSET(cpu, set))
            continue;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
            last++;
        bytes = (size_t)snprintf(piece, sizeof piece, last > cpu ? "%s%d-%d" : "%s%d",
                                 used != 0 ? "," : "", cpu, last);
        if (used + bytes + sizeof ",..." > room) {
            snprintf(out + used, room - used, "%s...", used != 0 ? "," : "");
            break;
        }
        memcpy(out + used, piece, bytes + 1);
        used += bytes;
        cpu = last;
    }
    return out;
}
