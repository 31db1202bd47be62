package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// file is a file in an archive or a package.
type file struct {
	path string
	mode fs.FileMode
	data []byte
}

// epoch is the modification time of every packed file: the earliest possible in a zip file.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// readTar returns the files of a .tar.gz by path.
func readTar(packed []byte) (map[string][]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for reader := tar.NewReader(unzipped); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if files[header.Name], err = io.ReadAll(reader); err != nil {
			return nil, err
		}
	}
}

// readZip returns the files of a .zip by path.
func readZip(packed []byte) (map[string][]byte, error) {
	reader, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, entry := range reader.File {
		if files[entry.Name], err = fs.ReadFile(reader, entry.Name); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// writeTar writes a .tar.gz whose bytes depend only on the files.
func writeTar(path string, files []file) error {
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	writer := tar.NewWriter(zipped)
	for _, f := range files {
		header := &tar.Header{Name: f.path, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: epoch, Format: tar.FormatUSTAR}
		if err := writer.WriteHeader(header); err != nil {
			return err
		}
		if _, err := writer.Write(f.data); err != nil {
			return err
		}
	}
	if err := errors.Join(writer.Close(), zipped.Close()); err != nil {
		return err
	}
	return os.WriteFile(path, packed.Bytes(), 0o644)
}

// writeZip writes a .zip whose bytes depend only on the files.
func writeZip(path string, files []file) error {
	var packed bytes.Buffer
	writer := zip.NewWriter(&packed)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: epoch}
		header.SetMode(f.mode)
		entry, err := writer.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(f.data); err != nil {
			return err
		}
	}
	if err := writer.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, packed.Bytes(), 0o644)
}
