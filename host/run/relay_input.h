/* Serves the program's standard input: one frame for each request of the guest, read on request.
 *
 * Nothing is read ahead, so what the program does not read stays for others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/run_ports.h"

struct relay_input {
    int from; /* the command's standard input */
    int port; /* non-blocking socket */
    int control; /* non-blocking socket, for answers to questions */
    bool requested;
    uint32_t wanted_bytes;
    uint64_t patience_ns; /* when to answer the request with nothing; UINT64_MAX: never */
    bool watched; /* the guest asked whether there is input */
    uint32_t question;
    uint64_t answer_ns; /* when to answer that there is none yet; UINT64_MAX: never */
    size_t frame_bytes; /* 0: no frame is being sent */
    size_t sent_bytes;
    uint8_t frame[sizeof(uint32_t) + RUN_STDIN_FRAME_MAX];
};

void relay_input_init(struct relay_input *input, int from, int port, int control);

/* Handle RUN_GUEST_READ, a request for input, and RUN_GUEST_WATCH, a question whether there is
 * some.  Times are CLOCK_MONOTONIC. */
void relay_input_request(struct relay_input *input, const struct run_message *message,
                         uint64_t now_ns);
void relay_input_watch(struct relay_input *input, const struct run_message *message,
                       uint64_t now_ns);

/* relay_input_deadline returns when to answer although there is no input; relay_input_handle_time
 * then does so. */
uint64_t relay_input_deadline(const struct relay_input *input);
void relay_input_handle_time(struct relay_input *input, uint64_t now_ns);

/* Return the descriptor to wait for: the standard input for reading, the port for writing; or -1.
 */
int relay_input_read_fd(const struct relay_input *input);
int relay_input_write_fd(const struct relay_input *input);

/* Call it when that descriptor is ready. */
void relay_input_read(struct relay_input *input);
void relay_input_write(struct relay_input *input);
