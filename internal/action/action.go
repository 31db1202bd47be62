// Package action is small-action: what a CI system and its job say, one call of an entry point, reports and exit status.
package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/run"

	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/output"
	"github.com/small-gate/small-gate/internal/program"
	"github.com/small-gate/small-gate/internal/version"
)

// statusCannot is the exit status of what could not be judged.
const statusCannot = 2

// Run judges what the environment and the arguments say, and returns the exit status.
func Run(ctx context.Context, p program.Process) int {
	job := newJob(p)
	err := job.in.parse(p.Args[1:], job.system, job.env)
	switch {
	case err == nil && job.in.help:
		return job.print("small-action judges in CI what a change does to SMALL workspaces and their logs.\n" +
			"It finds out by itself what to compare on\n" + ci.Names() + ".\n\nFlags:\n" + job.in.flags().FlagUsages())
	case err == nil && job.in.version:
		return job.print(version.Long("small-action") + "\n")
	case err != nil:
		return job.finish(job.failed(err), nil)
	}
	plan, err := job.plan()
	if err != nil {
		return job.finish(job.failed(err), nil)
	}
	return job.finish(entrypoint.CI(ctx, job.request(), plan, entrypoint.Token{Server: job.env[job.system.ServerVariable], Value: input(job.system, job.env, "token")}))
}

// job is one run of the program.
type job struct {
	program.Process
	// env is the environment by name.
	env    map[string]string
	system *ci.System
	in     inputs
	// written are the reports that were.
	written output.Targets
}

func newJob(p program.Process) *job {
	env := p.Variables()
	return &job{Process: p, env: env, system: ci.Detect(env)}
}

// print writes what was asked for instead of a judgement.
func (j *job) print(text string) int {
	if _, err := io.WriteString(j.Stdout, text); err != nil {
		return statusCannot
	}
	return 0
}

// plan finds out what to compare.
func (j *job) plan() (ci.Plan, error) {
	event, err := readEvent(j.env[j.system.EventVariable])
	if err != nil {
		return ci.Plan{}, &failure.Error{
			Message: fmt.Sprintf("the event cannot be read: %v", err),
			Remedy:  "make the file readable that " + j.system.EventVariable + " names, or give the inputs base and head",
			Err:     err,
		}
	}
	return ci.Decide(j.env, event, ci.Inputs{Base: j.in.base, Head: j.in.head})
}

// readEvent reads the system's description of the event; it is nil if there is none.
func readEvent(name string) (data []byte, err error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the plan says what is missing
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(io.LimitReader(file, ci.MaxEvent+1)) // not nil, even if the file is empty
}

// request is what the inputs ask of the entry point.
func (j *job) request() session.Request {
	return session.Request{
		Dir: j.in.dir, Strict: j.in.strict, Workspace: j.in.workspace, TrustedConfig: j.in.config,
		FailOnWarning: j.in.failLevel == "warning", Reader: j.in.reader, Lane: j.in.lane, LaneFrom: j.in.laneFrom, Environ: slices.DeleteFunc(slices.Clone(j.Environ), j.isToken), Now: time.Now(),
	}
}

// isToken reports whether an entry of the environment is the input token, which no other program gets.
func (j *job) isToken(entry string) bool {
	return j.system.InputPrefix != "" && strings.HasPrefix(entry, j.system.InputPrefix+"TOKEN=")
}

// failed is the report of a job that judged nothing.
func (j *job) failed(err error) *finding.Report {
	f := *failure.Of(err)
	if f.Remedy == "" {
		f.Remedy = "see `small-action --help`"
	}
	return run.FailureReport(run.Options{Mode: "small-action", Strict: j.in.strict}, &f)
}
