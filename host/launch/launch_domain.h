/* Describes a guest to libvirt: the domain's XML. */
#ifndef HOST_LAUNCH_LAUNCH_DOMAIN_H
#define HOST_LAUNCH_LAUNCH_DOMAIN_H

#include <stdio.h>

#include "host/launch/launch.h"

#define LAUNCH_DOMAIN_MODELS_MAX 4

struct launch_domain {
    char name[64];
    char emulator[PATH_MAX]; /* absolute */
    char directory[PATH_MAX]; /* holds kernel, archive and sockets under launch_domain_file's names
                               */
    char models[LAUNCH_DOMAIN_MODELS_MAX][16]; /* libvirt's security models, "" after the last */
};

#define LAUNCH_DOMAIN_KERNEL "guest.elf"
#define LAUNCH_DOMAIN_ARCHIVE "run.cpio"

/* The socket of a port in the directory: constant. */
const char *launch_domain_socket(enum launch_port port);

/* Writes the XML.  0, or -1 with the failure filled when a name cannot be written in XML. */
int launch_domain_write(const struct options *o, const struct launch_machine *machine,
                        const struct launch_domain *domain, FILE *out, struct run_failure *failure);

#endif
