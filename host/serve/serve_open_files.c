/* Keeps files open between reads. */
#include "host/serve/serve_open_files.h"

#include <stddef.h>
#include <unistd.h>

int serve_open_files_take(struct serve_open_files *o, uint32_t node)
{
    for (size_t i = 0; i < SERVE_OPEN_FILES; i++)
        if (o->all[i].node == node) {
            o->all[i].node = 0;
            return o->all[i].fd;
        }
    return -1;
}

void serve_open_files_put(struct serve_open_files *o, uint32_t node, int fd)
{
    size_t place = 0;

    for (size_t i = 0; i < SERVE_OPEN_FILES && o->all[place].node != 0; i++)
        if (o->all[i].node == 0 || o->all[i].used < o->all[place].used)
            place = i;
    if (o->all[place].node != 0)
        close(o->all[place].fd);
    o->all[place].node = node;
    o->all[place].fd = fd;
    o->all[place].used = ++o->uses;
}

void serve_open_files_close(struct serve_open_files *o)
{
    for (size_t i = 0; i < SERVE_OPEN_FILES; i++) {
        if (o->all[i].node != 0)
            close(o->all[i].fd);
        o->all[i].node = 0;
    }
}
