package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/small-gate/small-gate/internal/cli"
)

// readerVariable names the reader that the program uses in a script. Unlike a flag, it reaches the hooks that git runs.
const readerVariable = "SMALL_HOOK_TEST_READER"

// sideBySide is the value of readerVariable with which each reader judges, and all must agree.
const sideBySide = "both"

// setupReader prepares a script in which the program uses one reader.
func setupReader(env *testscript.Env, reader string) error {
	env.Vars = append(env.Vars, readerVariable+"="+reader)
	return setup(env)
}

// scriptedMain is the program as the scripts run it.
func scriptedMain() {
	switch reader := os.Getenv(readerVariable); reader {
	case "":
		main()
	case sideBySide:
		status, err := judgeSideBySide()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 99
		}
		os.Exit(status)
	default:
		if command, _, err := cli.Command().Find(os.Args[1:]); err == nil && command.InheritedFlags().Lookup("reader") != nil {
			os.Args = slices.Insert(os.Args, 1, "--reader="+reader)
		}
		main()
	}
}

// judging are the commands that only judge, and can therefore run twice.
var judging = []string{"check", "range", "audit", "doctor", "pre-commit", "pre-merge-commit", "pre-push", "pre-receive"}

// judgeSideBySide runs a command that judges once with each reader, and any other once. It prints what the first reader printed.
func judgeSideBySide() (int, error) {
	if len(os.Args) < 2 || !slices.Contains(judging, os.Args[1]) {
		return runWith(readers[0], os.Stdin, os.Stdout, os.Stderr)
	}
	input, err := inputOf(os.Args[1])
	if err != nil {
		return 0, err
	}
	var first outcome
	for i, reader := range readers {
		var stdout, stderr bytes.Buffer
		status, err := runWith(reader, bytes.NewReader(input), &stdout, &stderr)
		if err != nil {
			return 0, err
		}
		now := outcome{status, stdout.String(), stderr.String()}
		if i == 0 {
			first = now
		} else if !now.unserved() && now.anyReader() != first.anyReader() {
			return 0, fmt.Errorf("the readers differ: %+v, %+v", first, now)
		}
	}
	_, err = io.WriteString(os.Stdout, first.stdout)
	_, errOfErr := io.WriteString(os.Stderr, first.stderr)
	return first.status, errors.Join(err, errOfErr)
}

// outcome is the result of a run of the program.
type outcome struct {
	status         int
	stdout, stderr string
}

var readerSaid = regexp.MustCompile(`(?m)^Reader: .*$|"reader": "[a-z-]+"|"time": "[^"]+"`)

// unserved reports whether this reader leaves the repository to git.
func (o outcome) unserved() bool {
	return o.status == 2 && strings.Contains(o.stdout+o.stderr, "the go-git reader does not support this")
}

// anyReader is the outcome without the reader's name, and without the time.
func (o outcome) anyReader() outcome {
	o.stdout = readerSaid.ReplaceAllString(o.stdout, "(reader)")
	return o
}

// inputOf is what git passes to a hook; other commands read nothing.
func inputOf(command string) ([]byte, error) {
	if command != "pre-push" && command != "pre-receive" {
		return nil, nil
	}
	return io.ReadAll(os.Stdin)
}

// runWith runs the command with one reader, in a process of its own.
func runWith(reader string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(program)
	cmd.Args = os.Args
	cmd.Env = append(os.Environ(), readerVariable+"="+reader)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), nil
}
