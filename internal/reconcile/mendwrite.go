package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/reconcile/splice"
	"github.com/small-gate/small-gate/internal/wholefile"
)

// commit makes a commit with other parents and some other files. A signature was one of the old commit: it goes.
func (m *mending) commit(ctx context.Context, id string, parents []string, changes []change) (string, error) {
	raw, err := m.git.run(ctx, nil, "cat-file", "commit", id)
	if err != nil {
		return "", err
	}
	tree, err := m.tree(ctx, id, changes)
	if err != nil {
		return "", err
	}
	head, message, _ := bytes.Cut(raw, []byte("\n\n"))
	lines := []string{"tree " + tree}
	for _, p := range parents {
		lines = append(lines, "parent "+p)
	}
	dropped := false
	for line := range strings.SplitSeq(string(head), "\n") {
		if !strings.HasPrefix(line, " ") { // else it continues the one before
			name, _, _ := strings.Cut(line, " ")
			dropped = slices.Contains([]string{"tree", "parent", "gpgsig", "gpgsig-sha256"}, name)
		}
		if !dropped {
			lines = append(lines, line)
		}
	}
	made, err := m.git.run(ctx, strings.NewReader(strings.Join(lines, "\n")+"\n\n"+string(message)), "hash-object", "-t", "commit", "-w", "--stdin")
	return strings.TrimSpace(string(made)), err
}

// tree is the tree of a commit with some other files, made in an index of its own.
func (m *mending) tree(ctx context.Context, id string, changes []change) (string, error) {
	// A killed mending leaves it to the next one that holds the lock.
	index := filepath.Join(m.Kept, ".index"+wholefile.Infix+"mend")
	defer os.Remove(index) //nolint:errcheck // it is scratch
	apart := *m.git
	apart.git.Environ = append(slices.Clone(apart.git.Environ), "GIT_INDEX_FILE="+index)
	if _, err := apart.run(ctx, nil, "read-tree", id); err != nil {
		return "", err
	}
	if err := apart.stage(ctx, changes); err != nil {
		return "", err
	}
	out, err := apart.run(ctx, nil, "write-tree")
	return strings.TrimSpace(string(out)), err
}

// follow brings the work tree, the index and the branch to the new commits, in this order: whatever is killed in between is done again by
// the same command, and loses nothing. What is not committed stays.
func (m *mending) follow(ctx context.Context, out *Mended) error {
	head, err := m.text(ctx, out.New)
	if err != nil {
		return err
	}
	var staged []change
	if parent, _ := ledger.ReadLog(head, m.Limits); parent != nil {
		m.logs = []*ledger.Ledger{parent.Ledger}
		index, err := m.staged(ctx, out.Old, head)
		if err == nil {
			err = m.followLog(ctx, head, out)
		}
		if err != nil {
			return err
		}
		staged = append(staged, change{path: m.Log(), mode: "100644", blob: index})
	}
	for path, s := range m.files {
		if dirty, err := m.git.dirty(ctx, path); err != nil {
			return err
		} else if dirty {
			continue // what somebody works on stays
		}
		mode, blob, _ := strings.Cut(s.is, " ")
		data, err := m.git.checkedOut(ctx, path, blob)
		if err == nil {
			err = m.write(path, data)
		}
		if err != nil {
			return err
		}
		staged = append(staged, change{path: path, mode: mode, blob: blob})
	}
	if err := m.git.stage(ctx, staged); err != nil {
		return err
	}
	_, err = m.git.run(ctx, nil, "update-ref", "-m", "small-hook restore --commit", "HEAD", out.New, out.Old)
	return err
}

// staged is the blob that the index gets for the log: the new head's, and after it what was staged and is not committed.
func (m *mending) staged(ctx context.Context, old string, head []byte) (string, error) {
	was, err := m.text(ctx, old)
	if err != nil {
		return "", err
	}
	if was == nil { // the old head had none, or a link
		return m.git.store(ctx, head)
	}
	data, there, err := githistory.ReadFile(ctx, m.repo, history.Index, m.Log(), m.Limits.FileSize())
	if err != nil {
		return "", err
	}
	if there && !bytes.Equal(data, was) {
		back, err := splice.PutBackOf(head, data, m.accepts, m.Now, m.Limits)
		if err != nil {
			return "", err
		}
		if head = data; back.Text != nil {
			head = back.Text
		}
	}
	return m.git.store(ctx, head)
}

// followLog has the log in the work tree continue the new one, with what is recorded there and not committed.
func (m *mending) followLog(ctx context.Context, head []byte, out *Mended) error {
	link, err := m.moveLink()
	if err != nil {
		return err
	}
	blob, err := m.git.store(ctx, head)
	if err != nil {
		return err
	}
	if head, err = m.git.checkedOut(ctx, m.Log(), blob); err != nil {
		return err
	}
	var file []byte
	if out.Restored, file, err = m.lost(head, m.accepts); err == nil && out.Text != nil {
		err = m.put(&out.Restored, file)
	}
	out.File = cmp.Or(out.File, link)
	return err
}
