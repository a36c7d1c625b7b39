/* Serves the program's standard input: one frame for each request of the guest, read when asked.
 *
 * Nothing is read ahead, so what the program does not read stays for others.
 */
#ifndef HOST_RUN_RELAY_INPUT_H
#define HOST_RUN_RELAY_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/run_ports.h"

struct relay_input {
    int from; /* the command's standard input */
    int port; /* non-blocking socket */
    int control; /* the same, for answers to questions */
    bool requested;
    uint32_t wanted_bytes;
    uint64_t patience_ns; /* then the request is answered with nothing; UINT64_MAX: never */
    bool watched; /* the guest wants to know when there is something */
    uint32_t question;
    uint64_t answer_ns; /* then it is told that there is nothing yet; UINT64_MAX: never */
    size_t frame_bytes; /* 0: no frame is being sent */
    size_t sent_bytes;
    uint8_t frame[sizeof(uint32_t) + RUN_STDIN_FRAME_MAX];
};

void relay_input_init(struct relay_input *input, int from, int port, int control);

/* The guest asks for input (RUN_GUEST_READ), or whether there is some (RUN_GUEST_WATCH).  Times
 * are CLOCK_MONOTONIC. */
void relay_input_request(struct relay_input *input, const struct run_message *message,
                         uint64_t now_ns);
void relay_input_watch(struct relay_input *input, const struct run_message *message,
                       uint64_t now_ns);

/* When something is to be said although there is no input, and that it is time. */
uint64_t relay_input_deadline(const struct relay_input *input);
void relay_input_handle_time(struct relay_input *input, uint64_t now_ns);

/* Which descriptor to wait for: the standard input for reading, the port for writing; or -1. */
int relay_input_read_fd(const struct relay_input *input);
int relay_input_write_fd(const struct relay_input *input);

/* Call when that descriptor is ready. */
void relay_input_read(struct relay_input *input);
void relay_input_write(struct relay_input *input);

#endif
