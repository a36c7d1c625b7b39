/* Loads libvirt's library. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "host/launch/launch_libvirt_api.h"

#define LIBRARY "libvirt.so.0"

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
    {"virConnectOpen", offsetof(struct launch_libvirt_api, connect)},
    {"virConnectClose", offsetof(struct launch_libvirt_api, disconnect)},
    {"virConnectGetCapabilities", offsetof(struct launch_libvirt_api, capabilities)},
    {"virDomainCreateXML", offsetof(struct launch_libvirt_api, create)},
    {"virDomainDestroy", offsetof(struct launch_libvirt_api, destroy)},
    {"virDomainFree", offsetof(struct launch_libvirt_api, release)},
    {"virDomainGetState", offsetof(struct launch_libvirt_api, state)},
    {"virGetLastErrorMessage", offsetof(struct launch_libvirt_api, error)},
    {"virSetErrorFunc", offsetof(struct launch_libvirt_api, set_error_function)},
};

/* By default libvirt prints errors itself. */
static void say_nothing(void *data, virErrorPtr error)
{
    (void)data;
    (void)error;
}

const struct launch_libvirt_api *launch_libvirt_api_load(struct run_failure *failure)
{
    static struct launch_libvirt_api api;
    void *library;

    if (api.set_error_function != NULL)
        return &api;
    library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        run_fail(failure, RUN_EXIT_FAILED,
                 "--libvirt: %s is not installed; apt-get install libvirt0 libvirt-daemon-system, "
                 "or leave the option out",
                 LIBRARY);
        return NULL;
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(library, functions[i].name);

        if (function == NULL) {
            run_fail(failure, RUN_EXIT_FAILED, "--libvirt: %s has no %s; install a newer libvirt",
                     LIBRARY, functions[i].name);
            return NULL;
        }
        memcpy((char *)&api + functions[i].offset, &function, sizeof function);
    }
    api.set_error_function(NULL, say_nothing);
    return &api;
}
