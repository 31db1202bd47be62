package ci

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// checkID fails if a value from a CI system is not the id of a commit. where says where the value is from.
func checkID(where, id string) error {
	if history.IsObjectID(id) {
		return nil
	}
	if id == "" {
		return errUndecided(fmt.Sprintf("%s is missing", where))
	}
	return errUndecided(fmt.Sprintf("%s is %q, which is not the id of a commit", where, wording.Clip(id)))
}

// labelPrefix begins labels that claim a lane; GitLab's scoped labels have two colons.
const labelPrefix = "lane:"

// addLabel adds a label if it claims a lane. Case does not matter.
func (p *Plan) addLabel(name string) {
	name = strings.TrimSpace(name)
	if len(name) < len(labelPrefix) || !strings.EqualFold(name[:len(labelPrefix)], labelPrefix) {
		return
	}
	p.Labels = append(p.Labels, labelPrefix+strings.TrimSpace(strings.TrimPrefix(name[len(labelPrefix):], ":")))
}

// isBranchName reports whether s can be the name of a branch, and therefore part of a refspec (git-check-ref-format(1)).
func isBranchName(s string) bool {
	return s != "" && !strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "/") && !strings.HasSuffix(s, "/") &&
		!strings.HasSuffix(s, ".") && !strings.Contains(s, "..") && !strings.Contains(s, "@{") && !strings.Contains(s, "//") &&
		strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("~^:?*[\\", r) }) < 0
}

// branchPoints returns where a branch of the remote may be: at its remote-tracking branch, which can be fetched, or at a local branch if the
// repository has no remote.
func branchPoints(name, words string) []Point {
	if !isBranchName(name) {
		return nil
	}
	tracking := "refs/remotes/origin/" + name
	return []Point{
		{Revision: tracking, Words: words, Fetch: []string{"+refs/heads/" + name + ":" + tracking}, Branch: true},
		{Revision: "refs/heads/" + name, Words: words, Branch: true},
	}
}

func defaultBranchPoints(name string) []Point { return branchPoints(name, "the default branch "+name) }

// refOf returns the full name of a tag or a branch, or nothing if both are empty.
func refOf(tag, branch string) string {
	switch {
	case tag != "":
		return "refs/tags/" + tag
	case branch != "":
		return "refs/heads/" + branch
	}
	return ""
}

// variablePoint returns the commit whose id is in a variable, or none if that is not set, or zeros.
func variablePoint(env map[string]string, name string, more ...string) ([]Point, error) {
	id := env[name]
	if id == "" || history.IsZero(id) {
		return nil, nil
	}
	return []Point{idPoint(id, name, more...)}, checkID(name, id)
}

// idPoint returns the point for a commit that can be fetched by its id, or by the refspecs in more.
func idPoint(id, words string, more ...string) Point {
	return Point{Revision: id, Words: words, Fetch: append([]string{id}, more...)}
}
