package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/small-gate/small-gate/internal/policy"
)

// The shared flags of commands that read a repository, of those among them that ask no configuration or edit the one of the work tree, and of those that
// judge.
const (
	readFlags  = editFlags + "config "
	editFlags  = "dir reader max-file-size "
	judgeFlags = readFlags + "floor strict workspace color format output quiet verbose "
)

// sharedFlags lists the shared flags that a command accepts. A command that it lacks accepts readFlags.
var sharedFlags = map[string]string{
	"check": judgeFlags, "merge-check": judgeFlags, "pre-commit": judgeFlags, "pre-merge-commit": judgeFlags,
	"prepare-commit-msg": judgeFlags, "pre-applypatch": judgeFlags,
	"range": judgeFlags + "each", "audit": judgeFlags + "each", "pre-push": judgeFlags + "each", "pre-receive": judgeFlags + "each",
	"sync":   readFlags + "floor strict workspace color quiet",
	"append": readFlags + "strict quiet", "restore": readFlags + "quiet",
	"witness": readFlags + "floor color format output quiet",
	"waive":   readFlags + "strict each quiet", "baseline": editFlags + "quiet", "init-log": editFlags, "replay-id": editFlags, "reconcile": readFlags + "quiet",
	"doctor": readFlags + "format", "log": readFlags + "color format",
	"install": "dir quiet", "uninstall": "dir quiet",
	"demo": "color", "explain": "", "version": "", "merge-driver": "",
}

// refuseOtherFlags makes a command refuse the shared flags that it lacks, and hides them in its help.
func refuseOtherFlags(c *cobra.Command, shared *pflag.FlagSet) {
	accepted, ok := sharedFlags[c.Name()]
	if !ok {
		accepted = readFlags
	}
	names := strings.Fields(accepted)
	shared.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) && c.Flags().Lookup(f.Name) == nil {
			c.Flags().FuncP(f.Name, f.Shorthand, "", func(string) error { return errFlagRefused })
			hidden := c.Flags().Lookup(f.Name)
			hidden.NoOptDefVal, hidden.Hidden = f.NoOptDefVal, true
		}
	})
}

// errFlagRefused marks the error for a refused flag; flagError words it.
var errFlagRefused = errors.New("the command does not accept it")

// flagError rewrites pflag's error for a flag in words that a user knows.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		return usageError(c, "%s", unknownFlagText(c, unknown))
	case errors.Is(err, errFlagRefused) && errors.As(err, &invalid):
		return usageError(c, "%s", refusedFlagText(c, invalid.GetFlag().Name))
	case errors.As(err, &invalid):
		if words := valuesOfType[invalid.GetFlag().Value.Type()]; words != "" {
			return usageError(c, "--%s takes %s, not %q", invalid.GetFlag().Name, words, invalid.GetValue())
		}
		return usageError(c, "--%s: %v", invalid.GetFlag().Name, invalid.Unwrap())
	}
	return usageError(c, "%v", err)
}

// valuesOfType describes the values that a flag takes, by its Go type.
var valuesOfType = map[string]string{"bool": "true or false", "int64": "a number", "int": "a number", "duration": "a time such as 30s or 5m"}

func unknownFlagText(c *cobra.Command, unknown *pflag.NotExistError) string {
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		return fmt.Sprintf("unknown flag: -%s", letters)
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	message := "unknown flag: --" + unknown.GetSpecifiedName()
	if similar := policy.Suggest(unknown.GetSpecifiedName(), known); similar != "" {
		message += "; did you mean --" + similar + "?"
	}
	return message
}

func refusedFlagText(c *cobra.Command, flag string) string {
	if f := c.Flags().Lookup("format"); flag == "output" && !f.Hidden {
		return c.Name() + " takes no --output: it writes to standard output"
	}
	if flag == "format" || flag == "output" {
		return c.Name() + " writes no report and takes neither --format nor --output: see its exit status and its text"
	}
	return fmt.Sprintf("%s takes no --%s", c.Name(), flag)
}
