// Speed prints the cost of the gate, as whole processes beside the limit for each, measured in one run:
//
//	go run ./scripts/speed [-row REGEXP] [-runs N] [-binary FILE] [-big] [COMMIT]
//	go run ./scripts/speed -page [-runs N] [-binary FILE]
//
// With COMMIT it builds that one too and measures it beside this one, as the old one.
//
// With -page it instead measures a commit with the gate and with other programs, and writes docs/performance.md.
//
// The limit is a git command that reads the same, or an empty Go program. It makes the repositories that it needs in a temporary directory,
// and removes them. Every figure is a median: processor time is user and system time of a process and of all its children, as counted by
// the kernel, so that a busy machine hardly affects it; elapsed time is beside it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(2)
	}
}

// options are the flags.
type options struct {
	rows      *regexp.Regexp
	runs      int
	binary    string
	commit    string
	big, page bool
}

func parse(args []string, diagnostics io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("speed", flag.ContinueOnError)
	flags.SetOutput(diagnostics)
	pattern := flags.String("row", "", "measure the rows whose name matches `REGEXP`")
	flags.IntVar(&o.runs, "runs", 15, "run each row `N` times; the long rows a third as often")
	flags.StringVar(&o.binary, "binary", "", "measure the small-hook in `FILE`; without it, one is built as the release builds it")
	flags.BoolVar(&o.big, "big", false, "measure in a repository of a million objects too, which takes a minute to make")
	flags.BoolVar(&o.page, "page", false, "measure a commit beside other programs, and write "+performancePage)
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 1 || o.page && flags.NArg() > 0 {
		return o, fmt.Errorf("%q is one argument too many; see -help", flags.Arg(flags.NArg()-1))
	}
	o.commit = flags.Arg(0)
	if o.runs < 1 {
		return o, fmt.Errorf("-runs %d: it takes at least one run", o.runs)
	}
	var err error
	if o.rows, err = regexp.Compile(*pattern); err != nil {
		return o, fmt.Errorf("-row: %w", err)
	}
	if o.binary != "" {
		if o.binary, err = filepath.Abs(o.binary); err == nil {
			_, err = os.Stat(o.binary)
		}
	}
	return o, err
}

func run(ctx context.Context, args []string, out, diagnostics io.Writer) (err error) {
	o, err := parse(args, diagnostics)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join("cmd", "small-hook", "main.go")); err != nil {
		return errors.New("the current directory is not the repository's root, where this has to run")
	}
	if !slices.ContainsFunc(rows, func(r row) bool { return o.rows.MatchString(r.name) }) {
		return fmt.Errorf("no row matches -row %s", o.rows)
	}
	b, err := newBench(ctx, o, diagnostics)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if err := b.build(); err != nil {
		return err
	}
	if o.page {
		return b.page()
	}
	results, err := b.measureRows()
	if err != nil {
		return err
	}
	git, err := b.git(b.dir, "version")
	if err != nil {
		return err
	}
	machine := fmt.Sprintf("%s, %s, %s/%s, %d cores.\n\n", strings.TrimSpace(git), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	_, err = io.WriteString(out, machine+table(results, b.old != ""))
	return err
}
