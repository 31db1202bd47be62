package lane

import (
	"fmt"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/policy"
)

// told writes signals as name=files.
func told(signals []Signal) string {
	var parts []string
	for _, s := range signals {
		parts = append(parts, s.Name+"="+strings.Join(s.Files, ","))
	}
	return strings.Join(parts, " ")
}

func TestSignals(t *testing.T) {
	cfg := policy.Default().Lanes
	cfg.Reversible = []string{"seeds/**"}
	cfg.Migrations = append(cfg.Migrations, "seeds/**", "!scratch/**")
	many := []File{{Path: "a.txt"}, {Path: "b.txt"}, {Path: "c.txt", Lines: 150}}
	for _, tt := range []struct {
		name  string
		files []File
		want  string
		fits  Lane
	}{
		{"nothing", nil, "", Fast},
		{"three files", many, "", Fast},
		{"four files", append(many[:3:3], File{Path: "d.txt"}), "files=a.txt,b.txt,c.txt,d.txt", Standard},
		{"four, one of which does not count", append(many[:3:3], File{Path: ".small/progress.small.yml"}, File{Path: "web/yarn.lock", Lines: 9000}, File{Path: ".small-gate.yml"}), "", Fast},
		{"lines", []File{{Path: "a.txt", Lines: 201}}, "lines=a.txt", Standard},
		{"code with tests", []File{{Path: "src/a.py"}, {Path: "x/a.go"}, {Path: "c.rs", OwnTests: true}}, "", Fast},
		{"code without tests", []File{{Path: "src/b.py"}, {Path: "y/a.go"}}, "untested=src/b.py,y/a.go", Standard},
		{"SQL that defines something", []File{{Path: "reports/a.sql", Schema: true}}, "migration=reports/a.sql", Deep},
		{"SQL that can be taken back", []File{{Path: "seeds/a.sql", Schema: true}}, "reversible-migration=seeds/a.sql", Standard},
		{"SQL that is not meant", []File{{Path: "scratch/a.sql", Schema: true}}, "", Fast},
		{"SQL in a folder of tests", []File{{Path: "tests/a.sql", Schema: true}}, "migration=tests/a.sql", Deep},
		{"a file that was moved", []File{{Path: "a.txt", Deleted: true, Object: "1", Lines: 150}, {Path: "b.txt", Added: true, Object: "1", Lines: 150}, {Path: "c.txt"}, {Path: "d.txt"}}, "", Fast},
		{"a copy beside a move", []File{{Path: "a.txt", Deleted: true, Object: "1", Lines: 150}, {Path: "b.txt", Added: true, Object: "1", Lines: 150}, {Path: "c.txt", Added: true, Object: "1", Lines: 201}}, "lines=b.txt,c.txt", Standard},
		{"both ends of a move", []File{{Path: "auth/a.txt.yml", Deleted: true, Object: "1"}, {Path: "api/b.json", Added: true, Object: "1"}}, "security=auth/a.txt.yml public-api=api/b.json", Deep},
		{"a submodule", []File{{Path: "lib", Submodule: true}}, "submodule=lib", Standard},
		{"where submodules are", []File{{Path: ".gitmodules"}}, "submodule=.gitmodules", Standard},
		{"names that are gone", []File{{Path: "x/a.go", Gone: []string{"F"}, Looked: true}}, "api-change=x/a.go", Standard},
		{"names of what is not meant", []File{{Path: "third_party/a.go", API: []string{"F"}, Looked: true, OwnTests: true}}, "", Fast},
		{"code that is gone", []File{{Path: "src/b.py", Deleted: true}}, "", Fast},
		{"a reversible migration", []File{{Path: "seeds/1.sql"}}, "reversible-migration=seeds/1.sql", Standard},
		{"a file of the API that changes", []File{{Path: "api/a.json"}}, "api-change=api/a.json", Standard},
		{"new names", []File{{Path: "x/a.go", API: []string{"F"}, Looked: true}}, "public-api=x/a.go", Deep},
		{"an API that was looked at", []File{{Path: "x/api/a.go", Added: true, Looked: true}}, "untested=x/api/a.go", Standard},
		{"several", []File{{Path: "b.proto"}, {Path: "a.proto"}, {Path: "auth/x.txt.yml"}}, "contract=a.proto,b.proto security=auth/x.txt.yml", Deep},
	} {
		t.Run(tt.name, func(t *testing.T) {
			FindMoves(tt.files)
			tests := TestsOf([]string{"src/a.py", "tests/test_a.py", "x/z_test.go", "docs/test_b.md"}, &cfg)
			signals := Signals(tt.files, tests, &cfg)
			if got := told(signals); got != tt.want || Fits(signals) != tt.fits {
				t.Errorf("%q fits %s; want %q, %s", got, Fits(signals), tt.want, tt.fits)
			}
		})
	}
}

// TestLocks: lock files of common ecosystems do not count.
func TestLocks(t *testing.T) {
	cfg := policy.Default().Lanes
	for _, name := range []string{
		".terraform.lock.hcl", "modules/a/.terraform.lock.hcl", "conda-lock.yml", "cabal.project.freeze", "stack.yaml.lock",
		"gradle.lockfile", "buildscript-gradle.lockfile", "Podfile.lock", "pubspec.lock", "mix.lock", "rebar.lock", "flake.lock", "uv.lock", "pdm.lock",
		"poetry.lock", "Pipfile.lock", "pixi.lock", "bun.lock", "bun.lockb", "deno.lock", "yarn.lock", "pnpm-lock.yaml", "package-lock.json", "npm-shrinkwrap.json",
		"packages.lock.json", "project.lock.json", "paket.lock", "Package.resolved", "Cartfile.resolved", "go.sum", "go.work.sum", "Cargo.lock", "Gemfile.lock", "gems.locked",
		"composer.lock", "renv.lock", "MODULE.bazel.lock", "Chart.lock", "conan.lock", "shard.lock", "dub.selections.json", "lake-manifest.json", "Brewfile.lock.json", "cpanfile.snapshot",
	} {
		if Counts(name, &cfg) || Counts("web/"+name, &cfg) {
			t.Errorf("%s counts", name)
		}
	}
	for _, name := range []string{"lock.go", "src/locksmith.py", "package.json", "block.txt", ".github/workflows/agent.lock.yml", "main.tf"} {
		if !Counts(name, &cfg) {
			t.Errorf("%s does not count", name)
		}
	}
}

// TestWhy says nothing of tests where there is no code.
func TestWhy(t *testing.T) {
	cfg := policy.Default().Lanes
	for _, tt := range []struct {
		files []File
		want  string
	}{
		{nil, "it changes no file that counts"},
		{[]File{{Path: "README.md"}, {Path: "gone.py", Deleted: true}, {Path: "tests/test_a.py"}}, "it is small, touches no code that would need tests, and shows no signal that asks for more"},
		{[]File{{Path: "a.py"}}, "it is small, the code that it touches has tests, and it shows no signal that asks for more"},
		{[]File{{Path: "a.rs", OwnTests: true}}, "it is small, the code that it touches has tests, and it shows no signal that asks for more"},
	} {
		signals := Signals(tt.files, TestsOf([]string{"tests/test_a.py"}, &cfg), &cfg)
		if got := Why(signals, tt.files, &cfg); got != tt.want || len(signals) > 0 {
			t.Errorf("%v: %q, %v", tt.files, got, signals)
		}
	}
}

// TestCover finds tests by the conventions of several ecosystems.
func TestCover(t *testing.T) {
	cfg := policy.Default().Lanes
	for file, test := range map[string]string{
		"a/b.py": "tests/a/test_b.py", "src/b.ts": "src/b.test.ts", "src/c.tsx": "src/__tests__/c.tsx", "app/models/user.rb": "spec/models/user_spec.rb",
		"src/main/java/x/Foo.java": "src/test/java/x/FooTest.java", "src/Bar.cs": "test/BarTests.cs", "p/q.go": "p/other_test.go", "lib/x.ex": "test/x_test.exs",
		"app/views.py": "app/tests.py", "src/lib.rs": "tests/it.rs", "crates/a/src/b/c.rs": "crates/a/tests/it/main.rs", "src/a/z.rs": "src/a/tests.rs",
		"src/main/java/x/Bar.java": "src/test/java/x/BarIT.java", "foo/index.ts": "foo/foo.test.ts", "a/foo/__init__.py": "tests/test_foo.py",
		"app/controllers/users_controller.rb": "spec/requests/users_spec.rb", "bin/deploy.sh": "test/deploy.bats", "lib/X/Y.pm": "t/01-basic.t",
		"sub/lib/X.pm": "sub/t/x.t", "R/foo.R": "tests/testthat/test-foo.R", "R/bar.r": "tests/testthat/test_bar.r",
	} {
		if !TestsOf([]string{file, test}, &cfg).Cover(file) {
			t.Errorf("%s does not cover %s", test, file)
		}
		if TestsOf([]string{file, "test/other.py", "other/q_test.go"}, &cfg).Cover(file) {
			t.Errorf("%s is covered by something else", file)
		}
	}
	for file, test := range map[string]string{
		"other/views.py": "app/tests.py", "app/sub/views.py": "app/tests.py", "b/src/lib.rs": "a/tests/it.rs", "build.rs": "tests/it.rs",
		"lib/X.pm": "sub/t/x2.t", "s.py": "x/tests.py", "foo/bar.ts": "foo/foo.test.ts", "src/un.java": "test/unit.java", "foo/index.ts": "bar/bar.test.ts",
	} {
		if TestsOf([]string{file, test}, &cfg).Cover(file) {
			t.Errorf("%s covers %s", test, file)
		}
	}
}

func TestHoldsTests(t *testing.T) {
	for text, want := range map[string]bool{
		"fn f() {}": false, "#[cfg(test)]\nmod tests {}": true, "#[cfg(all(test, unix))]": true, "#[test]\nfn f() {}": true, "#[tokio::test]": true,
		"#[cfg(unix)]\nfn test() {}": false, "// tests": false, "#[testing]": false,
	} {
		if HoldsTests("a.rs", []byte(text)) != want || HoldsTests("a.py", []byte(text)) {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestLanes(t *testing.T) {
	for text, want := range map[string]Lane{"fast": Fast, "Deep\n": Deep, "STANDARD": Standard} {
		if l, ok := Parse(text); l != want || !ok {
			t.Errorf("%q is %q, %v", text, l, ok)
		}
	}
	for _, text := range []string{"", "fats", "fast,deep", "none"} {
		if l, ok := Parse(text); ok {
			t.Errorf("%q is %q", text, l)
		}
	}
	if got := fmt.Sprintln(Fast.Less(Standard), Standard.Less(Deep), Deep.Less(Deep), Lane("").Less(Fast), Stricter(Deep, Fast), Stricter("", Fast)); got != "true true false true deep fast\n" {
		t.Error(got)
	}
	low := Claim{Lane: Fast, Source: FromLabel}
	if First(Claim{}, low, Claim{Lane: Deep}) != low || First().Made() {
		t.Error("not the first claim")
	}
	signals := []Signal{{Name: "a", Fits: Deep}, {Name: "b", Fits: Standard}}
	if got := told(Refused(Standard, signals)); got != "a=" || len(Refused(Deep, signals)) != 0 || len(Refused(Fast, signals)) != 2 {
		t.Errorf("refused %q", got)
	}
}
