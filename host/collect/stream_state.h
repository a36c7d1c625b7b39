/* run.state: the small file in a run's directory by which a collector knows the run again.
 *
 * Functions return 0 or -errno.  What is read is believed as far as it goes: the directory is the
 * user's own.
 */
#ifndef HOST_COLLECT_STREAM_STATE_H
#define HOST_COLLECT_STREAM_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct run_state {
    uint8_t id[16]; /* of the hello */
    uint64_t created_s; /* since 1970 */
    bool complete; /* nothing more comes */
};

/* -EBADMSG: there is a file, but it does not say what it should. */
int run_state_read(int directory, struct run_state *state);

/* Replaces the file as a whole; when this returns 0, it will be there after a loss of power. */
int run_state_write(int directory, const struct run_state *state);

#endif
