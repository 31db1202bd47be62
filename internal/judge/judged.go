package judge

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/judge/session"
)

// commitVariable is set by the installed pre-commit hook to the process id of git. The installed prepare-commit-msg hook does not start this
// program if the same process asks about the same index, byte for byte, and pre-commit found nothing.
const commitVariable = "SMALL_GATE_COMMIT"

// processID matches a usable id of the process that runs the hook. On Windows it is 1 for every git, so 1 is refused.
var processID = regexp.MustCompile(`^([2-9]|[1-9][0-9]+)$`)

// maxIndexCopy bounds the size of an index of which a copy is kept for the next hook, in bytes: about 50,000 files.
const maxIndexCopy = 4 << 20

// shimNote has the index as it was before it was judged. It lets the installed prepare-commit-msg hook, a shell script, skip starting this
// program; passKey lets the program, once it is started, skip the judgement. The zero value notes nothing.
type shimNote struct {
	commit string
	index  []byte
}

// shimNoteFor reads the index, if the hook is an installed pre-commit hook. An agent's message has to be signed, so its next hook always runs.
func shimNoteFor(req session.Request, mode string) (shimNote, error) {
	commit, name := req.Getenv(commitVariable), req.Getenv("GIT_INDEX_FILE")
	if mode != preCommit || !processID.MatchString(commit) || name == "" || req.Dir != "" || req.Agent() != "" {
		return shimNote{}, nil
	}
	index, err := wholefile.Start(name, maxIndexCopy+1)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(index) > maxIndexCopy:
		return shimNote{}, nil
	case err != nil:
		return shimNote{}, &failure.Error{Message: "cannot read the index: " + err.Error(), Remedy: "make the git directory readable", Err: err}
	}
	return shimNote{commit, index}, nil
}

// save tells the next hook that the report is about this index and has no findings.
func (j shimNote) save(gitDir string, report *finding.Report) error {
	if j.commit == "" || report.Verdict != finding.Pass || len(report.Findings) > 0 {
		return nil
	}
	dir := filepath.Join(gitDir, "small-gate")
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "judged-index"), j.index, 0o666) // a partial copy is like no index
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "judged"), []byte(j.commit+"\n"), 0o666)
	}
	if err != nil {
		return &failure.Error{Message: "cannot note what has passed: " + err.Error(), Remedy: "make room in the git directory, and make it writable", Err: err}
	}
	return nil
}
