#!/usr/bin/perl
# prove -j2 with its result as numbers: prove.pl COUNTS-FILE TEST...  writes "PASSED FAILED" to the file.
# A file that fails beside another one is run once more, alone: a machine of two busy CPUs can starve an emulator
# beyond any patience.  That is said, with what failed; what fails alone has failed.
use strict;
use warnings;
use TAP::Harness;

# The result of running test files: passed, and failed by file.
sub run {
    my ($jobs, @files) = @_;
    my $harness = TAP::Harness->new({ jobs => $jobs, timer => 1, merge => 0, exec => [], failures => 1 });
    my $result = $harness->runtests(@files);
    my %failed;
    for my $file ($result->failed, $result->parse_errors, $result->exit, $result->wait) {
        # A file that dies, or breaks its plan, has failed even if each of its tests passed.
        my ($parser) = $result->parsers($file);
        $failed{$file} = $parser->failed || 1;
    }
    return ($result->passed - $result->skipped, \%failed, $result);
}

my $counts = shift;
unlink $counts;
my ($passed, $failed, $result) = run(2, @ARGV);
if (%$failed) {
    my @again = sort keys %$failed;
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
my $bad = 0;
$bad += $_ for values %$failed;
$bad ||= 1 if $passed == 0;
open my $out, '>', $counts or die "$counts: $!\n";
print $out $passed, ' ', $bad, "\n";
close $out or die "$counts: $!\n";
exit($bad ? 1 : 0);
