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

// gitPIDVariable is the environment variable that the installed pre-commit hook sets to git's process id. The installed prepare-commit-msg hook does not
// start this program if pre-commit found nothing, the same git process runs both hooks, and the index has not changed by a byte.
const gitPIDVariable = "SMALL_GATE_COMMIT"

// processID matches a process id that identifies git. On Windows, a hook sees the process id 1 for every git process, so 1 does not match.
var processID = regexp.MustCompile(`^([2-9]|[1-9][0-9]+)$`)

// maxIndexCopy is the size in bytes of the largest index that is copied for the next hook: about 50,000 files.
const maxIndexCopy = 4 << 20

// shimNote is a note that pre-commit leaves for the shim of prepare-commit-msg, which is the installed shell script: the shim then need not start this
// program. (If the shim starts the program, the program skips the judgement if it finds a saved passKey.) The zero shimNote is never saved.
type shimNote struct {
	// gitPID is git's process id. index is what the index file held before the judgement.
	gitPID string
	index  []byte
}

// readIndexForShim reads the index file for a shimNote. It returns the zero shimNote if this is not the installed pre-commit hook, if the index is larger
// than maxIndexCopy, and for an agent: the shim has to start this program, which adds a trailer to the agent's message.
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

// save writes the note for the shim, unless the report is not a pass or lists findings.
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
