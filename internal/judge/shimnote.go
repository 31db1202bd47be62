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

// gitPIDVariable is the environment variable that the installed pre-commit hook sets to git's process id. The installed prepare-commit-msg hook
// does not start this program if the same git process runs it, the index is the same, byte for byte, and pre-commit found nothing.
const gitPIDVariable = "SMALL_GATE_COMMIT"

// processID matches a process id that identifies git. On Windows a hook sees 1 for every git, so 1 does not match.
var processID = regexp.MustCompile(`^([2-9]|[1-9][0-9]+)$`)

// maxIndexCopy is the largest index that is copied for the next hook, in bytes: about 50,000 files.
const maxIndexCopy = 4 << 20

// shimNote is a note from pre-commit by which the shim of prepare-commit-msg, the installed shell script, knows that it need not start this
// program. (By a passKey, the program itself skips the judgement.) The zero value is never saved.
type shimNote struct {
	// gitPID is git's process id, and index the content of the index file before it is judged.
	gitPID string
	index  []byte
}

// readIndexForShim reads the index file for a shimNote if an installed pre-commit hook runs. For an agent it returns the zero shimNote: the next
// hook has to start this program, which adds a trailer to the agent's message.
func readIndexForShim(req session.Request, mode string) (shimNote, error) {
	pid, name := req.Getenv(gitPIDVariable), req.Getenv("GIT_INDEX_FILE")
	if mode != preCommit || !processID.MatchString(pid) || name == "" || req.Dir != "" || req.Agent() != "" {
		return shimNote{}, nil
	}
	index, err := wholefile.Start(name, maxIndexCopy+1)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(index) > maxIndexCopy:
		return shimNote{}, nil
	case err != nil:
		return shimNote{}, &failure.Error{Message: "cannot read the index: " + err.Error(), Remedy: "make the git directory readable", Err: err}
	}
	return shimNote{pid, index}, nil
}

// save writes the note for the next hook, if the report has no findings.
func (n shimNote) save(gitDir string, report *finding.Report) error {
	if n.gitPID == "" || report.Verdict != finding.Pass || len(report.Findings) > 0 {
		return nil
	}
	dir := filepath.Join(gitDir, "small-gate")
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "judged-index"), n.index, 0o666) // a partial copy equals no index
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "judged"), []byte(n.gitPID+"\n"), 0o666)
	}
	if err != nil {
		return &failure.Error{Message: "cannot note that the index has passed: " + err.Error(), Remedy: "make room in the git directory, and make it writable", Err: err}
	}
	return nil
}
