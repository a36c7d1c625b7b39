/* Serves the program's standard input: one frame for each request of the guest, read when asked.
 *
 * Nothing is read ahead, so what the program does not read stays for others.
 */
#ifndef HOST_RELAY_INPUT_H
#define HOST_RELAY_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/run_ports.h"

struct relay_input {
    int from; /* the command's standard input */
    int port; /* non-blocking socket */
    bool requested;
    uint32_t wanted_bytes;
    size_t frame_bytes; /* 0: no frame is being sent */
    size_t sent_bytes;
    uint8_t frame[sizeof(uint32_t) + RUN_STDIN_FRAME_MAX];
};

void relay_input_init(struct relay_input *input, int from, int port);

/* The guest asks for at most `bytes` bytes. */
void relay_input_request(struct relay_input *input, uint64_t bytes);

/* Which descriptor to wait for: the standard input for reading, the port for writing; or -1. */
int relay_input_read_fd(const struct relay_input *input);
int relay_input_write_fd(const struct relay_input *input);

/* Call when that descriptor is ready. */
void relay_input_read(struct relay_input *input);
void relay_input_write(struct relay_input *input);

#endif
