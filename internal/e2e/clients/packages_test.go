//go:build !windows

package clients_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"debug/macho"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// packages are the packages for people without Go, as the release makes them.
type packages struct {
	folder  string
	version string // as in the tag, without the v
}

// packaged makes the packages of this source, with substitutes for other systems' programs, or takes those of the current release.
var packaged = sync.OnceValue(func() packages {
	if folder := os.Getenv("SMALL_GATE_PACKAGES"); folder != "" {
		return packagesIn(folder)
	}
	const version = "0.0.1-rc.1"
	dist, err := gittest.HeldDir()
	if err != nil {
		panic(err)
	}
	const build = `set -eu
cd ../../..
mkdir "$1/here" "$1/other"
for program in small-hook small-action; do
  CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X github.com/small-gate/small-gate/internal/base/version.version=v$2" -o "$1/here" ./cmd/$program
  echo 'for another system' | tee "$1/other/$program" >"$1/other/$program.exe"
done
cp LICENSE "$1/here"
cp LICENSE "$1/other"
for target in linux_amd64 linux_arm64 darwin_amd64 darwin_arm64; do
  if [ $target = "$3" ]; then from=here; else from=other; fi
  tar -czf "$1/small-gate_$2_$target.tar.gz" -C "$1/$from" LICENSE small-hook small-action
done
cd "$1/other"
for target in windows_amd64 windows_arm64; do python3 -m zipfile -c "$1/small-gate_$2_$target.zip" LICENSE small-hook.exe small-action.exe; done
cd "$OLDPWD"
go run ./scripts/packages "v$2" "$1"`
	if out, err := exec.Command("sh", "-c", build, "sh", dist, version, runtime.GOOS+"_"+runtime.GOARCH).CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v\n%s", err, out))
	}
	return packagesIn(filepath.Join(dist, "packages"))
})

func packagesIn(folder string) packages {
	found, err := filepath.Glob(filepath.Join(folder, "npm", "small-gate-[0-9]*.tgz"))
	if err != nil || len(found) != 1 {
		panic(fmt.Sprintf("%s holds %d packages for npm: %v", folder, len(found), err))
	}
	return packages{folder, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(found[0]), "small-gate-"), ".tgz")}
}

// withoutGo is a folder with every program on this machine's PATH except Go's and our own.
var withoutGo = sync.OnceValue(func() string {
	folder, err := gittest.HeldDir()
	if err != nil {
		panic(err)
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			panic(err)
		}
		for _, entry := range entries {
			if name := entry.Name(); name != "go" && name != "gofmt" && !strings.HasPrefix(name, "small-") {
				if err := os.Symlink(filepath.Join(dir, name), filepath.Join(folder, name)); err != nil && !errors.Is(err, fs.ErrExist) {
					panic(err)
				}
			}
		}
	}
	return folder
})

// bareDesk is a desk on a machine without Go and small-hook, except for those in the given folders.
func bareDesk(t *testing.T, folders ...string) *desk {
	t.Helper()
	d := newDesk(t).with("PATH=" + strings.Join(append(folders, withoutGo()), string(os.PathListSeparator)))
	d.must(127, "go version")
	return d
}

// guards demands that a person can see the demonstration, install the hooks, and is then kept from rewriting an entry.
func (d *desk) guards(version string) {
	d.t.Helper()
	if said := d.must(0, "small-hook version && small-action --version"); strings.Count(said, "v"+version) != 2 {
		d.t.Errorf("the programs say of themselves: %s", said)
	}
	if said := d.must(0, "small-hook demo"); !strings.Contains(said, "append-only/modified") {
		d.t.Errorf("the demonstration shows no rejection:\n%s", said)
	}
	d.must(0, "small-hook install")
	d.must(0, "small-hook doctor")
	d.rewrite()
	d.stopped("append-only/modified", "commit", "-a", "-m", "rewrite")
	d.entry()
	d.committed("commit", "-q", "-a", "-m", "append")
}

func needs(t *testing.T, program string) {
	t.Helper()
	gittest.Long(t)
	installed(t)
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("the packages for %s are not tried: %v", program, err)
	}
}

// nodeTarget is npm's name for this machine, which is not Windows.
func nodeTarget() string {
	return runtime.GOOS + "-" + strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
}

// The release publishes to npm, and the package installed by npm works without Go, and runs nothing during installation.
func TestPackageNPM(t *testing.T) {
	needs(t, "npm")
	t.Parallel()
	p, registry := packaged(), newRegistry(t)
	d := bareDesk(t)
	put(t, filepath.Join(d.home, ".npmrc"), fmt.Sprintf("registry=%s\n%s/:_authToken=none\ncache=%s\nfetch-retries=0\nignore-scripts=true\naudit=false\n",
		registry.URL, strings.TrimPrefix(registry.URL, "http:"), gittest.TempDir(t)), 0o600)
	script, err := filepath.Abs(filepath.Join("..", "..", "..", "scripts", "release"))
	if err != nil {
		t.Fatal(err)
	}
	publish := `bash "$1" npm "$2"`
	d.must(0, publish, script, filepath.Join(p.folder, "npm"))
	if last := registry.order[len(registry.order)-1]; len(registry.order) != 7 || last != "small-gate" {
		t.Errorf("published were %q", registry.order)
	}

	global := gittest.TempDir(t)
	d.with("npm_config_prefix="+global).must(0, documentedInstall(t, "npm", p.version))
	bareDesk(t, filepath.Join(global, "bin")).guards(p.version)

	install := `npm install --prefix "$1" small-gate@` + p.version
	prefix := gittest.TempDir(t)
	d.must(0, install, prefix)
	chosen(t, prefix, nodeTarget())
	bareDesk(t, filepath.Join(prefix, "node_modules", ".bin")).launched()

	there := gittest.TempDir(t)
	d.must(0, install+" --os=win32 --cpu=arm64", there)
	chosen(t, there, "win32-arm64")

	bare := gittest.TempDir(t)
	d.must(0, install+" --omit=optional", bare)
	said := bareDesk(t, filepath.Join(bare, "node_modules", ".bin")).must(2, "small-hook version")
	if !strings.Contains(said, "@small-gate/"+nodeTarget()) || !strings.Contains(said, "--omit=optional") {
		t.Error(said)
	}

	// An existing version stays, if it is the same.
	again := gittest.TempDir(t)
	d.must(0, `cp "$1"/npm/small-gate-[0-9]*.tgz "$1"/npm/small-gate-linux-x64-*.tgz "$2"`, p.folder, again)
	d.must(0, publish, script, again)
	d.must(0, `cd "$1" && tar -xzf small-gate-linux-x64-* package/package.json && tar -czf small-gate-linux-x64-* package`, again)
	if said := d.must(1, publish, script, again); !strings.Contains(said, "@small-gate/linux-x64@"+p.version+" could not be published") {
		t.Error(said)
	}
}

// documentedInstall is the command in docs/installation.md for a program, with another version.
func documentedInstall(t *testing.T, program, version string) string {
	t.Helper()
	for _, block := range fence.FindAllStringSubmatch(section(t, "The program"), -1) {
		if line := strings.TrimSpace(block[1]); strings.HasPrefix(line, program+" ") && strings.Contains(line, "1.0.0") {
			return strings.Replace(line, "1.0.0", version, 1)
		}
	}
	t.Fatalf("docs/installation.md does not say how to install with %s", program)
	return ""
}

// chosen demands that npm chose the right one of the six packages.
func chosen(t *testing.T, prefix, target string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(prefix, "node_modules", "@small-gate"))
	if err != nil || len(entries) != 1 || entries[0].Name() != target {
		t.Errorf("npm chose %v and not %s (%v)", entries, target, err)
	}
}

// launched demands that the launcher passes on arguments, input, exit statuses and signals.
func (d *desk) launched() {
	d.t.Helper()
	if said := d.must(0, `printf 'two words' | small-hook guard -- sh -c 'cat; printf "<%s>" "$1"' sh "a 'b' c"`); !strings.Contains(said, "two words<a 'b' c>") {
		d.t.Errorf("it said: %s", said)
	}
	d.must(2, "small-hook check --no-such-flag")
	d.must(7, "small-hook guard -- sh -c 'exit 7'")
	d.must(128+int(syscall.SIGKILL), "small-hook guard -- sh -c 'kill -9 $PPID'")

	cmd := exec.Command("/bin/sh", "-c", `exec small-hook guard -- sh -c 'trap "kill \$!; exit 9" TERM; sleep 60 >/dev/null 2>&1 & echo ready; wait'`)
	cmd.Dir, cmd.Env = d.Dir, d.Environ()
	out, err := cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	ready := make([]byte, len("ready"))
	_, err = io.ReadFull(out, ready)
	if err := errors.Join(err, cmd.Process.Signal(syscall.SIGTERM)); err != nil {
		d.t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 9 {
		d.t.Errorf("the program did not get the signal: %v", err)
	}
}

// pip puts the program itself on PATH, finds a wheel for every system, and needs neither Go nor an index.
func TestPackagePip(t *testing.T) {
	needs(t, "python3")
	t.Parallel()
	p := packaged()
	wheels := filepath.Join(p.folder, "pypi")
	d := bareDesk(t)
	place := gittest.TempDir(t)
	d.must(0, `exec "$(python3 -c 'import sys; print(sys.executable)')" -m venv "$1"`, place)
	pip := `"$1/bin/python" -m pip --isolated --disable-pip-version-check `
	_, wanted, _ := strings.Cut(documentedInstall(t, "pipx", p.version), "install ")
	d.must(0, pip+`install --no-index --find-links "$2" "$3"`, place, wheels, wanted)
	bareDesk(t, filepath.Join(place, "bin")).guards(p.version)

	found, err := filepath.Glob(filepath.Join(wheels, "*.whl"))
	if err != nil || len(found) != 6 {
		t.Errorf("%d wheels: %v", len(found), err)
	}
	var taken []string
	for _, system := range []string{
		"manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64", "manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64",
		"macosx_12_0_x86_64", "macosx_15_0_x86_64", "macosx_12_0_arm64", "macosx_15_0_arm64", "win_amd64", "win_arm64",
	} {
		into := gittest.TempDir(t)
		d.must(0, pip+`download --no-deps --no-index --find-links "$2" --only-binary :all: --platform "$4" --dest "$5" "small-gate==$3"`, place, wheels, p.version, system, into)
		wheel, err := filepath.Glob(filepath.Join(into, "*.whl"))
		if err != nil || len(wheel) != 1 {
			t.Fatalf("%s: %q: %v", system, wheel, err)
		}
		taken = append(taken, filepath.Base(wheel[0]))
		for _, arch := range []string{"x86_64", "aarch64", "arm64", "amd64"} {
			if strings.HasSuffix(system, arch) && !strings.HasSuffix(wheel[0], arch+".whl") {
				t.Errorf("%s gets %s", system, wheel[0])
			}
		}
	}
	slices.Sort(taken)
	if taken = slices.Compact(taken); len(taken) != 6 {
		t.Errorf("taken are %q", taken)
	}
	for _, wheel := range found {
		recorded(t, wheel)
	}
}

// recorded demands that a wheel's RECORD has each of its files with its checksum, and that its programs are executable.
func recorded(t *testing.T, path string) {
	t.Helper()
	wheel, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, wheel)
	var want, got []string
	for _, entry := range wheel.File {
		data, err := fs.ReadFile(wheel, entry.Name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(entry.Name, "/RECORD") {
			lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range lines {
				got = append(got, strings.Join(line, " "))
			}
			want = append(want, entry.Name+"  ")
			continue
		}
		if runs := entry.Mode().Perm() == 0o755; runs != strings.Contains(entry.Name, ".data/scripts/") {
			t.Errorf("%s: %s has the mode %v", path, entry.Name, entry.Mode())
		}
		sum := sha256.Sum256(data)
		want = append(want, fmt.Sprintf("%s sha256=%s %d", entry.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(data)))
	}
	if !slices.Equal(got, want) || len(want) != 6 {
		t.Errorf("%s: RECORD has %q and not %q", path, got, want)
	}
}

func closeAtEnd(t *testing.T, file io.Closer) {
	t.Helper()
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
}

// The wheels for macOS claim the oldest version in the programs, as set by Go's linker.
func TestPackageOldestMacOS(t *testing.T) {
	gittest.Long(t)
	source, err := os.ReadFile(filepath.Join("..", "..", "..", "scripts", "packages", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	for arch, name := range map[string]string{"amd64": "x86_64", "arm64": "arm64"} {
		built := filepath.Join(gittest.TempDir(t), "program")
		build := exec.Command("go", "build", "-o", built, "../../../scripts/packages")
		build.Env = append(os.Environ(), "GOOS=darwin", "GOARCH="+arch, "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		program, err := macho.Open(built)
		if err != nil {
			t.Fatal(err)
		}
		closeAtEnd(t, program)
		const buildVersion = 0x32 // LC_BUILD_VERSION: command, size, platform, oldest system as xxxx.yy.zz
		said := ""
		for _, load := range program.Loads {
			if raw := load.Raw(); program.ByteOrder.Uint32(raw) == buildVersion {
				oldest := program.ByteOrder.Uint32(raw[12:])
				said = fmt.Sprintf("macosx_%d_%d_%s", oldest>>16, oldest>>8&0xff, name)
			}
		}
		if said == "" || !bytes.Contains(source, []byte(`"`+said+`"`)) {
			t.Errorf("the program is for %q, and no wheel is", said)
		}
	}
}

// The formula is valid Ruby, and has each system's archive with its checksum. Homebrew itself is not run.
func TestPackageFormula(t *testing.T) {
	needs(t, "ruby")
	p := packaged()
	formula := filepath.Join(p.folder, "homebrew", "small-gate.rb")
	const words = `
class Formula
  def self.test; end
  def self.method_missing(word, *said)
    $at ||= []
    if block_given? then $at.push(word); yield; $at.pop else puts [*$at, word, *said].join(" ") end
  end
end
load ARGV[0]`
	out, err := exec.Command("ruby", "-e", words, formula).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said := string(out)
	for _, where := range []string{"on_macos on_arm darwin_arm64", "on_macos on_intel darwin_amd64", "on_linux on_arm linux_arm64", "on_linux on_intel linux_amd64"} {
		at := where[:strings.LastIndex(where, " ")]
		archive := "small-gate_" + p.version + "_" + where[len(at)+1:] + ".tar.gz"
		if url := at + " url https://github.com/small-gate/small-gate/releases/download/v" + p.version + "/" + archive + "\n"; !strings.Contains(said, url) {
			t.Errorf("there is no %q in\n%s", url, said)
		}
		found, err := filepath.Glob(filepath.Join(p.folder, "..", strings.Replace(archive, p.version, "*", 1)))
		if err != nil || len(found) != 1 {
			t.Fatalf("%q: %v", found, err)
		}
		data, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		if sum := fmt.Sprintf("%s sha256 %x\n", at, sha256.Sum256(data)); !strings.Contains(said, sum) {
			t.Errorf("there is no %q in\n%s", sum, said)
		}
	}
}
