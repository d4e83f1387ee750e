# SPDX-License-Identifier: GPL-2.0-or-later
# Report.pm: what TAP::Harness prints here: each failure as it comes and again at the end, with its
# diagnostics, its log, and the command that repeats it; skips; a line for each file. On a terminal a
# line of progress is in the place of the files, V=1 in the environment prints everything.
package Report;
use strict;
use warnings;

# new(again => sub of a file's name and its diagnostics, logs => folder, permitted => file of regular expressions)
sub new {
	my ($class, %self) = @_;
	open my $list, '<', $self{permitted} or die "$self{permitted}: $!\n";
	chomp(my @lines = grep { !/^#/ } <$list>);
	return bless {
		%self, permitted => [map { qr/$_/ } @lines], passed => 0, skipped => 0, failures => [], running => {},
		verbose => $ENV{V}, terminal => -t STDOUT && !$ENV{V},
	}, $class;
}

sub prepare { }
sub verbosity { return 0 }
sub summary { }

sub open_test {
	my ($self, $name, $parser) = @_;
	$self->{running}{$name} = 1;
	return Report::File->new($self, $name, $parser);
}

sub say_line {
	my ($self, $text) = @_;
	print $self->{terminal} ? "\r\033[K" : '', $text, "\n";
	return;
}

sub progress {
	my ($self) = @_;
	return unless $self->{terminal};
	my $text = sprintf '%d passed, %d failed; %s', $self->{passed}, scalar @{$self->{failures}},
		join ', ', sort keys %{$self->{running}};
	print "\r\033[K", substr($text, 0, ($ENV{COLUMNS} || 80) - 1);
	return;
}

sub failed {
	my ($self, $name, $text, @said) = @_;
	my $entry = join "\n", "not ok - $name: $text", @said,
		'#   again: ' . $self->{again}->($name, @said), -e "$self->{logs}/$name" ? "#   log: $self->{logs}/$name" : ();
	push @{$self->{failures}}, $entry;
	$self->say_line($entry);
	return;
}

sub skipped {
	my ($self, $name, $what, $reason) = @_;
	my $text = "$name$what # SKIP $reason";
	if (grep { $text =~ $_ } @{$self->{permitted}}) {
		$self->{skipped}++;
		$self->say_line("ok - $text");
	} else {
		$self->failed($name, "skips$what, which tests/runner/skips does not permit: $reason");
	}
	return;
}

# told(NAME, TEXT, WRONG...): a result that no file prints
sub told {
	my ($self, $name, $text, @wrong) = @_;
	if (@wrong) {
		$self->failed($name, $text, map { "#   $_" } @wrong);
	} else {
		$self->{passed}++;
	}
	return;
}

# finish: print what failed once more, and the line of sums; the exit status
sub finish {
	my ($self) = @_;
	my @failures = @{$self->{failures}};
	$self->say_line(join "\n", '# Failed:', @failures) if @failures;
	$self->say_line(sprintf '%d passed, %d failed, %d skipped', $self->{passed}, scalar @failures, $self->{skipped});
	return @failures || !$self->{passed} ? 1 : 0;
}

# The results of one file
package Report::File;

sub new {
	my ($class, $report, $name, $parser) = @_;
	return bless {
		report => $report, name => $name, parser => $parser, failing => undef, said => [], bad => 0, began => time,
	}, $class;
}

sub flush {
	my ($self) = @_;
	$self->{report}->failed($self->{name}, @{$self->{failing}}) if $self->{failing};
	$self->{failing} = undef;
	return;
}

sub result {
	my ($self, $result) = @_;
	my $report = $self->{report};
	$report->say_line("$self->{name}: " . $result->raw) if $report->{verbose};
	if ($result->is_test) {
		$self->flush;
		my $text = $result->description =~ s/^- //r;
		if (!$result->is_ok) {
			$self->{bad}++;
			$self->{failing} = [$text];
		} elsif ($result->has_skip) {
			$report->skipped($self->{name}, ": $text", $result->explanation);
		} else {
			$report->{passed}++;
		}
	} elsif ($result->raw =~ /^\S*tests\/\S+: line \d+: (?!warning: |.*(Terminated|Killed))/) {
		# A loop whose input cannot be opened is left out without a result.
		$self->{bad}++;
		$report->failed($self->{name}, 'bash meets no error', '# ' . $result->raw);
	} elsif ($result->raw =~ /\S/) {
		push @{$self->{said}}, '#   ' . $result->raw =~ s/^# *//r;
		shift @{$self->{said}} if @{$self->{said}} > 20;
		push @{$self->{failing}}, '#   ' . $result->raw =~ s/^# ?//r
			if $self->{failing} && @{$self->{failing}} < 80 && !$result->is_plan;
	}
	$report->progress;
	return;
}

sub close_test {
	my ($self) = @_;
	my ($report, $parser) = @{$self}{qw(report parser)};
	$self->flush;
	delete $report->{running}{$self->{name}};
	if (defined $parser->skip_all) {
		$report->skipped($self->{name}, '', $parser->skip_all);
	} elsif (!$self->{bad}) {
		my $wrong = join '; ', $parser->parse_errors, $parser->wait ? 'status ' . ($parser->exit || $parser->wait) : ();
		$report->failed($self->{name}, "ends well ($wrong)", @{$self->{said}}) if $wrong;
		$self->{bad} = $wrong;
	}
	$report->say_line(sprintf '# %s: %d results, %d s', $self->{name}, $parser->tests_run, time - $self->{began})
		if !$report->{terminal};
	return;
}

1;
