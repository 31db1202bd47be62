// Package action is small-action: it reads the CI system's variables and inputs, judges, writes reports, and returns the exit status.
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

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/program"
	"github.com/small-gate/small-gate/internal/base/version"
	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/report/output"
)

// statusCannot is the exit status for "could not judge".
const statusCannot = 2

// Run judges according to the environment and the arguments, and returns the exit status.
func Run(ctx context.Context, p program.Process) int {
	env := p.Variables()
	job := &job{Process: p, env: env, system: ci.Detect(env)}
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
	return job.finish(judge.CI(ctx, job.request(), plan, judge.Token{Server: job.env[job.system.ServerVariable], Value: input(job.system, job.env, "token")}))
}

// job is one run of the program.
type job struct {
	program.Process
	// env is the environment by name.
	env    map[string]string
	system *ci.System
	in     inputs
	// written are the reports written so far.
	written output.Targets
}

// print writes output that was asked for instead of a judgement.
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
	return ci.Decide(j.env, event, j.in.compare)
}

// readEvent reads the system's description of the event; nil if there is none.
func readEvent(name string) (data []byte, err error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // ci.Decide reports what is missing
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(io.LimitReader(file, ci.MaxEvent+1)) // not nil, even if the file is empty
}

// request returns the request that the inputs make. The input "token" is taken out of the environment, so that no other program gets it.
func (j *job) request() session.Request {
	req := j.in.req
	req.FailOnWarning, req.Now = j.in.failLevel == "warning", time.Now()
	req.Evidence = j.in.targets.ShowEvidence()
	req.Environ = slices.DeleteFunc(slices.Clone(j.Environ), func(entry string) bool {
		return j.system.InputPrefix != "" && strings.HasPrefix(entry, j.system.InputPrefix+"TOKEN=")
	})
	return req
}

// failed returns the report of a job that could not judge.
func (j *job) failed(err error) *finding.Report {
	f := *failure.Of(err)
	if f.Remedy == "" {
		f.Remedy = "see `small-action --help`"
	}
	return run.FailureReport(run.Options{Mode: "small-action", Strict: j.in.req.Strict}, &f)
}
