/* The machines that performed runs, as a file of the folder lists them: name, Linux, processor.
 * The last line about a machine counts; the file may have been changed by anybody.  Never prints.
 */
#pragma once

#include <stddef.h>

#include "host/remote/remote_parcel.h"

#define REMOTE_MACHINES "hosts.csv"
#define REMOTE_MACHINES_MAX 65536u

struct remote_machine {
    char name[REMOTE_HOST_BYTES];
    char kernel[REMOTE_FACT_BYTES];
    char processor[REMOTE_FACT_BYTES];
};

struct remote_machines {
    struct remote_machine *list; /* owned */
    size_t count;
};

/* Finds the machine that sent a parcel, or adds it, also to the file.  Returns its number plus 1,
 * or 0 with the failure filled. */
uint32_t remote_machines_note(struct remote_machines *machines, const char *path,
                              const struct remote_parcel *parcel, struct run_failure *failure);

/* Adds what the file lists, as far as it can be read. */
void remote_machines_read(struct remote_machines *machines, const char *path);

/* Returns the number plus 1 of a machine; 0: it is none of them. */
uint32_t remote_machines_find(const struct remote_machines *machines, const char *name);

/* Returns the name of a number plus 1; "" of 0: this machine, or none yet. */
const char *remote_machines_name(const struct remote_machines *machines, uint32_t number);
