#!/usr/bin/perl
# Prints the records of requests, waits, switches and of stacks at waits of a trace, in the order of time, one a line, from
# include/hr_format.h alone: TIME request TID KIND NUMBER, TIME wait TID CALL ADDRESS OPERATION,
# TIME switch FROM TO REASON, TIME waiting TID FLAGS.
use strict;
use warnings;

my @kinds = ('', 'begin', 'end', 'join', 'leave', 'block');
my @lines;
open(my $file, '<:raw', $ARGV[0]) or die "$ARGV[0]: $!\n";
my $bytes = do { local $/; <$file> };
my $at = unpack('V', substr($bytes, 12, 4));
while ($at + 64 <= length $bytes) {
    my ($magic, $type, $cpu, $sequence, $payload) = unpack('a4 v v V V', substr($bytes, $at, 16));
    die "no chunk at $at\n" if $magic ne 'HRCK';
    $at += 64;
    my $end = $at + $payload;
    while ($at + 4 <= $end) {
        my ($kind, undef, $size) = unpack('C C v', substr($bytes, $at, 4));
        my $body = substr($bytes, $at + 4, $size);
        $at += 4 + $size;
        if ($kind == 56) {
            my ($time, $request, $tid, $what) = unpack('Q<2 V2', $body);
            push @lines, [$time, "request $tid $kinds[$what] $request"];
        } elsif ($kind == 57) {
            my ($time, $address, $tid, $call, $operation) = unpack('Q<2 V3', $body);
            push @lines, [$time, sprintf('wait %u %u 0x%x %u', $tid, $call, $address, $operation)];
        } elsif ($kind == 37) {
            my ($time, $from, $to, $reason) = unpack('Q< V3', $body);
            push @lines, [$time, "switch $from $to $reason"];
        } elsif (($kind == 33 || $kind == 34) && unpack('x4 v', $body) & 32) {
            push @lines, [0, 'waiting ' . join(' ', unpack('V v v', $body))];
        }
    }
    $at = $end;
}
print "$_->[0] $_->[1]\n" for sort { $a->[0] <=> $b->[0] } @lines;
