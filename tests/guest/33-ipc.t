#!/bin/sh
# Objects between processes, as on Linux: System V shared memory, semaphores and messages, POSIX message queues and shared
# memory, futexes of shared memory.
. "$(dirname "$0")/../lib.sh"

# Every program passes natively with the same output, alone and as several processes. The native run leaves nothing behind.
for cpus in 0 2; do
    for name in ipc_shm ipc_sem ipc_msg ipc_mqueue ipc_mqfile ipc_notify ipc_futex; do
        echo "t '$name-glibc-static, --cpus $cpus' $WORKLOADS/$name-glibc-static"
        echo "t '$name-musl, --cpus $cpus' $WORKLOADS/$name-musl"
    done >programs.sh
    for name in ipc_shm ipc_sem ipc_msg ipc_mqueue ipc_futex; do
        echo "t '$name processes, --cpus $cpus' $WORKLOADS/$name processes"
    done >>programs.sh
    together --mode timer -i 1ms --accel tcg --cpus $cpus -- programs.sh
    while read -r name; do
        good=$(cat "native.d/$name.status") # none: it is not built
        [ "$good" = none ] || is "$name: natively all holds" "$good$(grep -e ': NO$' -e 'status -1' "native.d/$name")" 0
    done <native.d/.names
    ok "--cpus $cpus: the trace is right" "$HR" check hr.bin
done

# The directory of message queues.
run_guest "$WORKLOADS/ipc_mqueue" /dev/mqueue
is 'the directory of message queues: status' "$status" 0
if unshare -m sh -c 'mount -t mqueue none /mnt && exec "$1" /mnt' sh "$WORKLOADS/ipc_mqueue" >native 2>/dev/null; then
    same_file 'the directory of message queues: output as natively' out native
else
    skip 1 'no message queues can be mounted here'
fi

# Objects until there is no memory for more, three times: an error, and all memory comes back.
for _ in 1 2 3; do
    echo 'messages: Cannot allocate memory, many'
    echo 'semaphores: Cannot allocate memory, many'
    echo 'undos: Cannot allocate memory, many'
    echo 'segments: No space left on device, 4096'
done >expected
run_guest --mode off --mem 96M "$WORKLOADS/ipc_fill"
is 'objects without end: status' "$status" 0
same_file 'objects without end' out expected

# The text of /proc, without objects, is that of a fresh Linux.
cat >expected <<'END'
       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      atime      dtime      ctime                   rss                  swap
       key      semid perms      nsems   uid   gid  cuid  cgid      otime      ctime
       key      msqid perms      cbytes       qnum lspid lrpid   uid   gid  cuid  cgid      stime      rtime      ctime
32000	1024000000	500	32000
18446744073692774399
18446744073692774399
4096
8192
16384
32000
10
8192
10
8192
256
END
kernel=/proc/sys/kernel mqueue=/proc/sys/fs/mqueue
if command -v busybox >/dev/null; then
    run_guest "$(command -v busybox)" cat /proc/sysvipc/shm /proc/sysvipc/sem /proc/sysvipc/msg $kernel/sem $kernel/shmmax \
        $kernel/shmall $kernel/shmmni $kernel/msgmax $kernel/msgmnb $kernel/msgmni $mqueue/msg_max $mqueue/msgsize_max \
        $mqueue/msg_default $mqueue/msgsize_default $mqueue/queues_max
    same_file 'the files of /proc' out expected
else
    skip 1 'no busybox'
fi

done_testing
