/* hr view --serve: the page and parts of the trace over HTTP, for this machine alone. */
#pragma once

#include "host/view/view_model.h"

/* Serves until SIGINT or SIGTERM.  Port 0: any free one.  With `open` a browser shows the page.
 * Takes `facts` over.  Prints the address; reports failures itself; returns an exit status. */
int view_serve(struct view_model *model, const char *path, uint16_t port, bool open, json_t *facts);
