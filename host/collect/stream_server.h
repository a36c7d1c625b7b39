/* The collector at work: its machines, in turn.  See serve.h for what it is. */
#ifndef HOST_COLLECT_STREAM_SERVER_H
#define HOST_COLLECT_STREAM_SERVER_H

#include <signal.h>

#include "host/collect/stream_client.h"
#include "host/collect/stream_report.h"
#include "host/collect/stream_serve.h"

#define SERVER_STRANGERS_MAX                                            \
    64u /* connections without a run: the oldest gives way to a new one \
         */
#define SERVER_SLOTS (STREAM_CLIENTS_MAX + SERVER_STRANGERS_MAX)

struct server {
    const struct stream_options *options;
    char token[RUN_STREAM_NAME_BYTES];
    int listener;
    int wake; /* eventfd: a job is done */
    struct client *clients[SERVER_SLOTS]; /* in the order in which they came */
    size_t count;
    struct report report;
    uint64_t paused_ns; /* nobody is accepted before */
    bool stopping; /* no new machines; those that are left get their last answers */
};

extern volatile sig_atomic_t server_signal; /* that came; 0: none */

uint64_t server_now_ns(void); /* CLOCK_MONOTONIC */

/* Works until a signal, which comes with that mask only, or until options->runs have ended; then
 * sees to it that every run is left in order.
 */
void server_run(struct server *s, const sigset_t *unblocked);

#endif
