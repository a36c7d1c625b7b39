#!/usr/bin/perl
# prove -j2 with its result as numbers: prove.pl COUNTS-FILE TEST...  writes "PASSED FAILED" to the file.
use strict;
use warnings;
use TAP::Harness;

my $counts = shift;
unlink $counts;
my $harness = TAP::Harness->new({ jobs => 2, timer => 1, merge => 0, exec => [] , failures => 1});
my $result = $harness->runtests(@ARGV);
# A file that dies, or breaks its plan, has failed even if each of its tests passed.
my $failed = $result->failed;
my %bad = map { $_ => 1 } $result->failed, $result->parse_errors, $result->exit, $result->wait;
$failed = keys %bad if $failed < keys %bad;
my $passed = $result->passed - $result->skipped;
$failed ||= 1 if $passed == 0;
open my $out, '>', $counts or die "$counts: $!\n";
print $out $passed, ' ', $failed, "\n";
close $out or die "$counts: $!\n";
exit($failed ? 1 : 0);
