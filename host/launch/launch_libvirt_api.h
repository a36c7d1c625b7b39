/* The functions of libvirt that a run uses.  The library is loaded when a run asks for libvirt, so
 * that other commands neither need it nor wait for it.
 */
#ifndef HOST_LAUNCH_LAUNCH_LIBVIRT_API_H
#define HOST_LAUNCH_LAUNCH_LIBVIRT_API_H

#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "host/base/run_failure.h"

struct launch_libvirt_api {
    __typeof__(virConnectOpen) *connect;
    __typeof__(virConnectClose) *disconnect;
    __typeof__(virConnectGetCapabilities) *capabilities;
    __typeof__(virDomainCreateXML) *create;
    __typeof__(virDomainDestroy) *destroy;
    __typeof__(virDomainFree) *release;
    __typeof__(virDomainGetState) *state;
    __typeof__(virGetLastErrorMessage) *error;
    __typeof__(virSetErrorFunc) *set_error_function;
};

/* Loads the library once.  Returns NULL with the failure filled if it is not installed. */
const struct launch_libvirt_api *launch_libvirt_api_load(struct run_failure *failure);

#endif
