/* hr view --serve: the page and parts of the trace over HTTP, for this machine alone. */
#pragma once

#include "host/view/server/view_live.h"

struct view_serve_wish {
    uint16_t port; /* 0: any free one */
    bool open; /* a browser shows the page */
    /* Says what a reader of the page should know of a trace that is no longer written. */
    void (*warn)(const struct view_model *model, const void *context);
    const void *context;
};

/* Serves until SIGINT or SIGTERM what view_live_open looked at, with its model, and follows it
 * while it grows.  Takes `facts` over.  Prints the address; reports failures itself; returns an
 * exit status. */
int view_serve(struct view_live *live, const struct view_serve_wish *wish, json_t *facts);
