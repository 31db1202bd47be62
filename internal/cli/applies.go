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

// Each command accepts only those shared flags that mean something for it.
const (
	flagsOfReading = "dir config reader max-file-size "
	flagsOfJudging = flagsOfReading + "floor strict workspace color format output quiet verbose "
)

// applies are the shared flags of each command whose set differs from flagsOfReading.
var applies = map[string]string{
	"check": flagsOfJudging, "merge-check": flagsOfJudging, "pre-commit": flagsOfJudging, "pre-merge-commit": flagsOfJudging,
	"prepare-commit-msg": flagsOfJudging, "pre-applypatch": flagsOfJudging,
	"range": flagsOfJudging + "each", "audit": flagsOfJudging + "each", "pre-push": flagsOfJudging + "each", "pre-receive": flagsOfJudging + "each",
	"sync":   flagsOfReading + "floor strict workspace color quiet",
	"append": flagsOfReading + "strict quiet", "restore": flagsOfReading + "quiet",
	"witness": flagsOfReading + "floor color format output quiet",
	"waive":   flagsOfReading + "strict each quiet", "baseline": flagsOfReading + "quiet", "reconcile": flagsOfReading + "quiet",
	"doctor": flagsOfReading + "format", "log": flagsOfReading + "color format",
	"install": "dir quiet", "uninstall": "dir quiet",
	"demo": "color", "explain": "", "version": "", "merge-driver": "",
}

// refuseFlags makes a command refuse the shared flags that mean nothing for it.
func refuseFlags(c *cobra.Command, shared *pflag.FlagSet) {
	taken, listed := applies[c.Name()]
	if !listed {
		taken = flagsOfReading
	}
	names := strings.Fields(taken)
	shared.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) && c.Flags().Lookup(f.Name) == nil {
			c.Flags().FuncP(f.Name, f.Shorthand, "", func(string) error { return errRefused })
			own := c.Flags().Lookup(f.Name)
			own.NoOptDefVal, own.Hidden = f.NoOptDefVal, true
		}
	})
}

// errRefused is the error for a flag that means nothing for a command.
var errRefused = errors.New("it means nothing here")

// flagError describes a flag's error in words.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		return usage(c, "%s", unknownFlag(c, unknown))
	case errors.Is(err, errRefused) && errors.As(err, &invalid):
		return usage(c, "%s", refusal(c, invalid.GetFlag().Name))
	case errors.As(err, &invalid):
		if words := values[invalid.GetFlag().Value.Type()]; words != "" {
			return usage(c, "--%s takes %s, not %q", invalid.GetFlag().Name, words, invalid.GetValue())
		}
		return usage(c, "--%s: %v", invalid.GetFlag().Name, invalid.Unwrap())
	}
	return usage(c, "%v", err)
}

// values describes the values of flags of Go's own types.
var values = map[string]string{"bool": "true or false", "int64": "a number", "int": "a number", "duration": "a time such as 30s or 5m"}

// unknownFlag says that a flag does not exist, and which one may be meant.
func unknownFlag(c *cobra.Command, unknown *pflag.NotExistError) string {
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
	if near := policy.Suggest(unknown.GetSpecifiedName(), known); near != "" {
		message += "; did you mean --" + near + "?"
	}
	return message
}

// refusal says why a command does not accept a flag.
func refusal(c *cobra.Command, flag string) string {
	if flag == "format" || flag == "output" {
		return c.Name() + " writes no report and takes neither --format nor --output; its exit status and its text say what was done"
	}
	return fmt.Sprintf("%s takes no --%s", c.Name(), flag)
}
