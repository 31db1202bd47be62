package session

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/policy"
)

// floorVariable names a floor for a server's hooks, a container or all of a person's hooks.
const floorVariable = "SMALL_GATE_FLOOR"

// floor is the configuration that no repository's may undercut; nil if nobody names one. It is named by file, or given as a text of several
// lines.
func (r Request) floor() (*policy.Floor, error) {
	name := r.floorName()
	switch {
	case name == "":
		return nil, nil
	case isText(name):
		return policy.ParseFloor("the floor", []byte(name), catalogue.Known(), noSchemas())
	}
	data, err := ReadConfig(name)
	if err == nil && data == nil {
		err = &failure.Error{Message: "cannot read the floor: there is no file " + name, Remedy: "name an existing file with --floor or in " + floorVariable + "; without its floor nothing is judged"}
	}
	if err != nil {
		return nil, err
	}
	return policy.ParseFloor(name, data, catalogue.Known(), schemasBeside(name))
}

// floorName is the floor's file name, or its text; empty if there is none.
func (r Request) floorName() string { return cmp.Or(r.Floor, r.Getenv(floorVariable)) }

func isText(floor string) bool { return strings.Contains(floor, "\n") }

// checkFloor refuses a floor inside the judged work tree: a commit could change it.
func (s *Session) checkFloor() error {
	name := s.Req.floorName()
	if name == "" || isText(name) || s.Repo == nil || s.Repo.Where().Top == "" {
		return nil
	}
	name, err := filepath.Abs(name)
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
	at := s.Repo.Where()
	for _, path := range []string{filepath.Join(folder, filepath.Base(name)), file} {
		if within(at.Top, path) && !within(at.GitDir, path) && !within(at.CommonDir, path) {
			return &failure.Error{
				Message: "the floor " + name + " lies in the repository that it is to judge, where a commit could change it",
				Remedy:  "put it outside of the work tree, or give its text instead of a path",
			}
		}
	}
	return nil
}

// within reports whether a path lies in a folder; both are absolute.
func within(folder, path string) bool {
	relative, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(relative)
}

// judge judges by the repository's policy, and again in full by the floor's.
func (s *Session) judge(floor *policy.Floor, judge func(*Session) (*finding.Report, error)) (*finding.Report, error) {
	s.Opts.Floor = floor
	below := *s
	below.floor = floor
	report, err := judge(s)
	if err != nil || floor == nil {
		return report, err
	}
	second, err := judge(&below)
	if err != nil {
		return nil, err
	}
	return finding.AddFloor(report, second, floor.Source), nil
}

// UnderFloor has the session refuse any policy below the request's floor.
func (s *Session) UnderFloor() (err error) {
	if s.floor, err = s.Req.floor(); err != nil {
		return err
	}
	s.Opts.Floor = s.floor
	return s.checkFloor()
}

// Floor is the text of the floor if this is the floor's judgement, else nil.
func (s *Session) Floor() []byte {
	if s.floor == nil {
		return nil
	}
	return s.floor.Text
}
