package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/face/cli/disk"
	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// outputKind is what a flag names to be written.
type outputKind string

// The kinds of output.
const (
	aFile   outputKind = "file"   // written or replaced as a whole
	aFolder outputKind = "folder" // written as a whole; one that is not empty is replaced with --force only
	aHome   outputKind = "home"   // a folder that gets files and folders
)

// outputKey is the annotation under which a flag carries the kind of what it names to be written.
const outputKey = "plimsoll_output"

// outputVar defines a flag that names what the command writes. It is tried before the command runs.
func outputVar(into *pflag.FlagSet, dst *string, kind outputKind, name, usage string) {
	into.StringVar(dst, name, *dst, usage)
	into.Lookup(name).Annotations = map[string][]string{outputKey: {string(kind)}}
}

// tryOutputs reports outputs of a command that could not be written, before it works for them.
func (e *Env) tryOutputs(cmd *cobra.Command) error {
	replace := cmd.Flags().Lookup("force") // nil for most commands
	force := replace != nil && replace.Value.String() == "true"
	var errs []error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if kind := f.Annotations[outputKey]; kind != nil {
			errs = append(errs, e.try(outputKind(kind[0]), f.Name, f.Value.String(), force))
		}
	})
	return errors.Join(errs...)
}

// try reports why what a flag names could not be written.
func (e *Env) try(kind outputKind, flag, name string, force bool) error {
	d, target := e.disk(), e.target(name)
	var err error
	switch {
	case name == "" || name == "-" && kind == aFile:
	case kind == aFile:
		err = d.TryFile(target)
	case kind == aHome:
		err = d.TryIn(target)
	default:
		if err = d.Try(target, force); err == nil && force {
			err = e.precious(target)
		}
	}
	return e.wrote(flag, name, err)
}

// precious refuses folders that nobody means to replace by --force.
func (e *Env) precious(target string) error {
	own, err := os.Stat(target)
	if err != nil {
		return nil //nolint:nilerr // there is nothing to replace
	}
	if _, err := os.Stat(filepath.Join(target, ".git")); err == nil {
		return &disk.Fault{Err: errPrecious}
	}
	for _, dir := range []string{e.WorkDir, ".", e.Getenv("HOME"), e.Getenv("USERPROFILE")} {
		if dir == "" {
			continue
		}
		at, err := filepath.Abs(dir)
		for err == nil {
			if info, err := os.Stat(at); err == nil && os.SameFile(info, own) {
				return &disk.Fault{Err: errPrecious}
			}
			above := filepath.Dir(at)
			if above == at {
				break
			}
			at = above
		}
	}
	return nil
}

var errPrecious = errors.New("is or holds the home directory, the working directory or a repository; --force does not replace it")

// create writes a file that a flag names, "" for none, as a whole: after a failure the file is as it was. "-" is standard output.
func (e *Env) create(flag, name string, fill func(io.Writer) error) error {
	if name == "-" {
		return fill(e.Stdout)
	}
	return e.wrote(flag, name, e.disk().Write(e.target(name), fill))
}

// createAll writes files into a folder that a flag names, each as a whole.
func (e *Env) createAll(flag, dir string, names []string, fill func(name string, w io.Writer) error) error {
	undo, err := e.disk().MakeAll(e.target(dir))
	err = e.wrote(flag, dir, err)
	for _, name := range names {
		if err == nil {
			err = e.create(flag, filepath.Join(dir, name), func(w io.Writer) error { return fill(name, w) })
		}
	}
	if err != nil {
		undo() // a folder that is still empty
	}
	return err
}

// place writes a folder that a flag names: all of it, or nothing.
func (e *Env) place(flag, name string, files []launch.File, force bool) error {
	write := e.disk().Create
	if force {
		write = e.disk().Replace
	}
	return e.wrote(flag, name, write(e.target(name), contents(files)))
}

// contents are files as they are written.
func contents(files []launch.File) []disk.Content {
	var out []disk.Content
	for _, f := range files {
		out = append(out, disk.Content{Path: f.Path, Mode: fs.FileMode(f.Mode), Data: f.Data})
	}
	return out
}

// target is the path of something to write. A link stays a link, also one to nothing yet.
func (e *Env) target(name string) string {
	const most = 40 // links, as Linux follows
	path := e.path(name)
	for range most {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return target
		}
		to, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path
}

// disk is where files are written.
func (e *Env) disk() *disk.Disk {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	d := &disk.Disk{Sys: e.Disk, Host: host, Now: e.Now, Restored: func(name string) {
		e.Note("put back " + name + ", which a killed run had moved aside")
	}}
	if d.Sys == nil {
		d.Sys = disk.OS{}
	}
	return d
}

// wrote words an error of writing what a flag names. It is bad input if another name would help.
func (e *Env) wrote(flag, name string, err error) error {
	if left, ok := errors.AsType[*disk.LeftoverError](err); ok {
		e.Note(left.Error())
		return nil
	}
	failed, ok := errors.AsType[*disk.Fault](err)
	if !ok {
		return err // of the content
	}
	what := "writing " + name
	if flag != "" {
		what = "--" + flag + " " + name
	}
	reason := failed.Error()
	switch {
	case errors.Is(failed, fs.ErrNotExist):
		reason = "the folder " + filepath.Dir(name) + " does not exist"
	case errors.Is(failed, disk.ErrNotEmpty):
		reason += "; --force replaces it"
	case errors.Is(failed, disk.ErrBusy):
		reason += "; name a folder in it, or empty it"
	}
	err = fmt.Errorf("%s: %s", what, reason)
	if slices.ContainsFunc(badNames(), func(cause error) bool { return errors.Is(failed, cause) }) {
		return usage(err)
	}
	return err
}

// badNames are the faults of a name. Others are those of the machine, such as a full disk.
func badNames() []error {
	return []error{
		fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, disk.ErrNotEmpty, disk.ErrIsFile, disk.ErrBusy, errPrecious,
		syscall.EISDIR, syscall.ENOTDIR, syscall.EROFS, syscall.ENAMETOOLONG, syscall.ELOOP,
	}
}
