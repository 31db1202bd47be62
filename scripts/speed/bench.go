package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// bench is one run of the script.
type bench struct {
	options
	ctx         context.Context
	diagnostics io.Writer
	progress    *log.Logger
	// dir has everything that is made; in it are the empty Go program and, if a commit is given, its small-hook.
	dir, empty, old string
	env             []string
	worlds          map[string]*world
}

// world is a repository to measure in.
type world struct {
	dir string
	// log is the size of the judged log, in bytes.
	log int64
	// changes counts those that were measured, so that none is made twice; others are the other work trees.
	changes int
	others  []string
}

// newBench makes the directory. This machine's configuration does not affect git there.
func newBench(ctx context.Context, o options, diagnostics io.Writer) (*bench, error) {
	dir, err := os.MkdirTemp("", "small-gate-speed")
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, ctx: ctx, diagnostics: diagnostics, progress: log.New(diagnostics, "", 0), dir: dir, worlds: map[string]*world{}}
	config := filepath.Join(dir, "gitconfig")
	text := "[user]\n\tname = T\n\temail = t@example.com\n[gc]\n\tauto = 0\n[receive]\n\tautogc = false\n[init]\n\tdefaultBranch = main\n[fastimport]\n\tunpackLimit = 1\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	b.env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GIT_") || strings.HasPrefix(v, "SMALL_") || strings.HasPrefix(v, "CI=") || strings.HasPrefix(v, "GO")
	})
	b.env = append(b.env, "GIT_CONFIG_GLOBAL="+config, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	return b, nil
}

// command is a process to measure.
type command struct {
	args []string
	dir  string
	env  []string
	// stdin is a file, or empty.
	stdin string
	// exit is the required exit status.
	exit int
}

// sample is the cost of a process. peak is in bytes, 0 if the system does not report it.
type sample struct {
	cpu, wall time.Duration
	peak      int64
}

func (s sample) plus(t sample) sample {
	return sample{cpu: s.cpu + t.cpu, wall: s.wall + t.wall, peak: max(s.peak, t.peak)}
}

// run runs a command and measures it. An unexpected exit status is an error: something else was measured.
func (b *bench) run(c command) (s sample, err error) {
	cmd := exec.CommandContext(b.ctx, c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Env = c.dir, append(slices.Clip(b.env), c.env...)
	said, err := os.CreateTemp(b.dir, "said")
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, said.Close(), os.Remove(said.Name())) }()
	cmd.Stderr = said
	if c.args[0] != "git" {
		cmd.Stdout = said // git's output goes to the null device: it may have gigabytes
	}
	if c.stdin != "" {
		in, err := os.Open(c.stdin)
		if err != nil {
			return s, err
		}
		defer func() { err = errors.Join(err, in.Close()) }()
		cmd.Stdin = in
	}
	began := time.Now()
	err = cmd.Run()
	s.wall = time.Since(began)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return s, err
	}
	if cmd.ProcessState.ExitCode() != c.exit {
		text, readErr := os.ReadFile(said.Name())
		return s, errors.Join(fmt.Errorf("%s in %s: %s, where exit status %d was expected:\n%s", strings.Join(c.args, " "), c.dir, cmd.ProcessState, c.exit, text), readErr)
	}
	s.cpu, s.peak = cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), peakMemory(cmd.ProcessState)
	return s, nil
}

// git runs git in a directory, to prepare something, and returns its output.
func (b *bench) git(dir string, args ...string) (string, error) {
	return b.output(dir, append([]string{"git"}, args...)...)
}

// output runs a command and returns its output. It inherits the environment's Go settings.
func (b *bench) output(dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(b.ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, b.env
	if args[0] != "git" {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s in %s: %w: %s", strings.Join(args, " "), dir, err, said.String())
	}
	return string(out), nil
}

// releaseFlags are those in .goreleaser.yaml and the Dockerfile.
var releaseFlags = []string{"-trimpath", "-buildvcs=false", "-ldflags=-s -w -X github.com/small-gate/small-gate/internal/base/version.version=v0.0.0"}

// build builds the empty program, the commit's gate, and this one unless it is given.
func (b *bench) build() error {
	source := filepath.Join(b.dir, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return err
	}
	b.empty = filepath.Join(b.dir, "empty")
	if err := b.goBuild(".", b.empty, source); err != nil {
		return err
	}
	if b.commit != "" {
		if err := b.buildOld(); err != nil {
			return err
		}
	}
	if b.binary != "" {
		return nil
	}
	b.binary = filepath.Join(b.dir, "small-hook")
	return b.goBuild(".", b.binary, "./cmd/small-hook")
}

// buildOld builds the commit's small-hook from a copy of its files.
func (b *bench) buildOld() error {
	id, err := b.git(".", "rev-parse", "--verify", "--end-of-options", b.commit+"^{commit}")
	if err != nil {
		return err
	}
	files, packed := filepath.Join(b.dir, "old-files"), filepath.Join(b.dir, "old.tar")
	if err := os.Mkdir(files, 0o700); err != nil {
		return err
	}
	if _, err := b.git(".", "archive", "-o", packed, strings.TrimSpace(id)); err != nil {
		return err
	}
	if _, err := b.output(files, "tar", "-xf", packed); err != nil {
		return err
	}
	b.old = filepath.Join(b.dir, "small-hook-old")
	return b.goBuild(files, b.old, "./cmd/small-hook")
}

// goBuild builds what, in a directory, as the release does.
func (b *bench) goBuild(dir, out, what string) error {
	_, err := b.output(dir, slices.Concat([]string{"go", "build", "-o", out}, releaseFlags, []string{what})...)
	return err
}

// measure runs a row once, with one of our programs or, without one, the limit.
type measure func(program string) (sample, error)

// side measures ours beside a limit, each a list of commands whose costs are added. In ours, the first argument is left to the program.
func (b *bench) side(limit, ours []command) measure {
	return func(program string) (sum sample, err error) {
		commands := limit
		if program != "" {
			commands = ours
		}
		for _, c := range commands {
			if program != "" {
				c.args = append([]string{program}, c.args...)
			}
			s, err := b.run(c)
			if err != nil {
				return sum, err
			}
			sum = sum.plus(s)
		}
		return sum, nil
	}
}

// result is the result of a row: medians. A sample without time was not measured.
type result struct {
	row             row
	runs            int
	limit, old, new sample
	world           *world
}

func (b *bench) measureRows() ([]result, error) {
	var out []result
	for _, r := range rows {
		if !b.rows.MatchString(r.name) {
			continue
		}
		if r.big && !b.big {
			b.progress.Printf("left out without -big: %s", r.name)
			continue
		}
		got, err := b.measureRow(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		out = append(out, got)
	}
	return out, nil
}

// measureRow runs the limit, the old and the new program in turn, with one uncounted round first.
func (b *bench) measureRow(r row) (result, error) {
	began := time.Now()
	res := result{row: r, runs: b.runs}
	if r.long {
		res.runs = (b.runs + 2) / 3
	}
	w, m, err := r.prepare(b)
	if err != nil {
		return res, err
	}
	res.world = w
	made := time.Since(began)
	var limit, old, now []sample
	for i := -1; i < res.runs; i++ {
		for _, side := range []struct {
			program string
			skip    bool
			into    *[]sample
		}{{"", r.limit == "", &limit}, {b.old, b.old == "", &old}, {b.binary, false, &now}} {
			if side.skip {
				continue
			}
			s, err := m(side.program)
			if err != nil {
				return res, err
			}
			if i >= 0 {
				*side.into = append(*side.into, s)
			}
		}
	}
	res.limit, res.old, res.new = median(limit), median(old), median(now)
	b.progress.Printf("%s: made in %.1f s, measured in %.1f s", r.name, made.Seconds(), (time.Since(began) - made).Seconds())
	return res, nil
}

// median is the median of each figure.
func median(samples []sample) sample {
	if len(samples) == 0 {
		return sample{}
	}
	var cpu, wall []time.Duration
	var peak []int64
	for _, s := range samples {
		cpu, wall, peak = append(cpu, s.cpu), append(wall, s.wall), append(peak, s.peak)
	}
	slices.Sort(cpu)
	slices.Sort(wall)
	slices.Sort(peak)
	middle := len(samples) / 2
	return sample{cpu: cpu[middle], wall: wall[middle], peak: peak[middle]}
}
