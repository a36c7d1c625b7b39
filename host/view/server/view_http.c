/* The functions of libmicrohttpd, by name. */
#include "host/view/server/view_http.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "host/base/error.h"

#define LIBRARY "libmicrohttpd.so.12"

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
    {"MHD_add_response_header", offsetof(struct view_http, add_response_header)},
    {"MHD_create_response_from_buffer", offsetof(struct view_http, create_response_from_buffer)},
    {"MHD_create_response_from_fd_at_offset64",
     offsetof(struct view_http, create_response_from_fd_at_offset64)},
    {"MHD_destroy_response", offsetof(struct view_http, destroy_response)},
    {"MHD_get_connection_info", offsetof(struct view_http, get_connection_info)},
    {"MHD_get_daemon_info", offsetof(struct view_http, get_daemon_info)},
    {"MHD_lookup_connection_value", offsetof(struct view_http, lookup_connection_value)},
    {"MHD_queue_response", offsetof(struct view_http, queue_response)},
    {"MHD_start_daemon", offsetof(struct view_http, start_daemon)},
    {"MHD_stop_daemon", offsetof(struct view_http, stop_daemon)},
};

const struct view_http *view_http_load(void)
{
    static struct view_http http;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL), *function = NULL;

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        function = library != NULL ? dlsym(library, functions[i].name) : NULL;
        if (function == NULL)
            break;
        memcpy((char *)&http + functions[i].offset, &function, sizeof function);
    }
    if (function != NULL)
        return &http;
    error_print(
        "the page cannot be served: %s; apt-get install libmicrohttpd12, or write a file with -o",
        dlerror());
    return NULL;
}

bool view_http_describe(const struct view_http *http, struct MHD_Response *response,
                        const char *type)
{
    static const char *const headers[][2] = {{"Cache-Control", "no-store"},
                                             {"X-Content-Type-Options", "nosniff"},
                                             {"X-Frame-Options", "DENY"},
                                             {"Cross-Origin-Resource-Policy", "same-origin"}};
    bool said = http->add_response_header(response, "Content-Type", type) == MHD_YES;

    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        said &= http->add_response_header(response, headers[i][0], headers[i][1]) == MHD_YES;
    return said;
}
