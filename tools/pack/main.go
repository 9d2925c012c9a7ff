// Pack makes the artefacts of a release that goreleaser has no part for: Python wheels, a container image in OCI layout without
// Docker, and bills of materials. The same inputs give the same bytes; times are SOURCE_DATE_EPOCH, or 0.
//
//	pack sbom ARTEFACT DOCUMENT              CycloneDX, from what the Go tool wrote into the binary of the artefact's platform
//	pack wheel PACKAGE BINARY OS ARCH VERSION DIR   the Python package around a binary
//	pack finish DIST                         the rest of goreleaser's folder: the image, the formula, more bills of materials
//	pack unpack IMAGE ARCH DIR               the files of an image in OCI layout
//	pack table DIST                          the artefacts with their sizes, in Markdown
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("want sbom, wheel, finish, unpack or table")
	}
	at, err := epoch()
	if err != nil {
		return err
	}
	name, args := args[0], args[1:]
	switch {
	case name == "sbom" && len(args) == 2:
		return writeSBOM(args[0], args[1], at)
	case name == "wheel" && len(args) == 6:
		return writeWheel(args[0], args[1], args[2], args[3], args[4], args[5], at)
	case name == "finish" && len(args) == 1:
		return finish(args[0], at)
	case name == "unpack" && len(args) == 3:
		return unpackImage(args[0], args[1], args[2])
	case name == "table" && len(args) == 1:
		return writeTable(os.Stdout, args[0])
	}
	return fmt.Errorf("%s with %d arguments: see the comment of tools/pack", name, len(args))
}

// epoch is the time that files in artefacts have: that of the commit.
func epoch() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(n, 0).UTC(), nil
}
