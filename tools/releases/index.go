package main

import (
	"archive/zip"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// release is a release of a package: its version, its day, and the address of a wheel, "" if the index has none.
type release struct {
	version, date, wheel string
}

// order is a version as numbers that compare: of the release, then of its candidate and of its post-release. It is nil
// for builds of a day and other versions that are no releases.
func order(version string) []int {
	m := regexp.MustCompile(`^(\d+(?:\.\d+)*)(?:rc(\d+))?(?:\.post(\d+))?$`).FindStringSubmatch(version)
	if m == nil {
		return nil
	}
	const final, width = 1 << 20, 4
	number := func(s string, none int) int {
		if n, err := strconv.Atoi(s); err == nil {
			return n
		}
		return none
	}
	var out []int
	for s := range strings.SplitSeq(m[1], ".") {
		out = append(out, number(s, 0))
	}
	for len(out) < width {
		out = append(out, 0)
	}
	return append(out, number(m[2], final), number(m[3], -1))
}

// counts reports whether a release is one, and not older than another.
func (r *release) counts(oldest string) bool {
	at := order(r.version)
	return at != nil && slices.Compare(at, order(oldest)) >= 0
}

func get(address string, from, to int64) (*http.Response, error) {
	request, err := http.NewRequest(http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	if to > from {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, to-1))
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	if want := map[bool]int{true: http.StatusPartialContent, false: http.StatusOK}[to > from]; response.StatusCode != want {
		response.Body.Close()
		return nil, fmt.Errorf("%s: %s", address, response.Status)
	}
	return response, nil
}

// whole is the text at an address.
func whole(address string) ([]byte, error) {
	response, err := get(address, 0, 0)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// days are the days on which the releases of a package were published, as PyPI's own interface tells.
func days(index, pack string) (map[string]string, error) {
	data, err := whole(strings.TrimSuffix(strings.TrimSuffix(index, "/"), "/simple") + "/pypi/" + pack + "/json")
	if err != nil {
		return nil, err
	}
	var page struct {
		Releases map[string][]struct {
			Time string `json:"upload_time"`
		}
	}
	if err := json.Unmarshal(data, &page); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for version, files := range page.Releases {
		for _, f := range files {
			if day, _, _ := strings.Cut(f.Time, "T"); out[version] == "" || day < out[version] {
				out[version] = day
			}
		}
	}
	return out, nil
}

// published lists the releases of a package, oldest first (PEP 503).
func published(index, pack string) ([]release, error) {
	address := strings.TrimSuffix(index, "/") + "/" + pack + "/"
	page, err := whole(address)
	if err != nil {
		return nil, err
	}
	day, err := days(index, pack)
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	found := map[string]release{}
	link := regexp.MustCompile(`<a href="([^"#]+)([^>]*)>([^<]+)</a>`)
	named := regexp.MustCompile(`^[A-Za-z_]+(?:[-_][a-z]+)?-(\d[^-]*?)(-.*\.whl|\.tar\.gz)$`)
	for _, m := range link.FindAllStringSubmatch(string(page), -1) {
		name := named.FindStringSubmatch(m[3])
		if name == nil || strings.Contains(m[2], "data-yanked") {
			continue
		}
		at, err := base.Parse(m[1])
		if err != nil {
			return nil, err
		}
		r := release{version: name[1], date: day[name[1]]}
		if strings.HasSuffix(name[2], ".whl") {
			r.wheel = at.String()
		}
		had := found[r.version]
		found[r.version] = release{r.version, r.date, cmp.Or(had.wheel, r.wheel)}
	}
	var out []release
	for _, r := range found {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b release) int { return slices.Compare(order(a.version), order(b.version)) })
	return out, nil
}

// reader reads the files of a release whose names match; nil if it has none of them.
type reader interface {
	read(r *release, want *regexp.Regexp) (map[string]string, error)
}

// wheelReader reads the members of a wheel by ranges: its directory, and those that are wanted.
type wheelReader struct{}

func (wheelReader) read(r *release, want *regexp.Regexp) (map[string]string, error) {
	if r.wheel == "" {
		return nil, nil
	}
	response, err := get(r.wheel, 0, 1)
	if err != nil {
		return nil, err
	}
	response.Body.Close()
	_, total, _ := strings.Cut(response.Header.Get("Content-Range"), "/")
	size, err := strconv.ParseInt(total, 10, 64)
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(&ranged{address: r.wheel, size: size}, size)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, f := range archive.File {
		if !want.MatchString(f.Name) {
			continue
		}
		member, err := f.Open()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(member)
		if err != nil {
			return nil, err
		}
		files[f.Name] = string(data)
	}
	return files, nil
}

// ranged reads a file on the network in blocks, and keeps the last few.
type ranged struct {
	address string
	size    int64
	blocks  map[int64][]byte
}

const block = 1 << 18

func (f *ranged) ReadAt(p []byte, at int64) (int, error) {
	n := 0
	for n < len(p) && at+int64(n) < f.size {
		from := (at + int64(n)) / block * block
		data, ok := f.blocks[from]
		if !ok {
			response, err := get(f.address, from, min(from+block, f.size))
			if err != nil {
				return n, err
			}
			data, err = io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil {
				return n, err
			}
			if f.blocks == nil {
				f.blocks = map[int64][]byte{}
			}
			f.blocks[from] = data
		}
		n += copy(p[n:], data[at+int64(n)-from:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// gitReader reads files of a repository at the tag of a release.
type gitReader struct{ directory string }

func (g gitReader) read(r *release, want *regexp.Regexp) (map[string]string, error) {
	git := func(args ...string) (string, error) {
		data, err := exec.Command("git", append([]string{"--git-dir", g.directory}, args...)...).Output()
		return string(data), err
	}
	list, err := git("ls-tree", "-r", "--name-only", "v"+r.version)
	if exit := (&exec.ExitError{}); errors.As(err, &exit) {
		return nil, nil // no such tag
	} else if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for path := range strings.FieldsSeq(list) {
		if want.MatchString(path) {
			if files[path], err = git("show", "v"+r.version+":"+path); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}
