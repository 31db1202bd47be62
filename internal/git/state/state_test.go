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
		"rebase-apply/next":                              {"rebase", first + "`git -c core.editor=true rebase --continue`"},
		"rebase-apply/applying":                          {"am", first + "`git am --continue`"},
		"MERGE_HEAD":                                     {"merge", first + "`git commit --no-edit`"},
		"CHERRY_PICK_HEAD sequencer/todo":                {"cherry-pick", first + "`git -c core.editor=true cherry-pick --continue`"},
		"REVERT_HEAD":                                    {"revert", first + "`git -c core.editor=true revert --continue`"},
		"sequencer/todo=pick":                            {"cherry-pick", "`git -c core.editor=true cherry-pick --continue`"},
		"sequencer/todo=revert":                          {"revert", "`git -c core.editor=true revert --continue`"},
	} {
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
		got, err := UnderWay(dir)
		if err != nil || got.Command != want.command || want.command != "" && got.Remedy(nil) != want.remedy {
			t.Errorf("%s: %+v, %s, %v", files, got, got.Remedy(nil), err)
		}
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "sequencer", "todo"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := UnderWay(dir); err == nil {
		t.Errorf("a list that cannot be read is %+v", got)
	}
}
