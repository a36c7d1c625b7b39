/* Asks the host for files: one request, one answer (include/run_serve.h).
 * Context: the kernel lock's holder, on any CPU; or service, when the program has ended. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "include/run_serve.h"

/* Returns whether the host serves files. */
bool serve_offered(void);

/* Allocates what requests need; boot. */
void serve_start(void);

/* Sends a request, with `name` after it if it is a look-up, and waits for the answer, off the
 * workload clock.  `payload` points to the answer->bytes bytes after the answer, valid until the
 * next request.  Sets request->number.  Returns 0, the host's -errno, or -EIO if it cannot be
 * reached. */
int serve_ask(struct run_serve_request *request, const char *name, struct run_serve_answer *answer,
              const uint8_t **payload);
