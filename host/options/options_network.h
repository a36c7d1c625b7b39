/* The options that join the guest's sockets to the outside: --publish and --network. */
#pragma once

#include "host/options/options.h"

/* Reads [ADDRESS:]HOSTPORT:GUESTPORT[/tcp|/udp].  Returns 0, or -1 with the failure filled. */
int options_network_publish(struct options *o, const char *text, struct run_failure *failure);

/* Reads what --network says: user or none. */
int options_network_set(struct options *o, const char *text, struct run_failure *failure);
