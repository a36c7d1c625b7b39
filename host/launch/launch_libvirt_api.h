/* The functions of libvirt that a run uses, loaded when one asks for libvirt: the other commands
 * neither need the library nor wait for it.
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

/* Loads the library once.  NULL with the failure filled when it is not installed. */
const struct launch_libvirt_api *launch_libvirt_api_load(struct run_failure *failure);

#endif
