package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/version"
)

// statusCannot is the exit status of what could not be judged.
const statusCannot = 2

// process is what the program has of the outside.
type process struct {
	args           []string
	stdout, stderr io.Writer
	environ        []string
}

// env is the environment by name; of several the last counts.
func (p process) env() map[string]string {
	env := make(map[string]string, len(p.environ))
	for _, kv := range p.environ {
		if key, value, ok := strings.Cut(kv, "="); ok {
			env[key] = value
		}
	}
	return env
}

// run judges what the environment and the arguments say, and returns the exit
// status.
func run(ctx context.Context, p process) int {
	job := &job{process: p, variables: p.env()}
	err := job.in.parse(p.args, job.variables)
	switch {
	case err == nil && job.in.help:
		return job.say("small-action judges in CI what a change does to SMALL workspaces and their logs.\n" +
			"On GitHub, GitLab, Forgejo and Gitea it finds out by itself what to compare.\n\nFlags:\n" + job.in.flags().FlagUsages())
	case err == nil && job.in.version:
		return job.say(version.Long("small-action") + "\n")
	case err != nil:
		return job.finish(job.failure(err), nil)
	}
	plan, err := job.plan()
	if err != nil {
		return job.finish(job.failure(err), nil)
	}
	return job.finish(entrypoint.CI(ctx, job.request(), plan))
}

// job is one run of the program.
type job struct {
	process
	variables map[string]string
	in        inputs
	// written are the reports that were.
	written []target
}

// say prints what was asked for instead of a judgement.
func (j *job) say(text string) int {
	if _, err := io.WriteString(j.stdout, text); err != nil {
		return statusCannot
	}
	return 0
}

// plan finds out what to compare.
func (j *job) plan() (ci.Plan, error) {
	event, err := readEvent(ci.EventFile(j.variables))
	if err != nil {
		return ci.Plan{}, err
	}
	return ci.Decide(j.variables, event, ci.Inputs{Base: j.in.base, Head: j.in.head})
}

// readEvent reads the platform's description of the event, where there is one.
func readEvent(name string) (data []byte, err error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // whoever plans says what is missing
	}
	if err != nil {
		return nil, fmt.Errorf("the event cannot be read: %w\nmake GITHUB_EVENT_PATH readable, or give base and head", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	buf := bytes.NewBuffer([]byte{}) // an empty file is not a missing one
	_, err = buf.ReadFrom(io.LimitReader(file, ci.MaxEvent+1))
	return buf.Bytes(), err
}

// request is what the inputs say about a judgement.
func (j *job) request() entrypoint.Request {
	return entrypoint.Request{
		Dir: j.in.dir, Strict: j.in.strict, Workspace: j.in.workspace, TrustedConfig: j.in.config,
		FailOnWarning: j.in.failLevel == "warning", Reader: j.in.reader, Lane: j.in.lane, LaneFrom: j.in.laneFrom, Environ: j.environ, Now: time.Now(),
	}
}

// failure is the report of what could not begin.
func (j *job) failure(err error) *gate.Report {
	message, remedy, _ := strings.Cut(err.Error(), "\n")
	if remedy == "" {
		remedy = "see: small-action --help"
	}
	return gate.FailureReport(gate.Options{Mode: "small-action", Strict: j.in.strict}, &gate.Failure{Message: message, Remedy: remedy, Err: err})
}
