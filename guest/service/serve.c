/* Requests for the host's files. */
#include "guest/service/serve.h"

#include <errno.h>
#include <string.h>

#include "drivers/platform.h"
#include "guest/base/context.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/cpu/cpu.h"
#include "guest/service/service.h"
#include "guest/transport/transport.h"

#define REQUEST_BYTES (sizeof(struct run_serve_request) + RUN_SERVE_NAME_MAX)
#define BUFFER_BYTES (sizeof(struct run_serve_answer) + RUN_SERVE_BYTES_MAX)
#define ERRNO_MAX 4095u

static uint8_t *buffer; /* a request, then its answer */
static uint64_t last_number;
static bool broken; /* the host does not keep to the protocol */

bool serve_offered(void)
{
    return transport->has(TRANSPORT_SERVE);
}

void serve_start(void)
{
    _Static_assert(REQUEST_BYTES <= BUFFER_BYTES, "buffer");
    buffer = platform_allocate(BUFFER_BYTES);
    if (buffer == NULL)
        panic("no memory to ask the host for files");
}

/* The host answers within half a minute, and at once when it stops the run. */
static void receive(uint8_t *to, size_t bytes)
{
    while (bytes) {
        size_t got = transport->receive(TRANSPORT_SERVE, to, bytes);

        to += got;
        bytes -= got;
        if (got == 0)
            platform_wait();
    }
}

static int receive_answer(uint64_t number, struct run_serve_answer *answer)
{
    receive(buffer, sizeof *answer);
    memcpy(answer, buffer, sizeof *answer);
    broken = answer->bytes > RUN_SERVE_BYTES_MAX || answer->number != number;
    if (broken) {
        log_notice("the host's answer to a request for a file is damaged");
        return -EIO;
    }
    receive(buffer + sizeof *answer, answer->bytes);
    if (answer->error)
        return answer->error <= ERRNO_MAX ? -(int)answer->error : -EIO;
    return 0;
}

static int exchange(const struct run_serve_request *request, const char *name,
                    struct run_serve_answer *answer)
{
    size_t name_bytes = name != NULL ? request->bytes : 0;

    memcpy(buffer, request, sizeof *request);
    memcpy(buffer + sizeof *request, name, name_bytes);
    if (transport->send(TRANSPORT_SERVE, buffer, sizeof *request + name_bytes) != 0)
        return -EIO;
    return receive_answer(request->number, answer);
}

int serve_ask(struct run_serve_request *request, const char *name, struct run_serve_answer *answer,
              const uint8_t **payload)
{
    struct service_pause pause;
    int error;

    request->number = ++last_number;
    *payload = buffer + sizeof *answer;
    if (broken)
        return -EIO;
    if (run_state.ending) /* not the program's time */
        return exchange(request, name, answer);
    cross_assert_held();
    service_pause(&pause);
    error = exchange(request, name, answer);
    service_continue(&pause, HR_GAP_FILES);
    return error;
}
