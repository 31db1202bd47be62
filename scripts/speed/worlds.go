package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const logFile = ".small/progress.small.yml"

const logHead = "small_version: \"1.0.0\"\nowner: agent\nentries:\n"

// entry is the i-th entry of a log: a kilobyte, as the protocol's own program writes it.
func entry(i int) string {
	at := time.Date(2026, 3, 1, 10, 0, 0, i+1, time.UTC).Add(time.Duration(i) * time.Second)
	return fmt.Sprintf(`    - command: go test ./importer -run TestRead/%d
      evidence: %s
      notes: |-
        === RUN   TestRead
        --- PASS: TestRead (0.02s)
        === RUN   TestReadTwice
        --- PASS: TestReadTwice (0.04s)
        ok  	importer	0.311s, and then the same again with the larger export
      replayId: 3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f
      status: completed
      task_id: task-%d
      timestamp: "%s"
`, i, strings.Repeat(fmt.Sprintf("row %d was read and its checkpoint kept, ", i*7919%100000), 11)+"and nothing else changed", i%50+1,
		at.Format("2006-01-02T15:04:05.000000000Z"))
}

// writeLog writes a log of that many entries, piece by piece (see peakMemory), and returns its size.
func writeLog(path string, entries ...int) (size int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	if _, err := w.WriteString(logHead); err != nil {
		return 0, err
	}
	size = int64(len(logHead))
	// The numbers are pairs: from, up to.
	for ; len(entries) > 1; entries = entries[2:] {
		for i := entries[0]; i < entries[1]; i++ {
			n, err := w.WriteString(entry(i))
			if err != nil {
				return 0, err
			}
			size += int64(n)
		}
	}
	return size, w.Flush()
}

// workspace is the files of a valid workspace, without its log.
func workspace() (map[string]string, error) {
	files := map[string]string{}
	source := filepath.Join("cmd", "small-hook", "testdata", "workspace", ".small")
	for _, name := range []string{"constraints", "handoff", "intent", "plan", "workspace"} {
		data, err := os.ReadFile(filepath.Join(source, name+".small.yml"))
		if err != nil {
			return nil, err
		}
		text := string(data)
		if name == "plan" {
			for i := 3; i <= 50; i++ {
				text += fmt.Sprintf("  - id: \"task-%d\"\n    title: \"Step %d of the importer\"\n", i, i)
			}
		}
		files[".small/"+name+".small.yml"] = text
	}
	for i := range 40 {
		files[fmt.Sprintf("importer/part%d.go", i)] = fmt.Sprintf("package importer\n\nconst part%d = %d\n", i, i)
	}
	return files, nil
}

// script is the input of fast-import. The first error is kept.
type script struct {
	w   *bufio.Writer
	err error
}

func (s *script) printf(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.w, format, args...)
	}
}

func (s *script) data(text []byte) {
	s.printf("data %d\n", len(text))
	if s.err == nil {
		_, s.err = s.w.Write(text)
	}
	s.printf("\n")
}

func (s *script) commit(n int) { s.commitTo("main", n) }

func (s *script) commitTo(branch string, n int) {
	s.printf("commit refs/heads/%s\ncommitter T <t@example.com> %d +0000\n", branch, time.Date(2026, 4, 1, 0, 0, n, 0, time.UTC).Unix())
	s.data(fmt.Appendf(nil, "commit %d\n", n))
}

// file sets the content of a path in the commit.
func (s *script) file(path, text string) {
	s.printf("M 100644 inline %s\n", path)
	s.data([]byte(text))
}

// start writes the first commit's files. The log is a text, or a mark such as :1.
func (s *script) start(log string) error {
	files, err := workspace()
	if err != nil {
		return err
	}
	for path, text := range files {
		s.file(path, text)
	}
	if strings.HasPrefix(log, ":") {
		s.printf("M 100644 %s %s\n", log, logFile)
	} else {
		s.file(logFile, log)
	}
	return nil
}

// world makes a repository once, from a script for fast-import, and checks it out.
func (b *bench) world(name string, write func(s *script) (logSize int64, err error)) (*world, error) {
	if w := b.worlds[name]; w != nil {
		return w, nil
	}
	w := &world{dir: filepath.Join(b.dir, name)}
	if _, err := b.git(b.dir, "init", "-q", w.dir); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(b.ctx, "git", "fast-import", "--quiet")
	cmd.Dir, cmd.Env, cmd.Stderr = w.dir, b.env, b.diagnostics
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &script{w: bufio.NewWriter(in)}
	w.log, err = write(s)
	if err := errors.Join(err, s.err, s.w.Flush(), in.Close(), cmd.Wait()); err != nil {
		return nil, fmt.Errorf("git fast-import: %w", err)
	}
	// The index has every file; the work tree only those needed.
	if _, err := b.git(w.dir, "read-tree", "HEAD"); err != nil {
		return nil, err
	}
	if _, err := b.git(w.dir, "checkout", "-q", "HEAD", "--", ".small", "importer"); err != nil {
		return nil, err
	}
	b.worlds[name] = w
	return w, nil
}

// stageCode stages a change outside any workspace.
func (b *bench) stageCode(w *world) error {
	if err := os.WriteFile(filepath.Join(w.dir, "importer", "part7.go"), []byte("package importer\n"), 0o600); err != nil {
		return err
	}
	_, err := b.git(w.dir, "add", "importer/part7.go")
	return err
}

// idle is a repository with more objects, none of which the gate needs, and more files in the index, and a staged change of one file.
func (b *bench) idle(objects, files int) (*world, error) {
	w, err := b.world(fmt.Sprintf("idle-%d-%d", objects, files), func(s *script) (int64, error) {
		for i := range objects {
			s.printf("blob\n")
			s.data(fmt.Appendf(nil, "object %d\n", i))
		}
		s.commit(0)
		for i := range files {
			s.file(fmt.Sprintf("more/part%d/file%d.go", i/100, i), "package part\n")
		}
		return 0, s.start(logHead + entry(0))
	})
	if err != nil {
		return nil, err
	}
	return w, b.stageCode(w)
}

// appended is a repository with a log of that many entries in HEAD, and one more in the index.
func (b *bench) appended(entries int) (*world, error) {
	name := fmt.Sprintf("appended-%d", entries)
	if w := b.worlds[name]; w != nil {
		return w, nil
	}
	w, err := b.world(name, func(s *script) (int64, error) {
		s.commit(0)
		return 0, s.start(logHead + entry(0))
	})
	if err != nil {
		return nil, err
	}
	if _, err := b.commitLog(w, 0, entries); err != nil {
		return nil, err
	}
	if _, err := b.git(w.dir, "repack", "-adq"); err != nil {
		return nil, err
	}
	if w.log, err = writeLog(filepath.Join(w.dir, logFile), 0, entries+1); err != nil {
		return nil, err
	}
	_, err = b.git(w.dir, "add", logFile)
	return w, err
}

func (b *bench) commitLog(w *world, entries ...int) (size int64, err error) {
	if size, err = writeLog(filepath.Join(w.dir, logFile), entries...); err != nil {
		return 0, err
	}
	_, err = b.git(w.dir, "commit", "-q", "-m", "the log", "--", logFile)
	return size, err
}

// grown is a repository of that many commits, each of which changes a file, and one in every of them appends an entry to a log that begins
// with first entries. The newest version is stored whole and the others as deltas, as git packs them. The branch base is the first commit.
func (b *bench) grown(first, commits, every int) (*world, error) {
	return b.world(fmt.Sprintf("grown-%d-%d-%d", first, commits, every), func(s *script) (int64, error) {
		var log bytes.Buffer // no concatenated strings: see peakMemory
		log.WriteString(logHead)
		for i := range first {
			log.WriteString(entry(i))
		}
		versions := []int{log.Len()}
		for n := every; n < commits; n += every {
			log.WriteString(entry(first + len(versions) - 1))
			versions = append(versions, log.Len())
		}
		for i := len(versions) - 1; i >= 0; i-- {
			s.printf("blob\nmark :%d\n", i+1)
			s.data(log.Bytes()[:versions[i]])
		}
		// fast-import stores a blob as a delta of the one before, if that is smaller: the small files would become deltas of the whole log, which
		// git's own packing never makes of a file with less than a thirty-second of the size.
		s.printf("blob\n")
		s.data([]byte("\n"))
		for n := range commits {
			s.commit(n)
			switch {
			case n == 0:
				if err := s.start(":1"); err != nil {
					return 0, err
				}
				s.printf("reset refs/heads/base\nfrom refs/heads/main\n\n")
				continue
			case n%every == 0:
				s.printf("M 100644 :%d %s\n", n/every+1, logFile)
			}
			s.file(fmt.Sprintf("importer/part%d.go", n%40), fmt.Sprintf("package importer\n\nconst step = %d\n", n))
		}
		return int64(log.Len()), nil
	})
}

// spread is a repository of several workspaces, whose logs grow in turn to that many entries, one with each commit.
func (b *bench) spread(workspaces, entries int) (*world, error) {
	files, err := workspace()
	if err != nil {
		return nil, err
	}
	return b.world(fmt.Sprintf("spread-%d-%d", workspaces, entries), func(s *script) (int64, error) {
		s.commit(0)
		if err := s.start(logHead + entry(0)); err != nil {
			return 0, err
		}
		logs := make([]bytes.Buffer, workspaces)
		for n := range workspaces * entries {
			dir, log := fmt.Sprintf("service%d/", n%workspaces), &logs[n%workspaces]
			s.commit(n + 1)
			if log.Len() == 0 {
				log.WriteString(logHead)
				for path, text := range files {
					if strings.HasPrefix(path, ".small/") {
						s.file(dir+path, text)
					}
				}
			}
			log.WriteString(entry(n))
			s.printf("M 100644 inline %s\n", dir+logFile)
			s.data(log.Bytes())
		}
		return 0, nil
	})
}

// merged is a repository of that many merges, of branches that each append an entry while main changes a file.
func (b *bench) merged(merges int) (*world, error) {
	return b.world(fmt.Sprintf("merged-%d", merges), func(s *script) (int64, error) {
		var log bytes.Buffer
		log.WriteString(logHead + entry(0))
		s.commit(0)
		if err := s.start(log.String()); err != nil {
			return 0, err
		}
		for i := range merges {
			n := 3 * i
			log.WriteString(entry(i + 1))
			s.printf("blob\nmark :%d\n", i+1)
			s.data(log.Bytes())
			s.printf("reset refs/heads/side\nfrom refs/heads/main\n\n")
			s.commitTo("side", n+1)
			s.printf("M 100644 :%d %s\n", i+1, logFile)
			s.commit(n + 2)
			s.file(fmt.Sprintf("importer/part%d.go", i%40), fmt.Sprintf("package importer\n\nconst step = %d\n", i))
			s.commit(n + 3)
			s.printf("merge refs/heads/side\nM 100644 :%d %s\n", i+1, logFile)
		}
		return int64(log.Len()), nil
	})
}

// many is a repository of many workspaces, and a commit that appends an entry in each.
func (b *bench) many(workspaces int) (*world, error) {
	files, err := workspace()
	if err != nil {
		return nil, err
	}
	return b.world(fmt.Sprintf("many-%d", workspaces), func(s *script) (int64, error) {
		for n := range 2 {
			s.commit(n)
			for i := range workspaces {
				dir := fmt.Sprintf("services/part%d/service%d/", i%50, i)
				for path, text := range files {
					if n == 0 && strings.HasPrefix(path, ".small/") {
						s.file(dir+path, text)
					}
				}
				log := logHead + entry(i)
				if n > 0 {
					log += entry(i + 1)
				}
				s.file(dir+logFile, log)
			}
			if n == 0 {
				if err := s.start(logHead + entry(0)); err != nil {
					return 0, err
				}
			}
		}
		return 0, nil
	})
}

// forked is a repository in which the branches main and theirs each append half of the last twenty entries to a common log.
func (b *bench) forked(entries int) (*world, error) {
	name := fmt.Sprintf("forked-%d", entries)
	if w := b.worlds[name]; w != nil {
		return w, nil
	}
	w, err := b.world(name, func(s *script) (int64, error) {
		s.commit(0)
		return 0, s.start(logHead + entry(0))
	})
	if err != nil {
		return nil, err
	}
	common, half := entries-20, entries-10
	if _, err := b.commitLog(w, 0, common); err != nil {
		return nil, err
	}
	if _, err := b.git(w.dir, "checkout", "-q", "-b", "theirs"); err != nil {
		return nil, err
	}
	if _, err := b.commitLog(w, 0, common, half, entries); err != nil {
		return nil, err
	}
	if _, err := b.git(w.dir, "checkout", "-q", "main"); err != nil {
		return nil, err
	}
	if w.log, err = b.commitLog(w, 0, half); err != nil {
		return nil, err
	}
	_, err = b.git(w.dir, "repack", "-adq")
	return w, err
}

// writeFile writes the input lines of a command.
func (b *bench) writeFile(name string, lines ...string) (string, error) {
	path := filepath.Join(b.dir, name)
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	_, err = io.WriteString(f, strings.Join(lines, "\n")+"\n")
	return path, errors.Join(err, f.Close())
}
