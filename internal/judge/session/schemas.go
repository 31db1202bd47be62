package session

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/base/wording"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small/schema"
)

// schemasAt lets [policy.ParseWhole] read the schemas of logs from the files of a revision.
func (s *Session) schemasAt(ctx context.Context, revision string) *policy.SchemaFiles {
	return &policy.SchemaFiles{Read: func(path string) ([]byte, bool, error) {
		return githistory.ReadFile(ctx, s.Repo, revision, path, schema.MaxGiven)
	}}
}

// SchemasIn lets [policy.ParseWhole] read the schemas of logs from a folder on disk.
func SchemasIn(folder string) *policy.SchemaFiles {
	return &policy.SchemaFiles{Read: func(path string) ([]byte, bool, error) {
		data, err := wholefile.Start(filepath.Join(folder, filepath.FromSlash(path)), schema.MaxGiven+1)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, false, nil
		case errors.Is(err, wholefile.ErrNotRegular):
			err = &failure.Error{Message: wording.Printable(path) + " is not a regular file", Remedy: "replace it with a file", Err: err}
		}
		return data, err == nil, err
	}}
}

// schemasBeside lets [policy.ParseWhole] read the schemas of logs from the folder of config, a configuration's file that the caller names. The caller
// vouches for these schemas: they count as lying outside the repository, where no change can edit them.
func schemasBeside(config string) *policy.SchemaFiles {
	out := SchemasIn(filepath.Dir(config))
	out.OutsideRepo = true
	return out
}

// noSchemaFiles makes [policy.ParseFloor] fail if the floor names a schema: a floor that is given as a text has no folder in which schemas could lie.
func noSchemaFiles() *policy.SchemaFiles {
	return &policy.SchemaFiles{OutsideRepo: true, Read: func(string) ([]byte, bool, error) {
		return nil, false, &failure.Error{Message: "a floor that is given as a text cannot name a schema's file", Remedy: "give the floor as a file with --floor, and put the schema into the folder of that file"}
	}}
}
