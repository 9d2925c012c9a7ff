package main

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
)

// untar writes the folders and files of an archive below a folder.
func untar(r io.Reader, into string) error {
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is pending
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag == tar.TypeDir {
			err = root.MkdirAll(h.Name, fs.FileMode(h.Mode).Perm())
		} else {
			err = unpackFile(root, h, t)
		}
		if err != nil {
			return err
		}
	}
}

// unpackFile writes a file.
func unpackFile(root *os.Root, h *tar.Header, r io.Reader) error {
	f, err := root.OpenFile(h.Name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fs.FileMode(h.Mode).Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}
