/* SPDX-License-Identifier: BSD-3-Clause */
/* libmicrohttpd's functions, found when they are first needed. Without the library, or built without it, fv_http_load()
 * says what to install. */
#ifndef FV_WEB_HTTP_H
#define FV_WEB_HTTP_H

#include <stdbool.h>

#if FV_MICROHTTPD
#include <sys/types.h>

#include <microhttpd.h>

#define FV_HTTP_FUNCTIONS(X)             \
    X(MHD_start_daemon)                  \
    X(MHD_stop_daemon)                   \
    X(MHD_get_connection_values)         \
    X(MHD_lookup_connection_value)       \
    X(MHD_get_connection_info)           \
    X(MHD_create_response_from_buffer)   \
    X(MHD_create_response_from_callback) \
    X(MHD_add_response_header)           \
    X(MHD_queue_response)                \
    X(MHD_destroy_response)              \
    X(MHD_suspend_connection)            \
    X(MHD_resume_connection)

struct fv_http {
#define FV_HTTP_MEMBER(name) __typeof__(name) *name;
    FV_HTTP_FUNCTIONS(FV_HTTP_MEMBER)
#undef FV_HTTP_MEMBER
};
extern struct fv_http fv_http;
#endif

/* False: it has said why, in the name of a command. */
bool fv_http_load(const char *command);

#endif
