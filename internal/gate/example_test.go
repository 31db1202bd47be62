package gate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate/catalogue"
)

func TestParseExample(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       catalogue.Example
	}{
		{"nothing", "", catalogue.Example{}},
		{"a remark alone", "\nSays something.\n\n", catalogue.Example{Remark: "Says something."}},
		{"files", "-- .small/a.yml --\na: 1\n-- x/.small/b.yml --\n", catalogue.Example{Files: []catalogue.ExampleFile{
			{Path: ".small/a.yml", Mode: "100644", Content: "a: 1\n"},
			{Path: "x/.small/b.yml", Mode: "100644"},
		}}},
		{"steps", "-- 1/a --\n1\n-- 12/b/c --\n2\n-- ours/a --\n-- theirs/a --\n-- merge/a --\n", catalogue.Example{Files: []catalogue.ExampleFile{
			{Step: "1", Path: "a", Mode: "100644", Content: "1\n"},
			{Step: "12", Path: "b/c", Mode: "100644", Content: "2\n"},
			{Step: "ours", Path: "a", Mode: "100644"},
			{Step: "theirs", Path: "a", Mode: "100644"},
			{Step: "merge", Path: "a", Mode: "100644"},
		}}},
		{"what is no step", "-- ours --\n-- 1 --\n-- v1/a --\n-- /a --\n", catalogue.Example{Files: []catalogue.ExampleFile{
			{Path: "ours", Mode: "100644"},
			{Path: "1", Mode: "100644"},
			{Path: "v1/a", Mode: "100644"},
			{Step: "", Path: "a", Mode: "100644"},
		}}},
		{"what is no ordinary file", "-- a --\n# deleted\n-- b --\n# symlink: ../x y\n-- c --\n# submodule: 12ab\n", catalogue.Example{Files: []catalogue.ExampleFile{
			{Path: "a"},
			{Path: "b", Mode: "120000", Content: "../x y"},
			{Path: "c", Mode: "160000", Content: "12ab"},
		}}},
		{"comments of an ordinary file", "-- a --\n# deleted\nb: 1\n-- c --\n# symlink: x\n# submodule: y\n", catalogue.Example{Files: []catalogue.ExampleFile{
			{Path: "a", Mode: "100644", Content: "# deleted\nb: 1\n"},
			{Path: "c", Mode: "100644", Content: "# symlink: x\n# submodule: y\n"},
		}}},
		{"lines that look like a header", "-- a --\n-- b\n--c --\n- - d --\n", catalogue.Example{Files: []catalogue.ExampleFile{
			{Path: "a", Mode: "100644", Content: "-- b\n--c --\n- - d --\n"},
		}}},
		{"bytes as they are", "-- a --\nx: \xff\r\n\ty", catalogue.Example{Files: []catalogue.ExampleFile{
			{Path: "a", Mode: "100644", Content: "x: \xff\r\n\ty"},
		}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, catalogue.ParseExample(tt.text)); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExampleWords(t *testing.T) {
	for _, tt := range []struct {
		file       catalogue.ExampleFile
		step, kind string
	}{
		{catalogue.ExampleFile{Mode: "100644"}, "", ""},
		{catalogue.ExampleFile{Step: "2", Mode: "100644"}, "commit 2", ""},
		{catalogue.ExampleFile{Step: "theirs"}, "theirs", "is deleted"},
		{catalogue.ExampleFile{Mode: "120000", Content: "../x"}, "", "is a symbolic link to ../x"},
		{catalogue.ExampleFile{Mode: "160000", Content: "12ab"}, "", "is a submodule at commit 12ab"},
	} {
		if step, kind := tt.file.StepName(), tt.file.Kind(); step != tt.step || kind != tt.kind {
			t.Errorf("%+v: %q, %q; want %q, %q", tt.file, step, kind, tt.step, tt.kind)
		}
	}
}
