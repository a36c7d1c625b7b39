/* run.state: the small file in a run's directory that identifies the run for later collectors.
 *
 * Functions return 0 or -errno.  The contents are trusted, because the directory is the user's own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct run_state {
    uint8_t id[16]; /* from the hello */
    uint64_t created_s; /* since 1970 */
    bool complete; /* nothing more comes */
};

/* Returns -EBADMSG if the file exists but is not valid. */
int stream_state_read(int directory, struct run_state *state);

/* Replaces the file atomically; after 0 it survives a loss of power. */
int stream_state_write(int directory, const struct run_state *state);
