# SPDX-License-Identifier: GPL-2.0-or-later
# Guests.pm: the guests of a run, at most so many at once. Each runs one test file after the other. Its
# folder LOGS/guest-N has the FIFOs of guest.sh -f, what guest.sh printed (said), the JSON that tests had
# weir print, and its status once it has ended.
package Guests;
use strict;
use warnings;
use Fcntl;

# The programs that guest tests start most often: opening one over 9p takes as long as running it
my @NEAR = qw(awk bash cat dirname echo grep insmod ip jq mkfifo mktemp nft paste rm rmmod sed sh sort timeout xargs
	userspace/weir .cache/build/netns/send .cache/build/netns/window);
my @ENV = qw(UNIT_PERCENT UNIT_SEED UNIT_RUN FUZZ_SEED FUZZ_MESSAGES FUZZ_PACKETS FUZZ_BATCHES FUZZ_FIRST
	DIFF_ALL DIFF_FILES EXPLAIN_ROUNDS);

sub new {
	my ($class, %self) = @_; # most, logs
	return bless {%self, all => []}, $class;
}

# take(KERNEL): a guest that is idle, or a new one; 6.12-smp is 6.12 in real time
sub take {
	my ($self, $kernel) = @_;
	my @idle = grep { !$_->{busy} && !-e "$_->{dir}/status" } @{$self->{all}};
	$self->end($_) for grep { time - $_->{began} > 3600 } @idle; # guest.sh -t
	@idle = grep { !-e "$_->{dir}/status" } @idle;
	my ($guest) = grep { $_->{kernel} eq $kernel } @idle;
	if (!$guest) {
		$self->end($idle[0]) if @idle && $self->{most} <= grep { !-e "$_->{dir}/status" } @{$self->{all}};
		$guest = $self->boot($kernel);
	}
	$guest->{busy} = 1;
	return $guest;
}

sub boot {
	my ($self, $kernel) = @_;
	my $dir = "$self->{logs}/guest-" . (1 + @{$self->{all}});
	mkdir $dir or die "$dir: $!\n";
	system('mkfifo', "$dir/port.in", "$dir/port.out") == 0 or die "$dir: no FIFOs\n";
	my ($name, @real) = $kernel =~ /(.*)-smp$/ ? ($1, '-r') : $kernel;
	my @command = ('tests/vm/guest.sh', '-f', '-n', @real, '-k', $name, '-t', 7200, '-o', $dir, (map { ('-p', $_) } @NEAR),
		'--', 'env', (map { "$_=$ENV{$_}" } grep { $ENV{$_} } @ENV), 'tests/vm/in-guest.sh');
	# A session of its own, so that it can be ended whole
	system('bash', '-c', 'setsid bash -c \'echo $$ >"$1/pid"; "${@:2}"; echo $? >"$1/status"\' - "$@" </dev/null >"$1/said" 2>&1 &', '-', $dir, @command);
	push @{$self->{all}}, {kernel => $kernel, dir => $dir, began => time};
	return $self->{all}[-1];
}

# end(GUEST): it ends when it is told no other file
sub end {
	my ($self, $guest) = @_;
	my $file = "$guest->{dir}/status";
	return if -e $file;
	sysopen my $port, "$guest->{dir}/port.in", O_RDWR or return $self->kill($guest);
	syswrite $port, "\n";
	for (1 .. 1200) {
		return if -s $file;
		select undef, undef, undef, 0.1;
	}
	return $self->kill($guest);
}

# kill(GUEST): who waits for its status gets one
sub kill {
	my ($self, $guest) = @_;
	my ($pid) = `cat "$guest->{dir}/pid" 2>/dev/null` =~ /(\d+)/;
	CORE::kill TERM => -$pid if $pid;
	open my $status, '>', "$guest->{dir}/status" or return;
	print $status "143\n";
	return;
}

# A run that is interrupted leaves no guest behind.
sub DESTROY {
	my ($self) = @_;
	$self->kill($_) for grep { !-e "$_->{dir}/status" } @{$self->{all}};
	return;
}

# verdicts: for each kernel the lines that say what is wrong with its guests
sub verdicts {
	my ($self) = @_;
	my %wrong;
	for my $guest (@{$self->{all}}) {
		my $dir = $guest->{dir};
		$self->end($guest);
		my $said = `cat "$dir/status" 2>&1` eq "0\n" ? '' : "$dir ends badly\n" . `grep -v 'hub 0 is not connected' "$dir/said"`;
		my $judged = -s "$dir/json" ? `userspace/weir -schema | tests/netns/schema.py /dev/stdin "$dir/json" 2>&1` : 'ok';
		push @{$wrong{$guest->{kernel}}}, split /\n/, $said . ($judged =~ /^ok/m ? '' : $judged);
	}
	return %wrong;
}

1;
