package gitcmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/program"
)

// passedVariables are the GIT_ variables that Reading keeps: they say where the repository is, make it readable, or forbid something. Reading drops
// all other GIT_ variables, so that one that a later git invents cannot change a command's output. It keeps variables with other names (PATH,
// HOME, proxies, the ssh agent).
//
// Dropped on purpose, among others: GIT_TRACE* (writes files and standard error), GIT_*_PATHSPECS (change the meaning of paths),
// GIT_EXTERNAL_DIFF and GIT_DIFF_OPTS (change diffs), GIT_REPLACE_REF_BASE (replace refs are off), GIT_ATTR_SOURCE (attributes do not
// matter to raw objects), GIT_PREFIX and GIT_NAMESPACE (reading does not depend on them), GIT_AUTHOR_* and the like (reading makes no commits;
// githistory passes GIT_AUTHOR_* to the one command that needs them).
var passedVariables = map[string]bool{
	// Where the repository is. A hook in a linked work tree or a submodule
	// gets GIT_DIR, and every pre-commit hook GIT_INDEX_FILE.
	"GIT_DIR":                          true,
	"GIT_WORK_TREE":                    true,
	"GIT_COMMON_DIR":                   true,
	"GIT_INDEX_FILE":                   true,
	"GIT_IMPLICIT_WORK_TREE":           true,
	"GIT_CEILING_DIRECTORIES":          true,
	"GIT_DISCOVERY_ACROSS_FILESYSTEM":  true,
	"GIT_REFERENCE_BACKEND":            true,
	"GIT_SHALLOW_FILE":                 true, // a server names another file during a push
	"GIT_OBJECT_DIRECTORY":             true, // with the next two: a server's quarantine
	"GIT_ALTERNATE_OBJECT_DIRECTORIES": true,
	"GIT_QUARANTINE_PATH":              true,

	// Configuration in the caller's environment, as CI systems set for safe.directory and credentials; GIT_CONFIG_KEY_<n> and the like are
	// matched by prefix. The settings of ReadingOptions override these.
	"GIT_CONFIG_PARAMETERS": true,
	"GIT_CONFIG_COUNT":      true,
	"GIT_CONFIG_GLOBAL":     true,
	"GIT_CONFIG_SYSTEM":     true,
	"GIT_CONFIG_NOSYSTEM":   true,

	// Where git finds its own programs if it is not installed in its usual place, as in graphical clients.
	"GIT_EXEC_PATH": true,

	// How git's own fetch of a missing object reaches the remote.
	"GIT_ASKPASS":             true,
	"GIT_SSH":                 true,
	"GIT_SSH_COMMAND":         true,
	"GIT_SSH_VARIANT":         true,
	"GIT_PROXY_COMMAND":       true,
	"GIT_PROXY_SSL_CERT":      true,
	"GIT_PROXY_SSL_KEY":       true,
	"GIT_PROXY_SSL_CAINFO":    true,
	"GIT_HTTP_USER_AGENT":     true,
	"GIT_HTTP_LOW_SPEED_TIME": true,

	// Restrictions by the caller.
	"GIT_ALLOW_PROTOCOL":     true,
	"GIT_PROTOCOL_FROM_USER": true,
	"GIT_NO_LAZY_FETCH":      true,
}

// passedPrefixes are the beginnings of further GIT_ variables that Reading keeps.
var passedPrefixes = []string{
	"GIT_CONFIG_KEY_",
	"GIT_CONFIG_VALUE_",
	"GIT_SSL_",
}

// locale is the same for every git, because callers match some of its messages. It is not plain C, in which a hook's script could not print a name
// with an accent.
const locale = "LC_ALL=C.UTF-8"

// Reading returns the environment for a git that only answers queries. Of the GIT_ variables in environ, it keeps those that locate the repository
// and make it readable. Git reads real objects (no replace refs, no grafts), writes nothing and prompts for nothing.
func Reading(environ []string) []string {
	env := make([]string, 0, len(environ)+8)
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case name == "LC_ALL" || name == "LANGUAGE":
		case !strings.HasPrefix(name, "GIT_"), passedVariables[name],
			slices.ContainsFunc(passedPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }):
			env = append(env, v)
		}
	}
	return append(env,
		locale,
		"GIT_NO_REPLACE_OBJECTS=1",   // real objects only
		"GIT_GRAFT_FILE="+os.DevNull, // the variable above does not disable grafts
		"GIT_OPTIONAL_LOCKS=0",       // git does not refresh the index
		"GIT_TERMINAL_PROMPT=0",      // a gate does not prompt
		"GIT_PAGER=cat",              // nothing pages
		"GCM_INTERACTIVE=never",      // git's credential manager does not prompt
	)
}

// Locating are the variables that select a repository, its index or its objects. Without them, git looks in the directory where it runs.
var Locating = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_IMPLICIT_WORK_TREE",
	"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE",
}

// commandChanging are the variables that change the meaning or the output of a git command.
var commandChanging = []string{
	"LC_ALL", "LANGUAGE", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
	"GIT_ICASE_PATHSPECS", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_OPTIONAL_LOCKS",
}

// Working returns the environment for a git that works for the user, with the user's configuration, identity, hooks and credentials: environ
// without commandChanging and without the variables in without. Git opens no editor. It prompts for a password only if GIT_TERMINAL_PROMPT is set
// accordingly: an agent would wait forever.
func Working(environ []string, without ...string) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(commandChanging, name) || slices.Contains(without, name)
	})
	if _, set := program.Environ(env).Lookup("GIT_TERMINAL_PROMPT"); !set {
		env = append(env, "GIT_TERMINAL_PROMPT=0")
	}
	return append(env, locale, "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "GIT_OPTIONAL_LOCKS=0")
}

// ReadingOptions returns options for a git that only answers queries; they override the repository's and the user's configuration. owned is a
// repository's directory that git would refuse as unsafe (another user's, or bare); empty if there is none.
func ReadingOptions(owned string) []string {
	args := []string{
		"-c", "core.fsmonitor=false", // may name a program
		"-c", "core.hooksPath=" + os.DevNull,
		"-c", "core.commitGraph=false", // a copy of data in the commits, which git does not verify
		"-c", "advice.graftFileDeprecated=false",
		"-c", "gc.auto=0", // a lazy fetch would otherwise start it
		"-c", "maintenance.auto=false",
	}
	if owned != "" {
		args = append(args, "-c", "safe.directory="+filepath.ToSlash(owned), "-c", "safe.bareRepository=all")
	}
	return args
}
