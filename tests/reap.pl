# Runs a daemon in the foreground, and reaps what it leaves behind: where the first process of a
# container does not, daemons wait for children that are gone.  SIGTERM ends the daemon.
use strict;
use warnings;

syscall(157, 36, 1, 0, 0, 0) == 0 or die "prctl(PR_SET_CHILD_SUBREAPER): $!\n";
my $pid = fork // die "fork: $!\n";
if ($pid == 0) {
    exec @ARGV or exit 127;
}
$SIG{TERM} = sub { kill 'TERM', $pid };
while (1) {
    my $ended = wait;
    last if $ended == $pid || ($ended == -1 && !$!{EINTR});
}
