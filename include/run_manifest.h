/* The manifest: the first file of every run archive, named RUN_MANIFEST_NAME.
 *
 * It is a sequence of NUL-terminated "key=value" strings.  The first is "version=1".  A reader
 * ignores keys that it does not know.  Times are decimal nanoseconds.
 *
 *   version=1              first string
 *   program=PATH           the program's name in the archive, without a leading slash
 *   program-path=PATH      the absolute path of the program on the host, for reports
 *   program-build-id=HEX   GNU build-id, absent when the program has none
 *   arg=TEXT               one per argument, argv[0] first
 *   env=K=V                one per environment variable
 *   cwd=PATH               the program's working directory
 *   mode=MODE              off, timer, ipi, overflow or instructed
 *   interval=NS            sampling interval: timer and ipi
 *   period=N               overflow: events of the first event between samples; not with
 *                          frequency
 *   frequency=HZ           overflow: samples a second, which the period adapts to
 *   max-overhead=N         percent of the time that sampling may take: 1 to 90 (50)
 *   counters-every=N       counters are read with every Nth sample (1)
 *   paused=1               the trigger starts with the program's hr_start()
 *   stacks=KIND            samples have call stacks: fp, dwarf or python
 *   stacks-limit=N         with stacks: frames at most (fp, python), bytes of a stack (dwarf)
 *   probe-stack=1          with stacks and probes: a sample at each entry of a function, too
 *   waits=1                HR_REC_WAIT and the stack where a thread begins to wait
 *   pages=NS               HR_REC_PAGES so often
 *   pages-split=1          memory has no 2 MiB pages
 *   python=NAME            with stacks=python: base name of the file that holds _PyRuntime
 *   python-layout=N,N,...  where CPython keeps its frames (lib/program/python_layout.h)
 *   kernel-path=PATH       the absolute path of the kernel on the host, for reports
 *   event=NAME             one per event, in order, as given: generic, a CPU's own, raw;
 *                          suffix :u, :k or :uk
 *   default-events=1       the user named no events: without counters only the first is recorded
 *   target-cpu=LIST        the events are encoded for these CPUs, comma-separated, and for no
 *                          others than other groups name: VENDOR-FAMILY-MODEL, vendor intel or amd,
 *                          decimal numbers as CPUID displays them; VENDOR alone: every other CPU
 *                          of that vendor.  May occur several times: each begins a group
 *   event-encoding=S:E:C   of a group, one per event, in order: what RUN_HOST_EVENT,
 *                          RUN_HOST_EVENT_EXT (0: none) and RUN_HOST_EVENT_COUNTERS (0: all)
 *                          would say, hexadecimal
 *   cpus=N                 workload CPUs, without the service CPU (and, with mode=ipi, the one that
 *                          interrupts them); 0: one CPU does both (shared mode)
 *   virtual-time=0|1       1: there may be virtual time; the kernel finds out
 *   emulated=0|1           the host started an emulator, not a hypervisor
 *   timeout=NS             the program is stopped after so long (HR_EXIT_TIMEOUT), by the kernel
 *   start-unix-ns=N        the program's wall clock starts here
 *   hostname=TEXT          what uname() reports
 *   tty=MASK               bit N set: standard stream N of the command is a terminal
 *   rows=N, columns=N      the terminal's size, when there is one
 *   processes=N            processes there may be at once, 1..8000; 512 without it
 *   prefault=1             memory is filled when it is mapped, not when it is touched
 *   keep-files=1           what the program created or changed goes to the files port
 *   missing=1              names that the program did not find go there too
 *   network=1              connections to the outside go to the network port
 *   published-tcp=PORT     clients from outside may come to this port; likewise published-udp
 *   panic-test=WHERE       only honoured by a test build of the kernel
 *   repetitions=N,N,...    comes after all other keys and begins a set of events: the keys event,
 *                          target-cpu and event-encoding up to the next one are for these
 *                          repetitions of the archive on a stick, in place of those before the sets
 */
#pragma once

#define RUN_MANIFEST_NAME "microtome/manifest"
#define RUN_STDIN_NAME "microtome/stdin" /* the program's input, if no host sends it */
#define RUN_MANIFEST_BYTES_MAX (1u << 20)
