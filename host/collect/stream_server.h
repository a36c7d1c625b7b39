/* The main loop of the collector over its machines; see host/collect/stream_serve.h. */
#pragma once

#include <signal.h>

#include "host/collect/stream_client.h"
#include "host/collect/stream_report.h"
#include "host/collect/stream_serve.h"

#define SERVER_STRANGERS_MAX 64u /* connections without a run; a new one replaces the oldest */
#define SERVER_SLOTS (STREAM_CLIENTS_MAX + SERVER_STRANGERS_MAX)

struct server {
    const struct stream_options *options;
    char token[RUN_STREAM_NAME_BYTES];
    int listener;
    int wake; /* eventfd: a job is done */
    struct client *clients[SERVER_SLOTS]; /* in the order of arrival */
    size_t count;
    struct report report;
    uint64_t paused_ns; /* no connection is accepted before this time */
    bool stopping; /* no new machines; those that are left get their last answers */
};

extern volatile sig_atomic_t stream_server_signal; /* the signal that arrived; 0: none */

/* Works until a signal, which can only arrive with that mask, or until options->runs have ended.
 * Then leaves every run in order. */
void stream_server_run(struct server *s, const sigset_t *unblocked);
