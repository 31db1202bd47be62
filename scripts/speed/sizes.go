package main

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// sizesName is -row's name for the sizes.
const sizesName = "sizes"

// sizes are those of the release's programs for Linux, and the parts of small-hook.
func (b *bench) sizes() (string, error) {
	lines := [][]string{{"program", "MB", "without -s -w, MB"}}
	if b.old != "" {
		info, err := os.Stat(b.old)
		if err != nil {
			return "", err
		}
		lines = append(lines, []string{"small-hook, old", tenths(info.Size()), ""})
	}
	for _, name := range []string{"small-hook", "small-action"} {
		line := []string{name}
		for _, flags := range [][]string{releaseFlags, releaseFlags[:2]} {
			out := filepath.Join(b.dir, name+"-size")
			if err := b.goBuild(out, "./cmd/"+name, flags...); err != nil {
				return "", err
			}
			info, err := os.Stat(out)
			if err != nil {
				return "", err
			}
			line = append(line, tenths(info.Size()))
			if name == "small-hook" && len(line) == 3 {
				if err := os.Rename(out, filepath.Join(b.dir, "whole")); err != nil {
					return "", err
				}
			}
		}
		lines = append(lines, line)
	}
	modules, err := b.output(".", "go", "list", "-m", "-f", "{{.Path}}", "all")
	if err != nil {
		return "", err
	}
	made, err := parts(filepath.Join(b.dir, "whole"), strings.Fields(modules))
	return markdown(lines) + "\n" + made, err
}

func tenths(bytes int64) string { return fmt.Sprintf("%.2f", float64(bytes)/1e6) }

// parts says how large a program's sections are in the file, and which modules the code and data in them belong to: the largest parts.
// Sections of zeros take no space.
func parts(program string, modules []string) (text string, err error) {
	f, err := elf.Open(program)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sections, sizes := map[string]uint64{}, map[string]uint64{}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NOBITS {
			sections["section "+s.Name] = s.Size
		}
	}
	symbols, err := f.Symbols()
	if err != nil {
		return "", err
	}
	for _, s := range symbols {
		if int(s.Section) < len(f.Sections) && f.Sections[s.Section].Type != elf.SHT_NOBITS {
			sizes[part(s.Name, modules)] += s.Size
		}
	}
	lines := [][]string{{"in small-hook", "KB"}}
	for _, of := range []struct {
		sizes map[string]uint64
		most  int
	}{{sections, 5}, {sizes, 25}} {
		names := slices.SortedFunc(maps.Keys(of.sizes), func(a, c string) int { return cmp.Compare(of.sizes[c], of.sizes[a]) })
		for _, name := range names[:min(of.most, len(names))] {
			lines = append(lines, []string{name, strconv.FormatUint(of.sizes[name]/1000, 10)})
		}
	}
	return markdown(lines), nil
}

// part is the module of a symbol, or the package of the standard library, or the linker's name.
func part(symbol string, modules []string) string {
	owner := strings.ReplaceAll(strings.TrimLeft(strings.TrimPrefix(symbol, "type:.eq."), "*[]"), "%2e", ".")
	best := ""
	for _, m := range modules {
		if strings.HasPrefix(owner, m) && len(m) > len(best) {
			best = m
		}
	}
	if best != "" {
		return best
	}
	if kind, _, found := strings.Cut(symbol, ":"); found || !strings.Contains(symbol, ".") {
		return "linker: " + kind
	}
	slash := strings.LastIndex(symbol, "/") + 1
	name, _, _ := strings.Cut(symbol[slash:], ".")
	return "std: " + symbol[:slash] + name
}
