package state

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestUnderWay(t *testing.T) {
	t.Parallel()
	const first = "`small-hook reconcile`, then "
	for files, want := range map[string]struct{ command, remedy string }{
		"": {},
		"rebase-merge/todo REBASE_HEAD CHERRY_PICK_HEAD": {"rebase", first + "`git -c core.editor=true rebase --continue`"},
		"rebase-merge/todo MERGE_HEAD":                   {"rebase", first + "`git -c core.editor=true rebase --continue`"},
		"rebase-merge/amend REBASE_HEAD":                 {"rebase", first + "`git -c core.editor=true rebase --continue`"},
		"rebase-merge/amend CHERRY_PICK_HEAD":            {"cherry-pick", first + "`git -c core.editor=true cherry-pick --continue`"},
		"rebase-merge/amend MERGE_HEAD":                  {"merge", first + "`git commit --no-edit`"},
		"rebase-apply/next":                              {"rebase", first + "`git -c core.editor=true rebase --continue`"},
		"rebase-apply/applying":                          {"am", first + "`git am --continue`"},
		"MERGE_HEAD":                                     {"merge", first + "`git commit --no-edit`"},
		"CHERRY_PICK_HEAD sequencer/todo":                {"cherry-pick", first + "`git -c core.editor=true cherry-pick --continue`"},
		"REVERT_HEAD":                                    {"revert", first + "`git -c core.editor=true revert --continue`"},
		"sequencer/todo=pick":                            {"cherry-pick", "`git -c core.editor=true cherry-pick --continue`"},
		"sequencer/todo=revert":                          {"revert", "`git -c core.editor=true revert --continue`"},
	} {
		dir := makeFiles(t, files)
		got, err := Read(dir)
		if err != nil || got.Command != want.command || want.command != "" && got.Remedy(nil) != want.remedy {
			t.Errorf("%s: %+v, %s, %v", files, got, got.Remedy(nil), err)
		}
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "sequencer", "todo"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(dir); err == nil {
		t.Errorf("a list that cannot be read is %+v", got)
	}
}

// makeFiles makes a git directory with files, each as NAME=BEGINNING or NAME.
func makeFiles(t *testing.T, files string) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range strings.Fields(files) {
		name, content, _ := strings.Cut(file, "=")
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content+" 0123\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReplays(t *testing.T) {
	t.Parallel()
	for files, want := range map[string]bool{
		"":                                    false,
		"MERGE_HEAD":                          false,
		"CHERRY_PICK_HEAD":                    true,
		"rebase-apply/next":                   true,
		"rebase-merge/todo":                   true,
		"rebase-merge/amend":                  false,
		"rebase-merge/amend CHERRY_PICK_HEAD": true,
		"rebase-merge/amend rebase-merge/current-fixups": true, // a conflict in a fixup
	} {
		if got, err := Replays(makeFiles(t, files)); err != nil || got != want {
			t.Errorf("%s: %v, %v", files, got, err)
		}
	}
}

// The message of a squashed commit is indented: what looks like a commit there is none.
func TestSquashed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if commits, err := Squashed(dir); commits != nil || err != nil {
		t.Errorf("without a squash: %q, %v", commits, err)
	}
	first, second := strings.Repeat("1a", 20), strings.Repeat("2b", 32)
	text := "Squashed commit of the following:\n\ncommit " + first + "\nAuthor: A <a@b>\n\n    commit " + strings.Repeat("3", 40) + "\n\ncommit " + second + " (HEAD)\n"
	if err := os.WriteFile(filepath.Join(dir, "SQUASH_MSG"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	commits, err := Squashed(dir)
	if there, unread := Squashes(dir); !there || unread != nil || err != nil || strings.Join(commits, " ") != first+" "+second {
		t.Errorf("%q, %v, %v", commits, err, there)
	}
	if message, err := Message(dir); err != nil || !strings.HasPrefix(message, text) {
		t.Errorf("%q, %v", message, err)
	}
}

func TestUndo(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{Merge: "git merge --abort", Apply: "git am --abort", "": "git reset --merge"} {
		if got := UndoCommand(command); got != want {
			t.Errorf("%q is undone by %s, not %s", command, got, want)
		}
	}
}
