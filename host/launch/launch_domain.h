/* Describes a guest to libvirt: the domain's XML. */
#pragma once

#include <stdio.h>

#include "host/launch/launch.h"

#define LAUNCH_DOMAIN_MODELS_MAX 4

struct launch_domain {
    char name[64];
    char emulator[PATH_MAX]; /* absolute */
    char directory[PATH_MAX]; /* with the kernel, the archive and the sockets */
    char models[LAUNCH_DOMAIN_MODELS_MAX][16]; /* libvirt's security models; "" after the last */
};

#define LAUNCH_DOMAIN_KERNEL "guest.elf"
#define LAUNCH_DOMAIN_ARCHIVE "run.cpio"

/* Returns the file name of a port's socket in the directory, a constant. */
const char *launch_domain_socket(enum launch_port port);

/* Writes the XML.  Returns 0, or -1 with the failure filled if XML cannot express a name. */
int launch_domain_write(const struct options *o, const struct launch_machine *machine,
                        const struct launch_domain *domain, FILE *out, struct run_failure *failure);
