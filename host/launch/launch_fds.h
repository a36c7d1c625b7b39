/* The descriptors that the emulator inherits.  They are fixed, so that all runs have the same
 * command line.
 */
#pragma once

enum {
    LAUNCH_FD_ARCHIVE = 100, /* the guest's initrd */
    LAUNCH_FD_PORTS = 101, /* one socket a port, in the order of enum launch_port */
    LAUNCH_FD_QMP = 109, /* after the ports: QEMU's control socket */
    LAUNCH_FD_EXACT = 110, /* memory in which the plugin of --mode exact counts */
    LAUNCH_FD_SPARE = 200, /* where the child moves descriptors before it puts them in place */
    LAUNCH_FD_LIMIT = 1024, /* number of descriptors for the emulator, if the system allows it */
};
