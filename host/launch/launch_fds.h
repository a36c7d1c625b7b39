/* The descriptors that the emulator inherits; fixed, so that the command line is the same each run.
 */
#ifndef HOST_LAUNCH_LAUNCH_FDS_H
#define HOST_LAUNCH_LAUNCH_FDS_H

enum {
    LAUNCH_FD_ARCHIVE = 100, /* the guest's initrd */
    LAUNCH_FD_PORTS = 101, /* one socket a port, in the order of enum launch_port */
    LAUNCH_FD_QMP = 109, /* after the ports: QEMU's control socket */
    LAUNCH_FD_EXACT = 110, /* what the plugin of --mode exact counts in */
    LAUNCH_FD_SPARE = 200, /* the child moves descriptors here before it puts them in place */
    LAUNCH_FD_LIMIT = 1024, /* descriptors that the emulator may have, where the system lets it */
};

#endif
