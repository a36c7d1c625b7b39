/* libmicrohttpd, loaded when a page is served: the libraries that it needs take half of the time in
 * which any command starts. */
#pragma once

#include <microhttpd.h>
#include <stdbool.h>

struct view_http {
    __typeof__(MHD_add_response_header) *add_response_header;
    __typeof__(MHD_create_response_from_buffer) *create_response_from_buffer;
    __typeof__(MHD_create_response_from_fd_at_offset64) *create_response_from_fd_at_offset64;
    __typeof__(MHD_destroy_response) *destroy_response;
    __typeof__(MHD_get_connection_info) *get_connection_info;
    __typeof__(MHD_get_daemon_info) *get_daemon_info;
    __typeof__(MHD_lookup_connection_value) *lookup_connection_value;
    __typeof__(MHD_queue_response) *queue_response;
    __typeof__(MHD_start_daemon) *start_daemon;
    __typeof__(MHD_stop_daemon) *stop_daemon;
};

/* Returns its functions; NULL if it is not there, which has been said. */
const struct view_http *view_http_load(void);

/* Says of what type an answer is, and that it is for this page alone.  Returns whether it could. */
bool view_http_describe(const struct view_http *http, struct MHD_Response *response,
                        const char *type);
