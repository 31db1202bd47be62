package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const clientCount = 20

// clients measures one of twenty simultaneous pushes, each to its own branch with an entry appended to a log of that many. Its elapsed time
// is a twentieth of the total.
func clients(entries int) func(b *bench) (*world, measure, error) {
	return func(b *bench) (*world, measure, error) {
		w, err := b.grown(entries, 1, 5)
		if err != nil {
			return nil, nil, err
		}
		var dirs []string
		for i := range clientCount {
			dir, err := b.client(w, fmt.Sprintf("client-%d-%d", entries, i), entries)
			if err != nil {
				return nil, nil, err
			}
			dirs = append(dirs, dir)
		}
		servers := map[string]string{}
		for i, program := range []string{"", b.old, b.binary} {
			if i > 0 && program == "" {
				continue
			}
			dir, err := b.server(fmt.Sprintf("server-%d-%d", entries, i), w)
			if err != nil {
				return nil, nil, err
			}
			if program != "" {
				hook := fmt.Sprintf("#!/bin/sh\nexec '%s' pre-receive\n", strings.ReplaceAll(program, "'", `'\''`))
				if err := os.WriteFile(filepath.Join(dir, "hooks", "pre-receive"), []byte(hook), 0o700); err != nil { //nolint:gosec // a hook is a program
					return nil, nil, err
				}
			}
			servers[program] = dir
		}
		return w, func(program string) (sample, error) { return b.pushAll(dirs, servers[program]) }, nil
	}
}

// client is a clone with one more entry.
func (b *bench) client(w *world, name string, entries int) (string, error) {
	dir := filepath.Join(b.dir, name)
	if _, err := b.git(b.dir, "clone", "-q", w.dir, dir); err != nil {
		return "", err
	}
	_, err := b.commitLog(&world{dir: dir}, 0, entries+1)
	return dir, err
}

func (b *bench) pushAll(clients []string, server string) (sum sample, err error) {
	samples, failed := make([]sample, len(clients)), make([]error, len(clients))
	var done sync.WaitGroup
	began := time.Now()
	for i, dir := range clients {
		done.Go(func() {
			samples[i], failed[i] = b.run(command{args: []string{"git", "push", "-q", server, fmt.Sprintf("HEAD:refs/heads/client-%d", i)}, dir: dir})
		})
	}
	done.Wait()
	wall := time.Since(began)
	if err := errors.Join(failed...); err != nil {
		return sum, err
	}
	for i, s := range samples {
		sum = sum.plus(s)
		if _, err := b.git(server, "update-ref", "-d", fmt.Sprintf("refs/heads/client-%d", i)); err != nil {
			return sum, err
		}
	}
	sum.cpu /= time.Duration(len(clients))
	sum.wall = wall / time.Duration(len(clients))
	return sum, nil
}
