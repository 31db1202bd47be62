package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMergeAttribute compares the answers with git's.
func TestMergeAttribute(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: without git nothing says what the right answer is")
	}
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	for _, d := range []string{".small", "a/b/.small"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	paths := []string{".small/progress.small.yml", ".small/plan.small.yml", "a/b/.small/progress.small.yml"}
	for _, test := range [][3]string{
		{"*.yml merge=union"}, {"*.small.yml merge=union"}, {"progress.small.yml  text\tmerge=union # x"}, {"* merge=union"}, {"** merge=union"},
		{".small/* merge=union"}, {".small/** merge=union"}, {"/.small/*.yml merge=union"}, {"**/.small/*.yml merge=union"},
		{"**/progress* merge=union"}, {".small/ merge=union"}, {".small merge=union"}, {"a/** merge=union"}, {"a/**/plan* merge=union"},
		{"a/*/.small/* merge=union"}, {"a/* merge=union"}, {"a**yml merge=union"}, {"a/**b merge=union"},
		{"*.yml merge=union\n*.small.yml -merge"}, {"*.yml merge=union\n*.small.yml merge"}, {"*.yml merge=union\n*.small.yml !merge"},
		{"*.yml merge=union\n*.small.yml merge=small-gate"}, {"*.yml merge=small-gate\n*.small.yml merge=union"},
		{"*.yml merge=union\n*.small.yml binary"}, {"*.yml merge=union\n*.small.yml -binary"},
		{"[attr]log merge=union\n*.yml log"}, {"[attr]log merge=union\n*.yml -log"}, {"*.yml merge=union", "progress* -merge"},
		{"*.yml -merge", "*.yml merge=union"}, {"", "", "*.yml merge=union"}, {"", "[attr]log merge=union\n*.yml log", ""},
		{"\"*.yml\" merge=union"}, {"\"pro\\147ress*\" merge=union"}, {"# *.yml merge=union"}, {"!*.yml merge=union\n*.txt text"}, {"[p]rogress* merge=union"},
		{"[!p]* merge=union"}, {"[^p]* merge=union"}, {"pro?ress.small.yml merge=union"}, {"{progress,plan}.small.yml merge=union"}, {"*.yml\r\n* merge=union\r\n"},
		{"*.yml mergex=union xmerge=union"}, {"  *.yml merge=union"}, {"*.yml merge=union merge=text"}, {"\\*.yml merge=union"}, {"*.yml merge=Union"},
		{"* -merge=union"}, {"\ufeff*.yml merge=union"}, {"\u00a0*.yml merge=union"}, {"* merge=union\u00a0x"}, {"[attr] merge=union"},
		{"[attr]a merge=union\n[attr]b a\n*.yml b"}, {"*.yml log\n[attr]log merge=union"}, {"[attr]log merge=union\n*.yml log\n*.small.yml -log"},
		{"[attr]log merge=union\n*.yml log\n*.small.yml log=x"}, {"[attr]log merge=union\n*.yml log", "", "*.yml !log"},
		{"[attr]binary merge=union\n*.yml binary"}, {"[attr]log merge=union x$\n*.yml log"}, {"[attr]a b merge=union\n[attr]b a -merge\n*.yml a"},
		{"*.yml merge=union " + strings.Repeat("x", 2100)},
	} {
		var files []Attributes
		for i, name := range []string{".gitattributes", "a/b/.gitattributes", "a/b/.small/.gitattributes"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(test[i]), 0o644); err != nil {
				t.Fatal(err)
			}
			files = append(files, ParseAttributes(name, []byte(test[i])))
		}
		for _, path := range paths {
			out := git("check-attr", "merge", "--", path)
			_, want, _ := strings.Cut(strings.TrimSpace(out[strings.LastIndex("\n"+strings.TrimSuffix(out, "\n"), "\n"):]), ": merge: ")
			if got := MergeAttribute(files, path); (got.Value == "union") != (want == "union") {
				t.Errorf("%q: %s is %q to git, and %+v here", test, path, want, got)
			}
		}
	}
}

func FuzzMergeAttribute(f *testing.F) {
	f.Add("*.yml merge=union\n[attr]x merge=union\n\"a\\\" x\n", "a/.small/b")
	f.Fuzz(func(_ *testing.T, text, name string) {
		MergeAttribute([]Attributes{ParseAttributes(".gitattributes", []byte(text)), ParseAttributes("a/.gitattributes", []byte(text))}, name)
	})
}
