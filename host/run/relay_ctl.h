/* What `hr ctl` asks of a run: carried out here, or by the guest. */
#pragma once

#include "host/ctl/ctl_server.h"

/* A ctl_perform; the context is a struct relay. */
void relay_ctl_perform(void *context, const char *request, struct ctl_answer *answer);
