package bound_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// TestRead: as many bytes as the kind may have are read, and of more no more than one is asked for.
func TestRead(t *testing.T) {
	most := int(bound.Answers.Bytes())
	for _, n := range []int{0, 1, most - 1, most} {
		got, err := bound.Read(bytes.NewReader(make([]byte, n)), "x", bound.Answers)
		if err != nil || len(got) != n {
			t.Errorf("%d bytes: %d, %v", n, len(got), err)
		}
	}
	endless := &counted{Reader: zeros{}}
	_, err := bound.Read(endless, "-", bound.Answers)
	large, ok := errors.AsType[*bound.TooLargeError](err)
	if !ok || large.Kind != bound.Answers || err.Error() != "standard input: too large; a file of answers may have at most 64 KiB" {
		t.Errorf("an endless input: %v", err)
	}
	if endless.read != most+1 {
		t.Errorf("%d bytes were read of it, want %d", endless.read, most+1)
	}
	broken := errors.New("broken")
	if _, err := bound.Read(iotest.ErrReader(broken), "x", bound.Answers); !errors.Is(err, broken) {
		t.Errorf("a broken input: %v", err)
	}
}

// zeros is /dev/zero.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// counted counts what is read.
type counted struct {
	io.Reader

	read int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += n
	return n, err
}

// TestFile: a file that says it is too large is not read, and what is no regular file is refused by what it is.
func TestFile(t *testing.T) {
	tree := fstest.MapFS{
		"fits": {Data: []byte("x")}, "large": {Data: make([]byte, bound.Answers.Bytes()+1)}, "pipe": {Mode: fs.ModeNamedPipe},
		"socket": {Mode: fs.ModeSocket}, "device": {Mode: fs.ModeDevice | fs.ModeCharDevice}, "odd": {Mode: fs.ModeIrregular}, "folder/file": {},
	}
	for name, want := range map[string]string{
		"large":   "large: too large with 64.1 KiB; a file of answers may have at most 64 KiB",
		"pipe":    "open pipe: a named pipe, not a regular file",
		"socket":  "open socket: a socket, not a regular file",
		"device":  "open device: a device, not a regular file",
		"odd":     "open odd: neither a file nor a directory, not a regular file",
		"folder":  "open folder: a directory, not a regular file",
		"missing": "open missing: file does not exist",
	} {
		if _, err := bound.File(tree, name, bound.Answers); err == nil || err.Error() != want {
			t.Errorf("%s: want %s, got %v", name, want, err)
		}
	}
	if got, err := bound.File(tree, "fits", bound.Answers); string(got) != "x" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// TestUntil: reading ends with the context, also where it waits.
func TestUntil(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	in, _ := io.Pipe() // nobody writes
	r := bound.Until(ctx, in)
	read := make(chan error)
	go func() {
		_, err := r.Read(make([]byte, 1))
		read <- err
	}()
	end()
	if err := <-read; !errors.Is(err, context.Canceled) {
		t.Errorf("while it waits: %v", err)
	}
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("afterwards: %v", err)
	}
	whole := bound.Until(t.Context(), io.NopCloser(strings.NewReader("text")))
	if got, err := io.ReadAll(whole); string(got) != "text" || err != nil || whole.Close() != nil {
		t.Errorf("without an end: %q, %v", got, err)
	}
}

// TestJSON: parts of a value count, those of the next one anew, and what stands in texts does not count.
func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		`[{},{},{}]`:              "",
		`[{},{},{},{}]`:           "more than 4 objects and lists up to line 1",
		"[[[[\n[]]]]]":            "more than 4 objects and lists up to line 2",
		`{"a":"[[[[[[[[","b":[]}`: "",
		`{"a":"\"[[[[[[","b":[]}`: "",
		"[{},{}]\n[{},{}]\n":      "",
		`]]]][[`:                  "",
		"[[[[[":                   "more than 4 objects and lists up to line 1",
	} {
		got := ""
		if err := bound.JSON([]byte(text), 4); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: want %q, got %q", text, want, got)
		}
	}
	many := "[" + strings.Repeat("1,", bound.JSONValues) + "1]"
	if _, ok := errors.AsType[*bound.OverError](bound.Decode([]byte(many), 4, new(any))); !ok {
		t.Error("too many numbers are read")
	}
}

// wide is a folder with some entries; in each that is a folder are some files.
type wide struct{ entries, files []fs.DirEntry }

func (w wide) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
}

func (w wide) Stat(string) (fs.FileInfo, error) { return entry{}.Info() }

func (w wide) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == "." {
		return w.entries, nil
	}
	return w.files, nil
}

// entry is an entry of a wide folder; a file in it has a gigabyte.
type entry struct {
	name string
	dir  bool
}

func (e entry) Name() string               { return e.name }
func (e entry) IsDir() bool                { return e.dir || e.name == "" }
func (e entry) Type() fs.FileMode          { return e.Mode().Type() }
func (e entry) Info() (fs.FileInfo, error) { return e, nil }
func (e entry) Size() int64                { return 1 << 30 }
func (e entry) ModTime() time.Time         { return time.Time{} }
func (e entry) Sys() any                   { return nil }

func (e entry) Mode() fs.FileMode {
	if e.IsDir() {
		return fs.ModeDir
	}
	return 0
}

// TestWalk: a folder without end is left, and one whose files are too much to read.
func TestWalk(t *testing.T) {
	all := wide{}
	for i := range 400 {
		all.entries, all.files = append(all.entries, entry{name: fmt.Sprint("d", i), dir: true}), append(all.files, entry{name: fmt.Sprint("f", i)})
	}
	seen := 0
	err := bound.Walk(all, func(string, fs.DirEntry) (bool, error) {
		seen++
		return false, nil
	})
	if err == nil || err.Error() != "more than 100,000 files and folders in it" || seen != bound.Entries {
		t.Errorf("%v after %d entries", err, seen)
	}
	files := wide{entries: []fs.DirEntry{entry{name: "a"}, entry{name: "b"}}}
	if err := bound.Walk(files, func(_ string, d fs.DirEntry) (bool, error) { return !d.IsDir(), nil }); err == nil || err.Error() != "the files to read in it have more than 1 GiB" {
		t.Errorf("two files of a gigabyte: %v", err)
	}
	if err := bound.Walk(files, func(name string, _ fs.DirEntry) (bool, error) { return name == "a", nil }); err != nil {
		t.Errorf("one of them: %v", err)
	}
}

// TestCut: a message ends with a whole character.
func TestCut(t *testing.T) {
	if got := bound.Cut("é"); got != "é" {
		t.Errorf("got %q", got)
	}
	if got := bound.Cut("x" + strings.Repeat("é", bound.Message)); got != "x"+strings.Repeat("é", bound.Message/2-1)+"…" {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-5:])
	}
}

// TestSecurityPage: SECURITY.md says what the tables here say.
func TestSecurityPage(t *testing.T) {
	page, err := os.ReadFile("../../../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, ok := bytes.Cut(page, []byte("\n## Inputs\n"))
	if !ok {
		t.Fatal("no section Inputs")
	}
	page, _, _ = bytes.Cut(page, []byte("\n## "))
	var got, want []string
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|]+) \| ([0-9][^|]*) \|`).FindAllSubmatch(page, -1) {
		got = append(got, fmt.Sprintf("%s: %s", m[1], m[2]))
	}
	for _, k := range bound.Kinds() {
		want = append(want, k.String()+": "+bound.Size(k.Bytes()))
	}
	for _, n := range bound.Numbers() {
		want = append(want, n.What+": "+units.Thousands(n.Most))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("SECURITY.md (-want +got):\n%s", d)
	}
}

// TestNumbers: bounds of the same thing agree.
func TestNumbers(t *testing.T) {
	if bound.Launch.Bytes() != bound.Text {
		t.Error("a script in a file may be larger than one in a variable, or smaller")
	}
	for _, n := range bound.Numbers() {
		if n.Most < 1 {
			t.Errorf("%s: %d", n.What, n.Most)
		}
	}
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1 << 10: "1 KiB", 1<<20 + 1: "1.1 MiB", 5 << 29: "2.5 GiB"} {
		if got := bound.Size(n); got != want {
			t.Errorf("%s: want %s, got %s", strconv.FormatInt(n, 10), want, got)
		}
	}
}

// FuzzJSON: JSON that is accepted has no more parts than that.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{`[{},[]]`, `{"a":"[[[\\\"[["}`, "[1,2,3]\n[4]", `]`, `"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const most = 4
		var v any
		if bound.Decode([]byte(text), most, &v) == nil && parts(v) > most {
			t.Errorf("%q has %d", text, parts(v))
		}
	})
}

// parts are the objects and lists of a value.
func parts(v any) int {
	n := 0
	switch v := v.(type) {
	case []any:
		n = 1
		for _, e := range v {
			n += parts(e)
		}
	case map[string]any:
		n = 1
		for _, e := range v {
			n += parts(e)
		}
	}
	return n
}
