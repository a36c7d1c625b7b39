#!/usr/bin/perl
# prove -j with its result as numbers: prove.pl COUNTS-FILE TIMES-FILE TEST...  writes "PASSED FAILED" to the first
# file, and what each test file took to the second one: seconds, seconds of CPU time, name.  The slowest are printed.
# A file that fails beside another one is run once more, alone: a machine of two busy CPUs can starve an emulator
# beyond any patience.  That is said, with what failed; what fails alone has failed.  It waits for the file $AFTER, 20 minutes at most.
use strict;
use warnings;
use File::Temp 'tempdir';
use TAP::Harness;

my $cpu = tempdir(CLEANUP => 1);
my %seconds;

# Seconds that a file may take: the longest takes some 200 on a quiet machine.  One that hangs has failed, and the rest is run.
my $limit = 900;

# How a file is run: its CPU time is left in a file.
sub command {
    my ($harness, $file) = @_;
    return ['sh', '-c', 'timeout -k 20 "$3" "$1"; status=$?; times >"$2"; exit $status', 'sh', $file, "$cpu/" . $file =~ tr{/}{_}r, $limit];
}

# Seconds of CPU time that a file took, of the second line of the shell's `times`.
sub cpu_seconds {
    my ($file) = @_;
    open my $in, '<', "$cpu/" . $file =~ tr{/}{_}r or return 0;
    my @lines = <$in>;
    my $sum = 0;
    $sum += $1 * 60 + $2 while ($lines[1] // '') =~ /(\d+)m([\d.]+)s/g;
    return $sum;
}

# The result of running test files: passed, and failed by file.
sub run {
    my ($jobs, @files) = @_;
    my $harness = TAP::Harness->new({ jobs => $jobs, timer => 1, merge => 0, exec => \&command, failures => 1 });
    my $result = $harness->runtests(@files);
    my %failed;
    for my $file ($result->failed, $result->parse_errors, $result->exit, $result->wait) {
        # A file that dies, or breaks its plan, has failed even if each of its tests passed.
        my ($parser) = $result->parsers($file);
        $failed{$file} = $parser->failed || 1;
    }
    for my $file (@files) {
        my ($parser) = $result->parsers($file);
        $seconds{$file} = $parser->end_time - $parser->start_time;
        print "# $file: still running after $limit s, and ended\n" if $parser->exit == 124;
    }
    return ($result->passed - $result->skipped, \%failed, $result);
}

# The longest files first: at the end both CPUs have something to do.  By what they took the last time, or by a list.
sub longest_first {
    my ($times, @files) = @_;
    my %weight;
    if (open my $in, '<', "tests/longest") {
        my @names = grep { /^tests/ } <$in>;
        chomp @names;
        $weight{ $names[$_] } = @names - $_ for 0 .. $#names;
    }
    if (open my $in, '<', $times) {
        %weight = map { (split)[2, 0] } <$in>;
    }
    my %place = map { $files[$_] => $_ } 0 .. $#files;
    return sort { ($weight{$b} // 0) <=> ($weight{$a} // 0) || $place{$a} <=> $place{$b} } @files;
}

# Writes what each file took; prints the ten that took longest.
sub report {
    my ($times) = @_;
    my @slowest = sort { $seconds{$b} <=> $seconds{$a} || $a cmp $b } keys %seconds;
    my @lines = map { sprintf "%7.1f %7.1f %s\n", $seconds{$_}, cpu_seconds($_), $_ } @slowest;
    open my $out, '>', $times or die "$times: $!\n";
    print $out @lines;
    close $out or die "$times: $!\n";
    print "# the slowest files: seconds, seconds of CPU time\n";
    print "# $_" for grep { defined } @lines[0 .. 9];
}

my ($counts, $times, @files) = @ARGV;
unlink $counts;
# One more than there are CPUs: half of the files wait for something now and then.
my ($jobs) = (qx(nproc) =~ /(\d+)/, 1);
my ($passed, $failed, $result) = run($jobs + 1, longest_first($times, @files));
if (%$failed) {
    my @again = sort keys %$failed;
    for (1 .. 1200) { $ENV{AFTER} && !-e $ENV{AFTER} ? sleep 1 : last }
    print "# once more, alone: @again\n";
    for my $file (@again) {
        my ($parser) = $result->parsers($file);
        $passed -= $parser->passed - $parser->skipped;
    }
    my ($passed_alone, $failed_alone) = run(1, @again);
    $passed += $passed_alone;
    print "# passed alone, failed beside another: $_\n" for grep { !$failed_alone->{$_} } @again;
    $failed = $failed_alone;
}
report($times);
my $bad = 0;
$bad += $_ for values %$failed;
$bad ||= 1 if $passed == 0;
open my $out, '>', $counts or die "$counts: $!\n";
print $out $passed, ' ', $bad, "\n";
close $out or die "$counts: $!\n";
exit($bad ? 1 : 0);
