package session

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/policy"
)

// FloorVariable is the environment variable that names a floor, for a server's hooks, a container or all hooks of a person.
const FloorVariable = "SMALL_GATE_FLOOR"

// readFloor reads the floor: a configuration that no repository can go below. The request or the environment gives the floor, as a file's name or as a
// text of several lines. readFloor returns nil if neither gives one.
func (r Request) readFloor() (*policy.Floor, error) {
	given := r.givenFloor()
	switch {
	case given == "":
		return nil, nil
	case isFloorText(given):
		return policy.ParseFloor("the floor", []byte(given), catalogue.Known(), noSchemaFiles())
	}
	name := given
	data, err := readConfig(name, "the floor", "name another file with --floor or in "+FloorVariable)
	if err == nil && data == nil {
		err = &failure.Error{Message: "cannot read the floor: there is no file " + name, Remedy: "name an existing file with --floor or in " + FloorVariable + "; nothing is judged while the floor is missing"}
	}
	if err != nil {
		return nil, err
	}
	return policy.ParseFloor(name, data, catalogue.Known(), schemasBeside(name))
}

// givenFloor returns what the request or the environment gives: the name of the floor's file, or the floor's text; empty if they give none.
func (r Request) givenFloor() string { return cmp.Or(r.Floor, r.Getenv(FloorVariable)) }

// HasFloor reports whether the request or the environment gives a floor.
func (r Request) HasFloor() bool { return r.givenFloor() != "" }

// isFloorText reports whether floor is a floor's text, which has several lines, and not the name of a floor's file.
func isFloorText(floor string) bool { return strings.Contains(floor, "\n") }

// checkFloorPlace returns an error if the floor's file, or a link in its name, lies inside the judged work tree, where a commit could change it. A file in the
// git directory is accepted.
func (s *Session) checkFloorPlace() error {
	given := s.Req.givenFloor()
	if given == "" || isFloorText(given) || s.Repo == nil || s.Repo.Where().Top == "" {
		return nil
	}
	name, err := filepath.Abs(given)
	if err != nil {
		return err
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		return err
	}
	file, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	place := s.Repo.Where()
	inGitDir := func(path string) bool {
		return slices.ContainsFunc([]string{filepath.Join(place.Top, ".git"), place.GitDir, place.CommonDir}, func(dir string) bool { return githistory.IsWithin(dir, path) })
	}
	for _, path := range []string{name, filepath.Join(folder, filepath.Base(name)), file} { // name may lead through a link to a folder
		if githistory.IsWithin(place.Top, path) && !inGitDir(path) {
			return &failure.Error{
				Message: "the floor " + name + " lies in the repository that it is to judge, where a commit could change it",
				Remedy:  "put it outside of the work tree, or give its text instead of a path",
			}
		}
	}
	return nil
}

// judgeByPolicyAndFloor judges by the repository's policy and, if floor is not nil, a second time by the floor. The report has the findings of both
// judgements.
func (s *Session) judgeByPolicyAndFloor(floor *policy.Floor, judge func(*Session) (*finding.Report, error)) (*finding.Report, error) {
	s.Opts.Floor = floor // so that no fix suggests what the floor forbids
	byFloor := *s
	byFloor.floor = floor
	report, err := judge(s)
	if err != nil || floor == nil {
		return report, err
	}
	second, err := judge(&byFloor)
	if err != nil {
		return nil, err
	}
	return finding.AddFloor(report, second, floor.Source), nil
}

// UseFloor makes this session judge by the floor of the request or the environment, if there is one: [policy.Floor.PolicyFor] combines it with each policy
// that is set from now on. UseFloor fails as readFloor and checkFloorPlace do.
func (s *Session) UseFloor() (err error) {
	if s.floor, err = s.Req.readFloor(); err != nil {
		return err
	}
	s.Opts.Floor = s.floor
	return s.checkFloorPlace()
}

// FloorText returns the text of the floor if this session judges by the floor, else nil.
func (s *Session) FloorText() []byte {
	if s.floor == nil {
		return nil
	}
	return s.floor.Text
}
