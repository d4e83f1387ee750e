#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# run.pl [WORD...]: run tests with Perl's TAP::Harness. Without words what a patch needs, the set "test"
# of the file sets. Words: all (every test but those of debug kernels), suites (unit litmus proof cli fuzz lint
# bench 32bit state systemd demo netns), files (netns/limit, unit/table_model, lint/shell; patterns are allowed),
# kernels (6.1 6.12 sid 6.12-rt 6.12-arm64 6.12-kasan 6.12-kcsan, or 6.12-smp: 6.12 in real time), of
# which each runs the guest files that are named, else those of the set of its name.
#
# A test writes TAP; status 4 with a plan of no tests is a skip. tests/netns runs as root in guests
# (Guests.pm). What is built comes first. JOBS tests (3) run at once; those in real time run alone, at the
# end. .cache/test has all output. The last line is "N passed, N failed, N skipped"; status 1 if any failed.
use strict;
use warnings;
use Fcntl ':flock';
use File::Path qw(make_path remove_tree);
use FindBin;
use TAP::Harness;
use TAP::Parser::Aggregator;
use lib $FindBin::RealBin;
use Guests;
use Report;

chdir "$FindBin::RealBin/../.." or die;
delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL T)}; # of the make that has started this
$ENV{PATH} = "/usr/sbin:/usr/bin:/sbin:/bin:$ENV{PATH}";
my @KERNELS = qw(6.1 6.12 sid 6.12-rt 6.12-arm64 6.12-kasan 6.12-kcsan 6.12-smp);
my @SUITES = qw(netns unit fuzz lint bench litmus proof cli 32bit state systemd demo);
my $jobs = $ENV{JOBS} || 3;
my $logs = '.cache/test';
my (@build, @hosts, @guests, @alone); # names
my (%command, %again, %guest); # by name: a command, how to repeat it, or [kernel, file]
my %kernel; # that something is built for, and the guest files that run there

# The lists of the file sets: NAME: WORD...
sub sets {
	my (%set, $name);
	open my $file, '<', "$FindBin::RealBin/sets" or die;
	while (<$file>) {
		next if /^(#|$)/;
		$name = $1 if s/^(\S+): //;
		push @{$set{$name}}, split ' ';
	}
	return %set;
}

# The files of a suite
sub tests_of {
	my ($suite) = @_;
	return map { m{^tests/(.*)\.t$} } glob "tests/$suite/*.t" if $suite eq 'netns' || $suite eq 'cli';
	return map { m{^tests/(.*)\.py$} } grep { !/report/ } glob 'tests/proof/*.py' if $suite eq 'proof';
	return map { "lint/$_" } split ' ', `tests/lint.sh -l` if $suite eq 'lint';
	return map { "$suite/$_" } split ' ', `make -s -C tests/$suite list` if $suite eq 'unit' || $suite eq 'fuzz';
	return map { "32bit/$_" } qw(i386 armhf) if $suite eq '32bit';
	return map { ("systemd/$_-service", "systemd/$_-packages") } qw(bookworm trixie) if $suite eq 'systemd';
	return qw(demo/flood demo/fleet) if $suite eq 'demo';
	return qw(bench/weir bench/peers) if $suite eq 'bench';
	return "$suite/$suite";
}

# named(WORD...): the tests that they name, in their order; -WORD leaves some out
sub named {
	my (@names, %seen);
	$seen{$_} = 1 for map { /^-(.*)/ ? named($1) : () } @_;
	for my $word (grep { !/^-/ } @_) {
		my ($suite, $rest) = split m{/}, $word, 2;
		my $pattern = join '.*', map { quotemeta } split /\*/, $rest // '*', -1;
		my @match = grep { m{^$suite/(.*/)?$pattern$} } (grep { $suite eq $_ } @SUITES) ? tests_of($suite) : ();
		die "run.pl: there is no test called $word (all, @SUITES, SUITE/NAME, @KERNELS)\n" unless @match;
		push @names, grep { !$seen{$_}++ } @match;
	}
	return @names;
}

sub build {
	my ($name, $command) = @_;
	push @build, $name unless $command{$name};
	$command{$name} = ['tests/runner/status.sh', 'sh', '-c', $command];
	return;
}

# What is built for a kernel, and these files
sub build_for {
	my ($kernel, @files) = @_;
	my $has = join ' ', @files, '';
	my $module = 'tests/vm/kernel-build.sh -w';
	my @steps = "$module $kernel" . ($kernel =~ /^6\.12?$/ ? ' C=1' : ''); # sparse cannot parse newer headers
	unshift @steps, "tests/vm/kernel-debug.sh $kernel" if $kernel =~ /k[ac]san/;
	push @steps, "$module -m tests/fault -o .cache/build/$kernel/fault $kernel" if $kernel =~ /kasan/ && $has =~ m{netns/faults };
	push @steps, "$module -m tests/table -a module -a tests/unit -o .cache/build/$kernel-table $kernel" if $has =~ m{netns/table };
	push @steps, "$module -m tests/suspend -o .cache/build/$kernel/suspend $kernel" if $has =~ m{netns/suspend };
	push @steps, "tests/vm/cross-build.sh $kernel" if $kernel eq '6.12-arm64';
	build("build/$kernel", join ' && ', @steps);
	build('build/tool', 'make -s tool');
	build('build/netns', 'make -s -C tests/netns');
	build('build/packages', 'tests/vm/package-build.sh .cache/build/packages') if $has =~ m{netns/(package|autopkgtest) };
	return;
}

sub add_guests {
	my ($kernel, @files) = @_;
	push @{$kernel{$kernel =~ s/-smp$//r}}, @files;
	for my $file (@files) {
		my $name = $kernel eq '6.12' ? $file : "$kernel $file";
		$guest{$name} = [$kernel, $file];
		$again{$name} = "tests/run.sh $file $kernel";
		push @{$kernel =~ /-smp$|^6\.1$|kcsan/ ? \@alone : \@guests}, $name; # in real time
	}
	return;
}

# The command of a test that needs no guest of ours
sub host {
	my ($suite, $rest) = split m{/}, $_[0], 2;
	return "tests/$suite/$rest" . ($suite eq 'cli' ? '.t' : '.py') if $suite eq 'cli' || $suite eq 'proof';
	return ('env', 'CMOCKA_MESSAGE_OUTPUT=TAP', 'timeout', $ENV{UNIT_TIMEOUT} || 300, ".cache/unit/$rest") if $suite eq 'unit';
	return ('make', '-s', '-C', 'tests/fuzz', 'check', "T=$rest", 'FUZZ_RUNS=20000') if $suite eq 'fuzz';
	return ('tests/lint.sh', $rest) if $suite eq 'lint';
	return ('tests/runner/status.sh', 'env', $rest eq 'weir' ? 'BENCH_TOOLS=weir' : (), 'tests/bench/bench.sh') if $suite eq 'bench';
	return ('tests/32bit.sh', "6.1-$rest") if $suite eq '32bit';
	return ('tests/systemd/run.sh', split /-/, $rest) if $suite eq 'systemd';
	return ('tests/runner/status.sh', 'tests/demo/run.sh', $rest eq 'fleet' ? ('-o', '.cache/demo-fleet', 'fleet') : ()) if $suite eq 'demo';
	return "tests/$suite/run.sh";
}

sub add_hosts {
	my @names = @_;
	my @programs = map { m{^unit/(.*)} ? "../../.cache/unit/$1" : () } @names;
	my @fuzzers = map { m{^fuzz/(.*)} ? "../../.cache/build/fuzz/$1" : () } @names;
	build('build/unit', "make -s -j2 -C tests/unit @programs") if @programs;
	build('build/fuzz', "make -s -j2 -C tests/fuzz @fuzzers") if @fuzzers;
	build('build/tool', 'make -s tool') if grep { m{^(cli|bench|systemd|demo|lint)/} } @names;
	build('build/packages', 'tests/vm/package-build.sh .cache/build/packages') if grep { m{^systemd/.*packages} } @names;
	$kernel{'6.12'} //= [] if grep { m{^(lint|bench|systemd|demo)/} } @names;
	for my $name (@names) {
		$command{$name} = [host($name)];
		$again{$name} = "tests/run.sh $name";
		push @{$name =~ m{^demo/} ? \@alone : \@hosts}, $name;
	}
	return;
}

sub plan {
	my @words = @_;
	my %set = sets();
	my (@kernels, @names);
	my $all = "@words" eq 'all';
	@words = $all ? @SUITES : @{$set{test}} if $all || !@words;
	for my $word (@words) {
		push @{(grep { $_ eq $word } @KERNELS) ? \@kernels : \@names}, $word;
	}
	my @tests = named(@names);
	my @files = grep { m{^netns/} } @tests;
	add_hosts(grep { !m{^netns/} } @tests);
	@kernels = @kernels ? sort keys %{{map { $_ => 1 } @kernels}} : @files ? '6.12' : ();
	add_guests($_, @files ? @files : named(@{$set{$_} // ['netns']})) for @kernels;
	add_guests($_, named(@{$set{$_}})) for $all ? qw(6.1 sid 6.12-smp) : ();
	return;
}

sub main {
	my @words = @_;
	plan(@words);
	build_for($_, @{$kernel{$_}}) for sort keys %kernel;
	make_path($logs);
	open my $lock, '>', '.cache/test.lock' or die;
	flock $lock, LOCK_EX | LOCK_NB or die "run.pl: another run is on in this clone\n";
	remove_tree($logs, {keep_root => 1});
	local $ENV{PERL_TEST_HARNESS_DUMP_TAP} = $logs;
	my $guests = Guests->new(most => $jobs, logs => $logs);
	my $report = Report->new(logs => $logs, permitted => "$FindBin::RealBin/skips", again => sub {
		my ($name, @said) = @_;
		my ($during) = map { m{during tests/(.*)\.t} } @said;
		return $again{$name} // ($name =~ /^guests (.*)/ && $during ? "tests/run.sh $during $1" : 'make test');
	});
	my %busy;
	my $harness = TAP::Harness->new({
		formatter => $report, jobs => $jobs, merge => 1,
		exec => sub {
			my ($self, $name) = @_;
			my ($kernel, $file) = @{$guest{$name} // return $command{$name}};
			return "1..0 # SKIP no guest kernel $kernel\n" if !-e '.cache/kernels/' . ($kernel =~ s/-smp$//r) . '/version';
			$busy{$name} = $guests->take($kernel);
			return ['tests/runner/guest-file.sh', $busy{$name}{dir}, $file];
		},
	});
	$harness->callback(after_test => sub { my $guest = delete $busy{$_[0][0]}; $guest->{busy} = 0 if $guest; });
	local @SIG{qw(INT TERM HUP PIPE)} = (sub { exit 130 }) x 4;
	my $sum = TAP::Parser::Aggregator->new;
	$sum->start;
	$harness->aggregate_tests($sum, @build);
	if (!@{$report->{failures}}) {
		# Guests wait, hosts compute: one of each in turn
		my @run = map { ($guests[$_] // (), $hosts[$_] // ()) } 0 .. @guests + @hosts;
		$harness->aggregate_tests($sum, @run) if @run;
		$harness->jobs(1);
		$harness->aggregate_tests($sum, @alone) if @alone;
	}
	my %wrong = $guests->verdicts;
	for my $kernel (sort keys %wrong) {
		$report->told("guests $kernel", 'end well, their kernels complain of nothing, JSON is as in weir -schema', @{$wrong{$kernel}});
	}
	return $report->finish;
}

exit main(@ARGV);
